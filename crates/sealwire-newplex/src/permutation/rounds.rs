//! The permutation over AES instructions.

use super::schedule::{PAIRS, ROUNDS, constant, pairs};
use super::{LANE, LANES, Permutation, RATE_LANES, Registers};

/// An instruction set that has AES.
pub(crate) trait AesRounds<const N: usize>: Registers<N> {
    /// `onto` XOR two AES rounds of `lane`, the first with the round key `constant`, the second with
    /// none.
    fn f(self, lane: Self::Lane, constant: &[u8; LANE], onto: Self::Lane) -> Self::Lane;
}

/// Aligned, so that an instruction can take them from memory.
#[repr(align(64))]
struct Constants([[[u8; LANE]; PAIRS]; ROUNDS]);

static CONSTANTS: Constants = {
    let mut constants = [[[0; LANE]; PAIRS]; ROUNDS];
    let mut number = 0;
    while number < ROUNDS * PAIRS {
        constants[number / PAIRS][number % PAIRS] = constant(number + 1);
        number += 1;
    }
    Constants(constants)
};

/// Rounds from `$first`, a multiple of six, on.
macro_rules! rounds {
    ($aes:expr, $lanes:ident, $first:literal; $($round:literal)*) => {
        $(
            let constants = &CONSTANTS.0[$first + $round];
            let [(s0, d0), (s1, d1), (s2, d2), (s3, d3)] = const { pairs($round) };
            $lanes[d0] = $aes.f($lanes[s0], &constants[0], $lanes[d0]);
            $lanes[d1] = $aes.f($lanes[s1], &constants[1], $lanes[d1]);
            $lanes[d2] = $aes.f($lanes[s2], &constants[2], $lanes[d2]);
            $lanes[d3] = $aes.f($lanes[s3], &constants[3], $lanes[d3]);
        )*
    };
}

impl<const N: usize, A: AesRounds<N>> Permutation<N> for A {
    #[inline(always)]
    fn permute(self, mut lanes: [A::Lane; LANES]) -> [A::Lane; LANES] {
        rounds!(self, lanes, 0; 0 1 2 3 4 5);
        rounds!(self, lanes, 6; 0 1 2 3 4 5);
        rounds!(self, lanes, 12; 0 1 2 3 4 5);
        lanes
    }

    /// Nothing waits for the XOR: the last round changes even lanes only, which take the input
    /// before it, and the first round of the next permutation needs the odd ones last.
    #[inline(always)]
    fn permute_and_add(
        self,
        mut lanes: [A::Lane; LANES],
        input: [A::Lane; RATE_LANES],
    ) -> [A::Lane; LANES] {
        rounds!(self, lanes, 0; 0 1 2 3 4 5);
        rounds!(self, lanes, 6; 0 1 2 3 4 5);
        rounds!(self, lanes, 12; 0 1 2 3 4);
        for even in [0, 2, 4] {
            lanes[even] = self.xor(lanes[even], input[even]);
        }
        rounds!(self, lanes, 12; 5);
        for odd in [1, 3, 5] {
            lanes[odd] = self.xor(lanes[odd], input[odd]);
        }
        lanes
    }
}
