//! Constant time, checked: no branch and no address may depend on a secret.
//!
//! Tests mark what is secret, and say what they check. `check.sh` runs the tests `constant_time` of
//! the crates with secrets under three tools; elsewhere these say that they are skipped.
//!
//! * Valgrind's memcheck, on x86-64, takes secrets for undefined memory and reports whatever depends
//!   on them. It follows the machine code that is shipped, but not every instruction set: version
//!   3.19 knows neither VAES nor AVX-512.
//! * MemorySanitizer, on x86-64, does the same in the optimised LLVM code, for every instruction set.
//! * An emulator, for AArch64: the same check runs several times, each time with other secrets, and
//!   `traces.c` compares the instructions and the addresses. It follows the machine code that is
//!   shipped, but only along the secrets that were tried. It refuses divisions as well, which take a
//!   time that depends on what is divided.
//!
//! For the tests of this workspace, on Linux.
//!
//! ```
//! sealwire_constant_time::finds_nothing("doubling", || {
//!     let mut secret = [7; 8];
//!     sealwire_constant_time::classify(&mut secret);
//!     let mut expected = secret.map(|byte: u8| byte << 1);
//!     let mut doubled = secret.map(|byte: u8| byte << 1);
//!     sealwire_constant_time::assert_secret(&doubled);
//!     sealwire_constant_time::declassify(&mut doubled);
//!     sealwire_constant_time::declassify(&mut expected);
//!     assert_eq!(doubled, expected);
//! });
//! ```

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#![deny(unsafe_code)]
#![allow(
    unexpected_cfgs,
    reason = "`memory_sanitizer`, which `check.sh` sets for the tests"
)]

#[cfg_attr(target_arch = "aarch64", path = "traces.rs")]
#[cfg_attr(
    all(target_arch = "x86_64", memory_sanitizer),
    path = "memory_sanitizer.rs"
)]
#[cfg_attr(
    all(target_arch = "x86_64", not(memory_sanitizer)),
    path = "valgrind.rs"
)]
mod tool;

/// A type that can be secret: a plain number.
pub trait Number: Copy + sealed::Sealed {}

mod sealed {
    /// No padding, and every pattern of bits is a value.
    pub trait Sealed {
        #[cfg(target_arch = "aarch64")]
        /// The same number with other bits turned around.
        fn turned(self, bits: u64) -> Self;
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl Number for $number {}
            impl sealed::Sealed for $number {
                #[cfg(target_arch = "aarch64")]
                #[allow(clippy::cast_possible_truncation, reason = "as many bits as there are")]
                fn turned(self, bits: u64) -> Self {
                    self ^ bits as $number
                }
            }
        )*
    };
}

numbers!(u8, u32, u64);

impl<T: Number, const N: usize> Number for [T; N] {}
impl<T: Number, const N: usize> sealed::Sealed for [T; N] {
    #[cfg(target_arch = "aarch64")]
    fn turned(self, bits: u64) -> Self {
        self.map(|number| number.turned(bits))
    }
}

/// Marks memory as secret. Only the tool knows its content afterwards: a caller that has to compare it keeps
/// a copy made then.
pub fn classify<T: Number>(secret: &mut [T]) {
    tool::classify(secret);
}

/// Marks memory as public.
pub fn declassify<T: Number>(public: &mut [T]) {
    tool::declassify(public);
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
/// When one does not; where traces are compared, [`finds_nothing`] panics at its end if eight bytes
/// or more were the same with other secrets.
#[track_caller]
pub fn assert_secret(bytes: &[u8]) {
    assert!(tool::is_secret(bytes), "the tool lost track of the secrets");
}

/// Runs a check under the tool, and says what became of it; without a tool it is skipped.
///
/// # Panics
///
/// When the tool found a branch or an address that depends on a secret.
pub fn finds_nothing(name: &str, check: impl Fn()) {
    if !tool::is_running() {
        eprintln!("{name}: skipped, not under {}", tool::NAME);
        return;
    }
    let before = tool::errors();
    tool::follow(check);
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
/// When it is not. Some tools end the process when it is, which `check.sh` expects.
#[inline(always)]
pub fn notices_a_branch() {
    is_noticed(|secret| {
        if core::hint::black_box(secret) & 1 == 0 {
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
    tool::follow(
        #[inline(always)]
        || {
            let mut secret = [1_u8; 16];
            classify(core::hint::black_box(&mut secret));
            misuse(secret[3]);
        },
    );
    assert!(
        tool::errors() > before,
        "the misuse of a secret went unnoticed"
    );
    eprintln!("control: checked under {}", tool::NAME);
}
