//! Holds the choice of a back end down: to measure one that is not the best, and to test each.
//!
//! The choice holds for the calling thread; others take the best back end that the CPU has.

pub use crate::level::{Level, set_limit};

use crate::level::limit;

impl Level {
    /// Whether the CPU has the instructions, and the limit of this thread allows them.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => crate::Sse2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => crate::Sse41::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::AesNi => crate::AesNi::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::AesNiAvx => crate::AesNiAvx::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => crate::Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Adx => crate::Adx::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256 => crate::Vaes256::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => crate::Avx512::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => crate::Ifma::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512 => crate::Vaes512::detect().is_some(),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => crate::Neon::detect().is_some(),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Armv8Aes => crate::Armv8Aes::detect().is_some(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => crate::Simd128::detect().is_some(),
            #[expect(clippy::allow_attributes, reason = "each architecture has some")]
            #[allow(unreachable_patterns, reason = "those of other architectures")]
            _ => false,
        }
    }
}

/// Runs `test` with nothing better than each of `levels` in turn, and says on standard error which of
/// them the CPU does not have. Threads that the test starts take the best.
pub fn on_every(levels: &[Level], test: impl Fn(Level)) {
    /// Takes the limit back, also where a test fails.
    struct Before(Level);
    impl Drop for Before {
        fn drop(&mut self) {
            set_limit(self.0);
        }
    }
    for level in levels {
        if level.is_available() {
            let _before = Before(limit());
            set_limit(*level);
            test(*level);
        } else {
            std::eprintln!("{}: skipped, the instructions are not here", level.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::vec::Vec;

    const ALL: [Level; 5] = [
        Level::Portable,
        Level::Simd128,
        Level::Neon,
        Level::Sse2,
        Level::Avx2,
    ];

    #[test]
    fn a_test_runs_with_nothing_better_than_its_level() {
        let seen = Cell::new(Vec::new());
        on_every(&ALL, |level| {
            let better = ALL.into_iter().filter(|other| *other > level);
            assert_eq!(better.filter(|other| other.is_available()).count(), 0);
            let mut levels = seen.take();
            levels.push(level);
            seen.set(levels);
        });
        let here: Vec<_> = ALL
            .into_iter()
            .filter(|level| level.is_available())
            .collect();
        assert_eq!(seen.take(), here);
    }
}
