//! Calls into the run time of LLVM's MemorySanitizer.

#![allow(unsafe_code, reason = "functions of the sanitizer's run time")]

use core::ffi::c_void;

/// What the tool is called.
pub(crate) const NAME: &str = "MemorySanitizer";

unsafe extern "C" {
    fn __msan_poison(start: *const c_void, length: usize);
    fn __msan_unpoison(start: *const c_void, length: usize);
    /// Offset of the first undefined byte, or -1.
    fn __msan_test_shadow(start: *const c_void, length: usize) -> isize;
}

/// The run time is linked in.
pub(crate) const fn is_running() -> bool {
    true
}

/// None: the first error ends the process.
pub(crate) const fn errors() -> usize {
    0
}

#[inline(always)]
pub(crate) fn follow(check: impl Fn()) {
    check();
}

/// Makes the memory undefined.
pub(crate) fn classify<T>(secret: &mut [T]) {
    // SAFETY: changes what is known of the memory, not the memory.
    unsafe { __msan_poison(secret.as_ptr().cast(), size_of_val(secret)) }
}

/// Makes the memory defined.
pub(crate) fn declassify<T>(public: &mut [T]) {
    // SAFETY: see above.
    unsafe { __msan_unpoison(public.as_ptr().cast(), size_of_val(public)) }
}

/// Whether every byte is undefined.
pub(crate) fn is_secret(bytes: &[u8]) -> bool {
    // SAFETY: reads what is known of a byte that exists.
    let is_undefined = |byte: &u8| unsafe { __msan_test_shadow((&raw const *byte).cast(), 1) == 0 };
    bytes.iter().all(is_undefined)
}
