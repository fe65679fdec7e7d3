//! The two ends of a connection, and the endpoint that it came from.

use super::PeerAddress;
use crate::endpoint::Endpoint;

/// What stays as it is while a connection lives, or an attempt to make one.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The endpoint that was bound or connected to.
    pub(crate) endpoint: Endpoint,
    /// Whether the peer connected to the endpoint.
    pub(crate) accepted: bool,
    pub(crate) local: Option<PeerAddress>,
    pub(crate) remote: PeerAddress,
    /// The number of the descriptor.
    pub(crate) descriptor: Option<i32>,
}

impl Ends {
    /// Those of an attempt to connect, and of datagrams.
    pub(crate) fn outward(endpoint: Endpoint, remote: PeerAddress) -> Self {
        Ends {
            endpoint,
            accepted: false,
            local: None,
            remote,
            descriptor: None,
        }
    }

    pub(crate) fn within_the_process(name: &str, accepted: bool) -> Self {
        Ends {
            accepted,
            ..Ends::outward(
                Endpoint::Inproc(name.into()),
                PeerAddress::Inproc(name.into()),
            )
        }
    }
}
