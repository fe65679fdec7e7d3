//! The same for bytes in memory: files, and protocols that do no I/O.

use crate::{Format, Script};

/// What came of bytes that someone had in hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// The bytes that go on.
    pub forward: Vec<u8>,
    /// The bytes that go back to the sender.
    pub back: Vec<u8>,
    /// Whether nothing follows, in either direction.
    pub cut: bool,
}

/// Cuts bytes into units and lets a script decide about each.
///
/// # Panics
///
/// If the script does.
#[must_use]
pub fn through(format: &Format, mut bytes: &[u8], script: &mut Script) -> Passed {
    let mut passed = Passed::default();
    let units = (0..).map_while(|index| {
        let unit = format.read_unit(&mut bytes, index);
        unit.expect("memory can be read").map(|unit| (index, unit))
    });
    for (index, unit) in units {
        let act = script(index, unit);
        passed.forward.extend(act.forward);
        passed.back.extend(act.back);
        if act.cut {
            passed.cut = true;
            break;
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Manipulation, Material};

    #[test]
    fn each_manipulation_does_what_it_says() {
        let format = Format::Sized {
            first: Vec::new(),
            then: 2,
        };
        let material = Material {
            spliced: b"xy".to_vec(),
            forged: b"zz".to_vec(),
        };
        for (manipulation, forward, back, cut) in [
            (Manipulation::Drop, "aaccdd", "", false),
            (Manipulation::Repeat, "aabbbbccdd", "", false),
            (Manipulation::Reorder, "aaccbbdd", "", false),
            (Manipulation::Shorten, "aabccdd", "", false),
            (Manipulation::Cut, "aab", "", true),
            (Manipulation::End, "aabb", "", true),
            (Manipulation::Splice, "aaxyccdd", "", false),
            (Manipulation::Reflect, "aaccdd", "bb", false),
            (Manipulation::Inject, "aazzbbccdd", "", false),
            (Manipulation::Flip, "aabcccdd", "", false),
        ] {
            let mut script = manipulation.script(1, material.clone()).expect("a script");
            let expected = Passed {
                forward: forward.into(),
                back: back.into(),
                cut,
            };
            assert_eq!(
                through(&format, b"aabbccdd", &mut script),
                expected,
                "{manipulation}"
            );
        }
        let shorten = Manipulation::Shorten.script(0, material.clone());
        let shortened = through(&format, b"abbbcd", &mut shorten.expect("a script"));
        assert_eq!(shortened.forward, b"acd", "a difference is made");
        assert!(Manipulation::Replay.script(1, material).is_none());
    }
}
