//! ChaCha20-BLAKE3: an AEAD with tags of 256 bits.

use std::ffi::c_char;

use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
use sealwire_aead::{
    Cipher, DecryptionError, OpenError, RandomError, Stream, StreamExhausted, StreamOpener,
};
use zeroize::Zeroizing;

use crate::panics::{free, guard};
use crate::pointers::{
    array, array_output, bytes, bytes_mut, copy, give, items_mut, optional_output, output,
    required, text,
};
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_NOT_AUTHENTIC, SEALWIRE_ERROR_RANDOM,
    SEALWIRE_ERROR_STREAM_EXHAUSTED, sealwire_status,
};

/// Bytes of a key.
pub const SEALWIRE_AEAD_KEY_SIZE: usize = 32;
/// Bytes of a nonce.
pub const SEALWIRE_AEAD_NONCE_SIZE: usize = 24;
/// Bytes of a tag: what sealing adds to a message.
pub const SEALWIRE_AEAD_TAG_SIZE: usize = 32;
/// Bytes of the longest key that is derived.
pub const SEALWIRE_AEAD_DERIVED_SIZE_MAX: usize = 65_535;

impl From<DecryptionError> for Failure {
    fn from(error: DecryptionError) -> Self {
        Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, error.to_string())
    }
}

impl From<StreamExhausted> for Failure {
    fn from(error: StreamExhausted) -> Self {
        Failure::new(SEALWIRE_ERROR_STREAM_EXHAUSTED, error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Exhausted => StreamExhausted.into(),
            error => Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, error.to_string()),
        }
    }
}

impl From<RandomError> for Failure {
    fn from(error: RandomError) -> Self {
        Failure::new(SEALWIRE_ERROR_RANDOM, error.to_string())
    }
}

/// Writes a fresh random key: 32 bytes, which are yours to wipe.
///
/// Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_generate_key(key: *mut u8) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_AEAD_KEY_SIZE>(key, "key")?;
        out.write(*sealwire_aead::generate_key()?.as_bytes());
        Ok(())
    })
}

/// Writes a fresh random nonce: 24 bytes. `sealwire_aead_seal` says why that is enough.
///
/// Errors: `SEALWIRE_ERROR_RANDOM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_generate_nonce(nonce: *mut u8) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_AEAD_NONCE_SIZE>(nonce, "nonce")?;
        out.write(sealwire_aead::generate_nonce()?);
        Ok(())
    })
}

/// Derives a key of `size` bytes, 1 to 65,535, from secret material, for the purpose that `context`
/// names: BLAKE3's key derivation mode. Keys of different contexts are independent of each other and of
/// the material; a shorter key is the beginning of a longer one. The context, a text, is a constant of
/// the program that no other purpose shares, such as "example.com 2026-11-25 backups v1". The material
/// is as hard to guess as a key, so never a password; where it has several parts of any length, write
/// the length of each before it. The key is yours to wipe.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_derive_key(
    context: *const c_char,
    material: *const u8,
    material_size: usize,
    key: *mut u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let context = text(context, "context")?;
        let material = bytes(material, material_size, "material")?;
        if !(1..=SEALWIRE_AEAD_DERIVED_SIZE_MAX).contains(&size) {
            let problem = format!(
                "a derived key has 1 to {SEALWIRE_AEAD_DERIVED_SIZE_MAX} bytes, not {size}"
            );
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, problem));
        }
        let mut derived = Zeroizing::new(vec![0; size]);
        sealwire_aead::derive_key_into(context, material, &mut derived);
        copy(&derived, key, "key")
    })
}

/// Seals a message under a key (32 bytes) and a nonce (24 bytes) that is never used for another
/// message under that key. `aad` is authenticated, not encrypted; it may be NULL with a size of 0.
/// Writes `size` + 32 bytes to `sealed`: the ciphertext, then the tag. `sealed` may start where
/// `plaintext` does; otherwise the two must not overlap, nor `sealed` and `aad`.
///
/// Nonces: two messages sealed under the same key and nonce share their derived keys. Anyone who sees
/// both has the XOR of the plaintexts, as far as the shorter one goes, so who knows one plaintext
/// reads the other; and each opens where the other is expected. The key of the tags repeats too,
/// which enables no forgery: keyed BLAKE3 is a pseudorandom function, unlike Poly1305 and GHASH. The
/// key itself and messages under other nonces stay secret. What rules it out: a random nonce for each
/// message (`sealwire_aead_generate_nonce`; after 2^64 messages under a key two are equal with a chance
/// below 2^-64, after 2^80 below 2^-32), or a `sealwire_aead_stream`, which counts nonces; each stream
/// needs a key or a random nonce of its own.
///
/// The tag commits to key, nonce, associated data and message, short of a collision of BLAKE3 (2^128
/// steps). What this is not: a standard, or audited; resistant to the misuse of nonces; a guard
/// against messages that are dropped, repeated or reordered, but for `sealwire_aead_opener`. Lengths
/// are not hidden.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_seal(
    key: *const u8,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> sealwire_status {
    guard(|| {
        let key = array(key, "key")?;
        let nonce = array(nonce, "nonce")?;
        let aad = bytes(aad, aad_size, "aad")?;
        array_output::<SEALWIRE_AEAD_TAG_SIZE>(sealed, "sealed")?;
        copy(bytes(plaintext, size, "plaintext")?, sealed, "sealed")?;
        let buffer = bytes_mut(sealed, size, "sealed")?;
        let tag = Cipher::new(key).encrypt_in_place_detached(nonce, aad, buffer);
        copy(&tag, sealed.wrapping_add(size), "sealed")
    })
}

/// Opens what `sealwire_aead_seal` made, of which there are `size` bytes, and writes `size` - 32
/// bytes to `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 32 bytes; `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_open(
    key: *const u8,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> sealwire_status {
    guard(|| {
        let key = array(key, "key")?;
        let nonce = array(nonce, "nonce")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let sealed = bytes(sealed, size, "sealed")?;
        if size > SEALWIRE_AEAD_TAG_SIZE {
            output(plaintext, "plaintext")?;
        }
        let opened = Zeroizing::new(Cipher::new(key).decrypt_with_aad(nonce, aad, sealed)?);
        copy(&opened, plaintext, "plaintext")
    })
}

/// Encrypts `buffer` where it is and writes the tag (32 bytes) apart. As `sealwire_aead_seal`
/// otherwise. Allocates nothing.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_seal_detached(
    key: *const u8,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *mut u8,
) -> sealwire_status {
    guard(|| {
        let (key, nonce) = (array(key, "key")?, array(nonce, "nonce")?);
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array_output(tag, "tag")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        tag.write(Cipher::new(key).encrypt_in_place_detached(nonce, aad, buffer));
        Ok(())
    })
}

/// Decrypts `buffer` where it is, if the tag (32 bytes) is right; otherwise it still holds the
/// ciphertext. Allocates nothing.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_open_detached(
    key: *const u8,
    nonce: *const u8,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *const u8,
) -> sealwire_status {
    guard(|| {
        let (key, nonce) = (array(key, "key")?, array(nonce, "nonce")?);
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array(tag, "tag")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        Ok(Cipher::new(key).decrypt_in_place_detached(nonce, aad, buffer, tag)?)
    })
}

/// One message of a batch.
#[repr(C)]
pub struct sealwire_aead_job {
    /// Its nonce: 24 bytes.
    pub nonce: *const u8,
    /// The bytes that are authenticated and not encrypted; may be NULL with a size of 0.
    pub aad: *const u8,
    /// Bytes of it.
    pub aad_size: usize,
    /// The text, encrypted or decrypted in place. No two jobs share bytes.
    pub buffer: *mut u8,
    /// Bytes of it.
    pub size: usize,
    /// Its tag: 32 bytes, written when sealing and read when opening.
    pub tag: *mut u8,
    /// Written when opening: whether it is authentic. If not, the buffer still holds the ciphertext.
    pub authentic: bool,
}

/// Seals several messages, faster than one by one if they are short.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; then nothing was sealed.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_seal_batch(
    key: *const u8,
    jobs: *mut sealwire_aead_job,
    count: usize,
) -> sealwire_status {
    guard(|| {
        let key = array(key, "key")?;
        let jobs = items_mut(jobs, count, "jobs")?;
        let mut tags = vec![[0; SEALWIRE_AEAD_TAG_SIZE]; jobs.len()];
        let outputs = jobs
            .iter()
            .map(|job| array_output(job.tag, "tag"))
            .collect::<Result<Vec<_>, _>>()?;
        let mut batch = jobs
            .iter()
            .zip(&mut tags)
            .map(|(job, tag)| {
                Ok(SealJob {
                    nonce: *array(job.nonce, "nonce")?,
                    aad: bytes(job.aad, job.aad_size, "aad")?,
                    buffer: bytes_mut(job.buffer, job.size, "buffer")?,
                    tag,
                })
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        Cipher::new(key).seal_batch(&mut batch);
        drop(batch);
        for (output, tag) in outputs.into_iter().zip(tags) {
            output.write(tag);
        }
        Ok(())
    })
}

/// Opens several messages and writes for each whether it is `authentic`. One that is not does not
/// keep the others from being opened.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC` if any is not; `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`, and then nothing was opened.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_open_batch(
    key: *const u8,
    jobs: *mut sealwire_aead_job,
    count: usize,
) -> sealwire_status {
    guard(|| {
        let key = array(key, "key")?;
        let jobs = items_mut(jobs, count, "jobs")?;
        let mut batch = jobs
            .iter()
            .map(|job| {
                Ok(OpenJob::new(
                    *array(job.nonce, "nonce")?,
                    bytes(job.aad, job.aad_size, "aad")?,
                    bytes_mut(job.buffer, job.size, "buffer")?,
                    array(job.tag, "tag")?,
                ))
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let opened = Cipher::new(key).open_batch(&mut batch);
        let verdicts: Vec<_> = batch.iter().map(|job| job.verdict).collect();
        drop(batch);
        for (job, verdict) in jobs.iter_mut().zip(verdicts) {
            job.authentic = verdict == Verdict::Verified;
        }
        Ok(opened?)
    })
}

/// The sealing side of a stream of messages under one key and nonce, each with a number of its own,
/// so that no nonce is used twice. The key is wiped when it is freed.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_aead_stream {
    stream: Stream,
}

/// The opening side of a stream: takes messages in their order only, so that none is lost, repeated
/// or moved unnoticed. The key is wiped when it is freed.
///
/// Threads: one at a time.
pub struct sealwire_aead_opener {
    opener: StreamOpener,
}

/// Starts a stream under a key (32 bytes) and a nonce (24 bytes), with `position` the number of its
/// first message: 0, or where an earlier one stopped. Two streams with the same key, nonce and numbers
/// repeat each other's nonces, which must not be.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_stream_new(
    key: *const u8,
    nonce: *const u8,
    position: u64,
    out: *mut *mut sealwire_aead_stream,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let (key, nonce) = (array(key, "key")?, array(nonce, "nonce")?);
        let stream = Stream::starting_at(key, nonce, position);
        out.write(give(sealwire_aead_stream { stream }));
        Ok(())
    })
}

/// Encrypts `buffer` where it is as the next message, and writes the tag (32 bytes) and, where
/// `position` is not NULL, the message's number.
///
/// Errors: `SEALWIRE_ERROR_STREAM_EXHAUSTED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_stream_seal(
    stream: Option<&sealwire_aead_stream>,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *mut u8,
    position: *mut u64,
) -> sealwire_status {
    guard(|| {
        let stream = required(stream, "stream")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array_output(tag, "tag")?;
        let position = optional_output(position, "position")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        let (number, sealed) = stream.stream.seal(aad, buffer)?;
        tag.write(sealed);
        if let Some(position) = position {
            position.write(number);
        }
        Ok(())
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_stream_free(stream: Option<Box<sealwire_aead_stream>>) {
    free(stream);
}

/// The opening side of the stream with this key and nonce, with `position` the number of the first
/// message that is expected.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_opener_new(
    key: *const u8,
    nonce: *const u8,
    position: u64,
    out: *mut *mut sealwire_aead_opener,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let (key, nonce) = (array(key, "key")?, array(nonce, "nonce")?);
        let opener = StreamOpener::starting_at(key, nonce, position);
        out.write(give(sealwire_aead_opener { opener }));
        Ok(())
    })
}

/// Decrypts `buffer` where it is, if it is the next message with its tag (32 bytes). Otherwise it
/// still holds the ciphertext, and the same message is expected as before.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, `SEALWIRE_ERROR_STREAM_EXHAUSTED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_opener_open(
    opener: Option<&mut sealwire_aead_opener>,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *const u8,
) -> sealwire_status {
    guard(|| {
        let opener = required(opener, "opener")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array(tag, "tag")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        Ok(opener.opener.open(aad, buffer, tag)?)
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_opener_free(opener: Option<Box<sealwire_aead_opener>>) {
    free(opener);
}
