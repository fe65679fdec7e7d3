//! Which lane goes onto which in each round, and with which constants.

use super::LANE;

/// Rounds of the permutation.
pub(crate) const ROUNDS: usize = 18;
/// Lanes that go through the F function in a round.
pub(crate) const PAIRS: usize = 4;

/// Source and destination of each F function of a round; repeats after six rounds.
///
/// Even lanes go onto odd ones in even rounds, and back in odd rounds.
pub(crate) const fn pairs(round: usize) -> [(usize, usize); PAIRS] {
    const S: [usize; 6] = [0, 1, 6, 5, 4, 3];
    const T: [usize; 2] = [2, 7];
    [
        (S[round % 6], S[(round + 1) % 6]),
        (T[round % 2], S[(round + 5) % 6]),
        (S[(round + 4) % 6], S[(round + 3) % 6]),
        (S[(round + 2) % 6], T[(round + 1) % 2]),
    ]
}

/// The round key of the first AES round of F function number `counter`, from 1 on.
pub(crate) const fn constant(counter: usize) -> [u8; LANE] {
    let mut bytes = [0; LANE];
    let mut column = 0;
    while column < 4 {
        // The counter stays below 256, so that only the lowest byte of each word is not zero.
        bytes[4 * column] = (column << 4) as u8 ^ 8 ^ counter as u8;
        column += 1;
    }
    bytes
}
