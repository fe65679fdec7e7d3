//! Subscriptions, which are options in libzmq.

use libc::c_int;
use sealwire::{Error, SocketType, StateError};

use super::Socket;
use crate::errno::Errno;
use crate::options::number;

impl Socket {
    /// # Errors
    ///
    /// `EINVAL` for types that have no subscriptions, XSUB among them, which sends them as messages.
    pub(super) fn change_subscription(&self, option: c_int, topic: &[u8]) -> Result<(), Errno> {
        if !matches!(self.socket_type, SocketType::Sub | SocketType::XPub) {
            return Err(Errno::INVAL);
        }
        let changed = match option {
            number::SUBSCRIBE => self.inner.subscribe(topic),
            _ => self.inner.unsubscribe(topic),
        };
        match changed {
            // Nothing to take back, or nobody to give it to: libzmq says nothing of either.
            Err(Error::State(StateError::NotSubscribed | StateError::NoSubscriber)) => Ok(()),
            Err(Error::Unsupported(_)) => Err(Errno::INVAL),
            changed => changed.map_err(|error| self.errno(&error)),
        }
    }
}
