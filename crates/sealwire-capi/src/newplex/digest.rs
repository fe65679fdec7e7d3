//! Message digests, unkeyed and keyed.

use std::ffi::c_char;

use digest::Update as _;
use sealwire_newplex::schemes::digest::{Digest, KeyedDigest};

use super::SEALWIRE_NEWPLEX_TAG_SIZE;
use crate::panics::{free, guard};
use crate::pointers::{array, array_output, bytes, give, output, required, text};
use crate::status::{Failure, SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_status};

/// Bytes of an unkeyed digest.
pub const SEALWIRE_NEWPLEX_DIGEST_SIZE: usize = 32;

/// A digest of 32 bytes of a message that comes in pieces.
///
/// Threads: one at a time.
pub struct sealwire_newplex_digest {
    digest: Digest,
}

/// A keyed digest: a tag of 16 bytes, which only those who have the key can make. The key is wiped when it is
/// freed.
///
/// Threads: one at a time.
pub struct sealwire_newplex_keyed_digest {
    digest: KeyedDigest,
}

/// Starts a digest of a message of the purpose `domain`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_digest_new(
    domain: *const c_char,
    out: *mut *mut sealwire_newplex_digest,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let digest = Digest::new(text(domain, "domain")?);
        out.write(give(sealwire_newplex_digest { digest }));
        Ok(())
    })
}

/// Takes the next piece of the message. How it is cut into pieces has no effect.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_digest_update(
    digest: Option<&mut sealwire_newplex_digest>,
    piece: *const u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let digest = required(digest, "digest")?;
        digest.digest.update(bytes(piece, size, "piece")?);
        Ok(())
    })
}

/// Writes the digest (32 bytes) of what has been taken so far. The message may go on.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_digest_value(
    digest: Option<&sealwire_newplex_digest>,
    value: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_NEWPLEX_DIGEST_SIZE>(value, "value")?;
        out.write(required(digest, "digest")?.digest.value());
        Ok(())
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_digest_free(digest: Option<Box<sealwire_newplex_digest>>) {
    free(digest);
}

/// Starts a keyed digest of a message of the purpose `domain`, under a key of any size. An empty key is a key.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keyed_digest_new(
    domain: *const c_char,
    key: *const u8,
    key_size: usize,
    out: *mut *mut sealwire_newplex_keyed_digest,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let digest = KeyedDigest::new(text(domain, "domain")?, bytes(key, key_size, "key")?);
        out.write(give(sealwire_newplex_keyed_digest { digest }));
        Ok(())
    })
}

/// Takes the next piece of the message. How it is cut into pieces has no effect.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keyed_digest_update(
    digest: Option<&mut sealwire_newplex_keyed_digest>,
    piece: *const u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let digest = required(digest, "digest")?;
        digest.digest.update(bytes(piece, size, "piece")?);
        Ok(())
    })
}

/// Writes the tag (16 bytes) of what has been taken so far. The message may go on. To check a tag that came with a
/// message use `sealwire_newplex_keyed_digest_verify`, since `memcmp` tells by its time where two differ.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keyed_digest_value(
    digest: Option<&sealwire_newplex_keyed_digest>,
    tag: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_NEWPLEX_TAG_SIZE>(tag, "tag")?;
        out.write(required(digest, "digest")?.digest.value());
        Ok(())
    })
}

/// Checks whether a tag (16 bytes) is that of what has been taken so far, in constant time.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if it is not; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keyed_digest_verify(
    digest: Option<&sealwire_newplex_keyed_digest>,
    tag: *const u8,
) -> sealwire_status {
    guard(|| {
        let digest = required(digest, "digest")?;
        if digest.digest.verify(array(tag, "tag")?) {
            Ok(())
        } else {
            let problem = "not the tag of this message under this key and domain";
            Err(Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, problem))
        }
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_keyed_digest_free(
    digest: Option<Box<sealwire_newplex_keyed_digest>>,
) {
    free(digest);
}
