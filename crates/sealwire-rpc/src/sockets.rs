//! The sockets below: their options, by the limits of those who use them.

use std::time::Duration;

use sealwire::options::Withdrawn;
use sealwire::{Error, Security, Socket, SocketBuilder, SocketType};

use crate::limits::{ERROR_MARGIN, Limits, QUEUE_BYTES, QUEUE_MESSAGES};
use crate::proto::HEADER;

/// How long a thread that waits for the other side spins before it sleeps.
const SPIN: Duration = Duration::from_micros(50);

/// Begins the options of the socket of a client or server.
pub(crate) fn builder(security: Security) -> SocketBuilder {
    let socket = Socket::builder(SocketType::Peer);
    socket.security(security).spin(SPIN)
}

/// Gives all endpoints of a socket, and those of later, other keys while it goes on.
///
/// # Errors
///
/// Those of [`Socket::reconfigure_endpoint`], with endpoints before the one that failed changed already.
pub(crate) fn renew(
    socket: &Socket,
    security: Security,
    withdrawn: Withdrawn,
) -> Result<(), Error> {
    let (bound, connected) = (socket.bound_endpoints(), socket.connected_endpoints());
    for endpoint in bound.into_iter().chain(connected) {
        let options = socket.endpoint_options(endpoint.clone())?;
        socket.reconfigure_endpoint(endpoint, options.security(security.clone()), withdrawn)?;
    }
    socket.reconfigure(socket.options()?.security(security))
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
