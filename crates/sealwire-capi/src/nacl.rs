//! NaCl's `box` and `secretbox`, byte for byte as libsodium computes them.

/// cbindgen:ignore
pub mod names;

use sealwire_nacl::{KeyPair, OpenError, SecretBox, WeakKey};
use zeroize::Zeroizing;

use crate::panics::guard;
use crate::pointers::{array, array_output, bytes, bytes_mut, copy, output};
use crate::status::{
    Failure, SEALWIRE_ERROR_NOT_AUTHENTIC, SEALWIRE_ERROR_RANDOM, SEALWIRE_ERROR_WEAK_KEY,
    sealwire_status,
};

/// Bytes of a key, secret, public or shared.
pub const SEALWIRE_BOX_KEY_SIZE: usize = 32;
/// Bytes of a nonce.
pub const SEALWIRE_BOX_NONCE_SIZE: usize = 24;
/// Bytes of a tag: what sealing adds to a message.
pub const SEALWIRE_BOX_TAG_SIZE: usize = 16;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, error.to_string())
    }
}

impl From<WeakKey> for Failure {
    fn from(error: WeakKey) -> Self {
        Failure::new(SEALWIRE_ERROR_WEAK_KEY, error.to_string())
    }
}

/// A key pair from the randomness of the operating system.
fn fresh() -> Result<KeyPair, Failure> {
    let mut secret = Zeroizing::new([0; SEALWIRE_BOX_KEY_SIZE]);
    getrandom::fill(&mut secret[..])
        .map_err(|error| Failure::new(SEALWIRE_ERROR_RANDOM, error.to_string()))?;
    Ok(KeyPair::from_secret(*secret))
}

/// Writes a fresh key pair: 32 bytes each; wipe the secret one. NaCl's `crypto_box_keypair`.
///
/// Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_box_generate(
    public_key: *mut u8,
    secret_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let public_key = array_output(public_key, "public_key")?;
        let secret_key = array_output(secret_key, "secret_key")?;
        let keys = fresh()?;
        public_key.write(*keys.public());
        secret_key.write(*keys.secret());
        Ok(())
    })
}

/// Writes the public key (32 bytes) of a secret one. NaCl's `crypto_scalarmult_base`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_box_public(
    secret_key: *const u8,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(public_key, "public_key")?;
        out.write(*KeyPair::from_secret(*array(secret_key, "secret_key")?).public());
        Ok(())
    })
}

/// Writes the key (32 bytes) that the owners of two key pairs share, for any number of messages both
/// ways, with the functions `sealwire_secretbox_...`. NaCl's `crypto_box_beforenm`.
///
/// Errors: `SEALWIRE_ERROR_WEAK_KEY`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_box_shared(
    public_key: *const u8,
    secret_key: *const u8,
    shared_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(shared_key, "shared_key")?;
        out.write(*shared(public_key, secret_key)?.as_bytes());
        Ok(())
    })
}

fn shared(public_key: *const u8, secret_key: *const u8) -> Result<SecretBox, Failure> {
    let public_key = array(public_key, "public_key")?;
    let keys = KeyPair::from_secret(*array(secret_key, "secret_key")?);
    Ok(keys.shared_with(public_key)?)
}

fn seal(
    key: &SecretBox,
    nonce: *const u8,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> Result<(), Failure> {
    let nonce = array(nonce, "nonce")?;
    array_output::<SEALWIRE_BOX_TAG_SIZE>(sealed, "sealed")?;
    let text = sealed.wrapping_add(SEALWIRE_BOX_TAG_SIZE);
    copy(bytes(plaintext, size, "plaintext")?, text, "sealed")?;
    let tag = key.seal_in_place_detached(nonce, bytes_mut(text, size, "sealed")?);
    copy(&tag, sealed, "sealed")
}

fn open(
    key: &SecretBox,
    nonce: *const u8,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> Result<(), Failure> {
    let nonce = array(nonce, "nonce")?;
    let sealed = bytes(sealed, size, "sealed")?;
    if size > SEALWIRE_BOX_TAG_SIZE {
        output(plaintext, "plaintext")?;
    }
    let opened = Zeroizing::new(key.open(nonce, sealed)?);
    copy(&opened, plaintext, "plaintext")
}

/// Seals a message for the owner of `public_key`, under a nonce (24 bytes) that is never used for
/// another message between the two. Writes `size` + 16 bytes to `sealed`: the tag, then the
/// ciphertext. The two may overlap. NaCl's `crypto_box_easy`.
///
/// Nonces: two messages sealed under the same key and nonce give anyone who sees both the XOR of the
/// plaintexts, as far as the shorter one goes, and the key of their tags, with which other messages are
/// forged under that nonce. The key itself and messages under other nonces stay secret. What rules it out:
/// a random nonce for each message (`sealwire_aead_generate_nonce` writes 24 bytes; after 2^64 messages under a
/// key two are equal with a chance below 2^-64). The two directions between two key pairs have one key, so
/// nonces that count have to differ between them as well.
///
/// What this is not: a proof to others, as the receiver could have sealed it; a guard against messages that
/// are dropped, repeated, reordered or sent back to who sealed them; forward secrecy; committing to a key,
/// as `sealwire_aead_seal` is. Lengths are not hidden.
///
/// Errors: `SEALWIRE_ERROR_WEAK_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_box_seal(
    public_key: *const u8,
    secret_key: *const u8,
    nonce: *const u8,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> sealwire_status {
    guard(|| {
        seal(
            &shared(public_key, secret_key)?,
            nonce,
            plaintext,
            size,
            sealed,
        )
    })
}

/// Opens what the owner of `public_key` sealed, of which there are `size` bytes, and writes `size` -
/// 16 bytes to `plaintext`, only if the message is authentic. The two may overlap. NaCl's
/// `crypto_box_open_easy`.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_WEAK_KEY`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_box_open(
    public_key: *const u8,
    secret_key: *const u8,
    nonce: *const u8,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> sealwire_status {
    guard(|| {
        open(
            &shared(public_key, secret_key)?,
            nonce,
            sealed,
            size,
            plaintext,
        )
    })
}

/// Seals a message under a key of 32 bytes. As `sealwire_box_seal` otherwise. NaCl's
/// `crypto_secretbox_easy`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_secretbox_seal(
    key: *const u8,
    nonce: *const u8,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> sealwire_status {
    guard(|| {
        let key = SecretBox::new(array(key, "key")?);
        seal(&key, nonce, plaintext, size, sealed)
    })
}

/// Opens what was sealed under a key of 32 bytes. As `sealwire_box_open` otherwise. NaCl's
/// `crypto_secretbox_open_easy`.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_secretbox_open(
    key: *const u8,
    nonce: *const u8,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> sealwire_status {
    guard(|| {
        let key = SecretBox::new(array(key, "key")?);
        open(&key, nonce, sealed, size, plaintext)
    })
}
