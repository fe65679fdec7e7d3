//! Simpira-1024: the permutation of eight AES blocks that everything here rests on.
//!
//! Simpira v2 with b = 8 (Gueron and Mouha, "Simpira v2: A Family of Efficient Permutations Using
//! the AES Round Function", <https://eprint.iacr.org/2016/122>, algorithm 9): 18 rounds, in each of
//! which four blocks go through two AES rounds and are XORed onto the four others.
//!
//! [`Registers`] and [`Permutation`] are what a back end offers. Which instruction set is used, and
//! what a function is compiled for, is decided above.

#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(any(sealwire_portable, feature = "portable"))
))]
mod aarch64;
pub(crate) mod portable;
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ),
    not(any(sealwire_portable, feature = "portable"))
))]
mod rounds;
mod schedule;
#[cfg(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
))]
mod x86;

/// Width of the permutation in bytes.
pub(crate) const WIDTH: usize = 128;
/// Bytes of a lane, which is one AES block.
pub(crate) const LANE: usize = 16;
/// Lanes of a state.
pub(crate) const LANES: usize = WIDTH / LANE;
/// Lanes that the rate of a duplex and its padding lie in.
pub(crate) const RATE_LANES: usize = 6;

/// Says that there are sixteen bytes where a lane is loaded or stored.
const WHOLE_LANE: &str = "a lane lies inside of the bytes";

/// Registers that hold `N` states side by side, each the same lane of all of them.
///
/// A value of the type is the proof that the CPU has the instructions.
pub(crate) trait Registers<const N: usize>: Copy {
    /// Sixteen bytes of each state.
    type Lane: Copy;

    /// The lane that begins at byte `at` of each of `from`.
    fn load(self, from: &[impl AsRef<[u8]>; N], at: usize) -> Self::Lane;

    /// Writes the lane to byte `at` of each of `to` and behind.
    fn store(self, lane: Self::Lane, to: &mut [impl AsMut<[u8]>; N], at: usize);

    /// `a` XOR `b`.
    fn xor(self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// `lane` with zeros where `mask` has ones.
    fn clear(self, lane: Self::Lane, mask: Self::Lane) -> Self::Lane;

    /// The last 14 of each sixteen bytes, followed by two zeros.
    fn last_14(self, lane: Self::Lane) -> Self::Lane;

    /// Two zeros, followed by the first 14 of each sixteen bytes.
    fn first_14(self, lane: Self::Lane) -> Self::Lane;
}

/// The permutation over such registers.
pub(crate) trait Permutation<const N: usize>: Registers<N> {
    /// Simpira-1024.
    fn permute(self, lanes: [Self::Lane; LANES]) -> [Self::Lane; LANES];

    /// Simpira-1024, then `input` XORed to the lanes of the rate.
    fn permute_and_add(
        self,
        lanes: [Self::Lane; LANES],
        input: [Self::Lane; RATE_LANES],
    ) -> [Self::Lane; LANES];
}
