//! Instruction sets. A value of one of these types is the proof that this CPU has it.

/// Whether the CPU has all of these features, asked without the standard library.
#[cfg(all(
    not(target_arch = "wasm32"),
    not(feature = "std"),
    feature = "cpufeatures",
    not(sealwire_portable)
))]
macro_rules! asked {
    ("neon") => {
        cfg!(target_feature = "neon")
    };
    // The crate has no name for NEON, without which no CPU has them.
    ("neon", "aes") => {
        asked!("aes")
    };
    ($($feature:tt),+) => {{
        cpufeatures::new!(features, $($feature),+);
        features::get()
    }};
}

/// Whether the program is compiled for CPUs that have all of these features.
#[cfg(all(
    any(
        target_arch = "wasm32",
        all(not(feature = "std"), not(feature = "cpufeatures"))
    ),
    not(sealwire_portable)
))]
macro_rules! asked {
    ($($feature:tt),+) => {
        true $(&& cfg!(target_feature = $feature))+
    };
}

/// Defines a proof for each instruction set.
macro_rules! instruction_sets {
    ($detected:ident: $($(#[$doc:meta])* $name:ident = $($feature:tt),+;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The proof, if the CPU has the instructions.
            #[inline]
            #[must_use]
            pub fn detect() -> Option<Self> {
                #[cfg(feature = "measuring")]
                if crate::level::Level::$name > crate::level::limit() {
                    return None;
                }
                #[cfg(sealwire_portable)]
                let found = false;
                #[cfg(all(feature = "std", not(target_arch = "wasm32"), not(sealwire_portable)))]
                let found = true $(&& std::arch::$detected!($feature))+;
                #[cfg(all(any(not(feature = "std"), target_arch = "wasm32"), not(sealwire_portable)))]
                let found = asked!($($feature),+);
                found.then_some(Self(()))
            }

            /// Which one this is.
            #[cfg(feature = "measuring")]
            #[must_use]
            pub const fn level(self) -> crate::level::Level {
                crate::level::Level::$name
            }
        }
    )+};
}

#[cfg(target_arch = "x86_64")]
instruction_sets! { is_x86_feature_detected:
    /// SSE2, which is a part of x86-64.
    Sse2 = "sse2";
    /// SSE4.1 and what came before it.
    Sse41 = "sse4.1";
    /// AES-NI.
    AesNi = "aes";
    /// AES-NI and AVX, whose instructions have a register more.
    AesNiAvx = "aes", "avx";
    /// AVX2.
    Avx2 = "avx2";
    /// ADX with BMI1, BMI2 and AVX2, and the AES-NI, PCLMULQDQ and SSSE3 that the crate `graviola` asserts beside
    /// them.
    Adx = "aes", "pclmulqdq", "ssse3", "avx", "avx2", "bmi1", "bmi2", "adx";
    /// VAES with AVX2.
    Vaes256 = "aes", "vaes", "avx2";
    /// AVX-512 F, VL and BW, and BMI2.
    Avx512 = "avx512f", "avx512vl", "avx512bw", "bmi2";
    /// AVX-512 F and IFMA.
    Ifma = "avx512f", "avx512ifma";
    /// VAES with AVX-512 F and BW.
    Vaes512 = "aes", "vaes", "avx2", "avx512f", "avx512bw";
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
instruction_sets! { is_aarch64_feature_detected:
    /// NEON, which is a part of AArch64.
    Neon = "neon";
    /// NEON and the AES instructions of ARMv8.
    Armv8Aes = "neon", "aes";
}

// The standard library has no question for it.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
instruction_sets! { none:
    /// `simd128` of WebAssembly.
    Simd128 = "simd128";
}

#[cfg(test)]
mod tests {
    /// With nothing but what the program is compiled for, or for the portable back ends, the proofs
    /// that every CPU of the architecture has say which of both it is.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_cpu_of_the_architecture_has_its_vectors_unless_the_portable_ones_are_asked_for() {
        assert_eq!(super::Sse2::detect().is_some(), !cfg!(sealwire_portable));
    }

    /// See above.
    #[test]
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    fn every_cpu_of_the_architecture_has_its_vectors_unless_the_portable_ones_are_asked_for() {
        assert_eq!(super::Neon::detect().is_some(), !cfg!(sealwire_portable));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_set_that_holds_another_comes_with_it() {
        assert!(super::Avx512::detect().is_none() || super::Avx2::detect().is_some());
        assert!(super::Vaes512::detect().is_none() || super::Vaes256::detect().is_some());
        assert!(super::AesNiAvx::detect().is_none() || super::AesNi::detect().is_some());
    }
}
