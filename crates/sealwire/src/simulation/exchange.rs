//! A server that is replaced by another one now and then.

use super::{Scene, Trouble};

/// When a server is exchanged, and whether the next one has keys that nobody knows.
pub struct Exchanges {
    /// Checks until an exchange begins, on average.
    checks: u64,
    has_other_keys: bool,
}

impl Exchanges {
    /// Makes one that begins an exchange of each kind in this number of checks, on average: the more often
    /// a test checks, the more.
    ///
    /// # Panics
    ///
    /// Below two, which is one for each kind.
    pub fn one_in(checks: u64) -> Self {
        assert!(checks >= 2, "one for each kind");
        Exchanges {
            checks,
            has_other_keys: false,
        }
    }

    /// Returns whether the server has keys that nobody knows, until it is exchanged again.
    pub fn has_other_keys(&self) -> bool {
        self.has_other_keys
    }

    /// Returns whether the server is to be exchanged now. Once the scene is calm, that is so until it has its own
    /// keys again.
    pub fn begins(&mut self, scene: &mut Scene) -> bool {
        let is_calm = scene.trouble == Trouble::NONE;
        let chosen = scene.below(self.checks);
        let Trouble {
            restarts,
            rotations,
            ..
        } = &mut scene.trouble;
        match chosen {
            _ if self.has_other_keys && is_calm => self.has_other_keys = false,
            0 if *restarts > 0 => *restarts -= 1,
            1 if self.has_other_keys => self.has_other_keys = false,
            1 if *rotations > 0 => {
                *rotations -= 1;
                self.has_other_keys = true;
            }
            _ => return false,
        }
        true
    }
}
