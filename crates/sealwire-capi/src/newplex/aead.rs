//! Authenticated encryption with associated data.

use std::ffi::c_char;

use sealwire_newplex::schemes::aead::Aead;
use zeroize::Zeroizing;

use super::{SEALWIRE_NEWPLEX_TAG_SIZE, seal_to};
use crate::panics::{free, guard};
use crate::pointers::{array, array_output, bytes, copy, give, output, required, text};
use crate::status::sealwire_status;

/// Bytes of a nonce of `sealwire_newplex_aead_seal`.
pub const SEALWIRE_NEWPLEX_NONCE_SIZE: usize = 16;

/// A key for single messages, each with a nonce (16 bytes) of its own. The key is wiped when it is freed.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_newplex_aead {
    cipher: Aead,
}

/// Takes a key of any size, best 32 random bytes, for the purpose `domain`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_aead_new(
    domain: *const c_char,
    key: *const u8,
    key_size: usize,
    out: *mut *mut sealwire_newplex_aead,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let cipher = Aead::new(text(domain, "domain")?, bytes(key, key_size, "key")?);
        out.write(give(sealwire_newplex_aead { cipher }));
        Ok(())
    })
}

/// Seals a message under a nonce (16 bytes) that is never used for another message under that key and domain. `aad`
/// is authenticated, not encrypted; it may be NULL with a size of 0. Writes `size` + 16 bytes to `sealed`: the
/// ciphertext, then the tag. `sealed` may start where `plaintext` does; otherwise the two must not overlap, nor
/// `sealed` and `aad`.
///
/// Nonces: two messages of the same size sealed under the same key, nonce and `aad` give anyone who sees both the XOR of
/// the plaintexts, up to and with the block of 94 bytes where they first differ. Random nonces rule it out: after 2^48
/// messages under a key two are equal with a chance of about 2^-33.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_aead_seal(
    aead: Option<&sealwire_newplex_aead>,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> sealwire_status {
    guard(|| {
        let aead = required(aead, "aead")?;
        let nonce: [u8; SEALWIRE_NEWPLEX_NONCE_SIZE] = *array(nonce, "nonce")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let plaintext = bytes(plaintext, size, "plaintext")?;
        array_output::<SEALWIRE_NEWPLEX_TAG_SIZE>(sealed, "sealed")?;
        seal_to(plaintext, sealed, |text| {
            aead.cipher.seal_detached(&nonce.into(), aad, text)
        })
    })
}

/// Opens what `sealwire_newplex_aead_seal` made, of which there are `size` bytes, and writes `size` - 16 bytes to
/// `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_aead_open(
    aead: Option<&sealwire_newplex_aead>,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> sealwire_status {
    guard(|| {
        let aead = required(aead, "aead")?;
        let nonce: [u8; SEALWIRE_NEWPLEX_NONCE_SIZE] = *array(nonce, "nonce")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let sealed = bytes(sealed, size, "sealed")?;
        if size > SEALWIRE_NEWPLEX_TAG_SIZE {
            output(plaintext, "plaintext")?;
        }
        let opened = Zeroizing::new(aead.cipher.open(&nonce.into(), aad, sealed)?);
        copy(&opened, plaintext, "plaintext")
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_aead_free(aead: Option<Box<sealwire_newplex_aead>>) {
    free(aead);
}
