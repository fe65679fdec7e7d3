//! Authenticators, which decide who may connect to a server: a closure, a set of keys, a file or directory of
//! allowed keys, a table or file of passwords, or a ZAP handler ([`zap`]).

mod allowed_keys;
mod allowed_keys_file;
mod decider_id;
mod guest;
mod password;
mod password_file;
pub mod zap;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sealwire_zmtp::PublicKey;
pub use sealwire_zmtp::limits::MAX_CREDENTIAL;
use sealwire_zmtp::wire::metadata::Metadata;

pub use allowed_keys::AllowedKeys;
pub use allowed_keys_file::AllowedKeysFile;
pub(crate) use decider_id::DeciderId;
pub(crate) use guest::Admission;
pub use guest::Guest;
pub(crate) use password::GuardedPlainAuthenticator;
pub use password::{PasswordTable, PlainAuthenticator, PlainClient, PlainCredentials};
pub use password_file::PasswordFile;

use crate::account::LogGate;
use crate::guard;
use crate::peer::{Peer, PeerAddress, ProcessCredentials};

/// What a client is told whose key is not on a list.
const NOT_ALLOWED: &str = "this key is not allowed here";

/// A client that has proved to hold the secret of its public key and asks to be let in.
#[derive(Debug)]
pub struct Client<'a> {
    pub(crate) public_key: PublicKey,
    pub(crate) address: &'a PeerAddress,
    pub(crate) metadata: &'a Metadata,
    pub(crate) process: Option<ProcessCredentials>,
}

impl<'a> Client<'a> {
    /// A peer that is connected, as it asked to be let in; `None` where it proved no key.
    pub(crate) fn of(peer: &'a Peer) -> Option<Self> {
        let info = peer.info()?;
        Some(Client {
            public_key: info.public_key?,
            address: peer.address(),
            metadata: &info.metadata,
            process: peer.process(),
        })
    }

    /// The proved long-term key. An anonymous client shows one it made for this connection.
    pub fn public_key(&self) -> PublicKey {
        self.public_key
    }

    /// Returns the address that the connection comes from. It proves nothing.
    pub fn address(&self) -> &PeerAddress {
        self.address
    }

    /// The process at the other end, as the system tells; `ipc` on Linux only.
    pub fn process(&self) -> Option<ProcessCredentials> {
        self.process
    }

    /// Returns a property that the client states about itself (`Socket-Type`, `Identity` and its own), by
    /// name.
    pub fn metadata(&self, name: &str) -> Option<&[u8]> {
        self.metadata.get(name)
    }
}

/// What an authenticator decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Let the client in; its messages carry this user id.
    Allow {
        /// A name for the client, if it has one.
        user_id: Option<String>,
    },
    /// Turn the client away.
    Refuse {
        /// For this side, and told to BLAKE3 clients: at most 255 printable ASCII characters of it.
        reason: String,
        /// Told to CURVE and PLAIN clients, as libzmq does; see there for 300.
        status: Status,
    },
}

/// What kind of refusal it is: the status codes of ZAP (RFC 27). libzmq's clients know no other
/// reasons, and report them as `ZMQ_EVENT_HANDSHAKE_FAILED_AUTH`.
///
/// Peers over NULL, PLAIN and CURVE are told 400 and 500; with 300 the connection is closed silently (ZMTP
/// 3.1, RFC 37). libzmq's clients take a closed connection for something that passes and connect again, and
/// never come back after the other two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 300: nothing was decided; to try again later may help.
    Temporary,
    /// 400: this key or password is not let in.
    Refused,
    /// 500: the authenticator failed.
    Failed,
}

impl Status {
    /// Returns the three digits.
    pub const fn code(self) -> u16 {
        match self {
            Status::Temporary => 300,
            Status::Refused => 400,
            Status::Failed => 500,
        }
    }
}

impl Decision {
    /// Returns the decision to let the client in under this name.
    pub fn allow_as(user_id: impl Into<String>) -> Self {
        Decision::Allow {
            user_id: Some(user_id.into()),
        }
    }

    /// Returns the decision to turn the client away.
    pub fn refuse(reason: impl Into<String>) -> Self {
        Decision::refuse_as(Status::Refused, reason)
    }

    /// Returns the decision to turn the client away with another status than [`Status::Refused`].
    pub fn refuse_as(status: Status, reason: impl Into<String>) -> Self {
        Decision::Refuse {
            reason: reason.into(),
            status,
        }
    }
}

/// What became of a question about a peer.
#[derive(Debug)]
pub(crate) enum Verdict {
    Allowed {
        user_id: Option<String>,
        /// What the ZAP handler said about the peer.
        metadata: Option<Metadata>,
    },
    Refused {
        reason: String,
        status: Status,
    },
    /// The peer hears the status, as from libzmq; the text is for this side.
    RefusedByZap {
        status: u16,
        text: String,
        /// Where the handler did not decide.
        fault: Option<zap::Fault>,
    },
}

impl Verdict {
    /// Of a handler that did not decide. `detail` goes behind what the fault says.
    pub(crate) fn undecided(fault: zap::Fault, detail: Option<&dyn fmt::Display>) -> Self {
        Verdict::RefusedByZap {
            status: fault.status(),
            text: match detail {
                Some(detail) => format!("{fault}: {detail}"),
                None => fault.to_string(),
            },
            fault: Some(fault),
        }
    }
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow { user_id } => Verdict::Allowed {
                user_id,
                metadata: None,
            },
            Decision::Refuse { reason, status } => Verdict::Refused { reason, status },
        }
    }
}

impl From<bool> for Decision {
    fn from(allowed: bool) -> Self {
        if allowed {
            Decision::Allow { user_id: None }
        } else {
            Decision::refuse(NOT_ALLOWED)
        }
    }
}

/// Decides which clients a server talks to.
///
/// Closures from `&Client` to [`Decision`] or `bool` are authenticators. They may block (look
/// into a database, ask another service): they run on a thread of their own, and only the client
/// in question waits.
pub trait Authenticator: Send + Sync + 'static {
    /// Decides about one client. A panic refuses it as [`Status::Temporary`].
    fn authenticate(&self, client: &Client<'_>) -> Decision;

    /// A number that is another one whenever earlier decisions may be others now; `None` when they
    /// never are. Asked about twice a second, on a thread that may block. When it changes, all
    /// clients are decided about again, and those that are [refused](Status::Refused) now are
    /// disconnected. Those about whom nothing can be decided ([`Status::Temporary`],
    /// [`Status::Failed`], a panic) stay, and are decided about again half a second later.
    fn revision(&self) -> Option<u64> {
        None
    }

    /// Whether this lets everybody in and so leaves the decision to a ZAP handler ([`zap`]): one
    /// that is bound in the context is then asked also without a domain, as libzmq does. An
    /// authenticator that wraps [`AllowAnyone`] says so here.
    fn leaves_it_to_zap(&self) -> bool {
        false
    }

    /// Whether this lets nobody in, such as a list that is empty: a socket that is bound or connected with it
    /// says so ([`Event::NobodyAllowed`](crate::Event::NobodyAllowed)).
    fn allows_nobody(&self) -> bool {
        false
    }

    /// Whether [`authenticate`](Authenticator::authenticate) may take longer than some
    /// microseconds. When not, it runs where the connection is served.
    fn may_block(&self) -> bool {
        true
    }
}

impl<F, D> Authenticator for F
where
    F: Fn(&Client<'_>) -> D + Send + Sync + 'static,
    D: Into<Decision>,
{
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self(client).into()
    }
}

/// Lets in every client that knows the server's public key. Connections are encrypted, clients are not
/// told apart. A PLAIN server lets in everybody with it, so it wants a ZAP handler ([`zap`]).
///
/// Where a ZAP handler is or was bound in the context, it is asked about each client, with an empty
/// domain unless [`zap_domain`](crate::SocketBuilder::zap_domain) names one. A server that is to
/// let everybody in beside a handler for others says so by a closure: `|_: &Client<'_>| true`.
#[derive(Debug, Clone, Copy)]
pub struct AllowAnyone;

impl Authenticator for AllowAnyone {
    fn authenticate(&self, _client: &Client<'_>) -> Decision {
        Decision::Allow { user_id: None }
    }

    fn leaves_it_to_zap(&self) -> bool {
        true
    }

    fn may_block(&self) -> bool {
        false
    }
}

/// An authenticator whose panics refuse a client and end nothing else.
#[derive(Clone)]
pub(crate) struct GuardedAuthenticator {
    authenticator: Arc<dyn Authenticator>,
    /// Whether it panicked when asked for its revision.
    panicked: Arc<AtomicBool>,
}

impl GuardedAuthenticator {
    pub(crate) fn new(authenticator: impl Authenticator) -> Self {
        GuardedAuthenticator {
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
        revision_or_none(&self.panicked, || self.authenticator.revision())
    }

    pub(crate) fn decide(&self, client: &Client<'_>) -> Decision {
        or_refuse(client.address, || self.authenticator.authenticate(client))
    }
}

impl fmt::Debug for GuardedAuthenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authenticator")
    }
}

/// The revision of an authenticator, none when it panics. That is logged once, as it is asked about
/// twice a second.
fn revision_or_none(panicked: &AtomicBool, ask: impl FnOnce() -> Option<u64>) -> Option<u64> {
    guard::contain_unlogged(ask).unwrap_or_else(|| {
        if !panicked.swap(true, Ordering::Relaxed) {
            guard::log(|| {
                tracing::error!(target: "sealwire", "an authenticator panicked when asked for its revision");
            });
        }
        None
    })
}

/// A decision, or a refusal when making it panics.
fn or_refuse(address: &PeerAddress, decide: impl FnOnce() -> Decision) -> Decision {
    guard::contain_unlogged(decide).unwrap_or_else(|| undecided(address))
}

/// The refusal of a client about which somebody panicked. It may come again: the next answer may be
/// another.
pub(crate) fn undecided(address: &PeerAddress) -> Decision {
    static LINES: LogGate = LogGate::new();
    guard::log_seldom(&LINES, |times| {
        tracing::error!(target: "sealwire", %address, times, "the authenticator panicked: client refused");
    });
    Decision::refuse_as(Status::Temporary, "the server could not decide")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl Authenticator for Broken {
        fn authenticate(&self, _: &Client<'_>) -> Decision {
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
        let broken = GuardedAuthenticator::new(Broken);
        let client = Client {
            public_key: PublicKey::from_bytes([7; 32]).unwrap(),
            address: &PeerAddress::Unknown,
            metadata: &Metadata::default(),
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
