//! For every CPU: AES rounds in bitsliced form, without tables and without branches.
//!
//! Four lanes go through the F function at once, as eight planes of 64 bits. Bit `16 r + 4 c + b` of
//! plane `k` is bit `k` of the byte in row `r` and column `c` of block `b`, so that MixColumns turns
//! whole planes. The even lanes of the state are one such group and the odd lanes the other.
//!
//! Of the two AES rounds the first leaves ShiftRows out and mixes columns that are shifted instead;
//! the second makes up for both at once ("fixslicing": Adomnicai and Peyrin, "Fixslicing AES-like
//! Ciphers", <https://eprint.iacr.org/2020/1123>).

mod sbox;

use super::schedule::{PAIRS, ROUNDS, constant, pairs};
use super::{LANES, Permutation, RATE_LANES, Registers, WHOLE_LANE};

/// Four blocks, bitsliced.
type Planes = [u64; 8];

/// The back end that needs nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Registers<1> for Portable {
    type Lane = u128;

    #[inline]
    fn load(self, [from]: &[impl AsRef<[u8]>; 1], at: usize) -> u128 {
        let lane = from.as_ref()[at..].first_chunk().expect(WHOLE_LANE);
        u128::from_le_bytes(*lane)
    }

    #[inline]
    fn store(self, lane: u128, [to]: &mut [impl AsMut<[u8]>; 1], at: usize) {
        let bytes = to.as_mut()[at..].first_chunk_mut().expect(WHOLE_LANE);
        *bytes = lane.to_le_bytes();
    }

    #[inline]
    fn xor(self, a: u128, b: u128) -> u128 {
        a ^ b
    }

    #[inline]
    fn clear(self, lane: u128, mask: u128) -> u128 {
        lane & !mask
    }

    #[inline]
    fn last_14(self, lane: u128) -> u128 {
        lane >> 16
    }

    #[inline]
    fn first_14(self, lane: u128) -> u128 {
        lane << 16
    }
}

impl Permutation<1> for Portable {
    fn permute(self, lanes: [u128; LANES]) -> [u128; LANES] {
        let [a, b, c, d, e, f, g, h] = lanes;
        let mut even = slice([a, c, e, g]);
        let mut odd = slice([b, d, f, h]);
        for round in (0..ROUNDS).step_by(6) {
            odd = step(&even, &CONSTANTS[round], odd, |planes| planes);
            even = step(&odd, &CONSTANTS[round + 1], even, reverse_blocks);
            odd = step(&even, &CONSTANTS[round + 2], odd, swap_blocks);
            even = step(&odd, &CONSTANTS[round + 3], even, |planes| planes);
            odd = step(&even, &CONSTANTS[round + 4], odd, reverse_blocks);
            even = step(&odd, &CONSTANTS[round + 5], even, swap_blocks);
        }
        let ([a, c, e, g], [b, d, f, h]) = (unslice(even), unslice(odd));
        [a, b, c, d, e, f, g, h]
    }

    #[inline]
    fn permute_and_add(self, lanes: [u128; LANES], input: [u128; RATE_LANES]) -> [u128; LANES] {
        let mut lanes = self.permute(lanes);
        for (lane, input) in lanes.iter_mut().zip(input) {
            *lane ^= input;
        }
        lanes
    }
}

/// Round keys in planes. Only row 0 of a round key is not zero, and row 0 is never shifted.
static CONSTANTS: [[u16; 8]; ROUNDS] = {
    let mut planes = [[0; 8]; ROUNDS];
    let mut number = 0;
    while number < ROUNDS * PAIRS {
        let (round, pair) = (number / PAIRS, number % PAIRS);
        let block = pairs(round)[pair].0 / 2;
        let key = constant(number + 1);
        let mut bit = 0;
        while bit < 32 {
            let (plane, column) = (bit % 8, bit / 8);
            planes[round][plane] |= ((key[4 * column] >> plane) as u16 & 1) << (4 * column + block);
            bit += 1;
        }
        number += 1;
    }
    planes
};

/// A round: the F functions of `source`, moved to the blocks they belong onto, onto `target`.
///
/// Inlined by force, as the S-box and [`mix`] are: with calls the planes go through memory, and the
/// permutation takes 29 per cent longer (Intel).
#[inline(always)]
fn step(
    source: &Planes,
    constants: &[u16; 8],
    target: Planes,
    arrange: impl Fn(u64) -> u64,
) -> Planes {
    let first = mix_shifted_columns(sbox::substitute(*source));
    let first: Planes = core::array::from_fn(|plane| first[plane] ^ u64::from(constants[plane]));
    let second = mix_columns(sbox::substitute(first).map(shift_rows_twice));
    core::array::from_fn(|plane| target[plane] ^ arrange(second[plane]))
}

/// Rotates every row by `COLUMNS` columns.
#[inline]
const fn rotate_rows<const COLUMNS: u32>(plane: u64) -> u64 {
    let bits = 4 * COLUMNS;
    let low = (0xffff >> bits) * 0x0001_0001_0001_0001;
    (plane >> bits) & low | (plane << (16 - bits)) & !low
}

/// ShiftRows two times: rows 1 and 3 move by two columns.
#[inline]
const fn shift_rows_twice(plane: u64) -> u64 {
    const ODD_ROWS: u64 = 0xffff_0000_ffff_0000;
    plane & !ODD_ROWS | rotate_rows::<2>(plane) & ODD_ROWS
}

/// MixColumns, given how to reach the next row and the next but one.
#[inline(always)]
fn mix(planes: Planes, next: impl Fn(u64) -> u64, next_but_one: impl Fn(u64) -> u64) -> Planes {
    let below = planes.map(next);
    let sums: Planes = core::array::from_fn(|plane| planes[plane] ^ below[plane]);
    let high = sums[7];
    // Doubling in the field: the bits move up, and what falls out comes back as x^4 + x^3 + x + 1.
    let doubled = [
        high,
        sums[0] ^ high,
        sums[1],
        sums[2] ^ high,
        sums[3] ^ high,
        sums[4],
        sums[5],
        sums[6],
    ];
    core::array::from_fn(|plane| doubled[plane] ^ below[plane] ^ next_but_one(sums[plane]))
}

/// MixColumns.
#[inline]
fn mix_columns(planes: Planes) -> Planes {
    mix(
        planes,
        |plane| plane.rotate_right(16),
        |plane| plane.rotate_right(32),
    )
}

/// MixColumns between ShiftRows and its inverse.
#[inline]
fn mix_shifted_columns(planes: Planes) -> Planes {
    mix(
        planes,
        |plane| rotate_rows::<1>(plane.rotate_right(16)),
        |plane| rotate_rows::<2>(plane.rotate_right(32)),
    )
}

/// Blocks 1, 0, 3, 2.
#[inline]
const fn swap_blocks(plane: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    (plane >> 1) & EVEN | (plane & EVEN) << 1
}

/// Blocks 3, 2, 1, 0.
#[inline]
const fn reverse_blocks(plane: u64) -> u64 {
    const LOW: u64 = 0x3333_3333_3333_3333;
    let plane = swap_blocks(plane);
    (plane >> 2) & LOW | (plane & LOW) << 2
}

/// Byte `byte` of word `word` in [`transpose`]'s input: the block and the shift within it.
#[inline]
const fn place(word: usize, byte: usize) -> (usize, usize) {
    let (row, column) = (byte / 2, 2 * (byte % 2) + word / 4);
    (word % 4, 8 * (4 * column + row))
}

/// Four blocks to planes.
fn slice(blocks: [u128; 4]) -> Planes {
    let mut words = [0; 8];
    for (index, word) in words.iter_mut().enumerate() {
        for byte in 0..8 {
            let (block, shift) = place(index, byte);
            *word |= u64::from((blocks[block] >> shift) as u8) << (8 * byte);
        }
    }
    transpose(words)
}

/// Planes to four blocks.
fn unslice(planes: Planes) -> [u128; 4] {
    let mut blocks = [0; 4];
    for (index, word) in transpose(planes).into_iter().enumerate() {
        for byte in 0..8 {
            let (block, shift) = place(index, byte);
            blocks[block] |= u128::from((word >> (8 * byte)) as u8) << shift;
        }
    }
    blocks
}

/// Bit `i` of each byte of word `j` changes places with bit `j` of that byte of word `i`.
fn transpose(mut words: Planes) -> Planes {
    for (distance, low) in [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f_u64),
    ] {
        for index in 0..8 {
            if index & distance == 0 {
                let (a, b) = (words[index], words[index + distance]);
                words[index] = a & low | (b & low) << distance;
                words[index + distance] = (a >> distance) & low | b & !low;
            }
        }
    }
    words
}
