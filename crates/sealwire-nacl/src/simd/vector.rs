//! What an instruction set has to provide.

use crate::portable::BLOCK_SIZE;

/// Most lanes that any vector here has.
pub(crate) const MAX_LANES: usize = 16;

/// Room for `N` blocks, aligned for the widest vector.
#[repr(align(64))]
pub(crate) struct Blocks<const N: usize = MAX_LANES>(pub(crate) [[u8; BLOCK_SIZE]; N]);

impl<const N: usize> Blocks<N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([[0; BLOCK_SIZE]; N])
    }
}

/// An instruction set. A value is the proof that this CPU has it.
pub(crate) trait Isa: Copy {
    /// Vector of four lanes.
    type Narrow: Vector<Isa = Self>;
    /// Vector for five to eight lanes; `Wide` where there is none between.
    type Middle: Vector<Isa = Self>;
    /// Vector with the most lanes.
    type Wide: Vector<Isa = Self>;

    /// Overwrites secret blocks in a way that the compiler does not leave out.
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>);
}

/// A vector of `LANES` 32-bit words.
///
/// Making one takes the proof that the CPU has the instructions; with one in hand, everything else
/// is safe.
pub(crate) trait Vector: Copy {
    /// The instruction set it belongs to.
    type Isa: Copy;
    /// Number of words: 4, 8 or 16.
    const LANES: usize;

    /// The same word in every lane.
    fn splat(isa: Self::Isa, word: u32) -> Self;
    /// The first `LANES` words of `words`.
    fn load(isa: Self::Isa, words: &[u32]) -> Self;
    /// The first `4 * LANES` bytes of `bytes`, in little-endian words.
    fn load_bytes(isa: Self::Isa, bytes: &[u8]) -> Self;
    /// Writes the vector to the front of `bytes`, in little-endian words.
    fn store_bytes(self, bytes: &mut [u8]);

    /// Lane-wise wrapping sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Rotates each word left by `LEFT` bits, given `RIGHT = 32 - LEFT`.
    fn rotate_left<const LEFT: i32, const RIGHT: i32>(self) -> Self;

    /// Transposes each square of `LANES` successive vectors.
    ///
    /// Afterwards the vector at `g * LANES + lane` holds words `g * LANES..` of that lane's block.
    fn transpose(vectors: &mut [Self; 16]);
}
