//! Poly1305 (RFC 8439, section 2.5): a one-time key and a message give a tag.
//!
//! Three ways to the same tag:
//!
//! | for | with | on an Intel Xeon at 2.x GHz |
//! |---|---|---|
//! | short messages | three limbs of 44 bits in 64-bit registers | 80 ns for 64 bytes |
//! | long ones, AVX-512 IFMA | the same limbs in sixteen lanes | 15 GB/s |
//! | long ones, AVX2 | the crate `poly1305` | 4.8 GB/s, but 1.7 µs to get going |

use ::poly1305::universal_hash::{KeyInit, UniversalHash};
use ::poly1305::{Block, Poly1305};
use subtle::ConstantTimeEq;
#[cfg(target_arch = "x86_64")]
use zeroize::Zeroizing;

use crate::TAG_SIZE;
use crate::portable::MAC_KEY_SIZE;
#[cfg(target_arch = "x86_64")]
use crate::x86::ifma::{self, Ifma, SixteenLanes};

/// From this many bytes on sixteen lanes are quicker.
#[cfg(target_arch = "x86_64")]
const LONG_FOR_IFMA: usize = 768;
/// From this many bytes on the crate's vector code is quicker.
const LONG_FOR_AVX2: usize = 2_560;

/// Sizes of the pieces that [`Running`] takes are multiples of this many bytes. The vector code takes
/// sixteen blocks of 16 bytes at a time, that of the crate four; once some are left over, all that
/// follow are taken one by one.
#[cfg(target_arch = "x86_64")]
pub(crate) const PIECE_UNIT: usize = ifma::STEP;

pub(crate) const MASK_44: u64 = (1 << 44) - 1;
pub(crate) const MASK_42: u64 = (1 << 42) - 1;

/// The tag of `text`.
#[inline]
pub(crate) fn tag(key: &[u8; MAC_KEY_SIZE], text: &[u8]) -> [u8; TAG_SIZE] {
    if is_long(text.len()) {
        Running::new(key).finish(text)
    } else {
        Accumulator::new(key).finish(text)
    }
}

/// Whether two tags are the same, in constant time.
#[inline(always)]
pub(crate) fn tags_equal(expected: &[u8; TAG_SIZE], tag: &[u8; TAG_SIZE]) -> bool {
    let (expected, tag) = (expected.as_chunks::<8>().0, tag.as_chunks::<8>().0);
    let words = |bytes: &[[u8; 8]]| [u64::from_ne_bytes(bytes[0]), u64::from_ne_bytes(bytes[1])];
    let equal = words(expected).as_slice().ct_eq(&words(tag)).unwrap_u8();
    // The verdict is no secret any more.
    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    let equal = crate::constant_time::declassified(equal);
    equal == 1
}

/// Whether a text of this length is one for [`Running`].
#[inline(always)]
pub(crate) fn is_long(length: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if length >= LONG_FOR_IFMA && Ifma::detect().is_some() {
        return true;
    }
    length >= LONG_FOR_AVX2 && has_avx2()
}

#[inline(always)]
fn has_avx2() -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    let found = std::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let found = cfg!(target_feature = "avx2");
    found
}

/// The tag of a long text that comes in pieces.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one at a time, on the stack"
)]
pub(crate) enum Running {
    #[cfg(target_arch = "x86_64")]
    Ifma(SixteenLanes, Zeroizing<[u8; MAC_KEY_SIZE]>),
    Crate(Poly1305),
}

impl Running {
    pub(crate) fn new(key: &[u8; MAC_KEY_SIZE]) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = Ifma::detect() {
            let lanes = SixteenLanes::new(isa, Accumulator::new(key).r.limbs);
            return Self::Ifma(lanes, Zeroizing::new(*key));
        }
        Self::Crate(Poly1305::new(key.into()))
    }

    /// Takes a piece whose size is a multiple of [`PIECE_UNIT`].
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn update(&mut self, piece: &[u8]) {
        debug_assert!(piece.len().is_multiple_of(PIECE_UNIT));
        match self {
            Self::Ifma(lanes, _) => lanes.update(piece.as_chunks().0),
            Self::Crate(state) => state.update(Block::slice_as_chunks(piece).0),
        }
    }

    /// Takes the last piece, of any size, and gives the tag.
    pub(crate) fn finish(self, piece: &[u8]) -> [u8; TAG_SIZE] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(mut lanes, key) => {
                let (steps, rest) = piece.as_chunks();
                lanes.update(steps);
                let mut accumulator = Accumulator::new(&key);
                accumulator.h = lanes.sum();
                accumulator.finish(rest)
            }
            Self::Crate(mut state) => {
                let (blocks, rest) = Block::slice_as_chunks(piece);
                state.update(blocks);
                state.compute_unpadded(rest).into()
            }
        }
    }
}

/// A number in three limbs, of 44, 44 and 42 bits and a little more.
pub(crate) type Limbs = [u64; 3];

/// A number to multiply by.
pub(crate) struct Factor {
    limbs: Limbs,
    /// The upper two limbs times 20: what goes beyond 2^130 comes back times 5, and limbs of 44 bits
    /// make 132.
    times_20: [u64; 2],
}

impl Factor {
    #[inline(always)]
    pub(crate) fn new(limbs: Limbs) -> Self {
        Self {
            limbs,
            times_20: [limbs[1] * 20, limbs[2] * 20],
        }
    }

    /// The product modulo 2^130 - 5, not fully reduced.
    #[inline(always)]
    pub(crate) fn times(&self, [h0, h1, h2]: Limbs) -> Limbs {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let ([r0, r1, r2], [s1, s2]) = (self.limbs, self.times_20);
        let d0 = product(h0, r0) + product(h1, s2) + product(h2, s1);
        let d1 = product(h0, r1) + product(h1, r0) + product(h2, s2);
        let d2 = product(h0, r2) + product(h1, r1) + product(h2, r0);

        let d1 = d1 + u128::from((d0 >> 44) as u64);
        let d2 = d2 + u128::from((d1 >> 44) as u64);
        let h0 = (d0 as u64 & MASK_44) + (d2 >> 42) as u64 * 5;
        let h1 = (d1 as u64 & MASK_44) + (h0 >> 44);
        [h0 & MASK_44, h1, d2 as u64 & MASK_42]
    }
}

/// The sum so far, and what it is multiplied by with each block.
struct Accumulator {
    h: Limbs,
    r: Factor,
    /// Added at the end.
    pad: u128,
}

impl Accumulator {
    #[inline(always)]
    fn new(key: &[u8; MAC_KEY_SIZE]) -> Self {
        let (r, pad) = key.split_at(16);
        let word = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
        let (low, high) = (word(r) as u64, (word(r) >> 64) as u64);
        Self {
            h: [0; 3],
            r: Factor::new([
                low & 0xffc_0fff_ffff,
                ((low >> 44) | (high << 20)) & 0xfff_ffc0_ffff,
                (high >> 24) & 0x00f_ffff_fc0f,
            ]),
            pad: word(pad),
        }
    }

    /// Adds 128 bits and what is above them, then multiplies by `r`.
    #[inline(always)]
    fn absorb(&mut self, block: u128, above: u64) {
        let (low, high) = (block as u64, (block >> 64) as u64);
        let [h0, h1, h2] = self.h;
        self.h = self.r.times([
            h0 + (low & MASK_44),
            h1 + (((low >> 44) | (high << 20)) & MASK_44),
            h2 + ((high >> 24) | above),
        ]);
    }

    /// Takes the last part of a text, of any size, and gives the tag.
    #[inline(always)]
    fn finish(mut self, text: &[u8]) -> [u8; TAG_SIZE] {
        let (blocks, rest) = text.as_chunks::<16>();
        for block in blocks {
            self.absorb(u128::from_le_bytes(*block), 1 << 40);
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            block[..rest.len()].copy_from_slice(rest);
            block[rest.len()] = 1;
            self.absorb(u128::from_le_bytes(block), 0);
        }
        self.reduced().wrapping_add(self.pad).to_le_bytes()
    }

    /// The sum modulo 2^130 - 5, and of that the lower 128 bits.
    #[inline(always)]
    fn reduced(&self) -> u128 {
        let [mut h0, mut h1, mut h2] = self.h;
        for _ in 0..2 {
            h2 += h1 >> 44;
            h1 &= MASK_44;
            h0 += (h2 >> 42) * 5;
            h2 &= MASK_42;
            h1 += h0 >> 44;
            h0 &= MASK_44;
        }
        h2 += h1 >> 44;
        h1 &= MASK_44;

        // h - (2^130 - 5), taken when it is not negative.
        let g0 = h0 + 5;
        let g1 = h1 + (g0 >> 44);
        let g2 = (h2 + (g1 >> 44)).wrapping_sub(1 << 42);
        let reduced = (g2 >> 63).wrapping_sub(1);
        h0 = (h0 & !reduced) | (g0 & MASK_44 & reduced);
        h1 = (h1 & !reduced) | (g1 & MASK_44 & reduced);
        h2 = (h2 & !reduced) | (g2 & reduced);
        u128::from(h0) | u128::from(h1) << 44 | u128::from(h2) << 88
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn short(key: &[u8; 32], text: &[u8]) -> [u8; 16] {
        Accumulator::new(key).finish(text)
    }

    /// The vector code that this CPU would use, and the crate's.
    fn long(key: &[u8; 32], text: &[u8]) -> [[u8; 16]; 2] {
        let ours = Running::new(key).finish(text);
        [ours, Running::Crate(Poly1305::new(key.into())).finish(text)]
    }

    #[test]
    fn all_ways_lead_to_the_same_tag() {
        for length in (0..1_100).chain((1_100..9_000).step_by(397)) {
            let text: Vec<u8> = (0..length).map(|i| (i * 31 + length) as u8).collect();
            let key = core::array::from_fn(|i| (i * 7 + length) as u8);
            assert_eq!([short(&key, &text); 2], long(&key, &text), "{length} bytes");
        }
    }

    /// Keys and texts that make every limb and every carry as large as it can be.
    #[test]
    fn extreme_keys_and_texts() {
        for key in [
            [0xff; 32],
            [0; 32],
            [0x0f; 32],
            core::array::from_fn(|i| [0xff, 0][i % 2]),
        ] {
            for byte in [0xff, 0, 0xfe, 0x80] {
                for length in [256, 512, 767, 4_096, 65_536] {
                    let text = alloc::vec![byte; length];
                    assert_eq!([short(&key, &text); 2], long(&key, &text), "{length} bytes");
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn pieces_make_no_difference() {
        let text: Vec<u8> = (0..5_000).map(|i| (i * 37) as u8).collect();
        let key = core::array::from_fn(|i| (i * 11) as u8);
        let mut running = Running::new(&key);
        let (first, rest) = text.split_at(3 * PIECE_UNIT);
        let (second, rest) = rest.split_at(PIECE_UNIT);
        running.update(first);
        running.update(second);
        assert_eq!(running.finish(rest), short(&key, &text));
    }

    /// RFC 8439, section 2.5.2.
    #[test]
    fn the_tag_of_the_rfc() {
        let key = [
            0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5,
            0x06, 0xa8, 0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf,
            0x41, 0x49, 0xf5, 0x1b,
        ];
        let tag = [
            0xa8, 0x06, 0x1d, 0xc1, 0x30, 0x51, 0x36, 0xc6, 0xc2, 0x2b, 0x8b, 0xaf, 0x0c, 0x01,
            0x27, 0xa9,
        ];
        assert_eq!(short(&key, b"Cryptographic Forum Research Group"), tag);
    }

    /// Sums that come out just below, at and above 2^130 - 5 (RFC 8439, appendix A.3, vectors 7 to
    /// 11): the last reduction either is or is not needed.
    #[test]
    fn sums_around_the_modulus() {
        let r = |low: u8| {
            let mut key = [0; 32];
            key[0] = low;
            key
        };
        let with = |last: u8, rest: u8| {
            let mut block = [rest; 16];
            block[0] = last;
            block
        };
        let cases: [(u8, Vec<u8>, u8); 3] = [
            (2, [0xff; 16].to_vec(), 3),
            (
                1,
                [[0xff; 16], with(0xf0, 0xff), {
                    let mut block = [0; 16];
                    block[0] = 0x11;
                    block
                }]
                .concat(),
                5,
            ),
            (1, [[0xff; 16], with(0xfb, 0xfe), [0x01; 16]].concat(), 0),
        ];
        for (low, text, first) in cases {
            let mut expected = [0; 16];
            expected[0] = first;
            assert_eq!(short(&r(low), &text), expected);
            assert_eq!(long(&r(low), &text), [expected; 2]);
        }
    }
}
