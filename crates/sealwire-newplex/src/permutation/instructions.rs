//! Methods whose bodies are instructions.

/// Methods of an instruction set whose bodies are instructions of the set.
///
/// Always inlined: a kernel is compiled for the instructions, but what is generic between it and the
/// body is not, so that in there an instruction would be a call with its registers in memory.
macro_rules! instructions {
    ($(
        fn $name:ident($self:tt $(, $argument:ident: $kind:ty)* $(,)?) $(-> $output:ty)? $body:block
    )*) => {$(
        #[inline(always)]
        #[allow(
            unused_unsafe,
            inline_always_mismatching_target_features,
            reason = "every CPU of the architecture has some instructions; kernels have the others"
        )]
        fn $name($self $(, $argument: $kind)*) $(-> $output)? {
            // SAFETY: a value of the set is the proof that the CPU has the instructions. Pointers
            // come from references to sixteen bytes and need no alignment.
            unsafe { $body }
        }
    )*};
}

pub(crate) use instructions;
