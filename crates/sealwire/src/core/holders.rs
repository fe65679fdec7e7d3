//! How many established connections each key has at a socket.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_zmtp::{Mechanism, PublicKey};

use crate::peer::Peer;

/// Whom established connections are counted by: what the peer proved in its handshake.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Key(PublicKey),
    /// With a password.
    User(String),
}

impl Holder {
    /// `None` for a peer that proved nothing.
    pub(crate) fn of(peer: &Peer) -> Option<Self> {
        if let Some(key) = peer.public_key() {
            return Some(Holder::Key(key));
        }
        let user = peer.user_id()?;
        (peer.mechanism() == Some(Mechanism::Plain)).then(|| Holder::User(user.to_owned()))
    }
}

/// The connections of one socket by their holders.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    connections: Mutex<HashMap<Holder, usize>>,
}

impl Holders {
    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more connection; `None` when the holder has `most`.
    pub(crate) fn hold(self: &Arc<Self>, holder: Holder, most: usize) -> Option<Holding> {
        let mut connections = self.lock();
        let held = connections.get(&holder).copied().unwrap_or(0);
        if held >= most {
            return None;
        }
        connections.insert(holder.clone(), held + 1);
        Some(Holding {
            holder,
            of: self.clone(),
        })
    }
}

/// One connection of a holder, until it is dropped.
#[derive(Debug)]
pub(crate) struct Holding {
    holder: Holder,
    of: Arc<Holders>,
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut connections = self.of.lock();
        if let Some(held) = connections.get_mut(&self.holder) {
            *held -= 1;
            if *held == 0 {
                connections.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_counted_apart_and_forgotten() {
        let holders = Arc::new(Holders::default());
        let [one, other] = ["one", "other"].map(|name| Holder::User(name.into()));
        let first = holders.hold(one.clone(), 2).unwrap();
        let second = holders.hold(one.clone(), 2).unwrap();
        assert!(holders.hold(one.clone(), 2).is_none());
        let third = holders.hold(other, 2).unwrap();
        drop(first);
        let fourth = holders.hold(one, 2).unwrap();
        drop((second, third, fourth));
        assert!(holders.lock().is_empty());
    }
}
