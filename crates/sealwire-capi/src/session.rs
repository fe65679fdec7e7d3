//! ChaCha20-BLAKE3 with one keystream that runs on through all messages, for peers that speak nothing
//! else.

use sealwire_aead::Session;

use crate::panics::{free, guard, value};
use crate::pointers::{array, array_output, bytes, bytes_mut, give, output, required};
use crate::status::{Failure, SEALWIRE_ERROR_STATE, sealwire_status};

/// Bytes of the nonce of a session.
pub const SEALWIRE_AEAD_SESSION_NONCE_SIZE: usize = 8;

/// Weak: whole messages can be dropped, repeated or reordered unnoticed, because the tag does not cover
/// a message's place in the keystream; the receiver accepts such a message and decrypts it to noise. It
/// is for peers that speak nothing else: use `sealwire_aead_stream` everywhere else.
///
/// One side of one direction. The first message says whether it seals or opens: one that did both would
/// use its keystream twice. The keys are wiped when it is freed.
///
/// Threads: one at a time.
pub struct sealwire_aead_session {
    session: Session,
    direction: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sealing,
    Opening,
}

impl sealwire_aead_session {
    fn in_direction(&mut self, direction: Direction) -> Result<&mut Session, Failure> {
        if *self.direction.get_or_insert(direction) == direction {
            return Ok(&mut self.session);
        }
        let problem = "one session seals and another opens: make one for each direction";
        Err(Failure::new(SEALWIRE_ERROR_STATE, problem))
    }
}

/// Starts a session at the first block of its keystream, with a key for the keystream (32 bytes), one
/// for the tags (32 bytes) and a nonce (8 bytes), which no other session of the same keys has.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_session_new(
    encryption_key: *const u8,
    authentication_key: *const u8,
    nonce: *const u8,
    out: *mut *mut sealwire_aead_session,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let session = Session::new(
            array(encryption_key, "encryption_key")?,
            array(authentication_key, "authentication_key")?,
            array(nonce, "nonce")?,
        );
        out.write(give(sealwire_aead_session {
            session,
            direction: None,
        }));
        Ok(())
    })
}

/// Encrypts `buffer` where it is as the next message, and writes the tag (32 bytes).
///
/// Errors: `SEALWIRE_ERROR_STATE` if the session opens; `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_session_seal(
    session: Option<&mut sealwire_aead_session>,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *mut u8,
) -> sealwire_status {
    guard(|| {
        let session = required(session, "session")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array_output(tag, "tag")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        tag.write(session.in_direction(Direction::Sealing)?.seal(aad, buffer));
        Ok(())
    })
}

/// Decrypts `buffer` where it is, if the tag (32 bytes) is right; otherwise it still holds the
/// ciphertext, and the keystream has not moved.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`; `SEALWIRE_ERROR_STATE` if the session seals;
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_session_open(
    session: Option<&mut sealwire_aead_session>,
    aad: *const u8,
    aad_size: usize,
    buffer: *mut u8,
    size: usize,
    tag: *const u8,
) -> sealwire_status {
    guard(|| {
        let session = required(session, "session")?;
        let aad = bytes(aad, aad_size, "aad")?;
        let tag = array(tag, "tag")?;
        let buffer = bytes_mut(buffer, size, "buffer")?;
        let session = session.in_direction(Direction::Opening)?;
        Ok(session.open(aad, buffer, tag)?)
    })
}

/// The number of blocks of the keystream, of 64 bytes each, that messages have used so far. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_session_block_counter(
    session: Option<&sealwire_aead_session>,
) -> u64 {
    value(0, || {
        session.map_or(0, |session| session.session.block_counter())
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_aead_session_free(session: Option<Box<sealwire_aead_session>>) {
    free(session);
}
