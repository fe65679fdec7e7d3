//! One keystream that runs on through all messages of a direction: cheaper, and weaker.
//!
//! Source: `blake3zmq` specification, section 6.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::job::tags_equal;
use crate::keys::{Keying, MessageKeys};
use crate::mac_input::MacInput;
use crate::portable::blake3::words;
use crate::{DecryptionError, KEY_SIZE, TAG_SIZE, engine};
use core::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// **Weak: whole messages can be dropped, repeated or reordered unnoticed**, because the tag does
/// not cover a message's place in the keystream; the receiver accepts such a message and decrypts
/// it to noise.
///
/// It exists to talk to peers of a later draft of the mechanism. Everywhere else
/// [`Stream`](crate::Stream) is the right choice.
///
/// All messages share one ChaCha20 keystream, whose block counter runs on by `ceil(len / 64)` blocks
/// a message, and one key for their tags. A session is either the sealing or the opening side of
/// one direction; using one for both repeats keystream. The counter has 64 bits, that is 2^70 bytes,
/// which no connection reaches. Keys are wiped on drop.
pub struct Session {
    keys: MessageKeys,
    /// The next message's first block.
    counter: u64,
    ahead: Ahead,
}

/// Keystream made before it is needed: sixteen blocks at once take little longer than one.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Ahead {
    blocks: [[u8; 64]; 16],
    /// Counter of the first of them.
    first: u64,
    /// Whether they have been made.
    ready: bool,
}

/// Messages of more blocks have enough of their own to make at once.
const MOST_AHEAD: usize = 4;

impl Session {
    /// A session at block 0 with a key for the keystream, one for the tags, and a ChaCha20 nonce.
    #[must_use]
    pub fn new(enc_key: &[u8; KEY_SIZE], auth_key: &[u8; KEY_SIZE], nonce: &[u8; 8]) -> Self {
        let keys = MessageKeys {
            encryption: words(enc_key),
            authentication: words(auth_key),
            nonce: [
                u32::from_le_bytes([nonce[0], nonce[1], nonce[2], nonce[3]]),
                u32::from_le_bytes([nonce[4], nonce[5], nonce[6], nonce[7]]),
            ],
        };
        let ahead = Ahead {
            blocks: [[0; 64]; 16],
            first: 0,
            ready: false,
        };
        Self {
            keys,
            counter: 0,
            ahead,
        }
    }

    /// Number of keystream blocks of 64 bytes used so far.
    #[must_use]
    pub const fn block_counter(&self) -> u64 {
        self.counter
    }

    /// Encrypts `buffer` with the keystream's next blocks and returns the tag.
    #[must_use = "without its tag the message cannot be opened"]
    pub fn seal(&mut self, aad: &[u8], buffer: &mut [u8]) -> [u8; TAG_SIZE] {
        if buffer.len() > MOST_AHEAD * 64 {
            let keying = Keying::Derived {
                keys: &self.keys,
                counter: self.counter,
            };
            let tag = engine::seal(keying, aad, buffer);
            self.advance(buffer.len());
            return tag;
        }
        self.xor(buffer);
        engine::mac(&self.keys.authentication, &MacInput::new(aad, buffer))
    }

    /// Decrypts `buffer` if the tag is right.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic: `buffer` is then unchanged and the keystream has
    /// not moved.
    pub fn open(
        &mut self,
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<(), DecryptionError> {
        if !tags_equal(
            &engine::mac(&self.keys.authentication, &MacInput::new(aad, buffer)),
            tag,
        ) {
            return Err(DecryptionError);
        }
        self.xor(buffer);
        Ok(())
    }

    /// Seals all jobs in order. Their nonces are ignored. Allocates nothing.
    pub fn seal_batch(&mut self, jobs: &mut [SealJob<'_>]) {
        engine::run(&self.keys, self.counter, jobs);
        for job in jobs {
            self.advance(job.buffer.len());
        }
    }

    /// Opens all jobs in order, up to the first that is forged. Their nonces are ignored. Allocates
    /// nothing.
    ///
    /// Where the keystream goes on after a forged message is unknown, so the jobs behind it stay
    /// [`Unchecked`](Verdict::Unchecked) and untouched.
    ///
    /// # Errors
    /// [`DecryptionError`] if a job is forged; the keystream then stands at that job.
    pub fn open_batch(&mut self, jobs: &mut [OpenJob<'_>]) -> Result<(), DecryptionError> {
        for job in jobs.iter_mut() {
            job.verdict = Verdict::Unchecked;
        }
        engine::run(&self.keys, self.counter, jobs);
        for job in jobs {
            if job.verdict != Verdict::Verified {
                return Err(DecryptionError);
            }
            self.advance(job.buffer.len());
        }
        Ok(())
    }

    /// XORs `buffer` with the keystream's next blocks.
    fn xor(&mut self, buffer: &mut [u8]) {
        if buffer.len() > MOST_AHEAD * 64 {
            engine::xor_keystream(&self.keys, self.counter, buffer);
            return self.advance(buffer.len());
        }
        for bytes in buffer.chunks_mut(64) {
            let mut place = self.counter.wrapping_sub(self.ahead.first);
            if !self.ahead.ready || place >= 16 {
                let blocks = self.ahead.blocks.as_flattened_mut();
                blocks.fill(0);
                engine::xor_keystream(&self.keys, self.counter, blocks);
                (self.ahead.first, self.ahead.ready) = (self.counter, true);
                place = 0;
            }
            let block = &self.ahead.blocks[place as usize];
            // A length that the compiler knows makes this a few vector instructions.
            match bytes.first_chunk_mut::<64>() {
                Some(whole) => xor_bytes(whole, block),
                None => xor_bytes(bytes, block),
            }
            self.advance(bytes.len());
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.counter = self.counter.wrapping_add(bytes.div_ceil(64) as u64);
    }
}

#[inline]
fn xor_bytes(bytes: &mut [u8], key_bytes: &[u8; 64]) {
    for (byte, key_byte) in bytes.iter_mut().zip(key_bytes) {
        *byte ^= key_byte;
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("block_counter", &self.counter)
            .finish_non_exhaustive()
    }
}
