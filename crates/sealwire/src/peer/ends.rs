//! The two ends of a connection, and the endpoint that it came from.

use super::PeerAddress;
use crate::endpoint::Endpoint;

/// What stays as it is while a connection lives.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The connection id.
    pub(crate) connection: u64,
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
    pub(super) fn of_datagrams(endpoint: Endpoint, remote: PeerAddress, connection: u64) -> Self {
        Ends {
            connection,
            endpoint,
            accepted: false,
            local: None,
            remote,
            descriptor: None,
        }
    }

    pub(super) fn within_the_process(name: &str, connection: u64, accepted: bool) -> Self {
        Ends {
            connection,
            endpoint: Endpoint::Inproc(name.into()),
            accepted,
            local: None,
            remote: PeerAddress::Inproc(name.into()),
            descriptor: None,
        }
    }
}
