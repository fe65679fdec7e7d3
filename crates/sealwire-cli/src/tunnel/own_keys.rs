//! The keys of a tunnel's end, which may be read again while it serves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_tunnel::{Identity, PublicKey};

/// What a handshake is made with.
#[derive(Debug)]
pub(super) struct OwnKeys {
    pub(super) identity: Arc<Identity>,
    /// As connector: the key that the listener has to have. A listener has none to expect.
    pub(super) server_key: Option<PublicKey>,
}

/// The keys of connections that begin now. Each keeps those that it began with.
#[derive(Debug, Clone)]
pub(super) struct CurrentKeys(Arc<Mutex<Arc<OwnKeys>>>);

impl CurrentKeys {
    pub(super) fn new(keys: OwnKeys) -> Self {
        CurrentKeys(Arc::new(Mutex::new(Arc::new(keys))))
    }

    fn lock(&self) -> MutexGuard<'_, Arc<OwnKeys>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self) -> Arc<OwnKeys> {
        self.lock().clone()
    }

    pub(super) fn replace(&self, keys: OwnKeys) {
        *self.lock() = Arc::new(keys);
    }
}
