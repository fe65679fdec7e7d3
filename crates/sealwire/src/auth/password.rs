//! Authenticators of PLAIN servers: a closure, or a table of usernames with their passwords.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use sealwire_zmtp::mechanism::plain::{PasswordTable, PlainCredentials};

use super::{AllowAnyone, DeciderId, Decision, Status};
use crate::guard;
use crate::peer::{Peer, PeerAddress, ProcessCredentials};

/// A client that shows a username and a password and asks to be let in.
#[derive(Debug)]
pub struct PlainClient<'a> {
    pub(crate) credentials: &'a PlainCredentials,
    pub(crate) address: &'a PeerAddress,
    pub(crate) process: Option<ProcessCredentials>,
}

impl<'a> PlainClient<'a> {
    /// A peer that is connected, as it asked to be let in; `None` where what it showed was not kept.
    pub(crate) fn of(peer: &'a Peer) -> Option<Self> {
        Some(PlainClient {
            credentials: peer.credentials()?,
            address: peer.address(),
            process: peer.process(),
        })
    }

    /// Returns the username and password that the client shows. Compare passwords in constant time, as
    /// [`PasswordTable`] does.
    pub fn credentials(&self) -> &PlainCredentials {
        self.credentials
    }

    /// Returns the address that the connection comes from. It proves nothing.
    pub fn address(&self) -> &PeerAddress {
        self.address
    }

    /// The process at the other end, as the system tells; `ipc` on Linux only.
    pub fn process(&self) -> Option<ProcessCredentials> {
        self.process
    }
}

/// Decides which clients a PLAIN server talks to.
///
/// Closures from `&PlainClient` to [`Decision`] are authenticators, and so are a [`PasswordTable`],
/// a [`PasswordFile`](super::PasswordFile) and, for servers with a ZAP handler, [`AllowAnyone`].
/// They may block: they run on a thread of their own, and only the client in question waits.
pub trait PlainAuthenticator: Send + Sync + 'static {
    /// Decides about one client. A panic refuses it as [`Status::Temporary`](super::Status).
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision;

    /// Whether [`authenticate`](PlainAuthenticator::authenticate) may take longer than some
    /// microseconds. When not, it runs where the connection is served.
    fn may_block(&self) -> bool {
        true
    }

    /// A number that is another one whenever earlier decisions may be others now; see
    /// [`Authenticator::revision`](super::Authenticator::revision). Clients are decided about again
    /// with what they showed when they connected: their passwords stay in memory while they are
    /// connected, unless this is `None` when the socket is made.
    fn revision(&self) -> Option<u64> {
        None
    }

    /// Whether this lets nobody in, such as a list that is empty: a socket that is bound or connected with it
    /// says so ([`Event::NobodyAllowed`](crate::Event::NobodyAllowed)).
    fn allows_nobody(&self) -> bool {
        false
    }

    /// Whether this lets everybody in and so leaves the decision to a ZAP handler, which is then
    /// asked also without a domain; see [`AllowAnyone`].
    fn leaves_it_to_zap(&self) -> bool {
        false
    }
}

impl<F> PlainAuthenticator for F
where
    F: Fn(&PlainClient<'_>) -> Decision + Send + Sync + 'static,
{
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision {
        self(client)
    }
}

impl PlainAuthenticator for PasswordTable {
    fn authenticate(&self, client: &PlainClient<'_>) -> Decision {
        decide(self, client.credentials, Status::Refused)
    }

    fn allows_nobody(&self) -> bool {
        self.is_empty()
    }

    fn may_block(&self) -> bool {
        false
    }
}

impl PlainAuthenticator for AllowAnyone {
    fn authenticate(&self, _client: &PlainClient<'_>) -> Decision {
        Decision::Allow { user_id: None }
    }

    fn leaves_it_to_zap(&self) -> bool {
        true
    }

    fn may_block(&self) -> bool {
        false
    }
}

/// Lets in a user of the table.
pub(super) fn decide(
    table: &PasswordTable,
    shown: &PlainCredentials,
    otherwise: Status,
) -> Decision {
    if table.verifies(shown) {
        Decision::allow_as(String::from_utf8_lossy(shown.username()))
    } else {
        Decision::refuse_as(otherwise, "wrong username or password")
    }
}

/// An authenticator of passwords whose panics refuse a client and end nothing else.
#[derive(Clone)]
pub(crate) struct GuardedPlainAuthenticator {
    authenticator: Arc<dyn PlainAuthenticator>,
    /// Whether it panicked when asked for its revision.
    panicked: Arc<AtomicBool>,
}

impl GuardedPlainAuthenticator {
    pub(crate) fn new(authenticator: impl PlainAuthenticator) -> Self {
        GuardedPlainAuthenticator {
            authenticator: Arc::new(authenticator),
            panicked: Arc::default(),
        }
    }

    /// Which one it is: clones are the same.
    pub(crate) fn id(&self) -> DeciderId {
        DeciderId::new(&self.panicked)
    }

    pub(crate) fn may_block(&self) -> bool {
        guard::contain_unlogged(|| self.authenticator.may_block()).unwrap_or(true)
    }

    pub(crate) fn leaves_it_to_zap(&self) -> bool {
        guard::contain_unlogged(|| self.authenticator.leaves_it_to_zap()).unwrap_or(true)
    }

    pub(crate) fn allows_nobody(&self) -> bool {
        guard::contain_unlogged(|| self.authenticator.allows_nobody()).unwrap_or(false)
    }

    pub(crate) fn revision(&self) -> Option<u64> {
        super::revision_or_none(&self.panicked, || self.authenticator.revision())
    }

    pub(crate) fn decide(&self, client: &PlainClient<'_>) -> Decision {
        super::or_refuse(client.address, || self.authenticator.authenticate(client))
    }
}

impl fmt::Debug for GuardedPlainAuthenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainAuthenticator")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl PlainAuthenticator for Broken {
        fn authenticate(&self, _: &PlainClient<'_>) -> Decision {
            panic!("no decision")
        }

        fn revision(&self) -> Option<u64> {
            panic!("no revision")
        }

        fn leaves_it_to_zap(&self) -> bool {
            panic!("who knows")
        }

        fn allows_nobody(&self) -> bool {
            panic!("who knows")
        }

        fn may_block(&self) -> bool {
            panic!("who knows")
        }
    }

    #[test]
    fn a_panic_is_a_temporary_refusal() {
        let broken = GuardedPlainAuthenticator::new(Broken);
        let credentials = PlainCredentials::new("user", "word");
        let client = PlainClient {
            credentials: &credentials,
            address: &PeerAddress::Unknown,
            process: None,
        };
        assert!(matches!(
            broken.decide(&client),
            Decision::Refuse {
                status: Status::Temporary,
                ..
            }
        ));
        assert_eq!(broken.revision(), None);
        assert!(broken.may_block() && broken.leaves_it_to_zap());
        assert!(!broken.allows_nobody());
    }
}
