//! Simpira-1024: the permutation of eight AES blocks that everything here rests on.
//!
//! Simpira v2 with b = 8 (Gueron and Mouha, "Simpira v2: A Family of Efficient Permutations Using
//! the AES Round Function", <https://eprint.iacr.org/2016/122>, algorithm 9): 18 rounds, in each of
//! which four blocks go through two AES rounds and are XORed onto the four others.
//!
//! [`Registers`] is what a back end offers; [`BackEnd`](crate::duplex::back_end::BackEnd) chooses.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod aarch64;
pub(crate) mod portable;
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )),
    expect(dead_code, reason = "no AES instructions")
)]
pub(crate) mod rounds;
mod schedule;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

/// Width of the permutation in bytes.
pub(crate) const WIDTH: usize = 128;
/// Bytes of a lane, which is one AES block.
pub(crate) const LANE: usize = 16;
/// Lanes of a state.
pub(crate) const LANES: usize = WIDTH / LANE;
/// Lanes that the rate of a duplex and its padding lie in.
pub(crate) const RATE_LANES: usize = 6;

/// A back end: a state is held in eight lanes, which are registers where there are enough of them.
///
/// A value of the type is the proof that the CPU has the instructions.
pub(crate) trait Registers: Copy {
    /// Sixteen bytes of the state.
    type Lane: Copy;

    /// Lane `bytes`.
    fn load(self, bytes: &[u8; LANE]) -> Self::Lane;

    /// The lane that these two little-endian numbers make up, each loaded for itself.
    #[inline(always)]
    fn load_words(self, [low, high]: &[u64; 2]) -> Self::Lane {
        let lane = u128::from(*low) | u128::from(*high) << 64;
        self.load(&lane.to_le_bytes())
    }

    /// Writes a lane to `bytes`.
    fn store(self, lane: Self::Lane, bytes: &mut [u8; LANE]);

    /// The last 14 of `bytes`, followed by two zeros.
    fn load_last_14(self, bytes: &[u8; LANE]) -> Self::Lane;

    /// Writes the last two bytes of `before` and the first 14 of `lane`.
    fn store_first_14(self, before: Self::Lane, lane: Self::Lane, bytes: &mut [u8; LANE]);

    /// `a` XOR `b`.
    fn xor(self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// `lane` with zeros where `mask` has ones.
    fn clear(self, lane: Self::Lane, mask: Self::Lane) -> Self::Lane;

    /// Simpira-1024.
    fn permute(self, lanes: [Self::Lane; LANES]) -> [Self::Lane; LANES];

    /// Simpira-1024, then `input` XORed to the lanes of the rate.
    #[inline(always)]
    fn permute_and_add(
        self,
        lanes: [Self::Lane; LANES],
        input: [Self::Lane; RATE_LANES],
    ) -> [Self::Lane; LANES] {
        let mut lanes = self.permute(lanes);
        for (lane, input) in lanes.iter_mut().zip(input) {
            *lane = self.xor(*lane, input);
        }
        lanes
    }
}
