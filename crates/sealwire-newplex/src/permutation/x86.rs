//! x86-64: AES-NI for one state in eight 128-bit registers; VAES for two states in eight 256-bit
//! registers, or four in eight 512-bit registers.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

use super::rounds::AesRounds;
use super::{LANE, Registers, WHOLE_LANE};
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_aesenc_si128, _mm_andnot_si128, _mm_bslli_si128,
    _mm_bsrli_si128, _mm_loadu_si128, _mm_storeu_si128, _mm_xor_si128, _mm256_aesenc_epi128,
    _mm256_andnot_si256, _mm256_broadcastsi128_si256, _mm256_bslli_epi128, _mm256_bsrli_epi128,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_set_m128i, _mm256_xor_si256,
    _mm512_aesenc_epi128, _mm512_andnot_si512, _mm512_broadcast_i32x4, _mm512_bslli_epi128,
    _mm512_bsrli_epi128, _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_extracti32x4_epi32,
    _mm512_inserti64x4, _mm512_xor_si512,
};
use sealwire_simd::{AesNi, AesNiAvx, Vaes256, Vaes512, instructions};

/// Sixteen bytes of one state.
#[inline]
fn load(bytes: &(impl AsRef<[u8]> + ?Sized), at: usize) -> __m128i {
    let lane: &[u8; LANE] = bytes.as_ref()[at..].first_chunk().expect(WHOLE_LANE);
    // SAFETY: sixteen bytes behind a reference; every x86-64 CPU has the instruction.
    unsafe { _mm_loadu_si128(lane.as_ptr().cast()) }
}

/// Writes sixteen bytes of one state.
#[inline]
fn store(lane: __m128i, bytes: &mut impl AsMut<[u8]>, at: usize) {
    let bytes: &mut [u8; LANE] = bytes.as_mut()[at..].first_chunk_mut().expect(WHOLE_LANE);
    // SAFETY: sixteen bytes behind a reference; every x86-64 CPU has the instruction.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
}

macro_rules! aes_ni {
    ($isa:ty) => {
        impl Registers<1> for $isa {
            type Lane = __m128i;

            instructions! {
                fn load(self, from: &[impl AsRef<[u8]>; 1], at: usize) -> __m128i {
                    load(&from[0], at)
                }

                fn store(self, lane: __m128i, to: &mut [impl AsMut<[u8]>; 1], at: usize) {
                    store(lane, &mut to[0], at)
                }

                fn xor(self, a: __m128i, b: __m128i) -> __m128i {
                    _mm_xor_si128(a, b)
                }

                fn clear(self, lane: __m128i, mask: __m128i) -> __m128i {
                    _mm_andnot_si128(mask, lane)
                }

                fn last_14(self, lane: __m128i) -> __m128i {
                    _mm_bsrli_si128::<2>(lane)
                }

                fn first_14(self, lane: __m128i) -> __m128i {
                    _mm_bslli_si128::<2>(lane)
                }
            }
        }

        impl AesRounds<1> for $isa {
            instructions! {
                fn f(self, lane: __m128i, constant: &[u8; LANE], onto: __m128i) -> __m128i {
                    _mm_aesenc_si128(_mm_aesenc_si128(lane, load(constant, 0)), onto)
                }
            }
        }
    };
}

aes_ni!(AesNiAvx);
aes_ni!(AesNi);

impl Registers<2> for Vaes256 {
    type Lane = __m256i;

    instructions! {
        fn load(self, from: &[impl AsRef<[u8]>; 2], at: usize) -> __m256i {
            _mm256_set_m128i(load(&from[1], at), load(&from[0], at))
        }

        fn store(self, lane: __m256i, to: &mut [impl AsMut<[u8]>; 2], at: usize) {
            store(_mm256_castsi256_si128(lane), &mut to[0], at);
            store(_mm256_extracti128_si256::<1>(lane), &mut to[1], at);
        }

        fn xor(self, a: __m256i, b: __m256i) -> __m256i {
            _mm256_xor_si256(a, b)
        }

        fn clear(self, lane: __m256i, mask: __m256i) -> __m256i {
            _mm256_andnot_si256(mask, lane)
        }

        fn last_14(self, lane: __m256i) -> __m256i {
            _mm256_bsrli_epi128::<2>(lane)
        }

        fn first_14(self, lane: __m256i) -> __m256i {
            _mm256_bslli_epi128::<2>(lane)
        }
    }
}

impl AesRounds<2> for Vaes256 {
    instructions! {
        fn f(self, lane: __m256i, constant: &[u8; LANE], onto: __m256i) -> __m256i {
            let constant = _mm256_broadcastsi128_si256(load(constant, 0));
            _mm256_aesenc_epi128(_mm256_aesenc_epi128(lane, constant), onto)
        }
    }
}

impl Registers<4> for Vaes512 {
    type Lane = __m512i;

    instructions! {
        fn load(self, from: &[impl AsRef<[u8]>; 4], at: usize) -> __m512i {
            let low = _mm256_set_m128i(load(&from[1], at), load(&from[0], at));
            let high = _mm256_set_m128i(load(&from[3], at), load(&from[2], at));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }

        fn store(self, lane: __m512i, to: &mut [impl AsMut<[u8]>; 4], at: usize) {
            store(_mm512_castsi512_si128(lane), &mut to[0], at);
            store(_mm512_extracti32x4_epi32::<1>(lane), &mut to[1], at);
            store(_mm512_extracti32x4_epi32::<2>(lane), &mut to[2], at);
            store(_mm512_extracti32x4_epi32::<3>(lane), &mut to[3], at);
        }

        fn xor(self, a: __m512i, b: __m512i) -> __m512i {
            _mm512_xor_si512(a, b)
        }

        fn clear(self, lane: __m512i, mask: __m512i) -> __m512i {
            _mm512_andnot_si512(mask, lane)
        }

        fn last_14(self, lane: __m512i) -> __m512i {
            _mm512_bsrli_epi128::<2>(lane)
        }

        fn first_14(self, lane: __m512i) -> __m512i {
            _mm512_bslli_epi128::<2>(lane)
        }
    }
}

impl AesRounds<4> for Vaes512 {
    instructions! {
        fn f(self, lane: __m512i, constant: &[u8; LANE], onto: __m512i) -> __m512i {
            let constant = _mm512_broadcast_i32x4(load(constant, 0));
            _mm512_aesenc_epi128(_mm512_aesenc_epi128(lane, constant), onto)
        }
    }
}
