//! How much an I/O thread serves, by which the next endpoint finds the one that serves least.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread serves: listeners, connectors, `udp` endpoints and connections.
#[derive(Debug, Clone, Default)]
pub(super) struct Load {
    serves: Arc<AtomicUsize>,
}

impl Load {
    /// One more, for as long as the share lives.
    pub(super) fn share(&self) -> LoadShare {
        self.serves.fetch_add(1, Ordering::Relaxed);
        LoadShare(self.clone())
    }

    pub(super) fn get(&self) -> usize {
        self.serves.load(Ordering::Relaxed)
    }
}

/// One of those that make up a load.
#[derive(Debug)]
pub(crate) struct LoadShare(Load);

impl Drop for LoadShare {
    fn drop(&mut self) {
        self.0.serves.fetch_sub(1, Ordering::Relaxed);
    }
}
