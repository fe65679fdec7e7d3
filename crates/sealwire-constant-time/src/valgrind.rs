//! Requests to valgrind's memcheck.

/// What the tool is called.
pub(crate) const NAME: &str = "valgrind";

const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MAKE_UNDEFINED: usize = 0x4d43_0001;
const MAKE_DEFINED: usize = 0x4d43_0002;
const GET_UNDEFINED_BITS: usize = 0x4d43_0008;

/// Asks valgrind for something; outside valgrind the answer is 0.
#[allow(
    unsafe_code,
    reason = "the instructions that valgrind takes as a request"
)]
fn request(code: usize, first: usize, second: usize, third: usize) -> usize {
    let arguments = [code, first, second, third, 0, 0];
    let mut answer = 0;
    // SAFETY: four rotations that add up to whole turns and an exchange of a register with itself
    // do nothing; valgrind reads `arguments` and writes the answer.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &arguments,
            inout("rdx") answer,
            inout("rdi") 0usize => _,
        );
    }
    answer
}

pub(crate) fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0, 0) != 0
}

/// Errors reported so far.
pub(crate) fn errors() -> usize {
    request(COUNT_ERRORS, 0, 0, 0)
}

#[inline(always)]
pub(crate) fn follow(check: impl Fn()) {
    check();
}

/// Makes the memory undefined.
pub(crate) fn classify<T>(secret: &mut [T]) {
    let length = size_of_val(secret);
    request(MAKE_UNDEFINED, secret.as_mut_ptr() as usize, length, 0);
}

/// Makes the memory defined.
pub(crate) fn declassify<T>(public: &mut [T]) {
    let length = size_of_val(public);
    request(MAKE_DEFINED, public.as_mut_ptr() as usize, length, 0);
}

/// Whether every byte is undefined.
pub(crate) fn is_secret(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| {
        let mut bits = 0u8;
        let (from, to) = (&raw const *byte as usize, &raw mut bits as usize);
        request(GET_UNDEFINED_BITS, from, to, 1);
        core::hint::black_box(bits) != 0
    })
}
