//! The kernels compiled for each instruction set, and the choice of one.

use super::kernels;
use super::state::{Block, Core, Tag};
use crate::permutation::portable::Portable;

/// The functions that are compiled for each instruction set. Each begins with the permutation that the state
/// is due for.
trait BackEnd {
    /// Absorbs blocks, each after a permutation, and permutes.
    fn absorb(self, core: &mut Core, blocks: &[Block]);
    /// Squeezes after permutations.
    fn squeeze(self, core: &mut Core, output: &mut [u8]);
    /// Permutes, ends an empty block and squeezes after permutations.
    fn squeeze_behind_empty(self, core: &mut Core, output: &mut [u8]);
    /// Encrypts after permutations. For a tag, ends the block and permutes.
    fn encrypt(self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>);
    /// Decrypts after permutations. For a tag, ends the block and permutes.
    fn decrypt(self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>);
}

impl BackEnd for Portable {
    fn absorb(self, core: &mut Core, blocks: &[Block]) {
        kernels::absorb(self, core, blocks);
    }

    fn squeeze(self, core: &mut Core, output: &mut [u8]) {
        kernels::squeeze(self, core, output);
    }

    fn squeeze_behind_empty(self, core: &mut Core, output: &mut [u8]) {
        kernels::squeeze_behind_empty(self, core, output);
    }

    fn encrypt(self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>) {
        kernels::encrypt(self, core, text, tag);
    }

    fn decrypt(self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>) {
        kernels::decrypt(self, core, text, tag);
    }
}

/// Compiles the kernels for instruction sets.
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ),
    not(any(sealwire_portable, feature = "portable"))
))]
macro_rules! back_ends {
    ($($isa:ident)*) => {$(
        impl BackEnd for sealwire_simd::$isa {
            sealwire_simd::compiled_for! { $isa;
                fn absorb(self, core: &mut Core, blocks: &[Block]) = kernels::absorb;
                fn squeeze(self, core: &mut Core, output: &mut [u8]) = kernels::squeeze;
                fn squeeze_behind_empty(
                    self, core: &mut Core, output: &mut [u8]
                ) = kernels::squeeze_behind_empty;
                fn encrypt(
                    self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>
                ) = kernels::encrypt;
                fn decrypt(
                    self, core: &mut Core, text: &mut [u8], tag: Option<&mut Tag>
                ) = kernels::decrypt;
            }
        }
    )*};
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(sealwire_portable, feature = "portable"))
))]
back_ends!(AesNiAvx AesNi);
#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(any(sealwire_portable, feature = "portable"))
))]
back_ends!(Armv8Aes);

/// Methods that call the back end's, of the best one that this CPU has.
macro_rules! dispatched {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*);)*) => {
        impl Core {$(
            $(#[$doc])*
            #[inline]
            pub(super) fn $name(&mut self, $($argument: $kind),*) {
                #[cfg(feature = "portable")]
                Portable.$name(self, $($argument),*);
                #[cfg(not(feature = "portable"))]
                sealwire_simd::dispatch!(
                    x86_64: [sealwire_simd::AesNiAvx, sealwire_simd::AesNi],
                    aarch64: [sealwire_simd::Armv8Aes],
                    wasm32: [],
                    else Portable;
                    isa => isa.$name(self, $($argument),*)
                )
            }
        )*}
    };
}

dispatched! {
    /// [`BackEnd::absorb`].
    absorb(blocks: &[Block]);
    /// [`BackEnd::squeeze`].
    squeeze(output: &mut [u8]);
    /// [`BackEnd::squeeze_behind_empty`].
    squeeze_behind_empty(output: &mut [u8]);
    /// [`BackEnd::encrypt`].
    encrypt(text: &mut [u8], tag: Option<&mut Tag>);
    /// [`BackEnd::decrypt`].
    decrypt(text: &mut [u8], tag: Option<&mut Tag>);
}
