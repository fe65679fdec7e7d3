//! Keys of sockets: pairs, and public keys as 32 bytes.

use std::ffi::c_char;

use sealwire::{Generate as _, KeyPair, PublicKey, SecretKey, keys};

use crate::panics::{free, guard};
use crate::pointers::{
    array, array_output, give, give_text, optional_output, output, required, take_text, text,
};
use crate::status::{Failure, SEALWIRE_ERROR_KEY, SEALWIRE_ERROR_RANDOM, sealwire_status};

/// Bytes of a public key, and of a secret one.
pub const SEALWIRE_KEY_SIZE: usize = 32;
/// Bytes of a key as text in Z85, with the zero octet at its end.
pub const SEALWIRE_KEY_TEXT_SIZE: usize = 41;

/// A key pair for BLAKE3 and CURVE. The secret half is wiped from memory when it is freed.
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_keys {
    pub(crate) keys: KeyPair,
}

fn not_a_key(error: impl ToString) -> Failure {
    Failure::new(SEALWIRE_ERROR_KEY, error.to_string())
}

/// A public key of 32 bytes in canonical form.
pub(crate) fn public_key(bytes: *const u8, name: &str) -> Result<PublicKey, Failure> {
    PublicKey::from_bytes(*array(bytes, name)?).map_err(not_a_key)
}

/// Makes a key pair from the system's randomness. Free it with `sealwire_keys_free`.
///
/// Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_generate(out: *mut *mut sealwire_keys) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        // Whether there is randomness is asked first: without, making a pair would end the process.
        getrandom::fill(&mut [0; 1])
            .map_err(|error| Failure::new(SEALWIRE_ERROR_RANDOM, error.to_string()))?;
        let keys = KeyPair::generate();
        out.write(give(sealwire_keys { keys }));
        Ok(())
    })
}

/// The key pair of a secret key of 32 bytes, which are copied: wipe yours.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_from_bytes(
    secret: *const u8,
    out: *mut *mut sealwire_keys,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let secret = SecretKey::from_bytes(*array(secret, "secret")?);
        let keys = KeyPair::from_secret(secret);
        out.write(give(sealwire_keys { keys }));
        Ok(())
    })
}

/// The key pair of a secret key as text: 40 characters in Z85 or 64 in hexadecimal.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_from_text(
    secret: *const c_char,
    out: *mut *mut sealwire_keys,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let secret: SecretKey = text(secret, "secret")?.parse().map_err(not_a_key)?;
        let keys = KeyPair::from_secret(secret);
        out.write(give(sealwire_keys { keys }));
        Ok(())
    })
}

/// Reads a key pair from a file: a secret key alone, or a certificate as czmq writes them. Only its
/// owner may be able to read the file.
///
/// Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY_FILE_PERMISSIONS`,
/// `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_read(
    path: *const c_char,
    out: *mut *mut sealwire_keys,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let keys = keys::read_key_pair(text(path, "path")?)?;
        out.write(give(sealwire_keys { keys }));
        Ok(())
    })
}

/// Writes `<stem>.pub` with the public key, and `<stem>.key` with both, which only its owner can
/// read. Files that are there are left alone: that is an error.
///
/// Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_write(
    keys: Option<&sealwire_keys>,
    stem: *const c_char,
) -> sealwire_status {
    guard(|| {
        let keys = required(keys, "keys")?;
        keys::write_key_pair(text(stem, "stem")?, &keys.keys)?;
        Ok(())
    })
}

/// Writes a certificate as czmq and pyzmq read them: `<stem>.key` with the public key, and
/// `<stem>.key_secret` with both. Mind the names: here `.key` is public.
///
/// Errors: as `sealwire_keys_write`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_write_czmq(
    keys: Option<&sealwire_keys>,
    stem: *const c_char,
) -> sealwire_status {
    guard(|| {
        let keys = required(keys, "keys")?;
        keys::write_czmq_certificate(text(stem, "stem")?, &keys.keys)?;
        Ok(())
    })
}

/// Writes the public key to `public_key`: 32 bytes.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_public(
    keys: Option<&sealwire_keys>,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let keys = required(keys, "keys")?;
        array_output(public_key, "public_key")?.write(*keys.keys.public().as_bytes());
        Ok(())
    })
}

/// Writes the secret key to `secret_key`: 32 bytes, which are yours to wipe.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_secret(
    keys: Option<&sealwire_keys>,
    secret_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let keys = required(keys, "keys")?;
        array_output(secret_key, "secret_key")?.write(*keys.keys.secret().as_bytes());
        Ok(())
    })
}

/// Wipes and frees a key pair. NULL is fine. Sockets that were made with it keep their copies until
/// they are freed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_keys_free(keys: Option<Box<sealwire_keys>>) {
    free(keys);
}

/// Reads a public key from text: 40 characters in Z85 or 64 in hexadecimal. Writes 32 bytes.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_public_key_from_text(
    key_text: *const c_char,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(public_key, "public_key")?;
        let key: PublicKey = text(key_text, "key_text")?.parse().map_err(not_a_key)?;
        out.write(*key.as_bytes());
        Ok(())
    })
}

/// Writes a public key of 32 bytes as text in Z85: 40 characters and a zero octet.
///
/// Errors: `SEALWIRE_ERROR_KEY` for bytes that are not a public key, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_public_key_to_text(
    public_key: *const u8,
    key_text: *mut c_char,
) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_KEY_TEXT_SIZE>(key_text.cast(), "key_text")?;
        let key = self::public_key(public_key, "public_key")?.to_z85();
        let mut text = [0; SEALWIRE_KEY_TEXT_SIZE];
        text[..key.len()].copy_from_slice(key.as_bytes());
        out.write(text);
        Ok(())
    })
}

/// Reads a public key from a file: a key alone, or a certificate as czmq writes them. Writes 32
/// bytes.
///
/// Errors: `SEALWIRE_ERROR_KEY_FILE`, `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_public_key_read(
    path: *const c_char,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(public_key, "public_key")?;
        let key = keys::read_public_key(text(path, "path")?)?;
        out.write(*key.as_bytes());
        Ok(())
    })
}

/// Text for the caller, where it is wanted.
pub(crate) fn write_text(out: *mut *mut c_char, name: &str, text: &str) -> Result<(), Failure> {
    if let Some(out) = optional_output(out, name)? {
        out.write(give_text(text));
    }
    Ok(())
}

/// Frees a text that a function of this library gave to the caller. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_string_free(string: *mut c_char) {
    crate::panics::value((), || take_text(string));
}
