//! Sockets.

pub mod presence;
pub mod reconfiguring;
pub mod sending;

use std::ffi::{c_char, c_void};
use std::sync::Mutex;

use sealwire::SocketType;
use sealwire::blocking::Socket;
use sealwire_fork::Birth;

use crate::keys::write_text;
use crate::message::sealwire_message;
use crate::options::sealwire_options;
use crate::panics::{free, guard};
use crate::pointers::{bytes, give, items_mut, output, required, text};
use crate::security::sealwire_security;
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_NULL, sealwire_status};
use crate::time::{Wait, duration_ms};

/// A timeout: as long as the options of the socket say, which is for ever unless set.
pub const SEALWIRE_WAIT: i64 = -1;
/// A timeout: not at all.
pub const SEALWIRE_NO_WAIT: i64 = 0;

/// Type of a socket: one peer, both ways.
pub const SEALWIRE_PAIR: i32 = 0;
/// Type of a socket: publishes to every subscriber.
pub const SEALWIRE_PUB: i32 = 1;
/// Type of a socket: receives what it subscribed to.
pub const SEALWIRE_SUB: i32 = 2;
/// Type of a socket: sends a request, then receives its answer.
pub const SEALWIRE_REQ: i32 = 3;
/// Type of a socket: receives a request, then answers it.
pub const SEALWIRE_REP: i32 = 4;
/// Type of a socket: sends to its peers in turn, receives from all.
pub const SEALWIRE_DEALER: i32 = 5;
/// Type of a socket: addresses peers by routing id, the first frame.
pub const SEALWIRE_ROUTER: i32 = 6;
/// Type of a socket: receives from a pipeline.
pub const SEALWIRE_PULL: i32 = 7;
/// Type of a socket: sends into a pipeline.
pub const SEALWIRE_PUSH: i32 = 8;
/// Type of a socket: PUB that reads the subscriptions.
pub const SEALWIRE_XPUB: i32 = 9;
/// Type of a socket: SUB that sends its subscriptions as messages.
pub const SEALWIRE_XSUB: i32 = 10;
/// Type of a socket: plain TCP connections, each with a name as the first frame.
pub const SEALWIRE_STREAM: i32 = 11;
/// Type of a socket: addresses connections by routing id, messages of one frame.
pub const SEALWIRE_SERVER: i32 = 12;
/// Type of a socket: talks to SERVER, messages of one frame.
pub const SEALWIRE_CLIENT: i32 = 13;
/// Type of a socket: publishes to groups.
pub const SEALWIRE_RADIO: i32 = 14;
/// Type of a socket: receives what is sent to the groups it joined.
pub const SEALWIRE_DISH: i32 = 15;
/// Type of a socket: PULL for messages of one frame.
pub const SEALWIRE_GATHER: i32 = 16;
/// Type of a socket: PUSH for messages of one frame.
pub const SEALWIRE_SCATTER: i32 = 17;
/// Type of a socket: plain UDP datagrams, each with the address of the other side as the first frame.
pub const SEALWIRE_DGRAM: i32 = 18;
/// Type of a socket: SERVER among equals.
pub const SEALWIRE_PEER: i32 = 19;
/// Type of a socket: PAIR for messages of one frame.
pub const SEALWIRE_CHANNEL: i32 = 20;

fn socket_type(number: i32) -> Result<SocketType, Failure> {
    SocketType::from_number(number).ok_or_else(|| {
        let text = format!("there is no type {number} of sockets");
        Failure::new(SEALWIRE_ERROR_ARGUMENT, text)
    })
}

/// A socket. Its types are those of ZeroMQ and have the same numbers.
///
/// Threads: any number may use it at once, but for `sealwire_socket_free`.
pub struct sealwire_socket {
    pub(crate) socket: Socket,
    pub(crate) birth: Birth,
    /// Descriptors of `sealwire_poll` that no call uses now.
    pub(crate) idle: Mutex<Vec<sealwire::Readiness>>,
    /// So are its monitors.
    pub(crate) interruptible: bool,
}

/// Makes a socket of a type (`SEALWIRE_REQ` and others) with its protection, which must be named:
/// `sealwire_security_plain_text` for none. `options` may be NULL. `security` and `options` may be freed
/// after that. Free the socket with `sealwire_socket_free`.
///
/// Errors: `SEALWIRE_ERROR_OPTION`, `SEALWIRE_ERROR_ARGUMENT` for an unknown type,
/// `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_new(
    type_: i32,
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    out: *mut *mut sealwire_socket,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let security = security.ok_or_else(|| {
            let text = "security is NULL: a socket without any has to be asked for, with \
                        sealwire_security_plain_text";
            Failure::new(SEALWIRE_ERROR_NULL, text)
        })?;
        let mut builder = Socket::builder(socket_type(type_)?).security(security.security());
        if let Some(options) = options {
            builder = options.apply(builder);
        }
        out.write(give(sealwire_socket {
            socket: builder.build_blocking()?,
            birth: Birth::now(),
            idle: Mutex::default(),
            interruptible: options.is_some_and(sealwire_options::is_interruptible),
        }));
        Ok(())
    })
}

/// Binds to an endpoint such as "tcp://127.0.0.1:5555", "tcp://127.0.0.1:*", "ipc:///run/a.sock",
/// "inproc://name", "ws://127.0.0.1:8080/path" or "udp://239.0.0.1:5555". Where `bound` is not NULL
/// it gets the endpoint with the port that was chosen, to be freed with `sealwire_string_free`.
///
/// Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_BIND`,
/// `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_bind(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let endpoint = socket.socket.bind(text(endpoint, "endpoint")?)?;
        write_text(bound, "bound", &endpoint.to_string())
    })
}

/// Connects to an endpoint, now and whenever the connection is lost. Returns at once: nobody needs to
/// be there yet, and what happens is told by a `sealwire_monitor`.
///
/// Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_CONNECT` (`udp`),
/// `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_connect(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok(socket.socket.connect(text(endpoint, "endpoint")?)?)
    })
}

/// ROUTER, STREAM: connects as `sealwire_socket_connect`, and gives the peer there a routing id of 1 to 255 bytes,
/// whatever it calls itself. From the moment that this returns, messages to that routing id are queued for the
/// peer, and go out once it is there. The peer has it as long as the endpoint is connected to, and nobody
/// can take it over. libzmq's `ZMQ_CONNECT_ROUTING_ID`.
///
/// Errors: those of `sealwire_socket_connect`; `SEALWIRE_ERROR_UNSUPPORTED` for other types,
/// `SEALWIRE_ERROR_OPTION` for a routing id that is empty, too long or begins with a zero octet, and
/// `SEALWIRE_ERROR_ROUTING_ID_IN_USE`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_connect_with_routing_id(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
    routing_id: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let endpoint = text(endpoint, "endpoint")?;
        let routing_id = bytes(routing_id.cast(), size, "routing_id")?;
        Ok((socket.socket).connect_with_routing_id(endpoint, routing_id)?)
    })
}

/// SERVER, PEER: connects, waits for the handshake up to the send timeout of the options, and writes
/// the routing id of the connection, for `sealwire_message_with_routing_id`. libzmq's `zmq_connect_peer`.
///
/// Errors: as `sealwire_socket_connect`, and `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE` and `SEALWIRE_ERROR_INTERRUPTED` (the
/// socket goes on connecting: disconnect it before you call again), `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_GAVE_UP`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_connect_peer(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
    routing_id: *mut u32,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(routing_id, "routing_id")?;
        out.write(socket.socket.connect_peer(text(endpoint, "endpoint")?)?);
        Ok(())
    })
}

/// Stops listening on an endpoint, as `sealwire_socket_bind` gave it. Connections that came through
/// it stay.
///
/// Errors: `SEALWIRE_ERROR_UNKNOWN_ENDPOINT`, `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_unbind(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok(socket.socket.unbind(text(endpoint, "endpoint")?)?)
    })
}

/// Stops listening on an endpoint, as `sealwire_socket_bind` gave it, and leaves the peers that came
/// through it as `sealwire_socket_disconnect` leaves a peer.
///
/// Errors: as `sealwire_socket_unbind`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_unbind_and_disconnect(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok((socket.socket).unbind_and_disconnect(text(endpoint, "endpoint")?)?)
    })
}

/// Leaves the peer at an endpoint, and does not connect there again. From the moment that this
/// returns, no message goes to that peer and none is received from it. Messages that were queued for
/// it still go out, within the linger time, and those that were received before stay to be read.
/// Messages that wait for a first peer go to the next one. A REQ that awaits an answer from there gets
/// `SEALWIRE_ERROR_REQUEST_LOST`.
///
/// Errors: as `sealwire_socket_unbind`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_disconnect(
    socket: Option<&sealwire_socket>,
    endpoint: *const c_char,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok(socket.socket.disconnect(text(endpoint, "endpoint")?)?)
    })
}

/// Begins to leave in good order: the socket takes no new peers and endpoints, and goes on receiving what its
/// peers have sent. When all has been received, receiving gives `SEALWIRE_ERROR_DRAINED`, or
/// `SEALWIRE_ERROR_CUT_OFF` where connections did not end in good order within `limit_ms` milliseconds. Returns at
/// once. For PULL, GATHER, SUB and DISH.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_drain(
    socket: Option<&sealwire_socket>,
    limit_ms: i64,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok(socket.socket.drain(duration_ms(limit_ms, "limit_ms")?)?)
    })
}

/// How many peers have completed their handshake; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_peers(socket: Option<&sealwire_socket>) -> usize {
    crate::panics::value(0, || socket.map_or(0, |socket| socket.socket.peers().len()))
}

/// Receives a message, waiting up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` or
/// `SEALWIRE_NO_WAIT`. Free it with `sealwire_message_free`. Signals interrupt it with
/// `SEALWIRE_OPTION_INTERRUPTIBLE` only;
/// `sealwire_socket_close` on another thread does.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_HANDSHAKE`, `SEALWIRE_ERROR_STATE`,
/// `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_REQUEST_LOST`, `SEALWIRE_ERROR_CLOSED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_recv(
    socket: Option<&sealwire_socket>,
    timeout_ms: i64,
    out: *mut *mut sealwire_message,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(out, "out")?;
        let message = match Wait::from_ms(timeout_ms)? {
            Wait::Default => socket.socket.recv(),
            Wait::No => socket.socket.try_recv(),
            Wait::For(limit) => socket.socket.recv_timeout(limit),
        }?;
        out.write(give(sealwire_message::new(message)));
        Ok(())
    })
}

/// Waits for at least one message as `sealwire_socket_recv` does, then takes up to `capacity` that
/// are there, in one go. Writes them to the first elements of `messages` and how many they are to
/// `count`. Each is freed by itself.
///
/// Errors: as `sealwire_socket_recv`, and `SEALWIRE_ERROR_ARGUMENT` for a capacity of 0.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_recv_many(
    socket: Option<&sealwire_socket>,
    messages: *mut *mut sealwire_message,
    capacity: usize,
    timeout_ms: i64,
    count: *mut usize,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = items_mut(messages, capacity, "messages")?;
        let count = output(count, "count")?;
        if out.is_empty() {
            let text = "capacity is 0";
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        let mut taken = Vec::new();
        match Wait::from_ms(timeout_ms)? {
            Wait::Default => {
                socket.socket.recv_many(&mut taken, capacity)?;
            }
            Wait::For(limit) => {
                socket
                    .socket
                    .recv_many_timeout(&mut taken, capacity, limit)?;
            }
            Wait::No => {
                taken.push(socket.socket.try_recv()?);
                while taken.len() < capacity
                    && let Ok(message) = socket.socket.try_recv()
                {
                    taken.push(message);
                }
            }
        }
        count.write(taken.len());
        for (slot, message) in out.iter_mut().zip(taken) {
            *slot = give(sealwire_message::new(message));
        }
        Ok(())
    })
}

fn with_bytes(
    socket: Option<&sealwire_socket>,
    data: *const c_void,
    size: usize,
    name: &str,
    operation: impl FnOnce(&Socket, &[u8]) -> Result<(), Failure>,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        operation(&socket.socket, bytes(data.cast(), size, name)?)
    })
}

/// SUB, XSUB: asks for messages whose first frame starts with these bytes; with none of them for all.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_LIMIT`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_subscribe(
    socket: Option<&sealwire_socket>,
    topic: *const c_void,
    size: usize,
) -> sealwire_status {
    with_bytes(socket, topic, size, "topic", |socket, topic| {
        Ok(socket.subscribe(topic)?)
    })
}

/// SUB, XSUB: takes one `sealwire_socket_subscribe` of the same topic back.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED`, also when there was none, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_unsubscribe(
    socket: Option<&sealwire_socket>,
    topic: *const c_void,
    size: usize,
) -> sealwire_status {
    with_bytes(socket, topic, size, "topic", |socket, topic| {
        Ok(socket.unsubscribe(topic)?)
    })
}

/// Writes how many different topics are subscribed to: by a SUB or XSUB itself, or by the peers of a PUB or XPUB
/// together. With `SEALWIRE_OPTION_XPUB_MANUAL` only granted ones count. libzmq's `ZMQ_TOPICS_COUNT`.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` for other types, `SEALWIRE_ERROR_CLOSED`, `SEALWIRE_ERROR_ENGINE_FAILED`,
/// `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_topics(
    socket: Option<&sealwire_socket>,
    count: *mut usize,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let count = output(count, "count")?;
        count.write(socket.socket.topics()?);
        Ok(())
    })
}

/// DISH: asks for messages to a group of 1 to 255 bytes.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_MESSAGE` for a name that is none,
/// `SEALWIRE_ERROR_STATE` when it has joined already, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_join(
    socket: Option<&sealwire_socket>,
    group: *const c_void,
    size: usize,
) -> sealwire_status {
    with_bytes(socket, group, size, "group", |socket, group| {
        Ok(socket.join(group)?)
    })
}

/// DISH: takes `sealwire_socket_join` back.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED`, `SEALWIRE_ERROR_STATE` when it has not joined,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_leave(
    socket: Option<&sealwire_socket>,
    group: *const c_void,
    size: usize,
) -> sealwire_status {
    with_bytes(socket, group, size, "group", |socket, group| {
        Ok(socket.leave(group)?)
    })
}

/// What a socket has done since it was made. Each number only grows.
#[repr(C)]
pub struct sealwire_counters {
    /// Messages handed to a connection.
    pub messages_sent: u64,
    /// Payload bytes of these.
    pub bytes_sent: u64,
    /// Messages that arrived for the program.
    pub messages_received: u64,
    /// Payload bytes of these.
    pub bytes_received: u64,
    /// Copies dropped at a full queue, or because the peer to answer was gone.
    pub dropped_at_send: u64,
    /// Messages of which nothing had been written when their connection or the socket ended.
    pub dropped_unsent: u64,
    /// Messages that were written to a connection which has ended since, and may have arrived: an upper
    /// bound of what was lost on the way. An answered heartbeat takes out what was sent before it.
    pub unconfirmed: u64,
    /// Received messages that nobody had read when the socket ended, or for which there was no room
    /// when their connection did.
    pub dropped_unread: u64,
    /// Messages that a newer one replaced before they were sent or read.
    pub replaced: u64,
    /// Messages that publishers of Sealwire dropped for this socket, as they say.
    pub missed: u64,
    /// Received messages that the type of the socket has no use for.
    pub dropped_at_receive: u64,
    /// Handshakes completed.
    pub handshakes_completed: u64,
    /// Handshakes that failed.
    pub handshakes_failed: u64,
    /// Attempts to connect that followed a failed or ended connection.
    pub reconnects: u64,
    /// Connections that ended after their handshake.
    pub disconnects: u64,
}

/// Writes what the socket has done so far.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_counters(
    socket: Option<&sealwire_socket>,
    counters: *mut sealwire_counters,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(counters, "counters")?;
        let counters = socket.socket.counters();
        out.write(sealwire_counters {
            messages_sent: counters.messages_sent,
            bytes_sent: counters.bytes_sent,
            messages_received: counters.messages_received,
            bytes_received: counters.bytes_received,
            dropped_at_send: counters.dropped_at_send,
            dropped_unsent: counters.dropped_unsent,
            unconfirmed: counters.unconfirmed,
            dropped_unread: counters.dropped_unread,
            replaced: counters.replaced,
            missed: counters.missed,
            dropped_at_receive: counters.dropped_at_receive,
            handshakes_completed: counters.handshakes_completed,
            handshakes_failed: counters.handshakes_failed,
            reconnects: counters.reconnects,
            disconnects: counters.disconnects,
        });
        Ok(())
    })
}

/// Closes the socket and waits until what is queued was sent, up to the linger time. Other threads
/// that wait in it get `SEALWIRE_ERROR_CLOSED`. The object is still to be freed, once no thread uses
/// it any more.
///
/// Errors: `SEALWIRE_ERROR_UNSENT` when the linger time was not enough; `SEALWIRE_ERROR_INTERRUPTED`, where it
/// goes on closing and another call waits again; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_close(socket: Option<&sealwire_socket>) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        Ok(socket.socket.clone().close()?)
    })
}

/// Closes the socket as `sealwire_socket_close` does, with this linger time in milliseconds in place of the
/// option's: 0 closes at once, INT64_MAX waits for ever. Where another thread is closing it already, a
/// shorter time takes the place of the longer one. Messages that the time is too short for are dropped, and
/// counted as `dropped_unsent`.
///
/// Errors: those of `sealwire_socket_close`; `SEALWIRE_ERROR_ARGUMENT` for a time below 0.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_close_with_linger(
    socket: Option<&sealwire_socket>,
    linger_ms: i64,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let linger = duration_ms(linger_ms, "linger_ms")?;
        Ok(socket.socket.clone().close_with_linger(linger)?)
    })
}

/// Closes the socket if that was not done, which waits as `sealwire_socket_close` does, and frees it.
/// Messages, monitors and readiness objects that came from it stay valid. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_free(socket: Option<Box<sealwire_socket>>) {
    free(socket);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header needs the numbers as literals.
    #[test]
    fn the_types_have_their_numbers() {
        let constants = [
            (SEALWIRE_PAIR, "PAIR"),
            (SEALWIRE_PUB, "PUB"),
            (SEALWIRE_SUB, "SUB"),
            (SEALWIRE_REQ, "REQ"),
            (SEALWIRE_REP, "REP"),
            (SEALWIRE_DEALER, "DEALER"),
            (SEALWIRE_ROUTER, "ROUTER"),
            (SEALWIRE_PULL, "PULL"),
            (SEALWIRE_PUSH, "PUSH"),
            (SEALWIRE_XPUB, "XPUB"),
            (SEALWIRE_XSUB, "XSUB"),
            (SEALWIRE_STREAM, "STREAM"),
            (SEALWIRE_SERVER, "SERVER"),
            (SEALWIRE_CLIENT, "CLIENT"),
            (SEALWIRE_RADIO, "RADIO"),
            (SEALWIRE_DISH, "DISH"),
            (SEALWIRE_GATHER, "GATHER"),
            (SEALWIRE_SCATTER, "SCATTER"),
            (SEALWIRE_DGRAM, "DGRAM"),
            (SEALWIRE_PEER, "PEER"),
            (SEALWIRE_CHANNEL, "CHANNEL"),
        ];
        assert_eq!(constants.len(), SocketType::ALL.len());
        for (number, name) in constants {
            assert_eq!(
                SocketType::from_number(number).map(SocketType::name),
                Some(name)
            );
        }
    }
}
