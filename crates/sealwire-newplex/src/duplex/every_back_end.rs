//! Lets a test run on each back end in turn.

use sealwire_simd::measuring::{Level, on_every};
use std::cell::Cell;

/// For one state and for several, worst first.
const LEVELS: &[Level] = &[
    Level::Portable,
    #[cfg(target_arch = "aarch64")]
    Level::Armv8Aes,
    #[cfg(target_arch = "x86_64")]
    Level::AesNi,
    #[cfg(target_arch = "x86_64")]
    Level::AesNiAvx,
    #[cfg(target_arch = "x86_64")]
    Level::Vaes256,
    #[cfg(target_arch = "x86_64")]
    Level::Vaes512,
];

std::thread_local! {
    static CHOSEN: Cell<bool> = const { Cell::new(false) };
}

/// Whether a test has chosen the back end.
pub(super) fn is_chosen() -> bool {
    CHOSEN.get()
}

/// Runs `test` on every back end that this CPU has, with the back end's name; batches go side by side
/// however short they are. What the test makes in other threads takes the best back end.
pub(crate) fn on_every_back_end(test: impl Fn(&str)) {
    on_every(LEVELS, |level| {
        CHOSEN.set(true);
        test(level.name());
        CHOSEN.set(false);
    });
}

/// [`on_every_back_end`], and then as outside of tests.
pub(crate) fn on_every_back_end_and_the_chosen_one(test: impl Fn(&str)) {
    on_every_back_end(&test);
    test("what the CPU gets");
}
