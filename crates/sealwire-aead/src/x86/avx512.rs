//! AVX-512: sixteen lanes, rotations and masks.

use crate::keys::MessageKeys;
use crate::node::{Chain, Node};
use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::{Isa, QUADS};
use crate::simd::quads::{PickQuads, hash_four_chunks, seal_message};
use crate::simd::shape::Edge;
use core::arch::x86_64::{
    _bzhi_u64, _mm256_castsi256_si128, _mm256_permutex2var_epi32, _mm512_loadu_si512,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_permutex2var_epi32,
    _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_xor_si512,
};
use core::hint::black_box;
use sealwire_simd::vector::Vector;
use sealwire_simd::x86::avx512::{V128, V256, V512};
use sealwire_simd::{Avx512, instructions};

kernels!(Avx512, lanes V256, V512);

/// A block in two vectors from which one instruction picks any words.
///
/// In vectors of 256 bits: while there are wider ones in flight, a third of the units for narrow ones
/// stands still.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    /// First half and last. `vpermi2d` gets them in the other order, with 8 flipped in each place:
    /// in this order LLVM joins the two loads that feed it to one of 512 bits and a `vpermd`.
    words: [V256; 2],
    /// [`ROW_PLACES`], which the compiler must not know: it replaces a selection that it knows by
    /// several instructions.
    places: &'static RowPlaces,
}

type RowPlaces = [[[u32; 8]; 4]; 7];

/// [`ROW_SCHEDULE`] as vectors.
static ROW_PLACES: RowPlaces = row_places();

const fn row_places() -> RowPlaces {
    let mut places = [[[0; 8]; 4]; 7];
    let mut index = 0;
    while index < 7 * 4 * 8 {
        let (round, part, word) = (index / 32, index / 8 % 4, index % 8);
        places[round][part][word] = ROW_SCHEDULE[round][part][word % 4] as u32 ^ 8;
        index += 1;
    }
    places
}

impl Isa for Avx512 {
    type Message = Halves;

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> Halves {
            Halves {
                words: [
                    V256::load_bytes(self, block),
                    V256::load_bytes(self, &block[32..]),
                ],
                places: black_box(&ROW_PLACES),
            }
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &Halves) -> V128 {
            let places = V256::load(self, &message.places[ROUND][PART]);
            let [first, last] = message.words;
            let words = _mm256_permutex2var_epi32(last.raw(), places.raw(), first.raw());
            V128::from_raw(self, _mm256_castsi256_si128(words))
        }
    }

    #[inline(always)]
    fn hash_four_chunks<'a>(
        self,
        key: &Chain,
        block: impl Fn(usize, usize) -> &'a [u8; 64],
        first: u64,
    ) -> Option<[Node; QUADS]> {
        Some(hash_four_chunks(self, key, block, first))
    }

    sealwire_simd::compiled_for!(Avx512;
        fn seal_four_chunks(
            self, keys: &MessageKeys, counter: u64, aad: &[u8], buffer: &mut [u8]
        ) -> Option<Node> = seal_message;
    );

    #[inline(always)]
    fn xor_short(self, data: &mut [u8], keystream: &[u8; 64]) {
        let length = data.len().min(64) as u32;
        // SAFETY: `self` is the proof that the CPU has the instructions; the mask keeps them inside
        // `data`.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, length);
            let text = _mm512_maskz_loadu_epi8(mask, data.as_ptr().cast());
            let key_bytes = _mm512_loadu_si512(keystream.as_ptr().cast());
            let mixed = _mm512_xor_si512(text, key_bytes);
            _mm512_mask_storeu_epi8(data.as_mut_ptr().cast(), mask, mixed);
        }
    }

    #[inline(always)]
    fn write_edge(self, edge: &Edge, aad: &[u8], text: &[u8], block: &mut [u8; 64]) {
        let (aad, text) = (&aad[..edge.aad], &text[edge.text.clone()]);
        // SAFETY: `self` is the proof that the CPU has the instructions; the masks keep the loads
        // inside `text` and `aad`: a mask has no bit for the bytes in front of what it was made for,
        // and one for each byte of it at most.
        unsafe {
            let in_text = _bzhi_u64(u64::MAX, text.len() as u32) << (edge.text_at % 64);
            let front = text.as_ptr().wrapping_sub(edge.text_at % 64);
            let mut bytes = _mm512_maskz_loadu_epi8(in_text, front.cast());
            bytes = _mm512_or_si512(bytes, _mm512_loadu_si512(edge.lengths.as_ptr().cast()));
            if !aad.is_empty() {
                let in_aad = _bzhi_u64(u64::MAX, aad.len() as u32);
                let aad = _mm512_maskz_loadu_epi8(in_aad, aad.as_ptr().cast());
                bytes = _mm512_or_si512(bytes, aad);
            }
            _mm512_storeu_si512(block.as_mut_ptr().cast(), bytes);
        }
    }

    #[inline(always)]
    fn copy_short(self, from: &[u8], to: &mut [u8]) {
        let length = from.len().min(64);
        if length == 0 {
            return;
        }
        // SAFETY: `self` is the proof that the CPU has the instructions; the mask keeps them inside
        // `from`, and inside `to` where it has no room for a whole vector.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, length as u32);
            let bytes = _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast());
            match to.first_chunk_mut::<64>() {
                // Later loads get a whole vector's store from the store buffer, a masked one's not.
                Some(to) => _mm512_storeu_si512(to.as_mut_ptr().cast(), bytes),
                None => {
                    let to = &mut to[..length];
                    _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, bytes);
                }
            }
        }
    }
}

/// Places in a pair of vectors, each a vector.
#[derive(Clone, Copy)]
pub(crate) struct QuadPlaces {
    /// From two blocks to two parts of `ROW_SCHEDULE[0]`, first and last.
    load: [V512; 2],
    /// From the parts of a round to each of the next: from the first two that have words of it.
    first: [V512; 4],
    /// From that and a third part; the first part of a round has no words of a third.
    third: [V512; 3],
}

/// The parts that have words of each part of the next round.
const ORIGINS: [[usize; 3]; 4] = [[0, 1, 1], [0, 2, 3], [3, 1, 2], [2, 3, 1]];

static QUAD_PLACES: [[u32; 16]; 9] = [
    load_places(0),
    load_places(2),
    first_places(0),
    first_places(1),
    first_places(2),
    first_places(3),
    third_places(1),
    third_places(2),
    third_places(3),
];

/// For each quad of the result: words of two blocks for parts `part` and `part + 1`.
const fn load_places(part: usize) -> [u32; 16] {
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        let (block, part) = (index / 4 % 2, part + index / 8);
        places[index] = (block * 16 + ROW_SCHEDULE[0][part][index % 4]) as u32;
        index += 1;
    }
    places
}

/// Part and column in a round of the word that `column` of `part` has in the next.
const fn origin(part: usize, column: usize) -> (usize, usize) {
    let mut index = 0;
    while ROW_SCHEDULE[0][index / 4][index % 4] != ROW_SCHEDULE[1][part][column] {
        index += 1;
    }
    (index / 4, index % 4)
}

const fn first_places(part: usize) -> [u32; 16] {
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        let (from, column) = origin(part, index % 4);
        let vector = (from == ORIGINS[part][1]) as usize;
        places[index] = (vector * 16 + index / 4 * 4 + column) as u32;
        index += 1;
    }
    places
}

const fn third_places(part: usize) -> [u32; 16] {
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        let (from, column) = origin(part, index % 4);
        places[index] = if from == ORIGINS[part][2] {
            16 + index / 4 * 4 + column
        } else {
            index
        } as u32;
        index += 1;
    }
    places
}

impl PickQuads for Avx512 {
    type Places = QuadPlaces;

    instructions! {
        fn places(self) -> QuadPlaces {
            // The compiler replaces selections that it knows by several instructions.
            let [l0, l1, f0, f1, f2, f3, t0, t1, t2] = black_box(&QUAD_PLACES)
                .each_ref()
                .map(|places| V512::load(self, places));
            QuadPlaces {
                load: [l0, l1],
                first: [f0, f1, f2, f3],
                third: [t0, t1, t2],
            }
        }

        fn load_quads(self, places: &QuadPlaces, blocks: [&[u8; 64]; QUADS]) -> [V512; 4] {
            let [a, b, c, d] = blocks.map(|block| V512::load_bytes(self, block).raw());
            let [low, high] = places.load.map(|places| places.raw());
            let ab_low = _mm512_permutex2var_epi32(a, low, b);
            let ab_high = _mm512_permutex2var_epi32(a, high, b);
            let cd_low = _mm512_permutex2var_epi32(c, low, d);
            let cd_high = _mm512_permutex2var_epi32(c, high, d);
            [
                V512::from_raw(self, _mm512_shuffle_i32x4::<0b01_00_01_00>(ab_low, cd_low)),
                V512::from_raw(self, _mm512_shuffle_i32x4::<0b11_10_11_10>(ab_low, cd_low)),
                V512::from_raw(self, _mm512_shuffle_i32x4::<0b01_00_01_00>(ab_high, cd_high)),
                V512::from_raw(self, _mm512_shuffle_i32x4::<0b11_10_11_10>(ab_high, cd_high)),
            ]
        }

        fn next_quads(self, places: &QuadPlaces, message: [V512; 4]) -> [V512; 4] {
            let pick = |a: V512, places: V512, b: V512| {
                V512::from_raw(self, _mm512_permutex2var_epi32(a.raw(), places.raw(), b.raw()))
            };
            let part = |part: usize| {
                let [first, second, third] = ORIGINS[part].map(|origin| message[origin]);
                let two = pick(first, places.first[part], second);
                match part {
                    0 => two,
                    _ => pick(two, places.third[part - 1], third),
                }
            };
            [part(0), part(1), part(2), part(3)]
        }
    }
}
