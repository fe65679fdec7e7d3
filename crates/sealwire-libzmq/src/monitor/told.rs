//! libzmq's events for those of the engine: numbers, values, and addresses.
//!
//! An address is the endpoint as the program gave it where this socket connects, and the address of this end where it
//! is bound. libzmq names the former by its IP address once a first connection was lost; here it keeps its name.
//! `inproc` has no events.

use sealwire::{ConnectionFailure, Endpoint, Event, FailureCause, Peer, PeerAddress};

use super::failures;
use crate::errno::Errno;

pub(super) const CONNECTED: u16 = 0x0001;
pub(super) const CONNECT_DELAYED: u16 = 0x0002;
pub(super) const CONNECT_RETRIED: u16 = 0x0004;
pub(super) const LISTENING: u16 = 0x0008;
pub(super) const BIND_FAILED: u16 = 0x0010;
pub(super) const ACCEPTED: u16 = 0x0020;
const ACCEPT_FAILED: u16 = 0x0040;
pub(super) const CLOSED: u16 = 0x0080;
pub(super) const DISCONNECTED: u16 = 0x0200;
pub(super) const STOPPED: u16 = 0x0400;
pub(super) const SUCCEEDED: u16 = 0x1000;

/// One event of libzmq's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(super) number: u16,
    pub(super) value: u32,
    pub(super) address: String,
}

impl Told {
    /// `zmq_bind` failed. libzmq gives the address without its transport.
    pub(crate) fn bind_failed(endpoint: &str, why: Errno) -> Self {
        let address = endpoint
            .split_once("://")
            .map_or(endpoint, |(_, rest)| rest);
        Told {
            number: BIND_FAILED,
            value: of_errno(why.0),
            address: address.to_owned(),
        }
    }
}

/// libzmq's events for one of the engine's.
pub(super) fn told(event: &Event) -> Vec<Told> {
    let Some(endpoint) = event.endpoint() else {
        return Vec::new();
    };
    if let Endpoint::Inproc(_) = endpoint {
        return Vec::new();
    }
    let one = |number, value, address| {
        vec![Told {
            number,
            value,
            address,
        }]
    };
    let descriptor = of_descriptor(event.descriptor());
    let bound = || at(endpoint, event.local_address());
    match event {
        Event::Listening { .. } => one(LISTENING, descriptor, bound()),
        Event::Accepted { .. } => one(ACCEPTED, descriptor, bound()),
        Event::AcceptFailed { os_error, .. } => {
            let error = os_error.unwrap_or(libc::EINVAL);
            one(ACCEPT_FAILED, of_errno(error), endpoint.to_string())
        }
        // A Unix socket is connected or refused at once.
        Event::Connecting { .. } if is_unix(endpoint) => Vec::new(),
        Event::Connecting { .. } => {
            let value = of_errno(libc::EINPROGRESS);
            one(CONNECT_DELAYED, value, endpoint.to_string())
        }
        Event::Connected { .. } => one(CONNECTED, descriptor, endpoint.to_string()),
        // What speaks no ZMTP has no handshake.
        Event::Ready { peer } if peer.mechanism().is_none() => Vec::new(),
        Event::Ready { peer } => one(SUCCEEDED, 0, of_peer(peer)),
        Event::Failed(failure) => of_failure(failure),
        Event::Disconnected { by_peer: false, .. } => Vec::new(),
        Event::Disconnected { peer, .. } => one(DISCONNECTED, descriptor, of_peer(peer)),
        Event::Retrying { delay, .. } => {
            let delay = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX);
            one(CONNECT_RETRIED, delay, endpoint.to_string())
        }
        Event::Unbound { .. } => one(CLOSED, descriptor, bound()),
        _ => Vec::new(),
    }
}

fn of_failure(failure: &ConnectionFailure) -> Vec<Told> {
    let endpoint = failure.endpoint();
    let descriptor = of_descriptor(failure.descriptor());
    let address = match failure.is_accepted() {
        true => at(endpoint, failure.local_address()),
        false => endpoint.to_string(),
    };
    let one = |(number, value)| Told {
        number,
        value,
        address: address.clone(),
    };
    if failure.connection().is_none() {
        return match (failure.is_accepted(), failure.cause()) {
            (true, _) => vec![one((ACCEPT_FAILED, of_errno(libc::EMFILE)))],
            (false, FailureCause::Connect(_) | FailureCause::Proxy(_))
                if failure.descriptor().is_some() || is_unix(endpoint) =>
            {
                vec![one((CLOSED, descriptor))]
            }
            (false, _) => Vec::new(),
        };
    }
    let why = match failure.was_ready() {
        true => failures::of_data(failure.cause()),
        false => failures::of_handshake(failure.cause()),
    };
    let ended = (DISCONNECTED, descriptor);
    why.into_iter().chain([ended]).map(one).collect()
}

fn of_peer(peer: &Peer) -> String {
    match peer.is_accepted() {
        true => at(peer.endpoint(), peer.local_address()),
        false => peer.endpoint().to_string(),
    }
}

/// The address of this end, under the transport of the endpoint that it is bound to.
pub(super) fn at(endpoint: &Endpoint, local: Option<&PeerAddress>) -> String {
    let endpoint = endpoint.to_string();
    match local {
        Some(PeerAddress::Tcp(address)) => {
            let transport = endpoint.split_once("://").map_or("tcp", |(name, _)| name);
            format!("{transport}://{address}")
        }
        Some(local) => local.to_string(),
        None => endpoint,
    }
}

fn is_unix(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::Ipc(_) | Endpoint::IpcAbstract(_))
}

/// -1 where there was none.
fn of_descriptor(descriptor: Option<i32>) -> u32 {
    descriptor.unwrap_or(-1).cast_unsigned()
}

fn of_errno(number: i32) -> u32 {
    number.cast_unsigned()
}
