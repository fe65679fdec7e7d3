//! Sequences of messages whose nonces begin with the same 16 bytes, in batches.

use core::fmt;

use zeroize::Zeroize;

use crate::batch;
use crate::job::{OpenJob, SealJob};
use crate::salsa20::portable::subkey;
use crate::sizes::{KEY_SIZE, PREFIX_SIZE};

/// XSalsa20-Poly1305 under one key and one prefix of 16 bytes, such as `CurveZMQMESSAGEC`.
///
/// What a [`SecretBox`](crate::SecretBox) derives for each message is derived here once. The subkey
/// is wiped on drop.
#[derive(Clone)]
pub struct CounterBox {
    subkey: [u32; 8],
}

impl CounterBox {
    pub(crate) fn new(key: &[u8; KEY_SIZE], prefix: &[u8; PREFIX_SIZE]) -> Self {
        Self {
            subkey: subkey(key, prefix),
        }
    }

    /// Seals every job under its own nonce. Allocates nothing.
    pub fn seal_batch(&self, jobs: &mut [SealJob<'_>]) {
        batch::seal_batch(&self.subkey, jobs);
    }

    /// Gives every job its verdict and decrypts exactly those that verified. Allocates nothing.
    pub fn open_batch(&self, jobs: &mut [OpenJob<'_>]) {
        batch::open_batch(&self.subkey, jobs);
    }
}

impl Drop for CounterBox {
    fn drop(&mut self) {
        self.subkey.zeroize();
    }
}

impl fmt::Debug for CounterBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterBox").finish_non_exhaustive()
    }
}
