//! Chooses the back end that does the work, and is the only place that knows there is a choice.

use super::Core;
use super::kernels::{self, Block};
use crate::TAG_SIZE;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use crate::permutation::aarch64::Armv8;
use crate::permutation::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::permutation::x86::aesni::AesNi;

/// The back ends of this architecture. Each value but the portable one proves that the CPU has the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) enum BackEnd {
    Portable,
    #[cfg(target_arch = "x86_64")]
    AesNi(AesNi),
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
        if let Some(forced) = forced::get() {
            return forced;
        }
        Self::best()
    }

    #[inline]
    fn best() -> Self {
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

/// Lets a test run on each back end in turn.
#[cfg(test)]
pub(crate) mod forced {
    use super::BackEnd;
    use std::cell::Cell;

    std::thread_local! {
        static FORCED: Cell<Option<BackEnd>> = const { Cell::new(None) };
    }

    pub(super) fn get() -> Option<BackEnd> {
        FORCED.get()
    }

    /// Runs `test` on every back end that this CPU has, with the back end's name. What the test
    /// makes in other threads takes the best one.
    pub(crate) fn on_every_back_end(test: impl Fn(&str)) {
        let best = BackEnd::best();
        let mut back_ends = std::vec![("portable", BackEnd::Portable)];
        match best {
            BackEnd::Portable => {
                std::eprintln!("AES instructions: skipped, this CPU does not have them");
            }
            #[cfg(target_arch = "x86_64")]
            BackEnd::AesNi(_) => back_ends.push(("aesni", best)),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            BackEnd::Armv8(_) => back_ends.push(("armv8", best)),
        }
        for (name, back_end) in back_ends {
            FORCED.set(Some(back_end));
            test(name);
        }
        FORCED.set(None);
    }
}
