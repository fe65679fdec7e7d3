//! Chooses the back end that does the work, and is the only place that knows there is a choice.

use super::Core;
use super::kernels::{self, Block};
use super::side_by_side::Work;
use crate::TAG_SIZE;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use crate::permutation::aarch64::Armv8;
use crate::permutation::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::permutation::x86::{
    aesni::{AesNi, AesNiAvx},
    vaes::{Vaes256, Vaes512},
};

/// The back ends of this architecture. Each value but the portable one proves that the CPU has the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) enum BackEnd {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi(AesNi),
    #[cfg(target_arch = "x86_64")]
    AesNiAvx(AesNiAvx),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Armv8(Armv8),
}

/// A method for every kernel.
macro_rules! dispatch {
    ($($name:ident($data:ty) $(-> $output:ty)?;)*) => {
        impl BackEnd {
            $(
                /// The kernel of this name.
                #[inline(always)]
                pub(super) fn $name(self, core: &mut Core, data: $data) $(-> $output)? {
                    match self {
                        Self::Portable => kernels::$name(Portable, core, data),
                        #[cfg(target_arch = "x86_64")]
                        Self::AesNi(isa) => isa.$name(core, data),
                        #[cfg(target_arch = "x86_64")]
                        Self::AesNiAvx(isa) => isa.$name(core, data),
                        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
                        Self::Armv8(isa) => isa.$name(core, data),
                    }
                }
            )*
        }
    };
}

dispatch! {
    absorb(&[Block]);
    squeeze(&mut [u8]);
    encrypt(&mut [u8]);
    decrypt(&mut [u8]);
    seal(&mut [u8]) -> [u8; TAG_SIZE];
    open(&mut [u8]) -> [u8; TAG_SIZE];
}

impl BackEnd {
    /// The best one that this CPU has.
    #[inline]
    pub(crate) fn detect() -> Self {
        #[cfg(test)]
        if let Some((forced, _)) = forced::get() {
            return forced;
        }
        Self::best()
    }

    #[inline]
    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = AesNiAvx::detect() {
            return Self::AesNiAvx(isa);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = AesNi::detect() {
            return Self::AesNi(isa);
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if let Some(isa) = Armv8::detect() {
            return Self::Armv8(isa);
        }
        Self::Portable
    }
}

/// How several states are worked on at a time.
#[derive(Clone, Copy)]
pub(crate) enum SideBySide {
    /// One after the other.
    None,
    #[cfg(target_arch = "x86_64")]
    Vaes256(Vaes256),
    #[cfg(target_arch = "x86_64")]
    Vaes512(Vaes512),
}

impl SideBySide {
    /// The best way that this CPU has.
    fn detect() -> Self {
        #[cfg(test)]
        if let Some((_, forced)) = forced::get() {
            return forced;
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = Vaes512::detect() {
            return Self::Vaes512(isa);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = Vaes256::detect() {
            return Self::Vaes256(isa);
        }
        Self::None
    }

    /// Whether several states at a time are faster than one.
    pub(super) fn is_wide() -> bool {
        !matches!(Self::detect(), Self::None)
    }

    /// Does all jobs; their states are due for a permutation, and end with one.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(unused_mut, reason = "all jobs are left")
    )]
    pub(super) fn run<'a, W: Work<'a>>(mut jobs: impl Iterator<Item = (&'a mut Core, W)>) {
        let last = match Self::detect() {
            Self::None => None,
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(isa) => isa.run(&mut jobs),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(isa) => isa.run(&mut jobs),
        };
        let back_end = BackEnd::detect();
        for (core, work) in last.into_iter().chain(jobs) {
            work.alone(back_end, core);
        }
    }
}

/// Lets a test run on each back end in turn.
#[cfg(test)]
pub(crate) mod forced {
    use super::{BackEnd, SideBySide};
    use std::cell::Cell;
    use std::vec::Vec;

    std::thread_local! {
        static FORCED: Cell<Option<(BackEnd, SideBySide)>> = const { Cell::new(None) };
    }

    pub(super) fn get() -> Option<(BackEnd, SideBySide)> {
        FORCED.get()
    }

    /// Whether a test has chosen the back end.
    pub(crate) fn is_chosen() -> bool {
        FORCED.get().is_some()
    }

    /// Every back end, for one state and for several, that this CPU has.
    fn all() -> Vec<(&'static str, BackEnd, SideBySide)> {
        let mut all = std::vec![("portable", BackEnd::Portable, SideBySide::None)];
        let mut add = |name, found: Option<(BackEnd, SideBySide)>| match found {
            Some((back_end, side_by_side)) => all.push((name, back_end, side_by_side)),
            None => std::eprintln!("{name}: skipped, the instructions are not here"),
        };
        #[cfg(target_arch = "x86_64")]
        {
            use super::{AesNi, AesNiAvx, Vaes256, Vaes512};
            let aesni = AesNi::detect().map(BackEnd::AesNi);
            let avx = AesNiAvx::detect().map(BackEnd::AesNiAvx);
            let vaes256 = Vaes256::detect().map(SideBySide::Vaes256);
            let vaes512 = Vaes512::detect().map(SideBySide::Vaes512);
            add("aesni", aesni.zip(Some(SideBySide::None)));
            add("aesni with avx", avx.zip(Some(SideBySide::None)));
            add("vaes256", avx.zip(vaes256));
            add("vaes512", avx.zip(vaes512));
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        {
            let armv8 = super::Armv8::detect().map(BackEnd::Armv8);
            add("armv8", armv8.zip(Some(SideBySide::None)));
        }
        all
    }

    /// Runs `test` on every back end that this CPU has, with the back end's name. What the test
    /// makes in other threads takes the best one.
    pub(crate) fn on_every_back_end(test: impl Fn(&str)) {
        for (name, back_end, side_by_side) in all() {
            FORCED.set(Some((back_end, side_by_side)));
            test(name);
        }
        FORCED.set(None);
    }

    /// [`on_every_back_end`], and then as outside of tests.
    pub(crate) fn on_every_back_end_and_the_chosen_one(test: impl Fn(&str)) {
        on_every_back_end(&test);
        test("what the CPU gets");
    }
}
