//! Signatures over ristretto255.

use std::ffi::c_char;

use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::sig::{Signature, SigningKey, VerifyingKey};

use crate::panics::guard;
use crate::pointers::{array, array_output, bytes, text};
use crate::status::{Failure, SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_status};

/// Bytes of a key for signatures, secret or public.
pub const SEALWIRE_NEWPLEX_KEY_SIZE: usize = 32;
/// Bytes of a signature.
pub const SEALWIRE_NEWPLEX_SIGNATURE_SIZE: usize = 64;

fn secret(key: *const u8) -> Result<SecretKey, Failure> {
    let key: &[u8; SEALWIRE_NEWPLEX_KEY_SIZE] = array(key, "secret_key")?;
    Ok(SecretKey::from_bytes(key)?)
}

/// Writes a fresh key pair for signatures: 32 bytes each; wipe the secret one. It is over ristretto255, and not one for
/// sockets or NaCl's `box`.
///
/// Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keys_generate(
    public_key: *mut u8,
    secret_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let public_out = array_output(public_key, "public_key")?;
        let secret_out = array_output(secret_key, "secret_key")?;
        let key = SecretKey::generate()?;
        public_out.write(key.public_key().to_bytes());
        secret_out.write(*key.to_bytes());
        Ok(())
    })
}

/// Writes the public key (32 bytes) of a secret one.
///
/// Errors: `SEALWIRE_ERROR_KEY` if the bytes are not a secret key: zero, or not below the order of the group;
/// `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keys_public(
    secret_key: *const u8,
    public_key: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(public_key, "public_key")?;
        out.write(secret(secret_key)?.public_key().to_bytes());
        Ok(())
    })
}

/// Signs a message of the purpose `domain`, and writes the signature (64 bytes).
///
/// `random` hedges: any number of bytes, best 64 random ones, protect the key of a device that can be made to
/// miscalculate. NULL with a size of 0 makes the signature deterministic; bytes that were used before do no harm.
///
/// Errors: `SEALWIRE_ERROR_KEY`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_sign(
    domain: *const c_char,
    secret_key: *const u8,
    message: *const u8,
    size: usize,
    random: *const u8,
    random_size: usize,
    signature: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output(signature, "signature")?;
        let key = SigningKey::new(text(domain, "domain")?, secret(secret_key)?);
        let message = bytes(message, size, "message")?;
        let random = bytes(random, random_size, "random")?;
        out.write(key.sign_hedged(message, random).to_bytes());
        Ok(())
    })
}

/// Checks a signature (64 bytes): whether the owner of `public_key` signed this message for this domain. Takes a time
/// that depends on both, which are public.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if not; `SEALWIRE_ERROR_KEY` if the bytes are not a public key;
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_verify(
    domain: *const c_char,
    public_key: *const u8,
    message: *const u8,
    size: usize,
    signature: *const u8,
) -> sealwire_status {
    guard(|| {
        let public: &[u8; SEALWIRE_NEWPLEX_KEY_SIZE] = array(public_key, "public_key")?;
        let domain = text(domain, "domain")?;
        let message = bytes(message, size, "message")?;
        let signature = Signature::from_bytes(*array(signature, "signature")?);
        let key = VerifyingKey::new(domain, PublicKey::from_bytes(public)?);
        let mut verification = key.begin();
        verification.update(message);
        verification.finish(&signature).map_err(|_| {
            let problem = "not a signature of this message by this key for this domain";
            Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, problem)
        })
    })
}
