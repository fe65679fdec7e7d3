//! The sockets below: their options, by the limits of those who use them.

use std::time::Duration;

use sealwire::{Security, Socket, SocketBuilder, SocketType};

use crate::limits::{ERROR_MARGIN, Limits, QUEUE_BYTES, QUEUE_MESSAGES};
use crate::proto::HEADER;

/// How long a thread that waits for the other side spins before it sleeps.
const SPIN: Duration = Duration::from_micros(50);

/// Begins the options of the socket of a client or server.
pub(crate) fn builder(security: Security) -> SocketBuilder {
    let socket = Socket::builder(SocketType::Peer);
    socket.security(security).spin(SPIN)
}

/// Gives a socket the options of clients and servers.
pub(crate) fn limited(socket: SocketBuilder, limits: &Limits) -> SocketBuilder {
    // A thread that waits for an answer reads for others too: signals end none of its waits.
    #[cfg(unix)]
    let socket = socket.interruptible(false);
    socket
        .omit_routing_id(true)
        .connection_events(true)
        .send_high_water_mark(QUEUE_MESSAGES)
        .receive_high_water_mark(QUEUE_MESSAGES)
        .send_byte_budget(QUEUE_BYTES)
        .receive_byte_budget(QUEUE_BYTES)
        .max_message_size(limits.max_body as usize + HEADER + ERROR_MARGIN)
        .heartbeat(limits.read / 3)
        .heartbeat_timeout(limits.read)
        .linger(limits.linger)
}
