//! The choice of a back end, and functions that are compiled for one.

/// Evaluates `$call` with the best back end that this CPU has, and returns its value from the function.
///
/// The sets are named best first, by architecture; `$portable` is what remains.
///
/// ```
/// # #[cfg(target_arch = "x86_64")]
/// use sealwire_simd::{Avx2, Sse2};
///
/// trait Named { fn name(self) -> &'static str; }
/// struct Portable;
/// impl Named for Portable { fn name(self) -> &'static str { "portable" } }
/// # #[cfg(target_arch = "x86_64")]
/// impl Named for Avx2 { fn name(self) -> &'static str { "AVX2" } }
/// # #[cfg(target_arch = "x86_64")]
/// impl Named for Sse2 { fn name(self) -> &'static str { "SSE2" } }
///
/// fn best() -> &'static str {
///     sealwire_simd::dispatch!(x86_64: [Avx2, Sse2], aarch64: [], wasm32: [], else Portable; isa => isa.name())
/// }
/// # best();
/// ```
#[macro_export]
macro_rules! dispatch {
    (
        x86_64: [$($x86:ty),*], aarch64: [$($arm:ty),*], wasm32: [$($wasm:ty),*],
        else $portable:expr;
        $back_end:ident => $call:expr
    ) => {{
        #[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
        {$(
            if let Some($back_end) = <$x86>::detect() {
                return $call;
            }
        )*}
        #[cfg(all(
            target_arch = "aarch64",
            target_endian = "little",
            not(sealwire_portable)
        ))]
        {$(
            if let Some($back_end) = <$arm>::detect() {
                return $call;
            }
        )*}
        #[cfg(all(
            target_arch = "wasm32",
            target_feature = "simd128",
            not(sealwire_portable)
        ))]
        {$(
            if let Some($back_end) = <$wasm>::detect() {
                return $call;
            }
        )*}
        let $back_end = $portable;
        $call
    }};
}

/// Methods on an instruction set, each a function that is compiled with the set's features on and gets
/// the proof as its first argument. What the function calls has these features too where it is inlined.
/// A method may be generic over one type.
///
/// ```text
/// impl Kernels for Avx2 {
///     sealwire_simd::compiled_for!(Avx2;
///         fn hash(self, block: &[u8; 64]) -> Node = hash_generic;
///     );
/// }
/// ```
#[macro_export]
macro_rules! compiled_for {
    (Sse2; $($methods:tt)*) => { $crate::compiled_for!(@ Sse2 "sse2"; $($methods)*); };
    (Sse41; $($methods:tt)*) => { $crate::compiled_for!(@ Sse41 "sse4.1"; $($methods)*); };
    (AesNi; $($methods:tt)*) => { $crate::compiled_for!(@ AesNi "aes"; $($methods)*); };
    (AesNiAvx; $($methods:tt)*) => { $crate::compiled_for!(@ AesNiAvx "aes,avx"; $($methods)*); };
    (Avx2; $($methods:tt)*) => { $crate::compiled_for!(@ Avx2 "avx2"; $($methods)*); };
    (Vaes256; $($methods:tt)*) => {
        $crate::compiled_for!(@ Vaes256 "aes,vaes,avx2"; $($methods)*);
    };
    (Avx512; $($methods:tt)*) => {
        $crate::compiled_for!(@ Avx512 "avx512f,avx512vl,avx512bw,avx2,bmi2"; $($methods)*);
    };
    (Vaes512; $($methods:tt)*) => {
        $crate::compiled_for!(@ Vaes512 "aes,vaes,avx2,avx512f,avx512bw"; $($methods)*);
    };
    (Neon; $($methods:tt)*) => { $crate::compiled_for!(@ Neon "neon"; $($methods)*); };
    (Simd128; $($methods:tt)*) => {
        $crate::compiled_for!(@ Simd128 "simd128"; $($methods)*);
    };
    (Armv8Aes; $($methods:tt)*) => { $crate::compiled_for!(@ Armv8Aes "neon,aes"; $($methods)*); };
    (@ $isa:ident $features:literal; $(
        fn $name:ident $(<$generic:ident: $bound:path>)? (
            $self:tt $(, $argument:ident: $kind:ty)* $(,)?
        ) $(-> $output:ty)? = $body:path;
    )*) => {$(
        #[inline]
        #[allow(unsafe_code, reason = "calls a function with CPU features on")]
        fn $name $(<$generic: $bound>)? ($self $(, $argument: $kind)*) $(-> $output)? {
            #[target_feature(enable = $features)]
            fn compiled $(<$generic: $bound>)? (
                isa: $crate::$isa $(, $argument: $kind)*
            ) $(-> $output)? {
                $body(isa $(, $argument)*)
            }
            // SAFETY: the value `$self` exists only where the CPU was seen to have the features.
            unsafe { compiled($self $(, $argument)*) }
        }
    )*};
}
