//! A sequence of messages under one key whose nonces are counted, so that none is used twice.
//!
//! Message `i` (0, 1, ...) has the nonce `n[0..16] || le64(le64(n[16..24]) + i)`, where `n` is the
//! stream's nonce and the sum wraps. Each message is sealed under keys derived from its nonce, so
//! one that is dropped, repeated, reordered or moved to another stream does not open at the position
//! where it is expected. Positions run from 0 to 2^64 - 2; there is nothing after that but an error.
//!
//! Source: `blake3zmq` specification, section 5.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::error::{OpenError, StreamExhausted};
use crate::{Cipher, DecryptionError, KEY_SIZE, NONCE_SIZE, TAG_SIZE};
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// Nonce of the message at `position` in the stream whose nonce is `nonce`.
#[must_use]
pub fn message_nonce(nonce: &[u8; NONCE_SIZE], position: u64) -> [u8; NONCE_SIZE] {
    let mut message_nonce = *nonce;
    if let Some(counter) = message_nonce.last_chunk_mut::<8>() {
        *counter = u64::from_le_bytes(*counter)
            .wrapping_add(position)
            .to_le_bytes();
    }
    message_nonce
}

/// The sealing side: hands out positions and seals.
///
/// `Send` and `Sync`: any number of threads may seal through one shared stream, and the counter is
/// taken atomically, so no two messages can get the same nonce. For that reason it is not `Clone`.
///
/// ```
/// use sealwire_aead::{Stream, StreamOpener};
///
/// let (key, nonce) = ([1; 32], [2; 24]);
/// let sealing = Stream::new(&key, &nonce);
/// let mut opening = StreamOpener::new(&key, &nonce);
///
/// let mut message = *b"first";
/// let (position, tag) = sealing.seal(b"", &mut message)?;
/// assert_eq!(position, 0);
/// opening.open(b"", &mut message, &tag)?;
/// assert_eq!(&message, b"first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream {
    cipher: Cipher,
    nonce: [u8; NONCE_SIZE],
    /// Position of the next message; `u64::MAX` once all are used.
    next: AtomicU64,
}

impl Stream {
    /// A stream at position 0.
    ///
    /// The pair of key and nonce must be fresh: two sealing streams from the same pair repeat each
    /// other's nonces.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> Self {
        Self::starting_at(key, nonce, 0)
    }

    /// A stream whose first position is `position`, to go on where an earlier one stopped.
    #[must_use]
    pub fn starting_at(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE], position: u64) -> Self {
        Self {
            cipher: Cipher::new(key),
            nonce: *nonce,
            next: AtomicU64::new(position),
        }
    }

    /// Position of the next message, as of now; another thread may be about to take it.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Encrypts `buffer` at the next position and returns that position and the tag.
    ///
    /// # Errors
    /// [`StreamExhausted`] after 2^64 - 1 messages; `buffer` is then unchanged.
    pub fn seal(
        &self,
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<(u64, [u8; TAG_SIZE]), StreamExhausted> {
        let position = self.take(1)?;
        let nonce = message_nonce(&self.nonce, position);
        Ok((
            position,
            self.cipher.encrypt_in_place_detached(&nonce, aad, buffer),
        ))
    }

    /// Seals all jobs at successive positions and returns the first one's. Writes their nonces.
    ///
    /// # Errors
    /// [`StreamExhausted`] if there are not enough positions left for all jobs; none is then sealed
    /// and no position used.
    pub fn seal_batch(&self, jobs: &mut [SealJob<'_>]) -> Result<u64, StreamExhausted> {
        let first = self.take(jobs.len() as u64)?;
        for (job, position) in jobs.iter_mut().zip(first..) {
            job.nonce = message_nonce(&self.nonce, position);
        }
        self.cipher.seal_batch(jobs);
        Ok(first)
    }

    /// Opens the message sealed at `position`. The stream's own position does not move.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic at this position; `buffer` is then unchanged.
    pub fn open(
        &self,
        position: u64,
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<(), DecryptionError> {
        // No message was ever sealed at the position that stands for "exhausted".
        if position == u64::MAX {
            return Err(DecryptionError);
        }
        let nonce = message_nonce(&self.nonce, position);
        self.cipher
            .decrypt_in_place_detached(&nonce, aad, buffer, tag)
    }

    /// Takes `count` successive positions and returns the first.
    fn take(&self, count: u64) -> Result<u64, StreamExhausted> {
        // Relaxed is enough: the counter orders nothing but itself.
        self.next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
                next.checked_add(count)
            })
            .map_err(|_| StreamExhausted)
            .and_then(|first| {
                if first == u64::MAX {
                    Err(StreamExhausted)
                } else {
                    Ok(first)
                }
            })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

/// The receiving side: expects messages in order, and moves on only when one opens.
pub struct StreamOpener {
    cipher: Cipher,
    nonce: [u8; NONCE_SIZE],
    next: u64,
}

impl StreamOpener {
    /// The receiving side of the [`Stream`] with this key and nonce, at position 0.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> Self {
        Self::starting_at(key, nonce, 0)
    }

    /// The receiving side, with `position` the first that is expected.
    #[must_use]
    pub fn starting_at(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE], position: u64) -> Self {
        Self {
            cipher: Cipher::new(key),
            nonce: *nonce,
            next: position,
        }
    }

    /// Position of the message that is expected next.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.next
    }

    /// Opens the message at the expected position.
    ///
    /// # Errors
    /// [`OpenError::Decryption`] if it is not the authentic message of this position;
    /// [`OpenError::Exhausted`] after 2^64 - 1 messages. In both cases `buffer` is unchanged and
    /// the position stays.
    pub fn open(
        &mut self,
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<(), OpenError> {
        let following = self.following(1)?;
        let nonce = message_nonce(&self.nonce, self.next);
        self.cipher
            .decrypt_in_place_detached(&nonce, aad, buffer, tag)?;
        self.next = following;
        Ok(())
    }

    /// Opens all jobs, which are expected to be the next messages in order. Writes their nonces.
    ///
    /// The position moves past the jobs in front of the first forged one. Jobs behind it that are
    /// authentic at their own positions are opened too, as in
    /// [`Cipher::open_batch`](crate::Cipher::open_batch), though a sequence with a gap is seldom of
    /// use.
    ///
    /// # Errors
    /// [`OpenError::Decryption`] if any job is forged; [`OpenError::Exhausted`] if there are fewer
    /// positions left than jobs, with none of them looked at.
    pub fn open_batch(&mut self, jobs: &mut [OpenJob<'_>]) -> Result<(), OpenError> {
        self.following(jobs.len() as u64)?;
        for (job, position) in jobs.iter_mut().zip(self.next..) {
            job.nonce = message_nonce(&self.nonce, position);
        }
        let outcome = self.cipher.open_batch(jobs);
        let in_order = jobs
            .iter()
            .take_while(|job| job.verdict == Verdict::Verified)
            .count();
        self.next += in_order as u64;
        Ok(outcome?)
    }

    fn following(&self, count: u64) -> Result<u64, StreamExhausted> {
        if self.next == u64::MAX {
            return Err(StreamExhausted);
        }
        self.next.checked_add(count).ok_or(StreamExhausted)
    }
}

impl fmt::Debug for StreamOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamOpener")
            .field("position", &self.next)
            .finish_non_exhaustive()
    }
}
