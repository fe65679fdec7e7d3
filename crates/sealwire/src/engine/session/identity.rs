//! The identity of a session: its socket, its remote address, and the source that it came from.

use std::sync::Arc;

use sealwire_zmtp::connection::Warning;

use super::end::End;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::load::LoadShare;
use crate::engine::session_key::{Origin, SessionKey};
use crate::failure::ConnectionFailure;
use crate::monitor::Event;
use crate::options::EndpointOptions;
use crate::peer::{Peer, PeerAddress};

/// Set once.
pub(in crate::engine) struct Identity {
    pub(in crate::engine) core: Arc<SocketCore>,
    /// Those of the endpoint.
    pub(in crate::engine) options: Arc<EndpointOptions>,
    pub(in crate::engine) key: SessionKey,
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) endpoint: Endpoint,
    pub(in crate::engine) address: PeerAddress,
    /// Of the load of its I/O thread.
    pub(in crate::engine) _share: LoadShare,
}

impl Identity {
    /// Whether the bytes of this connection can be read on their way, unless the mechanism encrypts them.
    pub(super) fn is_exposed(&self) -> bool {
        !matches!(self.endpoint, Endpoint::Wss { .. }) && self.address.leaves_the_machine()
    }

    /// Lets the socket's monitors know.
    pub(super) fn warn(&self, warning: Warning) {
        self.core.hub.emit(Event::Warning {
            connection: self.key.connection,
            address: self.address.clone(),
            warning,
        });
    }

    /// Lets the socket know that the connection is over, and its monitors why. `peer` is who was
    /// attached.
    pub(super) fn tell_end(self, end: End, peer: Option<Arc<Peer>>) {
        let Identity {
            core,
            key,
            endpoint,
            address,
            ..
        } = self;
        match (end, peer) {
            (End::Failed(cause), peer) => core.hub.emit(Event::Failed(ConnectionFailure {
                connection: Some(key.connection),
                endpoint,
                address,
                peer,
                cause,
            })),
            (End::Clean, Some(peer)) => core.hub.emit(Event::Disconnected { peer }),
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
            endpoint: endpoint.parse().unwrap(),
            address: PeerAddress::Tcp(address.parse().unwrap()),
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
            Some(Arc::new(Peer::datagram(address, 71, SocketType::Pair)))
        };
        let end = |end, peer| {
            core.add_attachment();
            assert_eq!(core.presence(), Presence::Handshaking { connections: 1 });
            identity(core, "tcp://192.0.2.1:4711", ELSEWHERE).tell_end(end, peer);
            assert_eq!(core.presence(), Presence::Nobody);
            monitor.try_next()
        };
        assert!(end(End::Clean, None).is_none());
        let clean = end(End::Clean, peer());
        assert!(matches!(clean, Some(Event::Disconnected { .. })));
        for (peer, ready) in [(peer(), true), (None, false)] {
            let Some(Event::Failed(failure)) = end(End::Failed(FailureCause::Internal), peer)
            else {
                panic!("a failure is told");
            };
            assert_eq!(failure.connection(), Some(71));
            assert_eq!(failure.was_ready(), ready);
        }
    }
}
