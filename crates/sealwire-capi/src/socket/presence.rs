//! Waiting for peers and for subscribers.

use std::ffi::c_void;
use std::time::Duration;

use super::{sealwire_socket, with_bytes};
use crate::panics::guard;
use crate::pointers::required;
use crate::status::{Failure, sealwire_status};
use crate::time::Wait;

/// Waits until at least `peers` peers are connected, their handshakes done: up to `timeout_ms` milliseconds,
/// `SEALWIRE_WAIT` (the send timeout of the options) or `SEALWIRE_NO_WAIT`. A publisher waits for
/// subscribers instead.
///
/// Errors: `SEALWIRE_ERROR_TIMED_OUT` and `SEALWIRE_ERROR_HANDSHAKE`, whose texts say why where that is known,
/// `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_DRAINED` where the socket takes no more peers, `SEALWIRE_ERROR_CLOSED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_wait_connected(
    socket: Option<&sealwire_socket>,
    peers: usize,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let socket = &required(socket, "socket")?.socket;
        Ok(match limit(timeout_ms)? {
            None => socket.wait_connected(peers),
            Some(limit) => socket.wait_connected_timeout(peers, limit),
        }?)
    })
}

/// PUB, XPUB: waits until a message that begins with these bytes would go to at least `peers` peers. RADIO: the same
/// for messages to this group; members over `udp` do not count. Waits as
/// `sealwire_socket_wait_connected` does.
///
/// Errors: as `sealwire_socket_wait_connected` but for `SEALWIRE_ERROR_DRAINED`, and `SEALWIRE_ERROR_UNSUPPORTED`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_wait_subscribed(
    socket: Option<&sealwire_socket>,
    topic: *const c_void,
    size: usize,
    peers: usize,
    timeout_ms: i64,
) -> sealwire_status {
    with_bytes(socket, topic, size, "topic", |socket, topic| {
        Ok(match limit(timeout_ms)? {
            None => socket.wait_subscribed(topic, peers),
            Some(limit) => socket.wait_subscribed_timeout(topic, peers, limit),
        }?)
    })
}

/// `None` for the limit of the options.
fn limit(timeout_ms: i64) -> Result<Option<Duration>, Failure> {
    Ok(match Wait::from_ms(timeout_ms)? {
        Wait::Default => None,
        Wait::No => Some(Duration::ZERO),
        Wait::For(limit) => Some(limit),
    })
}
