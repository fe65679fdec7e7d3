//! AES-NI: one state in eight 128-bit registers.

use crate::duplex::kernels::kernels;
use crate::permutation::rounds::{self, AesRounds};
use crate::permutation::{LANE, LANES, RATE_LANES, Registers};
use core::arch::x86_64::{
    __m128i, _mm_aesenc_si128, _mm_alignr_epi8, _mm_andnot_si128, _mm_bsrli_si128, _mm_loadu_si128,
    _mm_set_epi64x, _mm_storeu_si128, _mm_xor_si128,
};
use core::ptr;

/// Proof that the CPU has AES-NI and AVX, whose instructions have a register more.
#[derive(Clone, Copy)]
pub(crate) struct AesNiAvx(());

/// Proof that the CPU has AES-NI and SSSE3.
#[derive(Clone, Copy)]
pub(crate) struct AesNi(());

#[cfg(not(feature = "std"))]
cpufeatures::new!(aes_avx, "aes", "avx");
#[cfg(not(feature = "std"))]
cpufeatures::new!(aes_ssse3, "aes", "ssse3");

impl AesNiAvx {
    /// The proof, if there is one.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("avx");
        #[cfg(not(feature = "std"))]
        let found = aes_avx::get();
        found.then_some(Self(()))
    }
}

impl AesNi {
    /// The proof, if there is one.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("ssse3");
        #[cfg(not(feature = "std"))]
        let found = aes_ssse3::get();
        found.then_some(Self(()))
    }
}

kernels!(AesNiAvx, "aes,avx");
kernels!(AesNi, "aes,ssse3");

// SAFETY of every block below: `self` is the proof that the CPU has the instructions. Pointers come
// from references to sixteen bytes and need no alignment.
macro_rules! registers {
    ($isa:ty) => {
        impl Registers for $isa {
            type Lane = __m128i;

            #[inline(always)]
            fn load(self, bytes: &[u8; LANE]) -> __m128i {
                // SAFETY: see above.
                unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
            }

            #[inline(always)]
            fn load_words(self, [low, high]: &[u64; 2]) -> __m128i {
                // SAFETY: reads from references. Volatile, or one load of both would be made of them, which
                // waits until the stores before it have left the CPU.
                let (low, high) = unsafe { (ptr::read_volatile(low), ptr::read_volatile(high)) };
                // SAFETY: see above.
                unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
            }

            #[inline(always)]
            fn store(self, lane: __m128i, bytes: &mut [u8; LANE]) {
                // SAFETY: see above.
                unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
            }

            #[inline(always)]
            fn load_last_14(self, bytes: &[u8; LANE]) -> __m128i {
                // SAFETY: see above.
                unsafe { _mm_bsrli_si128::<2>(_mm_loadu_si128(bytes.as_ptr().cast())) }
            }

            #[inline(always)]
            fn store_first_14(self, before: __m128i, lane: __m128i, bytes: &mut [u8; LANE]) {
                // SAFETY: see above.
                unsafe {
                    let joined = _mm_alignr_epi8::<14>(lane, before);
                    _mm_storeu_si128(bytes.as_mut_ptr().cast(), joined);
                }
            }

            #[inline(always)]
            fn xor(self, a: __m128i, b: __m128i) -> __m128i {
                // SAFETY: see above.
                unsafe { _mm_xor_si128(a, b) }
            }

            #[inline(always)]
            fn clear(self, lane: __m128i, mask: __m128i) -> __m128i {
                // SAFETY: see above.
                unsafe { _mm_andnot_si128(mask, lane) }
            }

            #[inline(always)]
            fn permute(self, lanes: [__m128i; LANES]) -> [__m128i; LANES] {
                rounds::permute(self, lanes)
            }

            #[inline(always)]
            fn permute_and_add(
                self,
                lanes: [__m128i; LANES],
                input: [__m128i; RATE_LANES],
            ) -> [__m128i; LANES] {
                rounds::permute_and_add(self, lanes, input)
            }
        }

        impl AesRounds for $isa {
            type Lane = __m128i;

            #[inline(always)]
            fn xor(self, a: __m128i, b: __m128i) -> __m128i {
                Registers::xor(self, a, b)
            }

            #[inline(always)]
            fn f(self, lane: __m128i, constant: &[u8; LANE], onto: __m128i) -> __m128i {
                let constant = self.load(constant);
                // SAFETY: `self` is the proof that the CPU has the instruction.
                unsafe { _mm_aesenc_si128(_mm_aesenc_si128(lane, constant), onto) }
            }
        }
    };
}

registers!(AesNiAvx);
registers!(AesNi);
