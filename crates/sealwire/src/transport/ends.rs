//! The ends of a stream and of a listener: their addresses, and the numbers of their descriptors.

use super::listen::{BoundListener, unmapped};
use super::stream::Stream;
use crate::peer::PeerAddress;

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "other systems have none")]
fn number(source: &impl std::os::fd::AsRawFd) -> Option<i32> {
    Some(source.as_raw_fd())
}

#[cfg(not(unix))]
fn number<T>(_: &T) -> Option<i32> {
    None
}

impl Stream {
    /// The address of this end. A Unix socket that connects has none, and one that is accepted has that of its
    /// listener.
    pub(crate) fn local_address(&self) -> Option<PeerAddress> {
        let address = match self {
            Stream::Tcp(stream) => stream.local_addr(),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.tcp.local_addr(),
            #[allow(unreachable_patterns, reason = "there may be no other stream")]
            _ => return None,
        };
        Some(PeerAddress::Tcp(unmapped(address.ok()?)))
    }

    /// The number of its descriptor.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        match self {
            Stream::Tcp(stream) => number(stream),
            #[cfg(unix)]
            Stream::Unix(stream) => number(stream),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => number(&layer.tcp),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => None,
        }
    }
}

impl BoundListener {
    /// Where it listens.
    pub(crate) fn local_address(&self) -> Option<PeerAddress> {
        match self {
            BoundListener::Tcp { listener, .. } => listener.local_addr().ok().map(PeerAddress::Tcp),
            #[cfg(unix)]
            BoundListener::Unix { address, .. } => Some(address.clone()),
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(_) => None,
        }
    }

    /// The number of its descriptor.
    pub(crate) fn descriptor(&self) -> Option<i32> {
        match self {
            BoundListener::Tcp { listener, .. } => number(listener),
            #[cfg(unix)]
            BoundListener::Unix { listener, .. } => number(listener),
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(_) => None,
        }
    }
}
