//! The kernels compiled for each instruction set, and the choice of one.

use super::kernels;
use super::state::{Block, Core, Tag};
use crate::permutation::portable::Portable;
use sealwire_simd::dispatch;

/// What is compiled for each instruction set: each begins with the permutation that the state is due
/// for.
trait BackEnd {
    /// Absorbs blocks, each after a permutation, and permutes.
    fn absorb(self, core: &mut Core, blocks: &[Block]);
    /// Squeezes after permutations.
    fn squeeze(self, core: &mut Core, output: &mut [u8]);
    /// Encrypts after permutations.
    fn encrypt(self, core: &mut Core, text: &mut [u8]);
    /// Decrypts after permutations.
    fn decrypt(self, core: &mut Core, text: &mut [u8]);
    /// Encrypts, ends the block, permutes and gives the tag.
    fn seal(self, core: &mut Core, text: &mut [u8]) -> Tag;
    /// Decrypts, ends the block, permutes and gives the tag.
    fn open(self, core: &mut Core, text: &mut [u8]) -> Tag;
}

impl BackEnd for Portable {
    fn absorb(self, core: &mut Core, blocks: &[Block]) {
        kernels::absorb(self, core, blocks);
    }

    fn squeeze(self, core: &mut Core, output: &mut [u8]) {
        kernels::squeeze(self, core, output);
    }

    fn encrypt(self, core: &mut Core, text: &mut [u8]) {
        kernels::encrypt(self, core, text);
    }

    fn decrypt(self, core: &mut Core, text: &mut [u8]) {
        kernels::decrypt(self, core, text);
    }

    fn seal(self, core: &mut Core, text: &mut [u8]) -> Tag {
        kernels::seal(self, core, text)
    }

    fn open(self, core: &mut Core, text: &mut [u8]) -> Tag {
        kernels::open(self, core, text)
    }
}

/// Compiles the kernels for instruction sets.
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ),
    not(sealwire_portable)
))]
macro_rules! back_ends {
    ($($isa:ident)*) => {$(
        impl BackEnd for sealwire_simd::$isa {
            sealwire_simd::compiled_for! { $isa;
                fn absorb(self, core: &mut Core, blocks: &[Block]) = kernels::absorb;
                fn squeeze(self, core: &mut Core, output: &mut [u8]) = kernels::squeeze;
                fn encrypt(self, core: &mut Core, text: &mut [u8]) = kernels::encrypt;
                fn decrypt(self, core: &mut Core, text: &mut [u8]) = kernels::decrypt;
                fn seal(self, core: &mut Core, text: &mut [u8]) -> Tag = kernels::seal;
                fn open(self, core: &mut Core, text: &mut [u8]) -> Tag = kernels::open;
            }
        }
    )*};
}

#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
back_ends!(AesNiAvx AesNi);
#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(sealwire_portable)
))]
back_ends!(Armv8Aes);

/// Methods that call the back end's, of the best one that this CPU has.
macro_rules! dispatched {
    ($($(#[$doc:meta])* $name:ident($data:ty) $(-> $output:ty)?;)*) => {
        impl Core {$(
            $(#[$doc])*
            #[inline]
            pub(super) fn $name(&mut self, data: $data) $(-> $output)? {
                dispatch!(
                    x86_64: [sealwire_simd::AesNiAvx, sealwire_simd::AesNi],
                    aarch64: [sealwire_simd::Armv8Aes],
                    else Portable;
                    isa => isa.$name(self, data)
                )
            }
        )*}
    };
}

dispatched! {
    /// [`BackEnd::absorb`].
    absorb(&[Block]);
    /// [`BackEnd::squeeze`].
    squeeze(&mut [u8]);
    /// [`BackEnd::encrypt`].
    encrypt(&mut [u8]);
    /// [`BackEnd::decrypt`].
    decrypt(&mut [u8]);
    /// [`BackEnd::seal`].
    seal(&mut [u8]) -> Tag;
    /// [`BackEnd::open`].
    open(&mut [u8]) -> Tag;
}
