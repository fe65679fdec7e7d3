//! The expectations of a protocol, manipulation by manipulation.

use crate::{Manipulation, Outcome};

/// An outcome for each manipulation.
pub type Expected = [(Manipulation, Outcome); Manipulation::ALL.len()];

/// Of a protocol that seals every unit under its number, and has no authenticated end.
pub const SEALED: Expected = [
    (Manipulation::Drop, Outcome::NotAuthentic),
    (Manipulation::Repeat, Outcome::NotAuthentic),
    (Manipulation::Reorder, Outcome::NotAuthentic),
    (Manipulation::Shorten, Outcome::NotAuthentic),
    (Manipulation::Cut, Outcome::CutShort),
    (Manipulation::End, Outcome::LikeAnEnd),
    (Manipulation::Splice, Outcome::NotAuthentic),
    (Manipulation::Reflect, Outcome::NotAuthentic),
    (Manipulation::Inject, Outcome::NotAuthentic),
    (Manipulation::Flip, Outcome::NotAuthentic),
    (Manipulation::Replay, Outcome::Refused),
];

/// A table with other outcomes of some manipulations.
#[must_use]
pub const fn but<const N: usize>(
    mut table: Expected,
    others: [(Manipulation, Outcome); N],
) -> Expected {
    let mut row = 0;
    while row < table.len() {
        let mut other = 0;
        while other < N {
            // `==` is not to be had in a constant.
            if table[row].0 as u8 == others[other].0 as u8 {
                table[row].1 = others[other].1;
            }
            other += 1;
        }
        row += 1;
    }
    table
}
