//! The standing of a session's peer with the socket: a stranger about whom a decision is pending,
//! or one of its peers.

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::connection::PeerInfo;

use super::end::End;
use super::pipe_end::PipeEnd;
use crate::account::{Account, Kind};
use crate::auth::PlainCredentials;
use crate::core::SocketCore;
use crate::engine::decisions::Pending;
use crate::engine::wire::Wire;
use crate::monitor::add;
use crate::peer::{Approval, Peer};

pub(super) enum Standing {
    /// The handshake is under way.
    Reviewed(Review),
    /// The handshake is done and the socket has taken the peer.
    Attached(Attached),
}

/// A peer that is being decided about.
#[derive(Default)]
pub(super) struct Review {
    /// What the authenticator was asked about it and has not answered yet.
    pub(super) question: Option<Pending>,
    /// How often the socket had decided again about its clients when this one was decided about.
    pub(super) decided_at: u64,
    /// The answers about it as it was let in.
    pub(super) approval: Option<Approval>,
    /// What a PLAIN client showed, until it is decided about.
    pub(super) shown: Option<PlainCredentials>,
    /// Another thread is to serve it, and to let messages flow.
    pub(super) move_to: Option<Move>,
}

/// A connection whose handshake is done, on its way to the thread that is to serve it.
pub(super) struct Move {
    pub(super) thread: usize,
    /// `None` where no protocol says who the peer is.
    pub(super) info: Option<Arc<PeerInfo>>,
}

/// A peer of the socket.
pub(super) struct Attached {
    pub(super) pipe: PipeEnd,
    peer: Arc<Peer>,
    /// When the socket took it.
    since: Duration,
    /// Bytes of an unfinished message that its account is charged with.
    arriving: usize,
}

impl Standing {
    pub(super) fn attached(&self) -> Option<&Attached> {
        match self {
            Standing::Attached(attached) => Some(attached),
            Standing::Reviewed(_) => None,
        }
    }

    pub(super) fn attached_mut(&mut self) -> Option<&mut Attached> {
        match self {
            Standing::Attached(attached) => Some(attached),
            Standing::Reviewed(_) => None,
        }
    }

    pub(super) fn is_attached(&self) -> bool {
        self.attached().is_some()
    }

    pub(super) fn account(&self) -> Option<&Account> {
        self.attached().map(|attached| attached.peer.account())
    }

    /// Whether the queue for the application is full.
    pub(super) fn is_paused(&self) -> bool {
        self.attached()
            .is_some_and(|attached| attached.pipe.is_paused())
    }

    /// Whether another thread is to serve it.
    pub(super) fn is_moving(&self) -> bool {
        matches!(self, Standing::Reviewed(review) if review.move_to.is_some())
    }

    /// The decision under way; `None` once the socket has the peer.
    pub(super) fn review(&mut self) -> Option<&mut Review> {
        match self {
            Standing::Reviewed(review) => Some(review),
            Standing::Attached(_) => None,
        }
    }
}

impl Attached {
    pub(super) fn new(pipe: PipeEnd, peer: Arc<Peer>, since: Duration) -> Self {
        Attached {
            pipe,
            peer,
            since,
            arriving: 0,
        }
    }

    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// How long the connection has been of use.
    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Charges the peer with what is here of an unfinished message, in bytes.
    pub(super) fn charge_arriving(&mut self, bytes: usize) {
        if bytes != self.arriving {
            self.arriving = bytes;
            self.peer.account().set(Kind::Arriving, bytes);
        }
    }

    /// The connection is over. Returns who was at its other end.
    pub(super) fn close(self, core: &SocketCore, protocol: &mut dyn Wire, end: &End) -> Arc<Peer> {
        let Attached { pipe, peer, .. } = self;
        peer.account().set(Kind::Arriving, 0);
        if end.is_by_a_message_too_large() {
            peer.account().note_excess(Kind::Arriving);
        }
        pipe.close(core, protocol);
        add(&core.counters.disconnects, 1);
        peer
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::{Error as ProtocolError, SocketType};

    use super::super::pipe_end;
    use super::*;
    use crate::endpoint::Endpoint;
    use crate::engine::raw::Raw;
    use crate::peer::PeerAddress;
    use crate::socket::Socket;

    fn attached(since: Duration) -> Attached {
        let address = PeerAddress::Tcp("192.0.2.1:4711".parse().unwrap());
        let endpoint = Endpoint::Inproc("peer".into());
        let peer = Peer::datagram(endpoint, address, 1, SocketType::Pair);
        Attached::new(PipeEnd::new(7, Arc::default()), Arc::new(peer), since)
    }

    #[test]
    fn a_stranger_is_reviewed_until_the_socket_has_it() {
        let mut standing = Standing::Reviewed(Review::default());
        assert!(!standing.is_attached() && standing.attached_mut().is_none());
        standing.review().unwrap().decided_at = 3;
        assert_eq!(standing.review().unwrap().decided_at, 3);
        standing = Standing::Attached(attached(Duration::ZERO));
        assert!(standing.is_attached() && standing.account().is_some());
        assert!(standing.review().is_none());
    }

    #[test]
    fn a_connection_is_of_use_from_when_the_socket_took_its_peer() {
        let attached = attached(Duration::from_secs(5));
        let age = attached.age(Duration::from_secs(7));
        assert_eq!(age, Duration::from_secs(2));
        // Threads read the clock each for itself.
        assert_eq!(attached.age(Duration::from_secs(4)), Duration::ZERO);
    }

    /// A peer whose connection ended in the middle of a message.
    fn closed_by(end: End) -> (Socket, Arc<Peer>) {
        let (socket, pipe) = pipe_end::tests::attached();
        let mut attached = Attached {
            pipe,
            ..attached(Duration::ZERO)
        };
        attached.charge_arriving(100);
        let peer = attached.close(socket.core().unwrap(), &mut Raw::new(usize::MAX), &end);
        (socket, peer)
    }

    #[test]
    fn a_connection_that_is_over_holds_nothing_and_is_counted() {
        let large = ProtocolError::MessageTooLarge { limit: 9 };
        for (end, excesses) in [(End::Clean, 0), (large.into(), 1)] {
            let (socket, peer) = closed_by(end);
            assert_eq!(peer.account().held(Kind::Arriving), 0);
            assert_eq!(peer.account().exceeded(Kind::Arriving), excesses);
            assert_eq!(socket.counters().disconnects, 1);
        }
    }

    #[test]
    fn a_peer_is_charged_with_what_is_here_of_a_message() {
        let mut attached = attached(Duration::ZERO);
        for bytes in [100, 250, 250, 0] {
            attached.charge_arriving(bytes);
            assert_eq!(attached.peer.account().held(Kind::Arriving), bytes);
        }
    }
}
