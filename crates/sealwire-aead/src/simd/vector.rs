//! What an instruction set has to provide.

use super::framing::{Edge, Header};
use super::kernels::LaneKernels;
use crate::keys::MessageKeys;
use crate::portable::blake3::Node;
use crate::portable::blake3::{CHUNK_SIZE, Chain};

/// Most lanes that any vector here has.
pub(crate) const MAX_LANES: usize = 16;
/// Quads in the widest vector.
pub(crate) const QUADS: usize = MAX_LANES / 4;
/// The front of a message that fills its first four chunks but for what stands before the text.
pub(crate) const TEXT_SIZE: usize = QUADS * CHUNK_SIZE;

/// Room for a block of each of `N` lanes, aligned for the widest vector.
#[repr(align(64))]
pub(crate) struct Blocks<const N: usize = MAX_LANES>(pub(crate) [[u8; 64]; N]);

impl<const N: usize> Blocks<N> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([[0; 64]; N])
    }
}

/// An instruction set. A value is the proof that this CPU has it.
pub(crate) trait Isa: Copy {
    /// Vector of four lanes, also used for rows.
    type Narrow: Vector<Isa = Self>;
    /// Vector for five to eight lanes; `Wide` where there is none between.
    type Middle: LaneKernels<Isa = Self>;
    /// Vector with the most lanes.
    type Wide: LaneKernels<Isa = Self>;
    /// A block of BLAKE3 input from which rows of message words can be picked.
    type Message: Copy;

    /// Loads a block for [`pick`](Self::pick).
    fn load_message(self, block: &[u8; 64]) -> Self::Message;

    /// The message words that `ROW_SCHEDULE[ROUND][PART]` names.
    fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> Self::Narrow;

    /// Hashes four full chunks, of which `block` gives the block of a chunk at an index, where that
    /// is quicker than in lanes.
    #[inline(always)]
    fn hash_four_chunks<'a>(
        self,
        _key: &Chain,
        _block: impl Fn(usize, usize) -> &'a [u8; 64],
        _first: u64,
    ) -> Option<[Node; QUADS]> {
        None
    }

    /// Encrypts the text of four chunks with the keystream from block `counter` on and hashes them,
    /// where both can be done side by side; otherwise leaves it alone.
    #[inline(always)]
    fn seal_four_chunks(
        self,
        _keys: &MessageKeys,
        _counter: u64,
        _header: &Header,
        _text: &mut [u8; TEXT_SIZE],
    ) -> Option<[Node; QUADS]> {
        None
    }

    /// Overwrites secret blocks in a way that the compiler does not leave out.
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>);

    /// XORs the first `data.len()`, at most 64, bytes of `keystream` into `data`.
    #[inline(always)]
    fn xor_short(self, data: &mut [u8], keystream: &[u8; 64]) {
        let (words, rest) = data.as_chunks_mut::<8>();
        let (key_words, _) = keystream.as_chunks::<8>();
        for (word, key_word) in words.iter_mut().zip(key_words) {
            *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*key_word)).to_ne_bytes();
        }
        for (byte, key_byte) in rest.iter_mut().zip(&keystream[words.len() * 8..]) {
            *byte ^= key_byte;
        }
    }

    /// Writes the block `edge` of a message with this associated data and text.
    #[inline(always)]
    fn write_edge(self, edge: &Edge, aad: &[u8], text: &[u8], block: &mut [u8; 64]) {
        *block = edge.lengths;
        self.copy_short(&aad[..edge.aad], block);
        self.copy_short(&text[edge.text.clone()], &mut block[edge.text_at..]);
    }

    /// Copies at most 64 bytes to the front of `to`, which has room for them. May write zeros behind
    /// them, as far as `to` goes.
    #[inline(always)]
    fn copy_short(self, from: &[u8], to: &mut [u8]) {
        /// Both ends of `from` as blocks that overlap: two moves for any length from N to 2 N.
        #[inline(always)]
        fn ends<const N: usize>(from: &[u8], to: &mut [u8]) -> bool {
            let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>())
            else {
                return false;
            };
            to[..N].copy_from_slice(first);
            to[from.len() - N..from.len()].copy_from_slice(last);
            true
        }
        let to = &mut to[..from.len()];
        let done = ends::<32>(from, to)
            || ends::<16>(from, to)
            || ends::<8>(from, to)
            || ends::<4>(from, to)
            || ends::<2>(from, to);
        if let (false, Some(byte)) = (done, from.first()) {
            to[0] = *byte;
        }
    }
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
    /// The same four words in every quad.
    fn splat_quad(isa: Self::Isa, words: [u32; 4]) -> Self;
    /// The first `LANES` words of `words`.
    fn load(isa: Self::Isa, words: &[u32]) -> Self;
    /// The first `4 * LANES` bytes of `bytes`, in little-endian words.
    fn load_bytes(isa: Self::Isa, bytes: &[u8]) -> Self;
    /// Writes the vector to the front of `words`.
    fn store(self, words: &mut [u32]);
    /// Writes the vector to the front of `bytes`, in little-endian words.
    fn store_bytes(self, bytes: &mut [u8]);

    /// Lane-wise wrapping sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// The bits of `self` where `mask` has ones, and those of `other` where it has zeros.
    fn select(self, mask: Self, other: Self) -> Self;
    /// Rotates each word right by `RIGHT` bits, given `LEFT = 32 - RIGHT`.
    fn rotate_right<const RIGHT: i32, const LEFT: i32>(self) -> Self;
    /// Moves word `(i + BY) % 4` of each quad to place `i`.
    fn rotate_quads<const BY: i32>(self) -> Self;

    /// Turns four rows of `LANES / 4` blocks into these blocks, one after the other.
    fn rows_to_blocks(rows: [Self; 4]) -> [Self; 4];

    /// Transposes the square of four words in each quad of four vectors.
    fn transpose_quads(vectors: [Self; 4]) -> [Self; 4];
}

/// Each of eight words in every lane of its own vector.
#[inline(always)]
pub(crate) fn splat_words<V: Vector>(isa: V::Isa, words: &[u32; 8]) -> [V; 8] {
    let splat = |index: usize| V::splat(isa, words[index]);
    [
        splat(0),
        splat(1),
        splat(2),
        splat(3),
        splat(4),
        splat(5),
        splat(6),
        splat(7),
    ]
}

/// Vectors that a block takes.
const fn parts<V: Vector>() -> usize {
    16 / V::LANES
}

/// Reads one block of 64 bytes for each lane and returns them as word vectors.
#[inline(always)]
pub(crate) fn gather_blocks<V: Vector>(isa: V::Isa, blocks: &[&[u8; 64]; MAX_LANES]) -> [V; 16] {
    let mut loaded = [V::splat(isa, 0); 16];
    for (index, vector) in loaded.iter_mut().enumerate() {
        let (part, lane) = (index / V::LANES, index % V::LANES);
        *vector = V::load_bytes(isa, &blocks[lane][part * V::LANES * 4..]);
    }
    for four in loaded.as_chunks_mut::<4>().0 {
        *four = V::transpose_quads(*four);
    }
    let mut words = loaded;
    for i in 0..4 {
        let rows = [loaded[i], loaded[i + 4], loaded[i + 8], loaded[i + 12]];
        for (index, vector) in V::rows_to_blocks(rows).into_iter().enumerate() {
            // Two quads a vector come as words 0, 8, 4 and 12 from the first.
            let four = match V::LANES {
                8 => index % 2 * 2 + index / 2,
                _ => index,
            };
            words[four * 4 + i] = vector;
        }
    }
    words
}

/// Word vectors on their way to blocks, in eight steps that can be taken beside other work.
pub(crate) struct Turning<V> {
    vectors: [V; 16],
}

impl<V: Vector> Turning<V> {
    #[inline(always)]
    pub(crate) const fn new(words: [V; 16]) -> Self {
        Self { vectors: words }
    }

    /// The first four steps: `four` is 0 to 3.
    #[inline(always)]
    pub(crate) fn turn(&mut self, four: usize) {
        let fours = self.vectors.as_chunks_mut::<4>().0;
        fours[four] = V::transpose_quads(fours[four]);
    }

    /// The last four, after which parts of blocks are ready: each with its lane and its place in
    /// bytes. `i` is 0 to 3.
    #[inline(always)]
    pub(crate) fn finish(&self, i: usize) -> [(usize, usize, V); 4] {
        let v = &self.vectors;
        let [a, b, c, d] = V::rows_to_blocks([v[i], v[i + 4], v[i + 8], v[i + 12]]);
        let place = |index: usize, part: V| {
            let lane = index / parts::<V>() * 4 + i;
            (lane, index % parts::<V>() * V::LANES * 4, part)
        };
        [place(0, a), place(1, b), place(2, c), place(3, d)]
    }

    /// The first four steps at once.
    #[inline(always)]
    pub(crate) fn turned(words: [V; 16]) -> Self {
        let mut turning = Self::new(words);
        for four in 0..4 {
            turning.turn(four);
        }
        turning
    }
}

/// Writes word vectors as one block for each lane.
#[inline(always)]
pub(crate) fn scatter_blocks<V: Vector>(words: [V; 16], blocks: &mut Blocks) {
    let turned = Turning::turned(words);
    for i in 0..4 {
        for (lane, at, part) in turned.finish(i) {
            part.store_bytes(&mut blocks.0[lane][at..]);
        }
    }
}
