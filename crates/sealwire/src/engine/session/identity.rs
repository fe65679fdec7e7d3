//! The identity of a session: its socket, its two ends, the source that it came from, and who serves it.

use std::sync::Arc;

use sealwire_zmtp::connection::Warning;

use super::end::End;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::load::LoadShare;
use crate::engine::mailbox::Mailbox;
use crate::engine::session_key::{Origin, SessionKey};
use crate::failure::ConnectionFailure;
use crate::monitor::Event;
use crate::options::EndpointOptions;
use crate::peer::{Ends, Peer};

/// Set once, and once more as another thread serves it.
pub(in crate::engine) struct Identity {
    pub(in crate::engine) core: Arc<SocketCore>,
    /// Those of the endpoint.
    pub(in crate::engine) options: Arc<EndpointOptions>,
    pub(in crate::engine) key: SessionKey,
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) ends: Arc<Ends>,
    /// The thread of its listener, where that is not the one that serves it.
    pub(in crate::engine) home: Option<Arc<Mailbox>>,
    /// Of the load of its I/O thread.
    pub(in crate::engine) _share: LoadShare,
}

impl Identity {
    /// Whether the bytes of this connection can be read on their way, unless the mechanism encrypts them.
    pub(super) fn is_exposed(&self) -> bool {
        let Ends {
            endpoint, remote, ..
        } = &*self.ends;
        !matches!(endpoint, Endpoint::Wss { .. }) && remote.leaves_the_machine()
    }

    /// Lets the socket's monitors know.
    pub(super) fn warn(&self, warning: Warning) {
        self.core.hub.emit(Event::Warning {
            connection: self.key.connection,
            address: self.ends.remote.clone(),
            warning,
        });
    }

    /// Lets the socket know that the connection is over, and its monitors why. `peer` is who was
    /// attached, and `by_peer` whether the socket had not asked for the end.
    pub(super) fn tell_end(self, end: End, peer: Option<Arc<Peer>>, by_peer: bool) {
        let Identity {
            core, key, ends, ..
        } = self;
        match (end, peer) {
            (End::Failed(cause), peer) => core.tell_failure(ConnectionFailure {
                connection: Some(key.connection),
                ends,
                peer,
                cause,
            }),
            (End::Clean, Some(peer)) => core.hub.emit(Event::Disconnected { peer, by_peer }),
            // A socket that closes gives up its unfinished handshakes silently.
            (End::Clean, None) => {}
        }
        core.remove_attachment();
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::engine::load::Load;
    use crate::error::Presence;
    use crate::failure::FailureCause;
    use crate::monitor::Monitor;
    use crate::peer::PeerAddress;
    use crate::socket::Socket;

    const ELSEWHERE: &str = "192.0.2.1:4711";
    const HERE: &str = "127.0.0.1:4711";

    fn identity(core: &Arc<SocketCore>, endpoint: &str, address: &str) -> Identity {
        Identity {
            core: core.clone(),
            options: core.options(),
            key: SessionKey {
                slot: 3,
                connection: 71,
            },
            origin: Origin::Listener { slot: 1, id: 2 },
            ends: Arc::new(Ends {
                endpoint: endpoint.parse().unwrap(),
                accepted: true,
                local: Some(PeerAddress::Tcp(HERE.parse().unwrap())),
                remote: PeerAddress::Tcp(address.parse().unwrap()),
                descriptor: Some(9),
            }),
            home: None,
            _share: Load::default().share(),
        }
    }

    fn socket() -> (Socket, Monitor) {
        let socket = Socket::builder(SocketType::Pair).build().unwrap();
        let monitor = socket.monitor();
        (socket, monitor)
    }

    #[test]
    fn bytes_are_exposed_where_they_leave_the_machine_without_tls() {
        let (socket, _) = socket();
        let core = socket.core().unwrap();
        for (endpoint, address, exposed) in [
            ("tcp://192.0.2.1:4711", ELSEWHERE, true),
            ("tcp://127.0.0.1:4711", HERE, false),
            #[cfg(feature = "wss")]
            ("wss://192.0.2.1:4711/", ELSEWHERE, false),
        ] {
            let identity = identity(core, endpoint, address);
            assert_eq!(identity.is_exposed(), exposed, "{endpoint}");
        }
    }

    #[test]
    fn monitors_hear_of_each_end_but_that_of_a_handshake_which_was_given_up() {
        let (socket, monitor) = socket();
        let core = socket.core().unwrap();
        let peer = || {
            let address = PeerAddress::Tcp(ELSEWHERE.parse().unwrap());
            let endpoint = Endpoint::Inproc("peer".into());
            let peer = Peer::datagram(endpoint, address, 71, SocketType::Pair);
            Some(Arc::new(peer))
        };
        let end = |end, peer, by_peer| {
            core.add_attachment();
            assert_eq!(core.presence(), Presence::Handshaking { connections: 1 });
            identity(core, "tcp://192.0.2.1:4711", ELSEWHERE).tell_end(end, peer, by_peer);
            assert_eq!(core.presence(), Presence::Nobody);
            monitor.try_next()
        };
        assert!(end(End::Clean, None, true).is_none());
        for expected in [true, false] {
            match end(End::Clean, peer(), expected) {
                Some(Event::Disconnected { by_peer, .. }) => assert_eq!(by_peer, expected),
                other => panic!("{other:?}"),
            }
        }
        for (peer, ready) in [(peer(), true), (None, false)] {
            let end = end(End::Failed(FailureCause::Internal), peer, true);
            let Some(Event::Failed(failure)) = end else {
                panic!("a failure is told");
            };
            assert_eq!(failure.connection(), Some(71));
            let here = PeerAddress::Tcp(HERE.parse().unwrap());
            assert_eq!(failure.local_address(), Some(&here));
            assert_eq!(failure.descriptor(), Some(9));
            assert!(failure.is_accepted());
            assert_eq!(failure.was_ready(), ready);
        }
    }
}
