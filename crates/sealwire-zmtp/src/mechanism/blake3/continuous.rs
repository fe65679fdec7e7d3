//! **Weak:** sealed frames in one keystream, whose order nobody authenticates.
//!
//! Source: wire reference, section 6. Only for peers that speak nothing else, and only when a
//! program asks for it by name.

use alloc::boxed::Box;

use crate::mechanism::NotSealed;
use crate::provider::{ContinuousCipher, OpenJob, SealJob, Verdict};

/// Seals the frames of one direction.
pub(crate) struct Sealer {
    cipher: Box<dyn ContinuousCipher>,
    next: u64,
}

impl Sealer {
    pub(crate) fn new(cipher: Box<dyn ContinuousCipher>) -> Self {
        Self { cipher, next: 0 }
    }

    pub(crate) const fn next_index(&self) -> u64 {
        self.next
    }

    pub(crate) fn seal(&mut self, jobs: &mut [SealJob<'_>]) -> Result<(), NotSealed> {
        let next = self.next.checked_add(jobs.len() as u64).ok_or(NotSealed)?;
        self.cipher.seal(jobs);
        self.next = next;
        Ok(())
    }
}

/// Opens the frames of one direction.
pub(crate) struct Opener {
    cipher: Box<dyn ContinuousCipher>,
    next: u64,
}

impl Opener {
    pub(crate) fn new(cipher: Box<dyn ContinuousCipher>) -> Self {
        Self { cipher, next: 0 }
    }

    pub(crate) const fn next_index(&self) -> u64 {
        self.next
    }

    pub(crate) fn open(&mut self, jobs: &mut [OpenJob<'_>]) -> usize {
        self.cipher.open(jobs);
        let verified = jobs
            .iter()
            .take_while(|job| job.verdict == Verdict::Verified)
            .count();
        self.next += verified as u64;
        verified
    }
}
