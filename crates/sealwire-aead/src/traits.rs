//! The RustCrypto traits, so that [`Cipher`] drops into code that takes any AEAD.

use crate::Cipher;
use aead::consts::{U24, U32};
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};

impl KeySizeUser for Cipher {
    type KeySize = U32;
}

impl KeyInit for Cipher {
    fn new(key: &aead::Key<Self>) -> Self {
        Self::new(&key.0)
    }
}

impl AeadCore for Cipher {
    type NonceSize = U24;
    type TagSize = U32;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl AeadInOut for Cipher {
    fn encrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<Tag<Self>> {
        // The kernels work in place, so input elsewhere is first copied to the output.
        let output = buffer.into_out_with_copied_in();
        Ok(self
            .encrypt_in_place_detached(&nonce.0, associated_data, output)
            .into())
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &Tag<Self>,
    ) -> aead::Result<()> {
        let output = buffer.into_out_with_copied_in();
        self.decrypt_in_place_detached(&nonce.0, associated_data, output, &tag.0)
            .map_err(|_| aead::Error)
    }
}
