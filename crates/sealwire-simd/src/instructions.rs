//! Methods whose bodies are instructions.

/// Methods of an instruction set, or of its vectors, whose bodies are instructions of the set.
///
/// Always inlined: a kernel is compiled for the instructions, but what is generic between it and the
/// body is not, so that in there an instruction would be a call with its registers in memory.
///
/// # Safety
///
/// Bodies are unsafe code. Each method must take a value that is the proof that the CPU has the
/// instructions, and may give pointers to as many bytes as a reference has.
#[macro_export]
macro_rules! instructions {
    ($(
        fn $name:ident $(<$(const $constant:ident: $number:ty),+>)? ($($arguments:tt)*)
        $(-> $output:ty)? $body:block
    )*) => {$(
        #[inline(always)]
        #[allow(
            unused_unsafe,
            inline_always_mismatching_target_features,
            clippy::macro_metavars_in_unsafe,
            reason = "every CPU of the architecture has some instructions; kernels have the others; \
                      bodies are unsafe code, as the documentation says"
        )]
        fn $name $(<$(const $constant: $number),+>)? ($($arguments)*) $(-> $output)? {
            // SAFETY: a value of the set, or a vector, which takes one to make, is the proof that the
            // CPU has the instructions. Pointers come from references to as many bytes as are
            // read or written, and need no alignment.
            unsafe { $body }
        }
    )*};
}
