//! What happens on the connections of a socket.

use std::ffi::{CStr, CString, c_char};
use std::time::{Duration, Instant};

use sealwire::blocking::block_on;
use sealwire::{Event, Monitor};
use sealwire_fork::Birth;

use crate::panics::{free, guard, value};
use crate::peer::{LazyPeer, PeerSource, sealwire_peer};
use crate::pointers::{c_text, give, output, required};
use crate::socket::sealwire_socket;
use crate::status::{
    Failure, SEALWIRE_ERROR_ENDED, SEALWIRE_ERROR_TIMED_OUT, SEALWIRE_ERROR_WOULD_BLOCK, here,
    sealwire_status,
};
use crate::time::Wait;

/// Kind of an event: one that has no number yet. Its text says what it is.
pub const SEALWIRE_EVENT_OTHER: i32 = 0;
/// Kind of an event: the socket is bound.
pub const SEALWIRE_EVENT_LISTENING: i32 = 1;
/// Kind of an event: a peer connected; the handshake begins.
pub const SEALWIRE_EVENT_ACCEPTED: i32 = 2;
/// Kind of an event: accepting failed, for example for want of file descriptors.
pub const SEALWIRE_EVENT_ACCEPT_FAILED: i32 = 3;
/// Kind of an event: connected to a peer; the handshake begins.
pub const SEALWIRE_EVENT_CONNECTED: i32 = 4;
/// Kind of an event: the handshake is done.
pub const SEALWIRE_EVENT_READY: i32 = 5;
/// Kind of an event: a connection could not be made, its handshake failed, or it broke.
pub const SEALWIRE_EVENT_FAILED: i32 = 6;
/// Kind of an event: a connection ended as it should.
pub const SEALWIRE_EVENT_DISCONNECTED: i32 = 7;
/// Kind of an event: another attempt to connect follows.
pub const SEALWIRE_EVENT_RETRYING: i32 = 8;
/// Kind of an event: the endpoint is not connected to any more.
pub const SEALWIRE_EVENT_GAVE_UP: i32 = 9;
/// Kind of an event: something to worry about that is not a failure.
pub const SEALWIRE_EVENT_WARNING: i32 = 10;
/// Kind of an event: datagrams were dropped.
pub const SEALWIRE_EVENT_DATAGRAMS_DROPPED: i32 = 11;
/// Kind of an event: the endpoint is no longer bound.
pub const SEALWIRE_EVENT_UNBOUND: i32 = 12;
/// Kind of an event: everybody is let in, as nothing was given to decide and no ZAP handler is bound.
pub const SEALWIRE_EVENT_ANYONE_ALLOWED: i32 = 13;
/// Kind of an event: a peer asks a publisher for its first topic, or a RADIO for its first group.
pub const SEALWIRE_EVENT_SUBSCRIBED: i32 = 14;
/// Kind of an event: clients of a mechanism are not let in, as the list of those that may is empty.
pub const SEALWIRE_EVENT_NOBODY_ALLOWED: i32 = 15;
/// Kind of an event: an attempt to connect begins.
pub const SEALWIRE_EVENT_CONNECTING: i32 = 16;
/// Kind of an event: the queue for a peer is full, and messages for it are dropped. Once a second for a peer at most.
pub const SEALWIRE_EVENT_DROPS_BEGAN: i32 = 17;
/// Kind of an event: half of the queue for the peer is free again, or the peer is gone. `sealwire_event_count` has the
/// messages that were dropped since the last such event.
pub const SEALWIRE_EVENT_DROPS_ENDED: i32 = 18;
/// Kind of an event: a publisher of Sealwire says how many messages it has dropped for this socket; `sealwire_event_count`.
pub const SEALWIRE_EVENT_MESSAGES_MISSED: i32 = 19;

/// Cause of a failure: the event is none.
pub const SEALWIRE_CAUSE_NONE: i32 = 0;
/// Cause of a failure: one that has no number yet. The event's text says what it is.
pub const SEALWIRE_CAUSE_OTHER: i32 = 1;
/// Cause of a failure: the name does not resolve.
pub const SEALWIRE_CAUSE_RESOLVE: i32 = 2;
/// Cause of a failure: nothing accepted the connection.
pub const SEALWIRE_CAUSE_CONNECT: i32 = 3;
/// Cause of a failure: the SOCKS5 proxy did not make the connection.
pub const SEALWIRE_CAUSE_PROXY: i32 = 4;
/// Cause of a failure: the transport broke.
pub const SEALWIRE_CAUSE_TRANSPORT: i32 = 5;
/// Cause of a failure: a WebSocket could not be made, or was misused.
pub const SEALWIRE_CAUSE_WEBSOCKET: i32 = 6;
/// Cause of a failure: TLS, under a `wss` endpoint: an authority that is not trusted here, another host, a certificate that has
/// expired or is not valid yet, a peer without TLS, or one that refuses our certificate. The event's text says which.
pub const SEALWIRE_CAUSE_TLS: i32 = 7;
/// Cause of a failure: the peer speaks another protocol, or breaks the rules of this one.
pub const SEALWIRE_CAUSE_PROTOCOL: i32 = 8;
/// Cause of a failure: the mechanisms or the types of the sockets do not fit.
pub const SEALWIRE_CAUSE_INCOMPATIBLE: i32 = 9;
/// Cause of a failure: the handshake does not verify. On a server: the client was given another server key.
pub const SEALWIRE_CAUSE_HANDSHAKE: i32 = 10;
/// Cause of a failure: the peer did not finish its handshake in time.
pub const SEALWIRE_CAUSE_HANDSHAKE_TIMEOUT: i32 = 11;
/// Cause of a failure: this side did not let the peer in: its key, user or password.
pub const SEALWIRE_CAUSE_REFUSED: i32 = 12;
/// Cause of a failure: the peer refused this side.
pub const SEALWIRE_CAUSE_REFUSED_BY_PEER: i32 = 13;
/// Cause of a failure: the ZAP handler refused the peer, or gave no answer that is one.
pub const SEALWIRE_CAUSE_REFUSED_BY_ZAP: i32 = 14;
/// Cause of a failure: the peer left in the middle of a message.
pub const SEALWIRE_CAUSE_CLOSED: i32 = 15;
/// Cause of a failure: the peer left during the handshake. On a client: mostly the server has another key than was
/// given, or wants another mechanism.
pub const SEALWIRE_CAUSE_CLOSED_IN_HANDSHAKE: i32 = 16;
/// Cause of a failure: what arrived was changed on the way.
pub const SEALWIRE_CAUSE_FRAME_NOT_VERIFIED: i32 = 17;
/// Cause of a failure: the peer sent a message that is larger than the limits allow.
pub const SEALWIRE_CAUSE_TOO_LARGE: i32 = 18;
/// Cause of a failure: 2^64 - 1 frames were sealed under one key.
pub const SEALWIRE_CAUSE_COUNTER_EXHAUSTED: i32 = 19;
/// Cause of a failure: the peer fell silent.
pub const SEALWIRE_CAUSE_HEARTBEAT_TIMEOUT: i32 = 20;
/// Cause of a failure: this socket turned the peer away: it is closing, its key was revoked, its type has enough peers.
pub const SEALWIRE_CAUSE_REJECTED: i32 = 21;
/// Cause of a failure: the peer made this process hold too much.
pub const SEALWIRE_CAUSE_LIMIT_EXCEEDED: i32 = 22;
/// Cause of a failure: its handshake was the oldest when there were too many.
pub const SEALWIRE_CAUSE_HANDSHAKE_EVICTED: i32 = 23;
/// Cause of a failure: the listener has as many connections as it may have.
pub const SEALWIRE_CAUSE_TOO_MANY_CONNECTIONS: i32 = 24;
/// Cause of a failure: the peer's key, or user, has as many connections as it may have.
pub const SEALWIRE_CAUSE_KEY_LIMIT: i32 = 25;
/// Cause of a failure: the peer's address has used up what it may have.
pub const SEALWIRE_CAUSE_ADDRESS_LIMIT: i32 = 26;
/// Cause of a failure: the process has no file descriptors left.
pub const SEALWIRE_CAUSE_OUT_OF_DESCRIPTORS: i32 = 27;
/// Cause of a failure: a panic in this library, or in what it was given to call. The log has its place.
pub const SEALWIRE_CAUSE_INTERNAL: i32 = 28;
/// Cause of a failure: the endpoint has other keys by now, and the connection was ended for that
/// (`sealwire_socket_reconfigure_endpoint`).
pub const SEALWIRE_CAUSE_KEY_WITHDRAWN: i32 = 29;

/// The causes by their names.
const CAUSES: [(&CStr, i32); 28] = [
    (c"resolve", SEALWIRE_CAUSE_RESOLVE),
    (c"connect", SEALWIRE_CAUSE_CONNECT),
    (c"proxy", SEALWIRE_CAUSE_PROXY),
    (c"transport", SEALWIRE_CAUSE_TRANSPORT),
    (c"websocket", SEALWIRE_CAUSE_WEBSOCKET),
    (c"tls", SEALWIRE_CAUSE_TLS),
    (c"protocol", SEALWIRE_CAUSE_PROTOCOL),
    (c"incompatible", SEALWIRE_CAUSE_INCOMPATIBLE),
    (c"handshake", SEALWIRE_CAUSE_HANDSHAKE),
    (c"handshake_timeout", SEALWIRE_CAUSE_HANDSHAKE_TIMEOUT),
    (c"refused", SEALWIRE_CAUSE_REFUSED),
    (c"refused_by_peer", SEALWIRE_CAUSE_REFUSED_BY_PEER),
    (c"refused_by_zap", SEALWIRE_CAUSE_REFUSED_BY_ZAP),
    (c"closed", SEALWIRE_CAUSE_CLOSED),
    (c"closed_in_handshake", SEALWIRE_CAUSE_CLOSED_IN_HANDSHAKE),
    (c"frame_not_verified", SEALWIRE_CAUSE_FRAME_NOT_VERIFIED),
    (c"too_large", SEALWIRE_CAUSE_TOO_LARGE),
    (c"counter_exhausted", SEALWIRE_CAUSE_COUNTER_EXHAUSTED),
    (c"heartbeat_timeout", SEALWIRE_CAUSE_HEARTBEAT_TIMEOUT),
    (c"rejected", SEALWIRE_CAUSE_REJECTED),
    (c"limit_exceeded", SEALWIRE_CAUSE_LIMIT_EXCEEDED),
    (c"handshake_evicted", SEALWIRE_CAUSE_HANDSHAKE_EVICTED),
    (c"too_many_connections", SEALWIRE_CAUSE_TOO_MANY_CONNECTIONS),
    (c"key_limit", SEALWIRE_CAUSE_KEY_LIMIT),
    (c"address_limit", SEALWIRE_CAUSE_ADDRESS_LIMIT),
    (c"out_of_descriptors", SEALWIRE_CAUSE_OUT_OF_DESCRIPTORS),
    (c"internal", SEALWIRE_CAUSE_INTERNAL),
    (c"key_withdrawn", SEALWIRE_CAUSE_KEY_WITHDRAWN),
];

/// Reads what happens to a socket from the moment it was made on. Every monitor gets every event;
/// 4,096 are kept for one that is slow, then the oldest are lost.
///
/// Threads: any number may use it at once, but for `sealwire_monitor_free`.
pub struct sealwire_monitor {
    pub(crate) monitor: Monitor,
    pub(crate) birth: Birth,
    pub(crate) interruptible: bool,
}

impl sealwire_monitor {
    pub(crate) fn new(monitor: Monitor, interruptible: bool) -> Self {
        sealwire_monitor {
            monitor,
            birth: Birth::now(),
            interruptible,
        }
    }

    /// The next event; `None` where there is none within the limit, or no more will come.
    fn wait_next(&self, limit: Option<Duration>) -> Result<Option<Event>, Failure> {
        if !self.interruptible {
            return Ok(match limit {
                Some(limit) => self.monitor.wait_next_timeout(limit),
                None => self.monitor.wait_next(),
            });
        }
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let next = block_on(self.monitor.next(), deadline, |handler_ran| handler_ran)?;
        Ok(next.flatten())
    }
}

/// Something that happened to an endpoint or a connection.
///
/// Threads: never changes, so any number may use it at once.
pub struct sealwire_event {
    event: Event,
    text: CString,
    endpoint: Option<CString>,
    address: Option<CString>,
    local_address: Option<CString>,
    peer: LazyPeer,
}

/// A monitor of the socket. Make it before connecting to miss nothing. It outlives the socket. Free
/// it with `sealwire_monitor_free`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_monitor_new(
    socket: Option<&sealwire_socket>,
    out: *mut *mut sealwire_monitor,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        here(socket.birth)?;
        let monitor = sealwire_monitor::new(socket.socket.monitor(), socket.interruptible);
        output(out, "out")?.write(give(monitor));
        Ok(())
    })
}

/// The next event, waiting for it up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
/// `SEALWIRE_NO_WAIT`. Free it with `sealwire_event_free`.
///
/// Errors: `SEALWIRE_ERROR_ENDED` once the socket is closed and all events are read (with
/// `SEALWIRE_WAIT`; else one of the next two), `SEALWIRE_ERROR_WOULD_BLOCK`,
/// `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_monitor_next(
    monitor: Option<&sealwire_monitor>,
    timeout_ms: i64,
    out: *mut *mut sealwire_event,
) -> sealwire_status {
    guard(|| {
        let monitor = required(monitor, "monitor")?;
        here(monitor.birth)?;
        let out = output(out, "out")?;
        let (event, status, text) = match Wait::from_ms(timeout_ms)? {
            Wait::Default => (
                monitor.wait_next(None)?,
                SEALWIRE_ERROR_ENDED,
                "no more events will come",
            ),
            Wait::No => (
                monitor.monitor.try_next(),
                SEALWIRE_ERROR_WOULD_BLOCK,
                "no event is there",
            ),
            Wait::For(limit) => {
                let event = monitor.wait_next(Some(limit))?;
                (event, SEALWIRE_ERROR_TIMED_OUT, "no event came in time")
            }
        };
        let event = event.ok_or_else(|| Failure::new(status, text))?;
        out.write(give(sealwire_event::new(event)));
        Ok(())
    })
}

/// How many events were lost because nobody read them in time; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_monitor_lost(monitor: Option<&sealwire_monitor>) -> u64 {
    value(0, || monitor.map_or(0, |monitor| monitor.monitor.lost()))
}

/// Frees a monitor. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_monitor_free(monitor: Option<Box<sealwire_monitor>>) {
    free(monitor);
}

impl sealwire_event {
    fn new(event: Event) -> Self {
        let (endpoint, address) = (event.endpoint(), event.address());
        let local_address = event.local_address();
        sealwire_event {
            text: c_text(&event.to_string()),
            endpoint: endpoint.map(|endpoint| c_text(&endpoint.to_string())),
            address: address.map(|address| c_text(&address.to_string())),
            local_address: local_address.map(|address| c_text(&address.to_string())),
            peer: LazyPeer::default(),
            event,
        }
    }
}

/// What happened: one of `SEALWIRE_EVENT_...`; -1 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_kind(event: Option<&sealwire_event>) -> i32 {
    event.map_or(-1, |event| match &event.event {
        Event::Listening { .. } => SEALWIRE_EVENT_LISTENING,
        Event::Accepted { .. } => SEALWIRE_EVENT_ACCEPTED,
        Event::AcceptFailed { .. } => SEALWIRE_EVENT_ACCEPT_FAILED,
        Event::Connecting { .. } => SEALWIRE_EVENT_CONNECTING,
        Event::Connected { .. } => SEALWIRE_EVENT_CONNECTED,
        Event::Ready { .. } => SEALWIRE_EVENT_READY,
        Event::Subscribed { .. } => SEALWIRE_EVENT_SUBSCRIBED,
        Event::DropsBegan { .. } => SEALWIRE_EVENT_DROPS_BEGAN,
        Event::DropsEnded { .. } => SEALWIRE_EVENT_DROPS_ENDED,
        Event::MessagesMissed { .. } => SEALWIRE_EVENT_MESSAGES_MISSED,
        Event::Failed(_) => SEALWIRE_EVENT_FAILED,
        Event::Disconnected { .. } => SEALWIRE_EVENT_DISCONNECTED,
        Event::Retrying { .. } => SEALWIRE_EVENT_RETRYING,
        Event::GaveUp { .. } => SEALWIRE_EVENT_GAVE_UP,
        Event::Warning { .. } => SEALWIRE_EVENT_WARNING,
        Event::DatagramsDropped { .. } => SEALWIRE_EVENT_DATAGRAMS_DROPPED,
        Event::Unbound { .. } => SEALWIRE_EVENT_UNBOUND,
        Event::AnyoneAllowed { .. } => SEALWIRE_EVENT_ANYONE_ALLOWED,
        Event::NobodyAllowed { .. } => SEALWIRE_EVENT_NOBODY_ALLOWED,
        _ => SEALWIRE_EVENT_OTHER,
    })
}

/// How many messages or datagrams an event tells of: those of `SEALWIRE_EVENT_DROPS_ENDED`, `SEALWIRE_EVENT_MESSAGES_MISSED` and
/// `SEALWIRE_EVENT_DATAGRAMS_DROPPED`, and attempts of `SEALWIRE_EVENT_ACCEPT_FAILED`. 0 for others and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_count(event: Option<&sealwire_event>) -> u64 {
    event.map_or(0, |event| match event.event {
        Event::DropsEnded { count, .. }
        | Event::MessagesMissed { count, .. }
        | Event::DatagramsDropped { count, .. }
        | Event::AcceptFailed { count, .. } => count,
        _ => 0,
    })
}

/// Why a connection failed: one of `SEALWIRE_CAUSE_...`; `SEALWIRE_CAUSE_NONE` for other events, and
/// -1 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_cause(event: Option<&sealwire_event>) -> i32 {
    event.map_or(-1, |event| match cause(event) {
        Some((_, number)) => number,
        None => SEALWIRE_CAUSE_NONE,
    })
}

/// The name of that cause, as other languages and the program have it: `SEALWIRE_CAUSE_KEY_LIMIT` is
/// `key_limit`. NULL for other events and for NULL. Lasts as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_cause_name(event: Option<&sealwire_event>) -> *const c_char {
    let cause = event.and_then(cause);
    cause.map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// Whether a handshake failed, as the peers did not agree: a wrong key, a client that is not let in,
/// another mechanism. False for other events and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_is_handshake_failure(event: Option<&sealwire_event>) -> bool {
    event.is_some_and(|event| match &event.event {
        Event::Failed(failure) => failure.is_handshake_failure(),
        _ => false,
    })
}

fn cause(event: &sealwire_event) -> Option<(&'static CStr, i32)> {
    let Event::Failed(failure) = &event.event else {
        return None;
    };
    Some(by_name(failure.cause().name()))
}

fn by_name(name: &str) -> (&'static CStr, i32) {
    let mut causes = CAUSES.into_iter();
    let found = causes.find(|(known, _)| known.to_bytes() == name.as_bytes());
    found.unwrap_or((c"other", SEALWIRE_CAUSE_OTHER))
}

/// The event in words. NULL for NULL. Belongs to the event.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_text(event: Option<&sealwire_event>) -> *const c_char {
    event.map_or(std::ptr::null(), |event| event.text.as_ptr())
}

/// The endpoint that it is about, or NULL. Belongs to the event.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_endpoint(event: Option<&sealwire_event>) -> *const c_char {
    let endpoint = event.and_then(|event| event.endpoint.as_ref());
    endpoint.map_or(std::ptr::null(), |endpoint| endpoint.as_ptr())
}

/// Where the peer is, or NULL where there is none. Belongs to the event.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_address(event: Option<&sealwire_event>) -> *const c_char {
    let address = event.and_then(|event| event.address.as_ref());
    address.map_or(std::ptr::null(), |address| address.as_ptr())
}

/// Where this end of the connection is, or what is listened at, as text; NULL before there is a connection and as
/// `sealwire_peer_local_address` says. Belongs to the event.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_local_address(event: Option<&sealwire_event>) -> *const c_char {
    let address = event.and_then(|event| event.local_address.as_ref());
    address.map_or(std::ptr::null(), |address| address.as_ptr())
}

/// The number of the descriptor of the connection or of what listens, as `sealwire_peer_descriptor`; -1 where there is
/// none. It is closed where the event tells of an end.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_descriptor(event: Option<&sealwire_event>) -> i32 {
    event
        .and_then(|event| event.event.descriptor())
        .unwrap_or(-1)
}

/// Whether it was the peer that ended a connection as it should (`SEALWIRE_EVENT_DISCONNECTED`), and not this side. False
/// for other events and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_is_by_peer(event: Option<&sealwire_event>) -> bool {
    event.is_some_and(|event| matches!(event.event, Event::Disconnected { by_peer: true, .. }))
}

/// The connection id, the same in all events of a connection and in `sealwire_peer_connection`; 0
/// where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_connection(event: Option<&sealwire_event>) -> u64 {
    event
        .and_then(|event| event.event.connection())
        .unwrap_or(0)
}

/// The peer, of `SEALWIRE_EVENT_READY`, `SEALWIRE_EVENT_SUBSCRIBED`, `SEALWIRE_EVENT_DISCONNECTED`, those of drops, and of
/// `SEALWIRE_EVENT_FAILED` where it had been ready; else NULL. Belongs to the event.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_peer(event: Option<&sealwire_event>) -> *const sealwire_peer {
    value(std::ptr::null(), || {
        event.map_or(std::ptr::null(), |event| {
            event
                .peer
                .get(|| event.event.peer().cloned().map(PeerSource::Peer))
        })
    })
}

/// Frees an event. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_event_free(event: Option<Box<sealwire_event>>) {
    free(event);
}

#[cfg(test)]
mod tests {
    use sealwire::FailureCause;

    use super::*;

    #[test]
    fn each_cause_has_its_number_and_there_are_no_others() {
        let mut numbers: Vec<_> = FailureCause::NAMES.map(|name| by_name(name).1).into();
        numbers.sort_unstable();
        let expected: Vec<_> = (SEALWIRE_CAUSE_RESOLVE..=SEALWIRE_CAUSE_KEY_WITHDRAWN).collect();
        assert_eq!(numbers, expected);
        assert_eq!(CAUSES.len(), FailureCause::NAMES.len());
        assert_eq!(by_name("unheard-of"), (c"other", SEALWIRE_CAUSE_OTHER));
    }
}
