//! The numbers of options, what they can be, and what they set.

use std::ops::RangeInclusive;
use std::time::Duration;

use sealwire::SocketBuilder;

use super::{reconnect_stop, time};

/// The most of anything that is counted.
const COUNT: i64 = i32::MAX as i64;

/// Messages that may be queued towards each peer; 0 for no limit. Default 1,000. libzmq's
/// `ZMQ_SNDHWM`.
pub const SEALWIRE_OPTION_SEND_HIGH_WATER_MARK: i32 = 1;
/// Messages that may be queued from each peer; 0 for no limit. Default 1,000. `ZMQ_RCVHWM`.
pub const SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK: i32 = 2;
/// Bytes that may be queued towards each peer; 0 for no limit. Default 1 GiB.
pub const SEALWIRE_OPTION_SEND_BYTE_BUDGET: i32 = 3;
/// Bytes that may be queued from each peer; 0 for no limit. Default 1 GiB.
pub const SEALWIRE_OPTION_RECEIVE_BYTE_BUDGET: i32 = 4;
/// How long a send waits that is called with a timeout of -1, in milliseconds; -1, the default, for
/// ever. `ZMQ_SNDTIMEO`.
pub const SEALWIRE_OPTION_SEND_TIMEOUT_MS: i32 = 5;
/// How long a receive waits that is called with a timeout of -1, in milliseconds; -1, the default,
/// for ever. `ZMQ_RCVTIMEO`.
pub const SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS: i32 = 6;
/// How long closing waits for what is not sent, in milliseconds; -1 for ever. Default 5,000.
/// `ZMQ_LINGER`.
pub const SEALWIRE_OPTION_LINGER_MS: i32 = 7;
/// How long a handshake may take, in milliseconds. Default 15,000. `ZMQ_HANDSHAKE_IVL`.
pub const SEALWIRE_OPTION_HANDSHAKE_TIMEOUT_MS: i32 = 8;
/// How long one attempt to connect may take, in milliseconds. Default: as a handshake.
/// `ZMQ_CONNECT_TIMEOUT`.
pub const SEALWIRE_OPTION_CONNECT_TIMEOUT_MS: i32 = 9;
/// Wait before connecting again, in milliseconds. Default 100. `ZMQ_RECONNECT_IVL`.
pub const SEALWIRE_OPTION_RECONNECT_INTERVAL_MS: i32 = 10;
/// What that wait grows to, in milliseconds. Default 10,000. `ZMQ_RECONNECT_IVL_MAX`.
pub const SEALWIRE_OPTION_RECONNECT_MAXIMUM_MS: i32 = 11;
/// After what an endpoint is not connected to again: the sum of 1 (connection refused), 2
/// (handshake failed), 4 (connection ended), 8 (not reachable otherwise). Default 0.
/// `ZMQ_RECONNECT_STOP`.
pub const SEALWIRE_OPTION_RECONNECT_STOP: i32 = 12;
/// Sends a PING after so long without traffic, in milliseconds, and gives a peer three times as long for an
/// answer. Default: none. `ZMQ_HEARTBEAT_IVL`.
pub const SEALWIRE_OPTION_HEARTBEAT_INTERVAL_MS: i32 = 13;
/// Ends a connection on which nothing came for this time after a PING, in milliseconds. Default: three
/// intervals. `ZMQ_HEARTBEAT_TIMEOUT`.
pub const SEALWIRE_OPTION_HEARTBEAT_TIMEOUT_MS: i32 = 14;
/// After how long without traffic the peer is asked to do the same, in milliseconds; 0 leaves that to the peer.
/// Default: as the timeout. `ZMQ_HEARTBEAT_TTL`.
pub const SEALWIRE_OPTION_HEARTBEAT_TTL_MS: i32 = 15;
/// Largest message that is accepted, in bytes. Default 64 MiB. `ZMQ_MAXMSGSIZE`.
pub const SEALWIRE_OPTION_MAX_MESSAGE_SIZE: i32 = 16;
/// Connections of one listener. Default 65,536, and never more than three quarters of the process's
/// soft limit of file descriptors.
pub const SEALWIRE_OPTION_MAX_CONNECTIONS: i32 = 17;
/// Connections of one listener from one address. Default: no limit of its own.
pub const SEALWIRE_OPTION_MAX_CONNECTIONS_PER_ADDRESS: i32 = 18;
/// Handshakes of one listener at a time. Default 1,024, and never more than a quarter of the
/// process's soft limit of file descriptors.
pub const SEALWIRE_OPTION_MAX_HANDSHAKES: i32 = 19;
/// Handshakes of one listener from one address; one more ends the oldest of them. Default: a quarter
/// of MAX_HANDSHAKES.
pub const SEALWIRE_OPTION_MAX_HANDSHAKES_PER_ADDRESS: i32 = 20;
/// Switch: sends only to peers whose handshake is done, instead of queueing. Default 0.
/// `ZMQ_IMMEDIATE`.
pub const SEALWIRE_OPTION_IMMEDIATE: i32 = 21;
/// Switch: queues hold the latest message only. Default 0. `ZMQ_CONFLATE`.
pub const SEALWIRE_OPTION_CONFLATE: i32 = 22;
/// Switch, REQ: numbers requests, and takes answers with the same number only. Default 0.
/// `ZMQ_REQ_CORRELATE`.
pub const SEALWIRE_OPTION_REQ_CORRELATE: i32 = 23;
/// Switch, REQ: may send again before the answer. Default 0. `ZMQ_REQ_RELAXED`.
pub const SEALWIRE_OPTION_REQ_RELAXED: i32 = 24;
/// Switch: sends an empty message to each new peer. Default 0. `ZMQ_PROBE_ROUTER`.
pub const SEALWIRE_OPTION_PROBE_ROUTER: i32 = 25;
/// Switch, ROUTER: sending to nobody is an error. Default 0. `ZMQ_ROUTER_MANDATORY`.
pub const SEALWIRE_OPTION_ROUTER_MANDATORY: i32 = 26;
/// Switch, ROUTER: a new peer may take over the routing id of another. Default 0.
/// `ZMQ_ROUTER_HANDOVER`.
pub const SEALWIRE_OPTION_ROUTER_HANDOVER: i32 = 27;
/// ROUTER: an empty message for each peer that comes (1), goes (2), or both (3). Default 0.
/// `ZMQ_ROUTER_NOTIFY`.
pub const SEALWIRE_OPTION_ROUTER_NOTIFY: i32 = 28;
/// Switch, STREAM: an empty message for each peer that comes or goes. Default 1.
/// `ZMQ_STREAM_NOTIFY`.
pub const SEALWIRE_OPTION_STREAM_NOTIFY: i32 = 29;
/// Switch, XPUB: every subscription is read. Default 0. `ZMQ_XPUB_VERBOSE`.
pub const SEALWIRE_OPTION_XPUB_VERBOSE: i32 = 30;
/// Switch, XPUB: every cancellation too. Default 0. `ZMQ_XPUB_VERBOSER`.
pub const SEALWIRE_OPTION_XPUB_VERBOSER: i32 = 31;
/// Switch, XPUB: subscriptions count only as the program grants them. Default 0. `ZMQ_XPUB_MANUAL`.
pub const SEALWIRE_OPTION_XPUB_MANUAL: i32 = 32;
/// Switch, PUB, XPUB and RADIO: waits for slow subscribers instead of dropping. Default 0.
/// `ZMQ_XPUB_NODROP`.
pub const SEALWIRE_OPTION_XPUB_NO_DROP: i32 = 33;
/// Switch, PUB, XPUB, SUB: topics say what is not wanted. Default 0. `ZMQ_INVERT_MATCHING`.
pub const SEALWIRE_OPTION_INVERT_MATCHING: i32 = 34;
/// Switch: uses IPv6 beside IPv4. Default 1. `ZMQ_IPV6`.
pub const SEALWIRE_OPTION_IPV6: i32 = 35;
/// TCP connections that the system holds before they are accepted. Default 4,096. `ZMQ_BACKLOG`.
pub const SEALWIRE_OPTION_BACKLOG: i32 = 36;
/// RADIO over `udp`: networks that multicast passes. Default 1. `ZMQ_MULTICAST_HOPS`.
pub const SEALWIRE_OPTION_MULTICAST_HOPS: i32 = 37;
/// Switch, RADIO over `udp`: members on this machine get multicast too. Default 1.
/// `ZMQ_MULTICAST_LOOP`.
pub const SEALWIRE_OPTION_MULTICAST_LOOP: i32 = 38;
/// The octet of that name in IP packets. Default: the system's. `ZMQ_TOS`.
pub const SEALWIRE_OPTION_TYPE_OF_SERVICE: i32 = 39;
/// The system's buffer for sending, in bytes. Default: the system's. `ZMQ_SNDBUF`.
pub const SEALWIRE_OPTION_SEND_BUFFER: i32 = 40;
/// The system's buffer for receiving, in bytes. Default: the system's. `ZMQ_RCVBUF`.
pub const SEALWIRE_OPTION_RECEIVE_BUFFER: i32 = 41;
/// Switch: TCP's own sign of life. Default: on, after 300 s, then every 30 s, 6 times.
/// `ZMQ_TCP_KEEPALIVE`.
pub const SEALWIRE_OPTION_TCP_KEEP_ALIVE: i32 = 42;
/// Silence before the first, in seconds; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_IDLE`.
pub const SEALWIRE_OPTION_TCP_KEEP_ALIVE_IDLE_S: i32 = 43;
/// Time between two, in seconds; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_INTVL`.
pub const SEALWIRE_OPTION_TCP_KEEP_ALIVE_INTERVAL_S: i32 = 44;
/// How many without an answer; with TCP_KEEP_ALIVE. `ZMQ_TCP_KEEPALIVE_CNT`.
pub const SEALWIRE_OPTION_TCP_KEEP_ALIVE_COUNT: i32 = 45;
/// How long sent data may go unacknowledged, in milliseconds; Linux. `ZMQ_TCP_MAXRT`.
pub const SEALWIRE_OPTION_TCP_MAX_RETRANSMIT_MS: i32 = 46;
/// How long a receive on a socket with one connection spins before it sleeps, in microseconds.
/// Default 0.
pub const SEALWIRE_OPTION_SPIN_US: i32 = 47;
/// How long a ZAP handler may take, in milliseconds. Default 5,000.
pub const SEALWIRE_OPTION_ZAP_TIMEOUT_MS: i32 = 48;
/// Permissions of the files of `ipc` endpoints that are bound, as of `chmod`, whatever the umask says:
/// who may write may connect. 0 to 511 (octal 777). Default 384 (octal 600).
pub const SEALWIRE_OPTION_IPC_MODE: i32 = 49;
/// Established connections of one key, or with PLAIN of one user, at a socket. Default: a quarter of
/// MAX_CONNECTIONS, at least 64.
pub const SEALWIRE_OPTION_MAX_CONNECTIONS_PER_KEY: i32 = 50;
/// Switch, ROUTER: a peer's routing id is the user id that the authenticator or ZAP handler gave to
/// its key; others are refused. Default 0.
pub const SEALWIRE_OPTION_ROUTING_ID_IS_USER_ID: i32 = 51;
/// Switch, SERVER and PEER: what is received has its payload alone; the routing id of the connection is
/// that of the message's peer. Default 0.
pub const SEALWIRE_OPTION_OMIT_ROUTING_ID: i32 = 52;
/// Switch, SERVER and PEER: a message without a frame, which no peer can send, when a connection begins
/// and when it has ended; its peer says which. Default 0.
pub const SEALWIRE_OPTION_CONNECTION_EVENTS: i32 = 53;
/// Switch: a call that waits ends with `SEALWIRE_ERROR_INTERRUPTED` when a signal handler has run on its
/// thread while it slept, whatever `SA_RESTART` says; nothing was sent or received then. Sending, receiving,
/// connect_peer, wait_connected, wait_subscribed, close, and the next event of monitors made from the socket; not `sealwire_socket_free`,
/// `sealwire_poll`, proxies and RPC. Default 0.
pub const SEALWIRE_OPTION_INTERRUPTIBLE: i32 = 54;
/// Switch: each endpoint that is connected to has a queue of its own at once, as with libzmq: messages go to all of them
/// in turn, and wait also where nobody is there yet. Default 0: messages wait in one queue for the first peer.
pub const SEALWIRE_OPTION_QUEUE_PER_ENDPOINT: i32 = 55;
/// The I/O threads of the context that may serve endpoints which are bound and connected to: a bit for each, the
/// lowest for the first; 0, the default, for any of them. `ZMQ_AFFINITY`.
pub const SEALWIRE_OPTION_IO_AFFINITY: i32 = 56;
/// Switch, XPUB: as `XPUB_MANUAL`, and the next message after a subscription was received goes to that subscriber
/// alone, if it was granted the topic. Default 0. `ZMQ_XPUB_MANUAL_LAST_VALUE`.
pub const SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE: i32 = 57;
/// Switch, XSUB: publishers get every cancellation, not the last of a topic alone. Default 0.
/// `ZMQ_XSUB_VERBOSE_UNSUBSCRIBE`.
pub const SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE: i32 = 58;
/// The priority of outgoing packets within this machine: 0 to 6, or more with a privilege; Linux. Default: the one that
/// follows from the type of service, or 0. `ZMQ_PRIORITY`.
pub const SEALWIRE_OPTION_PACKET_PRIORITY: i32 = 59;
/// How long the system polls the network device for packets before it sleeps, in microseconds; older kernels
/// want a privilege for more than the system's own; Linux. Default: the system's. `ZMQ_BUSY_POLL`.
pub const SEALWIRE_OPTION_BUSY_POLL_US: i32 = 60;
/// Switch: other sockets with it, also of other processes, may listen on the TCP ports that are bound to
/// (`SO_REUSEPORT`), on Linux those of the same user. A new process listens this way beside the one that it replaces. The
/// system gives each new connection to one of them. For `tcp`, `ws` and `wss`; elsewhere than on Unix binding fails.
/// Default 0.
pub const SEALWIRE_OPTION_REUSE_PORT: i32 = 61;
/// Bytes: what the socket calls itself: up to 255 bytes, not starting with a zero octet.
/// `ZMQ_ROUTING_ID`.
pub const SEALWIRE_OPTION_ROUTING_ID: i32 = 100;
/// Bytes: asks the ZAP handler of the context about peers, under this name; text. `ZMQ_ZAP_DOMAIN`.
pub const SEALWIRE_OPTION_ZAP_DOMAIN: i32 = 101;
/// Bytes: the network device to use, by name; Linux. `ZMQ_BINDTODEVICE`.
pub const SEALWIRE_OPTION_BIND_TO_DEVICE: i32 = 102;
/// Bytes: a message of one frame to each new peer. `ZMQ_HELLO_MSG`.
pub const SEALWIRE_OPTION_HELLO_MESSAGE: i32 = 103;
/// Bytes: a message of one frame to be received when a peer has gone. `ZMQ_DISCONNECT_MSG`.
pub const SEALWIRE_OPTION_DISCONNECT_MESSAGE: i32 = 104;
/// Bytes: a message of one frame to be received when a connection is made again. `ZMQ_HICCUP_MSG`.
pub const SEALWIRE_OPTION_HICCUP_MESSAGE: i32 = 105;
/// Bytes, XPUB, PUB: a message of one frame to each new subscriber. `ZMQ_XPUB_WELCOME_MSG`.
pub const SEALWIRE_OPTION_XPUB_WELCOME_MESSAGE: i32 = 106;

/// What a number can be; `None` where there is no such option.
pub(super) fn range(option: i32) -> Option<RangeInclusive<i64>> {
    Some(match option {
        SEALWIRE_OPTION_SEND_HIGH_WATER_MARK | SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK => 0..=COUNT,
        SEALWIRE_OPTION_SEND_BYTE_BUDGET | SEALWIRE_OPTION_RECEIVE_BYTE_BUDGET => 0..=i64::MAX,
        SEALWIRE_OPTION_SEND_TIMEOUT_MS
        | SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS
        | SEALWIRE_OPTION_LINGER_MS => -1..=i64::MAX,
        SEALWIRE_OPTION_HANDSHAKE_TIMEOUT_MS
        | SEALWIRE_OPTION_CONNECT_TIMEOUT_MS
        | SEALWIRE_OPTION_RECONNECT_INTERVAL_MS
        | SEALWIRE_OPTION_RECONNECT_MAXIMUM_MS
        | SEALWIRE_OPTION_HEARTBEAT_INTERVAL_MS
        | SEALWIRE_OPTION_HEARTBEAT_TIMEOUT_MS
        | SEALWIRE_OPTION_MAX_MESSAGE_SIZE
        | SEALWIRE_OPTION_TCP_MAX_RETRANSMIT_MS
        | SEALWIRE_OPTION_ZAP_TIMEOUT_MS => 1..=i64::MAX,
        SEALWIRE_OPTION_RECONNECT_STOP => 0..=15,
        SEALWIRE_OPTION_HEARTBEAT_TTL_MS => 0..=6553500,
        SEALWIRE_OPTION_MAX_CONNECTIONS
        | SEALWIRE_OPTION_MAX_CONNECTIONS_PER_ADDRESS
        | SEALWIRE_OPTION_MAX_CONNECTIONS_PER_KEY
        | SEALWIRE_OPTION_MAX_HANDSHAKES
        | SEALWIRE_OPTION_MAX_HANDSHAKES_PER_ADDRESS
        | SEALWIRE_OPTION_BACKLOG
        | SEALWIRE_OPTION_SEND_BUFFER
        | SEALWIRE_OPTION_RECEIVE_BUFFER
        | SEALWIRE_OPTION_TCP_KEEP_ALIVE_IDLE_S
        | SEALWIRE_OPTION_TCP_KEEP_ALIVE_INTERVAL_S
        | SEALWIRE_OPTION_TCP_KEEP_ALIVE_COUNT => 1..=COUNT,
        SEALWIRE_OPTION_IMMEDIATE
        | SEALWIRE_OPTION_CONFLATE
        | SEALWIRE_OPTION_REQ_CORRELATE
        | SEALWIRE_OPTION_REQ_RELAXED
        | SEALWIRE_OPTION_PROBE_ROUTER
        | SEALWIRE_OPTION_ROUTER_MANDATORY
        | SEALWIRE_OPTION_ROUTER_HANDOVER
        | SEALWIRE_OPTION_ROUTING_ID_IS_USER_ID
        | SEALWIRE_OPTION_OMIT_ROUTING_ID
        | SEALWIRE_OPTION_CONNECTION_EVENTS
        | SEALWIRE_OPTION_INTERRUPTIBLE
        | SEALWIRE_OPTION_STREAM_NOTIFY
        | SEALWIRE_OPTION_XPUB_VERBOSE
        | SEALWIRE_OPTION_XPUB_VERBOSER
        | SEALWIRE_OPTION_XPUB_MANUAL
        | SEALWIRE_OPTION_XPUB_NO_DROP
        | SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE
        | SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE
        | SEALWIRE_OPTION_INVERT_MATCHING
        | SEALWIRE_OPTION_IPV6
        | SEALWIRE_OPTION_REUSE_PORT
        | SEALWIRE_OPTION_MULTICAST_LOOP
        | SEALWIRE_OPTION_QUEUE_PER_ENDPOINT
        | SEALWIRE_OPTION_TCP_KEEP_ALIVE => 0..=1,
        SEALWIRE_OPTION_IO_AFFINITY => i64::MIN..=i64::MAX,
        SEALWIRE_OPTION_PACKET_PRIORITY | SEALWIRE_OPTION_BUSY_POLL_US => 0..=COUNT,
        SEALWIRE_OPTION_ROUTER_NOTIFY => 0..=3,
        SEALWIRE_OPTION_MULTICAST_HOPS => 1..=255,
        SEALWIRE_OPTION_TYPE_OF_SERVICE => 0..=255,
        SEALWIRE_OPTION_IPC_MODE => 0..=0o777,
        SEALWIRE_OPTION_SPIN_US => 0..=1000000,
        _ => return None,
    })
}

/// Sets a number that is in its range. Those that one method of the builder takes together are not here.
pub(super) fn set_number(builder: SocketBuilder, option: i32, value: i64) -> SocketBuilder {
    let on = value != 0;
    let count = usize::try_from(value).unwrap_or(usize::MAX);
    let octet = u8::try_from(value).unwrap_or(u8::MAX);
    match option {
        SEALWIRE_OPTION_SEND_HIGH_WATER_MARK => builder.send_high_water_mark(count),
        SEALWIRE_OPTION_RECEIVE_HIGH_WATER_MARK => builder.receive_high_water_mark(count),
        SEALWIRE_OPTION_SEND_BYTE_BUDGET => builder.send_byte_budget(count),
        SEALWIRE_OPTION_RECEIVE_BYTE_BUDGET => builder.receive_byte_budget(count),
        SEALWIRE_OPTION_SEND_TIMEOUT_MS => {
            unless_endless(builder, value, SocketBuilder::send_timeout)
        }
        SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS => {
            unless_endless(builder, value, SocketBuilder::receive_timeout)
        }
        SEALWIRE_OPTION_LINGER_MS => builder.linger(time(value)),
        SEALWIRE_OPTION_HANDSHAKE_TIMEOUT_MS => builder.handshake_timeout(time(value)),
        SEALWIRE_OPTION_CONNECT_TIMEOUT_MS => builder.connect_timeout(time(value)),
        SEALWIRE_OPTION_RECONNECT_STOP => builder.reconnect_stop(reconnect_stop(value)),
        SEALWIRE_OPTION_MAX_MESSAGE_SIZE => builder.max_message_size(count),
        SEALWIRE_OPTION_MAX_CONNECTIONS => builder.max_connections(count),
        SEALWIRE_OPTION_MAX_CONNECTIONS_PER_ADDRESS => builder.max_connections_per_address(count),
        SEALWIRE_OPTION_MAX_CONNECTIONS_PER_KEY => builder.max_connections_per_key(count),
        SEALWIRE_OPTION_MAX_HANDSHAKES => builder.max_handshakes(count),
        SEALWIRE_OPTION_MAX_HANDSHAKES_PER_ADDRESS => builder.max_handshakes_per_address(count),
        SEALWIRE_OPTION_IMMEDIATE => builder.immediate(on),
        SEALWIRE_OPTION_CONFLATE => builder.conflate(on),
        SEALWIRE_OPTION_REQ_CORRELATE => builder.req_correlate(on),
        SEALWIRE_OPTION_REQ_RELAXED => builder.req_relaxed(on),
        SEALWIRE_OPTION_PROBE_ROUTER => builder.probe_router(on),
        SEALWIRE_OPTION_ROUTER_MANDATORY => builder.router_mandatory(on),
        SEALWIRE_OPTION_ROUTER_HANDOVER => builder.router_handover(on),
        SEALWIRE_OPTION_ROUTING_ID_IS_USER_ID => builder.routing_id_is_user_id(on),
        SEALWIRE_OPTION_OMIT_ROUTING_ID => builder.omit_routing_id(on),
        SEALWIRE_OPTION_CONNECTION_EVENTS => builder.connection_events(on),
        SEALWIRE_OPTION_INTERRUPTIBLE => builder.interruptible(on),
        SEALWIRE_OPTION_QUEUE_PER_ENDPOINT => builder.queue_per_endpoint(on),
        SEALWIRE_OPTION_IO_AFFINITY => builder.io_affinity(value.cast_unsigned()),
        SEALWIRE_OPTION_ROUTER_NOTIFY => builder.router_notify(value & 1 != 0, value & 2 != 0),
        SEALWIRE_OPTION_STREAM_NOTIFY => builder.stream_notify(on),
        SEALWIRE_OPTION_XPUB_VERBOSE => builder.xpub_verbose(on),
        SEALWIRE_OPTION_XPUB_VERBOSER => builder.xpub_verboser(on),
        SEALWIRE_OPTION_XPUB_MANUAL => builder.xpub_manual(on),
        SEALWIRE_OPTION_XPUB_MANUAL_LAST_VALUE => builder.xpub_manual_last_value(on),
        SEALWIRE_OPTION_XSUB_VERBOSE_UNSUBSCRIBE => builder.xsub_verbose_unsubscribe(on),
        SEALWIRE_OPTION_XPUB_NO_DROP => builder.xpub_no_drop(on),
        SEALWIRE_OPTION_INVERT_MATCHING => builder.invert_matching(on),
        SEALWIRE_OPTION_IPV6 => builder.ipv6(on),
        SEALWIRE_OPTION_REUSE_PORT => builder.reuse_port(on),
        SEALWIRE_OPTION_BACKLOG => builder.backlog(value.try_into().unwrap_or(u32::MAX)),
        SEALWIRE_OPTION_IPC_MODE => builder.ipc_mode(value.try_into().unwrap_or(0)),
        SEALWIRE_OPTION_MULTICAST_HOPS => builder.multicast_hops(octet),
        SEALWIRE_OPTION_MULTICAST_LOOP => builder.multicast_loop(on),
        SEALWIRE_OPTION_TYPE_OF_SERVICE => builder.type_of_service(octet),
        SEALWIRE_OPTION_PACKET_PRIORITY => {
            builder.packet_priority(value.try_into().unwrap_or(u32::MAX))
        }
        SEALWIRE_OPTION_BUSY_POLL_US => {
            builder.busy_poll(Duration::from_micros(value.unsigned_abs()))
        }
        SEALWIRE_OPTION_SEND_BUFFER => builder.send_buffer(count),
        SEALWIRE_OPTION_RECEIVE_BUFFER => builder.receive_buffer(count),
        SEALWIRE_OPTION_TCP_MAX_RETRANSMIT_MS => builder.tcp_max_retransmit(time(value)),
        SEALWIRE_OPTION_SPIN_US => builder.spin(Duration::from_micros(value.unsigned_abs())),
        SEALWIRE_OPTION_ZAP_TIMEOUT_MS => builder.zap_timeout(time(value)),
        _ => builder,
    }
}

/// Sets a time limit; -1 is none.
fn unless_endless(
    builder: SocketBuilder,
    value: i64,
    set: impl FnOnce(SocketBuilder, Duration) -> SocketBuilder,
) -> SocketBuilder {
    if value < 0 {
        return builder;
    }
    set(builder, time(value))
}
