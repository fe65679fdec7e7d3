//! Sealed frames with a nonce each: the data phase that is on by default.
//!
//! Source: wire reference, section 5.
//!
//! ```text
//! nonce of frame i = n[0..16] || le64(le64(n[16..24]) + i, wrapping)
//! ```
//!
//! The frame's keys come from its nonce, so a frame that was dropped, repeated, reordered or taken
//! from elsewhere does not verify. Frame 2^64 - 1 is never sealed nor opened.

use alloc::boxed::Box;

use crate::mechanism::NotSealed;
use crate::provider::{MessageCipher, OpenJob, PieceSealer, SealJob, Verdict};

/// The nonces of one direction, in order, each once.
struct Nonces {
    prefix: [u8; 16],
    /// Of frame 0, behind the prefix.
    first: u64,
    next: u64,
}

impl Nonces {
    fn new(base: [u8; 24]) -> Self {
        Self {
            prefix: core::array::from_fn(|i| base[i]),
            first: u64::from_le_bytes(core::array::from_fn(|i| base[16 + i])),
            next: 0,
        }
    }

    /// The nonce of the frame `ahead` places after the next one.
    fn peek(&self, ahead: usize) -> [u8; 24] {
        let counter = self.first.wrapping_add(self.next + ahead as u64);
        let mut nonce = [0; 24];
        nonce[..16].copy_from_slice(&self.prefix);
        nonce[16..].copy_from_slice(&counter.to_le_bytes());
        nonce
    }

    /// `None` when fewer than `count` are left, none of which is used then.
    fn advance(&mut self, count: usize) -> Option<()> {
        self.next = self.next.checked_add(count as u64)?;
        Some(())
    }
}

/// Seals the frames of one direction.
pub(crate) struct Sealer {
    cipher: Box<dyn MessageCipher>,
    nonces: Nonces,
}

impl Sealer {
    pub(crate) fn new(cipher: Box<dyn MessageCipher>, base: [u8; 24]) -> Self {
        Self {
            cipher,
            nonces: Nonces::new(base),
        }
    }

    pub(crate) const fn next_index(&self) -> u64 {
        self.nonces.next
    }

    pub(crate) fn seal(&mut self, jobs: &mut [SealJob<'_>]) -> Result<(), NotSealed> {
        for (ahead, job) in jobs.iter_mut().enumerate() {
            job.nonce = self.nonces.peek(ahead);
        }
        // Before the cipher runs, so that no panic in there can make a nonce come again.
        self.nonces.advance(jobs.len()).ok_or(NotSealed)?;
        self.cipher.seal(jobs);
        Ok(())
    }

    /// Begins to seal the next frame in pieces, where the provider can.
    pub(crate) fn seal_in_pieces(&mut self, aad: &[u8]) -> Option<Box<dyn PieceSealer>> {
        let sealer = self.cipher.seal_in_pieces(&self.nonces.peek(0), aad)?;
        self.nonces.advance(1)?;
        Some(sealer)
    }
}

/// Opens the frames of one direction.
pub(crate) struct Opener {
    cipher: Box<dyn MessageCipher>,
    nonces: Nonces,
}

impl Opener {
    pub(crate) fn new(cipher: Box<dyn MessageCipher>, base: [u8; 24]) -> Self {
        Self {
            cipher,
            nonces: Nonces::new(base),
        }
    }

    pub(crate) const fn next_index(&self) -> u64 {
        self.nonces.next
    }

    pub(crate) fn open(&mut self, jobs: &mut [OpenJob<'_>]) -> usize {
        for (ahead, job) in jobs.iter_mut().enumerate() {
            job.nonce = self.nonces.peek(ahead);
        }
        self.cipher.open(jobs);
        let verified = jobs
            .iter()
            .take_while(|job| job.verdict == Verdict::Verified)
            .count();
        // Nothing verifies beyond the last number.
        self.nonces.advance(verified).map_or(0, |()| verified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{DefaultProvider, Provider};

    const BASE: [u8; 24] = {
        let mut base = [7; 24];
        let mut i = 16;
        while i < 24 {
            base[i] = 0xff;
            i += 1;
        }
        base
    };

    fn sealer_at(next: u64) -> Sealer {
        let mut sealer = Sealer::new(DefaultProvider.cipher(&[1; 32]), BASE);
        sealer.nonces.next = next;
        sealer
    }

    fn seal(sealer: &mut Sealer, count: usize) -> Result<(), NotSealed> {
        (0..count).try_for_each(|_| {
            let job = SealJob {
                nonce: [0; 24],
                aad: b"",
                buffer: &mut [],
                tag: &mut [0; 32],
            };
            sealer.seal(&mut [job])
        })
    }

    #[test]
    fn the_last_eight_bytes_count_and_wrap() {
        let nonces = Nonces::new(BASE);
        assert_eq!(nonces.peek(0), BASE);
        let mut expected = [7; 24];
        expected[16..].copy_from_slice(&[0; 8]);
        assert_eq!(nonces.peek(1), expected);
        expected[16] = 255;
        assert_eq!(nonces.peek(256), expected);
    }

    #[test]
    fn the_last_number_is_two_to_the_64_minus_two() {
        let mut sealer = sealer_at(u64::MAX - 2);
        assert_eq!(seal(&mut sealer, 2), Ok(()));
        assert_eq!(sealer.next_index(), u64::MAX);
    }

    #[test]
    fn no_number_beyond_is_ever_used() {
        let mut sealer = sealer_at(u64::MAX);
        assert_eq!(seal(&mut sealer, 1), Err(NotSealed));
        assert_eq!(sealer.next_index(), u64::MAX);
        assert!(sealer.seal_in_pieces(b"").is_none());
    }

    #[test]
    fn opening_stands_still_at_what_does_not_verify() {
        let mut sealer = sealer_at(5);
        let mut sealed = [[1; 4], [2; 4], [3; 4]];
        let mut tags = [[0; 32]; 3];
        let pairs = sealed.iter_mut().zip(&mut tags);
        let mut jobs: alloc::vec::Vec<_> = pairs
            .map(|(buffer, tag)| SealJob {
                nonce: [0; 24],
                aad: b"",
                buffer,
                tag,
            })
            .collect();
        sealer.seal(&mut jobs).unwrap();
        tags[1][0] ^= 1;

        let mut opener = Opener::new(DefaultProvider.cipher(&[1; 32]), BASE);
        opener.nonces.next = 5;
        let pairs = sealed.iter_mut().zip(&tags);
        let mut jobs: alloc::vec::Vec<_> = pairs
            .map(|(buffer, tag)| OpenJob::new([0; 24], b"", buffer, tag))
            .collect();
        assert_eq!(opener.open(&mut jobs), 1);
        assert_eq!(opener.next_index(), 6);
        assert_eq!(sealed[0], [1; 4]);
        assert_ne!(sealed[1], [2; 4], "what does not verify is not decrypted");
    }

    impl Sealer {
        /// For tests of what comes near the end.
        pub(crate) fn skipped_to(mut self, next: u64) -> Self {
            self.nonces.next = next;
            self
        }
    }
}
