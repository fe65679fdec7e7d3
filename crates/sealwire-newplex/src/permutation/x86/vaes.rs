//! VAES: two states in eight 256-bit registers, or four in eight 512-bit registers.

use crate::duplex::Core;
use crate::duplex::side_by_side::{SideBySide, Work, run};
use crate::permutation::rounds::{self, AesRounds};
use crate::permutation::{LANE, LANES, RATE_LANES};
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_set_epi64x, _mm_storeu_si128,
    _mm256_aesenc_epi128, _mm256_andnot_si256, _mm256_broadcastsi128_si256, _mm256_bsrli_epi128,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_set_m128i, _mm256_xor_si256,
    _mm512_aesenc_epi128, _mm512_andnot_si512, _mm512_broadcast_i32x4, _mm512_bsrli_epi128,
    _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_extracti32x4_epi32, _mm512_inserti64x4,
    _mm512_xor_si512,
};
use core::ptr;

/// Proof that the CPU has VAES and AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Vaes256(());

/// Proof that the CPU has VAES and AVX-512F and BW.
#[derive(Clone, Copy)]
pub(crate) struct Vaes512(());

#[cfg(not(feature = "std"))]
cpufeatures::new!(features_256, "aes", "vaes", "avx2");
#[cfg(not(feature = "std"))]
cpufeatures::new!(features_512, "aes", "vaes", "avx2", "avx512f", "avx512bw");

impl Vaes256 {
    /// The proof, if there is one.
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("vaes") && std::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        let found = features_256::get();
        found.then_some(Self(()))
    }

    /// [`run`] with these instructions.
    pub(crate) fn run<'a, W: Work<'a>>(
        self,
        jobs: impl Iterator<Item = (&'a mut Core, W)>,
    ) -> Option<(&'a mut Core, W)> {
        #[target_feature(enable = "aes,vaes,avx2")]
        fn compiled<'a, W: Work<'a>>(
            isa: Vaes256,
            jobs: impl Iterator<Item = (&'a mut Core, W)>,
        ) -> Option<(&'a mut Core, W)> {
            run(isa, jobs)
        }
        // SAFETY: `self` is the proof that the CPU has the instructions.
        unsafe { compiled(self, jobs) }
    }
}

impl Vaes512 {
    /// The proof, if there is one.
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("vaes")
            && std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512bw");
        #[cfg(not(feature = "std"))]
        let found = features_512::get();
        found.then_some(Self(()))
    }

    /// [`run`] with these instructions.
    pub(crate) fn run<'a, W: Work<'a>>(
        self,
        jobs: impl Iterator<Item = (&'a mut Core, W)>,
    ) -> Option<(&'a mut Core, W)> {
        #[target_feature(enable = "aes,vaes,avx2,avx512f,avx512bw")]
        fn compiled<'a, W: Work<'a>>(
            isa: Vaes512,
            jobs: impl Iterator<Item = (&'a mut Core, W)>,
        ) -> Option<(&'a mut Core, W)> {
            run(isa, jobs)
        }
        // SAFETY: `self` is the proof that the CPU has the instructions.
        unsafe { compiled(self, jobs) }
    }
}

/// Sixteen bytes of one state.
#[inline(always)]
fn load(bytes: &[u8; LANE]) -> __m128i {
    // SAFETY: sixteen bytes behind a reference; every x86-64 CPU has the instruction.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Two words of one state, loaded one by one for the reason that AES-NI has.
#[inline(always)]
fn load_words([low, high]: &[u64; 2]) -> __m128i {
    // SAFETY: reads from references.
    let (low, high) = unsafe { (ptr::read_volatile(low), ptr::read_volatile(high)) };
    // SAFETY: every x86-64 CPU has the instruction.
    unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
}

#[inline(always)]
fn store(lane: __m128i, bytes: &mut [u8; LANE]) {
    // SAFETY: sixteen bytes behind a reference; every x86-64 CPU has the instruction.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lane) }
}

// SAFETY of every block below: `self` is the proof that the CPU has the instructions.
impl Vaes256 {
    #[inline(always)]
    fn join(self, [a, b]: [__m128i; 2]) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set_m128i(b, a) }
    }
}

impl SideBySide<2> for Vaes256 {
    #[inline(always)]
    fn gather(self, bytes: [&[u8; LANE]; 2]) -> __m256i {
        let [a, b] = bytes;
        self.join([load(a), load(b)])
    }

    #[inline(always)]
    fn gather_words(self, words: [&[u64; 2]; 2]) -> __m256i {
        let [a, b] = words;
        self.join([load_words(a), load_words(b)])
    }

    #[inline(always)]
    fn scatter(self, lane: __m256i, [a, b]: [&mut [u8; LANE]; 2]) {
        // SAFETY: see above.
        unsafe {
            store(_mm256_castsi256_si128(lane), a);
            store(_mm256_extracti128_si256::<1>(lane), b);
        }
    }

    #[inline(always)]
    fn last_14(self, lane: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_bsrli_epi128::<2>(lane) }
    }

    #[inline(always)]
    fn clear(self, lane: __m256i, mask: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_andnot_si256(mask, lane) }
    }

    #[inline(always)]
    fn permute(self, lanes: [__m256i; LANES]) -> [__m256i; LANES] {
        rounds::permute(self, lanes)
    }

    #[inline(always)]
    fn permute_and_add(
        self,
        lanes: [__m256i; LANES],
        input: [__m256i; RATE_LANES],
    ) -> [__m256i; LANES] {
        rounds::permute_and_add(self, lanes, input)
    }
}

impl AesRounds for Vaes256 {
    type Lane = __m256i;

    #[inline(always)]
    fn f(self, lane: __m256i, constant: &[u8; LANE], onto: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe {
            let constant = _mm256_broadcastsi128_si256(load(constant));
            _mm256_aesenc_epi128(_mm256_aesenc_epi128(lane, constant), onto)
        }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_xor_si256(a, b) }
    }
}

impl Vaes512 {
    #[inline(always)]
    fn join(self, [a, b, c, d]: [__m128i; 4]) -> __m512i {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_castsi256_si512(_mm256_set_m128i(b, a));
            _mm512_inserti64x4::<1>(low, _mm256_set_m128i(d, c))
        }
    }
}

impl SideBySide<4> for Vaes512 {
    #[inline(always)]
    fn gather(self, bytes: [&[u8; LANE]; 4]) -> __m512i {
        let [a, b, c, d] = bytes;
        self.join([load(a), load(b), load(c), load(d)])
    }

    #[inline(always)]
    fn gather_words(self, words: [&[u64; 2]; 4]) -> __m512i {
        let [a, b, c, d] = words;
        self.join([load_words(a), load_words(b), load_words(c), load_words(d)])
    }

    #[inline(always)]
    fn scatter(self, lane: __m512i, [a, b, c, d]: [&mut [u8; LANE]; 4]) {
        // SAFETY: see above.
        unsafe {
            store(_mm512_castsi512_si128(lane), a);
            store(_mm512_extracti32x4_epi32::<1>(lane), b);
            store(_mm512_extracti32x4_epi32::<2>(lane), c);
            store(_mm512_extracti32x4_epi32::<3>(lane), d);
        }
    }

    #[inline(always)]
    fn last_14(self, lane: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_bsrli_epi128::<2>(lane) }
    }

    #[inline(always)]
    fn clear(self, lane: __m512i, mask: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_andnot_si512(mask, lane) }
    }

    #[inline(always)]
    fn permute(self, lanes: [__m512i; LANES]) -> [__m512i; LANES] {
        rounds::permute(self, lanes)
    }

    #[inline(always)]
    fn permute_and_add(
        self,
        lanes: [__m512i; LANES],
        input: [__m512i; RATE_LANES],
    ) -> [__m512i; LANES] {
        rounds::permute_and_add(self, lanes, input)
    }
}

impl AesRounds for Vaes512 {
    type Lane = __m512i;

    #[inline(always)]
    fn f(self, lane: __m512i, constant: &[u8; LANE], onto: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe {
            let constant = _mm512_broadcast_i32x4(load(constant));
            _mm512_aesenc_epi128(_mm512_aesenc_epi128(lane, constant), onto)
        }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_xor_si512(a, b) }
    }
}
