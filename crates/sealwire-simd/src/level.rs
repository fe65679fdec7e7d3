//! What back ends ask of a CPU, and the most that a thread may use of it.

use core::cell::Cell;

/// What back ends ask of a CPU, by how good they are where they compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the proofs in the crate's root")]
pub enum Level {
    /// Nothing.
    Portable,
    Simd128,
    Neon,
    Armv8Aes,
    Sse2,
    Sse41,
    AesNi,
    AesNiAvx,
    Avx2,
    Adx,
    Vaes256,
    Avx512,
    Ifma,
    Vaes512,
}

std::thread_local! {
    static LIMIT: Cell<Level> = const { Cell::new(Level::Vaes512) };
}

pub(crate) fn limit() -> Level {
    LIMIT.get()
}

/// Uses nothing better than `most` in this thread from now on.
pub fn set_limit(most: Level) {
    LIMIT.set(most);
}

impl Level {
    /// In small letters, as arguments and logs have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Simd128 => "simd128",
            Self::Neon => "neon",
            Self::Armv8Aes => "armv8",
            Self::Sse2 => "sse2",
            Self::Sse41 => "sse41",
            Self::AesNi => "aesni",
            Self::AesNiAvx => "aesni with avx",
            Self::Avx2 => "avx2",
            Self::Adx => "adx",
            Self::Vaes256 => "vaes256",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
            Self::Vaes512 => "vaes512",
        }
    }
}
