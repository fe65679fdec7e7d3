//! What becomes of a unit.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What to do when a unit came by.
#[derive(Debug, Default)]
pub struct Act {
    /// For the peer that the unit was meant for.
    pub forward: Vec<u8>,
    /// For the peer that the unit came from.
    pub back: Vec<u8>,
    /// Whether both peers find the connection ended after that, as if the other had.
    pub cut: bool,
    /// Whether each byte travels alone.
    pub one_by_one: bool,
}

impl Act {
    /// These bytes go on.
    pub fn forward(bytes: impl Into<Vec<u8>>) -> Self {
        Act {
            forward: bytes.into(),
            ..Act::default()
        }
    }

    /// Nothing goes on.
    #[must_use]
    pub fn drop() -> Self {
        Act::default()
    }

    /// These bytes go back.
    pub fn reflect(bytes: impl Into<Vec<u8>>) -> Self {
        Act {
            back: bytes.into(),
            ..Act::default()
        }
    }

    /// These bytes go on, and nothing after them, in either direction.
    pub fn forward_and_cut(bytes: impl Into<Vec<u8>>) -> Self {
        Act {
            cut: true,
            ..Act::forward(bytes)
        }
    }
}

/// Decides about each unit of one direction. It is given the unit's number, from 0, and its bytes.
pub type Script = Box<dyn FnMut(usize, Vec<u8>) -> Act + Send>;

/// Carries everything as it is.
#[must_use]
pub fn honest() -> Script {
    Box::new(|_, unit| Act::forward(unit))
}

/// Carries everything as it is and keeps a copy.
///
/// # Panics
///
/// The script panics if someone panicked while holding the copy.
#[must_use]
pub fn recording(copy: &Arc<Mutex<Vec<Vec<u8>>>>) -> Script {
    let copy = copy.clone();
    Box::new(move |_, unit| {
        copy.lock().expect("no test panicked").push(unit.clone());
        Act::forward(unit)
    })
}

/// Counts the units that come by, before `script` decides about each.
#[must_use]
pub fn counting(count: &Arc<AtomicUsize>, mut script: Script) -> Script {
    let count = count.clone();
    Box::new(move |index, unit| {
        count.fetch_add(1, Ordering::SeqCst);
        script(index, unit)
    })
}

/// Carries everything as it is until `switch` is set. From then on `script` decides, whose units count from 0.
#[must_use]
pub fn since(switch: &Arc<AtomicBool>, mut script: Script) -> Script {
    let switch = switch.clone();
    let mut first = None;
    Box::new(move |index, unit| {
        if !switch.load(Ordering::SeqCst) {
            return Act::forward(unit);
        }
        let first = *first.get_or_insert(index);
        script(index - first, unit)
    })
}
