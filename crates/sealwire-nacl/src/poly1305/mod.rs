//! Poly1305 (RFC 8439, section 2.5): a one-time key and a message give a tag.
//!
//! Four ways to the same tag:
//!
//! | for | with | on an Intel Xeon at 2.x GHz |
//! |---|---|---|
//! | short messages | three limbs of 44 bits in 64-bit registers | 80 ns for 64 bytes |
//! | long ones, AVX-512 IFMA | the same limbs in sixteen lanes | 15 GB/s |
//! | long ones, AVX2 | the crate `poly1305` | 4.8 GB/s, but 1.7 µs to get going |
//! | long ones, NEON | five limbs of 26 bits in four lanes | |

#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
mod ifma;
#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(sealwire_portable)
))]
mod neon;
#[cfg(any(
    sealwire_portable,
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))
))]
mod no_lanes;
mod scalar;
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod vectors;

#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
use ::poly1305::universal_hash::{KeyInit, UniversalHash};
#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
use ::poly1305::{Block, Poly1305};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
use self::ifma as lanes;
use self::lanes::Lanes;
#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(sealwire_portable)
))]
use self::neon as lanes;
#[cfg(any(
    sealwire_portable,
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))
))]
use self::no_lanes as lanes;
use self::scalar::Accumulator;
use crate::salsa20::block::MAC_KEY_SIZE;
use crate::sizes::TAG_SIZE;

/// From this many bytes on the crate's vector code is quicker.
const LONG: usize = 5_120;

/// Sizes of the pieces that [`Running`] takes are multiples of this many bytes. The vector code takes
/// sixteen blocks of 16 bytes at a time, that of the crate four; once some are left over, all that
/// follow are taken one by one.
pub(crate) const PIECE_UNIT: usize = 256;

/// The tag of `text`.
#[inline]
pub(crate) fn tag(key: &[u8; MAC_KEY_SIZE], text: &[u8]) -> [u8; TAG_SIZE] {
    if is_long(text.len()) {
        Running::new(key).finish(text)
    } else if text.len() < 16 * scalar::PAIRED {
        tag_of_few(key, text)
    } else {
        short_tag(key, text)
    }
}

/// The tag of a text that is not long.
#[inline(never)]
fn short_tag(key: &[u8; MAC_KEY_SIZE], text: &[u8]) -> [u8; TAG_SIZE] {
    Accumulator::new(key).finish(text)
}

/// The tag of a text of a few blocks. By itself, as taking them in pairs needs more room on the stack: 7 ns for each
/// message of a batch.
#[inline(never)]
fn tag_of_few(key: &[u8; MAC_KEY_SIZE], text: &[u8]) -> [u8; TAG_SIZE] {
    Accumulator::new(key).finish_few(text)
}

/// Whether two tags are the same, in constant time.
#[inline]
pub(crate) fn tags_equal(expected: &[u8; TAG_SIZE], tag: &[u8; TAG_SIZE]) -> bool {
    let (expected, tag) = (expected.as_chunks::<8>().0, tag.as_chunks::<8>().0);
    let words = |bytes: &[[u8; 8]]| [u64::from_ne_bytes(bytes[0]), u64::from_ne_bytes(bytes[1])];
    let equal = words(expected).as_slice().ct_eq(&words(tag)).unwrap_u8();
    // The verdict is public from here on.
    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    let equal = sealwire_constant_time::declassified(equal);
    equal == 1
}

/// Whether a text of this length is one for [`Running`].
#[inline]
pub(crate) fn is_long(length: usize) -> bool {
    length >= LONG || Lanes::are_quicker(length)
}

/// The tag of a long text that comes in pieces.
#[cfg_attr(
    not(sealwire_portable),
    allow(
        clippy::large_enum_variant,
        reason = "there is one at a time, on the stack"
    )
)]
pub(crate) enum Running {
    Lanes(Lanes, Zeroizing<[u8; MAC_KEY_SIZE]>),
    #[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
    Avx2(Poly1305),
    Scalar(Accumulator),
}

impl Running {
    pub(crate) fn new(key: &[u8; MAC_KEY_SIZE]) -> Self {
        let accumulator = Accumulator::new(key);
        if let Some(lanes) = Lanes::detect(accumulator.r.limbs) {
            return Self::Lanes(lanes, Zeroizing::new(*key));
        }
        #[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
        if sealwire_simd::Avx2::detect().is_some() {
            return Self::Avx2(Poly1305::new(key.into()));
        }
        Self::Scalar(accumulator)
    }

    /// Takes a piece whose size is a multiple of [`PIECE_UNIT`].
    pub(crate) fn update(&mut self, piece: &[u8]) {
        debug_assert!(piece.len().is_multiple_of(PIECE_UNIT));
        match self {
            Self::Lanes(lanes, _) => {
                lanes.update(piece);
            }
            #[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
            Self::Avx2(state) => state.update(Block::slice_as_chunks(piece).0),
            Self::Scalar(state) => state.update(piece.as_chunks().0),
        }
    }

    /// Takes the last piece, of any size, and gives the tag.
    pub(crate) fn finish(self, piece: &[u8]) -> [u8; TAG_SIZE] {
        match self {
            Self::Lanes(mut lanes, key) => {
                let rest = lanes.update(piece);
                let mut accumulator = Accumulator::new(&key);
                accumulator.h = lanes.sum();
                accumulator.finish(rest)
            }
            #[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
            Self::Avx2(mut state) => {
                let (blocks, rest) = Block::slice_as_chunks(piece);
                state.update(blocks);
                state.compute_unpadded(rest).into()
            }
            Self::Scalar(state) => state.finish(piece),
        }
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use alloc::vec::Vec;

    use ::poly1305::Poly1305;
    use ::poly1305::universal_hash::KeyInit;
    use sealwire_simd::measuring::on_every;

    use super::*;

    fn short(key: &[u8; 32], text: &[u8]) -> [u8; 16] {
        Accumulator::new(key).finish(text)
    }

    /// The vector code that this CPU would use, and the crate's.
    fn long(key: &[u8; 32], text: &[u8]) -> [[u8; 16]; 2] {
        let ours = Running::new(key).finish(text);
        let theirs = Poly1305::new(key.into()).compute_unpadded(text);
        [ours, theirs.into()]
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

    /// On every back end that this CPU has, whole and in pieces.
    #[test]
    fn random_keys_and_texts() {
        let mut state = 0x5ea1_u64;
        // SplitMix64.
        let mut random = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        for round in 0..1_000 {
            let key = core::array::from_fn(|_| random() as u8);
            let longest = [100, 4_000][round % 2];
            let length = random() as usize % longest;
            let text: Vec<u8> = (0..length).map(|_| random() as u8).collect();
            let first = random() as usize % (length / PIECE_UNIT + 1) * PIECE_UNIT;
            let expected: [u8; 16] = Poly1305::new((&key).into()).compute_unpadded(&text).into();
            on_every(&vectors::LEVELS, |level| {
                let name =
                    alloc::format!("{}, {length} bytes, {first} of them first", level.name());
                assert_eq!(short(&key, &text), expected, "scalar, {name}");
                assert_eq!(tag(&key, &text), expected, "{name}");
                let mut running = Running::new(&key);
                running.update(&text[..first]);
                assert_eq!(running.finish(&text[first..]), expected, "{name}");
            });
        }
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
}
