//! Where the tree gets its bytes from.

use super::kernels::Kernels;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::CHUNK_SIZE;
use crate::portable::chacha20::BLOCK_SIZE;

/// A message whose tag is computed, and which may be encrypted only as far as the tree has come.
pub(crate) enum TreeInput<'a> {
    /// All of it is ciphertext.
    Ciphertext(MacInput<'a>),
    /// The first `encrypted` bytes are ciphertext. Encrypting a range right before it is hashed
    /// finds it in the first-level cache.
    Sealing {
        aad: &'a [u8],
        text: &'a mut [u8],
        keys: &'a MessageKeys,
        counter: u64,
        encrypted: usize,
    },
}

impl<'a> TreeInput<'a> {
    pub(crate) const fn sealing(
        aad: &'a [u8],
        text: &'a mut [u8],
        keys: &'a MessageKeys,
        counter: u64,
    ) -> Self {
        Self::Sealing {
            aad,
            text,
            keys,
            counter,
            encrypted: 0,
        }
    }

    /// The concatenation, of which the first `end` bytes may be read.
    pub(crate) fn up_to<I: Kernels>(&mut self, isa: I, end: usize) -> MacInput<'_> {
        match self {
            Self::Ciphertext(input) => *input,
            Self::Sealing {
                aad,
                text,
                keys,
                counter,
                encrypted,
            } => {
                let needed = end.saturating_sub(aad.len() + 8);
                // Whole chunks of keystream, so that the next range starts at a block.
                let until = needed.next_multiple_of(CHUNK_SIZE).min(text.len());
                if until > *encrypted {
                    let first = counter.wrapping_add((*encrypted / BLOCK_SIZE) as u64);
                    isa.xor_text(keys, first, &mut text[*encrypted..until]);
                    *encrypted = until;
                }
                MacInput::new(aad, text)
            }
        }
    }
}
