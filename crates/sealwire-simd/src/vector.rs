//! Vectors of 32-bit words.
//!
//! They are used in two ways:
//!
//! ```text
//! lanes: vector i holds word i of several blocks      rows: a vector holds four words of one block
//!        w0  | A0 B0 C0 D0 ...                              a | A0 A1 A2 A3
//!        w1  | A1 B1 C1 D1 ...                              b | A4 A5 A6 A7
//!        many blocks at once, full throughput               one block, least latency
//! ```

/// Most lanes that any vector has.
pub const MAX_LANES: usize = 16;

/// An instruction set with vectors. A value is the proof that this CPU has it.
pub trait Isa: Copy {
    /// Vector of four lanes, also used for rows.
    type Narrow: Vector<Isa = Self>;
    /// Vector for five to eight lanes; `Wide` where there is none between.
    type Middle: Vector<Isa = Self>;
    /// Vector with the most lanes.
    type Wide: Vector<Isa = Self>;
}

/// A vector of `LANES` 32-bit words.
///
/// Making one takes the proof that the CPU has the instructions; with one in hand, everything else
/// is safe. The methods are instructions: they are inlined into functions with the set's features on,
/// and slow elsewhere.
pub trait Vector: Copy {
    /// The instruction set it belongs to.
    type Isa: Copy;
    /// Number of words: 4, 8 or 16.
    const LANES: usize;

    /// The same word in every lane.
    fn splat(isa: Self::Isa, word: u32) -> Self;
    /// The same four words in every quad.
    fn splat_quad(isa: Self::Isa, words: [u32; 4]) -> Self;
    /// The first `LANES` words of `words`.
    ///
    /// # Panics
    /// Where there are fewer. This holds for every slice here.
    fn load(isa: Self::Isa, words: &[u32]) -> Self;
    /// The first `4 * LANES` bytes of `bytes`, in little-endian words.
    fn load_bytes(isa: Self::Isa, bytes: &[u8]) -> Self;
    /// Writes the vector to the front of `words`.
    fn store(self, words: &mut [u32]);
    /// Writes the vector to the front of `bytes`, in little-endian words.
    fn store_bytes(self, bytes: &mut [u8]);

    /// Lane-wise wrapping sum.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// Lane-wise exclusive or.
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// The words of `self` where `mask` has all ones, and those of `other` where it has zeros.
    #[must_use]
    fn select(self, mask: Self, other: Self) -> Self;
    /// Rotates each word right by `RIGHT` bits, given `LEFT = 32 - RIGHT`.
    #[must_use]
    fn rotate_right<const RIGHT: i32, const LEFT: i32>(self) -> Self;
    /// Moves word `(i + BY) % 4` of each quad to place `i`.
    #[must_use]
    fn rotate_quads<const BY: i32>(self) -> Self;

    /// Turns four rows of `LANES / 4` blocks into these blocks, one after the other.
    fn rows_to_blocks(rows: [Self; 4]) -> [Self; 4];
    /// Transposes the square of four words in each quad of four vectors.
    fn transpose_quads(vectors: [Self; 4]) -> [Self; 4];
}

/// Implements [`Vector`] for a new type `$name` around the register `$raw`.
///
/// Each function takes and gives registers and is compiled for instructions that `$isa` proves.
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
macro_rules! vector {
    (
        $(#[$doc:meta])*
        $name:ident($raw:ty) of $isa:ty, $lanes:literal lanes:
        load $load:path, store $store:path, splat $splat:path, splat_quad $splat_quad:path,
        add $add:path, xor $xor:path, select $select:path, rotate $rotate:ident,
        rotate_quads $rotate_quads:ident, transpose_quads $transpose:path, quads $quads:path
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name($raw);

        impl $name {
            /// The vector that a register holds.
            #[inline]
            #[must_use]
            pub const fn from_raw(_: $isa, raw: $raw) -> Self {
                Self(raw)
            }

            /// The register.
            #[inline]
            #[must_use]
            pub const fn raw(self) -> $raw {
                self.0
            }
        }

        impl $crate::vector::Vector for $name {
            type Isa = $isa;
            const LANES: usize = $lanes;

            // Slices are cut to the length of the vector before a pointer is made of them.
            $crate::instructions! {
                fn splat(_: $isa, word: u32) -> Self {
                    Self($splat(word.cast_signed()))
                }

                fn splat_quad(_: $isa, words: [u32; 4]) -> Self {
                    Self($splat_quad(words))
                }

                fn load(_: $isa, words: &[u32]) -> Self {
                    let words = &words[..$lanes];
                    Self($load(words.as_ptr().cast()))
                }

                fn load_bytes(_: $isa, bytes: &[u8]) -> Self {
                    let bytes = &bytes[..4 * $lanes];
                    Self($load(bytes.as_ptr().cast()))
                }

                fn store(self, words: &mut [u32]) {
                    let words = &mut words[..$lanes];
                    $store(words.as_mut_ptr().cast(), self.0)
                }

                fn store_bytes(self, bytes: &mut [u8]) {
                    let bytes = &mut bytes[..4 * $lanes];
                    $store(bytes.as_mut_ptr().cast(), self.0)
                }

                fn add(self, other: Self) -> Self {
                    Self($add(self.0, other.0))
                }

                fn xor(self, other: Self) -> Self {
                    Self($xor(self.0, other.0))
                }

                fn select(self, mask: Self, other: Self) -> Self {
                    Self($select(self.0, mask.0, other.0))
                }

                fn rotate_right<const RIGHT: i32, const LEFT: i32>(self) -> Self {
                    Self($rotate::<RIGHT, LEFT>(self.0))
                }

                fn rotate_quads<const BY: i32>(self) -> Self {
                    Self($rotate_quads::<BY>(self.0))
                }

                fn rows_to_blocks(rows: [Self; 4]) -> [Self; 4] {
                    $quads(rows.map(|row| row.0)).map(Self)
                }

                fn transpose_quads(vectors: [Self; 4]) -> [Self; 4] {
                    $transpose(vectors.map(|vector| vector.0)).map(Self)
                }
            }
        }
    };
}

#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
pub(crate) use vector;
