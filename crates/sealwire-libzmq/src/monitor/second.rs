//! Events in libzmq's second form, of frames of 64 bits and both ends of a connection; and how much waits in queues,
//! which has this form only.

use sealwire::embed::PeerQueue;
use sealwire::{Event, Frame, Message, Peer, PeerAddress};

use super::told::{Told, at};

/// `ZMQ_EVENT_PIPES_STATS`.
pub(super) const QUEUES: u64 = 0x10000;

/// This end and the other as addresses, empty where there is none: an endpoint that is connected to stands for its peer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) local: String,
    pub(super) remote: String,
}

impl Ends {
    /// Those of what the engine tells.
    pub(super) fn of(event: &Event) -> Self {
        let Some(endpoint) = event.endpoint() else {
            return Ends::default();
        };
        let local = event.local_address();
        let bound = || at(endpoint, local);
        match event {
            Event::Listening { .. } | Event::AcceptFailed { .. } | Event::Unbound { .. } => Ends {
                local: bound(),
                remote: String::new(),
            },
            Event::Accepted { address, .. } => Ends {
                local: bound(),
                remote: at(endpoint, Some(address)),
            },
            Event::Failed(failure) if failure.is_accepted() => Ends {
                local: bound(),
                remote: at(endpoint, Some(failure.address())),
            },
            Event::Connected { .. } => Ends {
                local: of_connected(endpoint, local),
                remote: endpoint.to_string(),
            },
            Event::Failed(failure) if failure.connection().is_some() => Ends {
                local: of_connected(endpoint, local),
                remote: endpoint.to_string(),
            },
            event => match event.peer() {
                Some(peer) => Ends::of_peer(peer),
                None => Ends {
                    local: String::new(),
                    remote: endpoint.to_string(),
                },
            },
        }
    }

    fn of_peer(peer: &Peer) -> Self {
        let endpoint = peer.endpoint();
        match peer.is_accepted() {
            true => Ends {
                local: at(endpoint, peer.local_address()),
                remote: at(endpoint, Some(peer.address())),
            },
            false => Ends {
                local: of_connected(endpoint, peer.local_address()),
                remote: endpoint.to_string(),
            },
        }
    }

    fn of_queue(queue: &PeerQueue) -> Self {
        match (&queue.peer, &queue.endpoint) {
            (Some(peer), _) => Ends::of_peer(peer),
            (None, Some(endpoint)) => Ends {
                local: String::new(),
                remote: endpoint.to_string(),
            },
            (None, None) => Ends::default(),
        }
    }
}

/// A Unix socket that connects has no name, which libzmq writes as an empty path.
fn of_connected(endpoint: &sealwire::Endpoint, local: Option<&PeerAddress>) -> String {
    match local {
        Some(local) => at(endpoint, Some(local)),
        None if endpoint.to_string().starts_with("ipc://") => "ipc://".to_owned(),
        None => String::new(),
    }
}

/// An event as a message: its number, how many values follow, the values, and both ends.
pub(super) fn message(told: &Told, ends: &Ends) -> Message {
    of_parts(told.number.into(), &[told.value.into()], ends)
}

/// How much waits for a peer and from it.
pub(super) fn of_queue(queue: &PeerQueue) -> Message {
    let values = [queue.outbound, queue.inbound].map(|count| count as u64);
    of_parts(QUEUES, &values, &Ends::of_queue(queue))
}

fn of_parts(number: u64, values: &[u64], ends: &Ends) -> Message {
    let head = [number, values.len() as u64];
    let numbers = head.iter().chain(values);
    let numbers = numbers.map(|number| Frame::copy_from_slice(&number.to_ne_bytes()));
    let ends = [&ends.local, &ends.remote].map(|end| Frame::copy_from_slice(end.as_bytes()));
    Message::multipart(numbers.chain(ends))
}
