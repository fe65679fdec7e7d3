//! The limits of a peer: how much it can make a socket hold or do, and for how long before others are
//! served. None is infinite.
//!
//! Limits that an option sets stand here with their default, and are also in [`options`](crate::options).
//! The protocol's limits on one connection are in [`sealwire_zmtp::limits`]; [`account`](crate::account)
//! says what is charged to whom. Constants that bound no peer stand beside their users.

use std::time::Duration;

/// Longest name of a group of RADIO and DISH, in bytes.
pub use sealwire_zmtp::limits::MAX_GROUP;

// Options.

/// Messages queued per peer in each direction before backpressure or dropping sets in; as in
/// libzmq.
pub const DEFAULT_HIGH_WATER_MARK: usize = 1_000;
/// Payload bytes queued per peer in each direction before the same happens (1 GiB). One message
/// always fits into an empty queue.
pub const DEFAULT_BYTE_BUDGET: usize = 1 << 30;
/// Largest message accepted from a peer, all frames together, in bytes.
pub const DEFAULT_MAX_MESSAGE_SIZE: usize = 64 << 20;
/// How long a handshake may take, from the first byte to the last.
pub const DEFAULT_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);
/// Connections of one listener that may be in their handshake at the same time, where the limit of
/// descriptors allows it. One more ends one of them, so that half-open connections cannot keep others
/// out.
pub const DEFAULT_MAX_HANDSHAKES: usize = 1_024;
/// Connections that one listener keeps at the same time, established ones included, where the limit
/// of descriptors allows it.
pub const DEFAULT_MAX_CONNECTIONS: usize = 65_536;
/// Established connections that one key may have even where a quarter of all is less.
pub const LEAST_CONNECTIONS_PER_KEY: usize = 64;

// Memory of peers, and reports about them.

/// Addresses without a connection that are remembered for their rate. The one that was used least
/// lately is forgotten first.
pub const MAX_IDLE_ADDRESSES: usize = 16_384;
/// Senders of datagrams that one socket remembers, so that not every datagram needs memory for its own.
pub const MAX_DATAGRAM_SENDERS: usize = 256;
/// Failed connections that a socket remembers with their causes; the oldest go first.
pub const RECENT_FAILURES: usize = 8;
/// Events a monitor holds for a reader that is slow; the oldest go first, and are counted.
pub const MONITOR_CAPACITY: usize = 4_096;
/// Time between two lines of the log about the same.
pub const LOG_PERIOD: Duration = Duration::from_secs(1);
/// I/O threads of one context.
pub const MAX_IO_THREADS: usize = 64;
/// Sockets of a process whose first failed handshake goes to standard error, where there is no log.
pub const MAX_SOCKETS_ON_STANDARD_ERROR: usize = 8;
/// Lines of a process on standard error, where there is no log, about lists of keys or passwords that cannot be read again.
pub const MAX_LISTS_ON_STANDARD_ERROR: usize = 8;
/// Questions to authenticators that can wait for one socket, with up to 4 KiB each. Anyone who knows a
/// server's public key can make it ask.
pub const MAX_WAITING_QUESTIONS: usize = 1_024;

// Subscriptions.

/// Bytes of topics one peer may hold, each topic counted with what the tables need for it.
pub const MAX_TOPIC_BYTES_PER_PEER: usize = 16 << 20;
/// Bytes of changes of subscriptions that may wait for one peer, counted as topics are.
pub const MAX_SUBSCRIPTION_CHANGES: usize = MAX_TOPIC_BYTES_PER_PEER;

// Memory of a connection.

/// Ranges of framed messages in one queue. Each keeps its block of memory, so a peer which takes one
/// message of many, and takes none for a while, keeps 2 MiB that way; further messages are queued by
/// themselves.
pub const MAX_FRAMED_RANGES: usize = 128;
/// Beginnings and ends of dropping, and numbers of missed messages, that wait to be told while a thread that tells
/// them is held up.
pub const MAX_DROP_EVENTS: usize = 1_024;
/// Longest frame that a buffer is made for before any of it is there, in bytes: a message of 1 MiB and what a frame has
/// beside it. If its end found no room, all of it would move.
pub const MAX_EXPECTED_FRAME: usize = (1 << 20) + (4 << 10);
/// The protocol is given more messages to send while it holds fewer bytes than this.
pub const WRITE_BUDGET: usize = 128 << 10;

// Time slices of the I/O thread.

/// Reads of one connection in a row before others are served.
pub const READS_PER_TIME_SLICE: usize = 8;
/// Writes of one connection in a row before others are served, each of up to
/// 64 KiB (256 KiB over a Unix socket; of a long payload over TCP 1 MiB, which counts as four). Twice as many as
/// reads: a write that nobody has to wait for costs less than what it takes to ask for the next event.
pub const WRITES_PER_TIME_SLICE: usize = 16;
/// Size from which on a thread that has read a part of a frame expects the rest soon, in bytes: it comes in pieces of 64
/// KiB, and each takes less time than to sleep and be woken.
pub const LONG_FRAME: usize = 128 << 10;
/// Connections that one listener accepts in a row before other sources are served.
pub const ACCEPTS_PER_TIME_SLICE: usize = 16;
/// Datagrams of one socket in a row before other sources are served.
pub const DATAGRAMS_PER_TIME_SLICE: usize = 64;

// WebSocket.

/// Longest head of a request or answer of the upgrade, in bytes.
pub const MAX_UPGRADE_HEAD: usize = 8 << 10;
/// Most fields in that head.
pub const MAX_UPGRADE_FIELDS: usize = 64;
/// Most pieces of a message: as many as a message of the protocol has frames.
pub const MAX_WEBSOCKET_PIECES: usize = 65_536;
/// Most bytes of a message in pieces before the peer is known.
pub const MAX_BYTES_OF_UNKNOWN_PEER: usize = 4 << 10;
/// No more is taken from the protocol while as many bytes wait for the transport, or more.
pub const MAX_WEBSOCKET_PENDING: usize = 128 << 10;

// Metrics.

/// Peers of each socket that have samples of their own. Snapshots have all.
pub const MAX_SAMPLED_PEERS: usize = 1_000;
