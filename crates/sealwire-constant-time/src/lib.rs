//! Constant time, checked: every secret is marked as undefined memory.
//!
//! A tool that follows undefined bits through every operation reports a branch or an address that
//! depends on them, which is just what constant-time code must not have. Two tools do, and
//! `check.sh` runs the tests `constant_time` of the crates with secrets under both; elsewhere these
//! say that they are skipped.
//!
//! * Valgrind's memcheck follows the machine code that is shipped, but not every instruction set:
//!   version 3.19 knows neither VAES nor AVX-512.
//! * MemorySanitizer follows the optimised LLVM code, every instruction set of it.
//!
//! For the tests of this workspace, on x86-64 Linux.
//!
//! ```
//! # #[cfg(target_arch = "x86_64")]
//! sealwire_constant_time::finds_nothing("doubling", || {
//!     let mut secret = [7];
//!     sealwire_constant_time::classify(&mut secret);
//!     let mut doubled = [secret[0] << 1];
//!     sealwire_constant_time::assert_secret(&doubled);
//!     sealwire_constant_time::declassify(&mut doubled);
//!     assert_eq!(doubled, [14]);
//! });
//! ```

#![cfg(target_arch = "x86_64")]
#![deny(unsafe_code)]
#![allow(
    unexpected_cfgs,
    reason = "`memory_sanitizer`, which `check.sh` sets for the tests"
)]

#[cfg_attr(memory_sanitizer, path = "memory_sanitizer.rs")]
#[cfg_attr(not(memory_sanitizer), path = "valgrind.rs")]
mod tool;

/// Marks memory as secret.
pub fn classify<T>(secret: &mut [T]) {
    tool::make_undefined(secret.as_mut_ptr().cast(), size_of_val(secret));
}

/// Marks memory as public.
pub fn declassify<T>(public: &mut [T]) {
    tool::make_defined(public.as_mut_ptr().cast(), size_of_val(public));
}

/// The same value, as one that may be branched on.
pub fn declassified(mut value: u8) -> u8 {
    declassify(core::slice::from_mut(core::hint::black_box(&mut value)));
    core::hint::black_box(value)
}

/// Asserts that every byte depends on a secret, as what comes out of sealing does: a tool that has
/// forgotten so saw nothing. To be called within [`finds_nothing`].
///
/// # Panics
///
/// When one does not.
#[track_caller]
pub fn assert_secret(bytes: &[u8]) {
    assert!(
        tool::is_undefined(bytes),
        "the tool lost track of the secrets"
    );
}

/// Runs a check under the tool, and says what became of it; without a tool it is skipped.
///
/// # Panics
///
/// When the tool found a branch or an address that depends on a secret.
pub fn finds_nothing(name: &str, check: impl FnOnce()) {
    if !tool::is_running() {
        eprintln!("{name}: skipped, not under {}", tool::NAME);
        return;
    }
    let before = tool::errors();
    check();
    assert_eq!(
        tool::errors(),
        before,
        "{name}: a branch or an address depends on a secret"
    );
    eprintln!("{name}: checked under {}", tool::NAME);
}

/// That the check can fail: a branch on a secret is seen.
///
/// # Panics
///
/// When it is not. MemorySanitizer ends the process when it is, which `check.sh` expects.
#[inline(always)]
pub fn notices_a_branch() {
    is_noticed(|secret| {
        if core::hint::black_box(secret) == 0 {
            eprintln!("control: branched on a secret");
        }
    });
}

/// That the check can fail: an address that depends on a secret is seen.
///
/// # Panics
///
/// As [`notices_a_branch`].
#[inline(always)]
pub fn notices_an_index() {
    is_noticed(|secret| {
        let table = core::hint::black_box([0_u8; 256]);
        core::hint::black_box(table[usize::from(secret)]);
    });
}

#[inline(always)]
fn is_noticed(misuse: impl Fn(u8)) {
    if !tool::is_running() {
        eprintln!("control: skipped, not under {}", tool::NAME);
        return;
    }
    let before = tool::errors();
    let mut secret = [1_u8; 16];
    classify(core::hint::black_box(&mut secret));
    misuse(secret[3]);
    assert!(
        tool::errors() > before,
        "the misuse of a secret went unnoticed"
    );
    eprintln!("control: checked under {}", tool::NAME);
}
