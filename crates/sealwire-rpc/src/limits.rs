//! What bounds a peer: sizes, counts and times, of clients and servers alike. What an application can
//! choose is in [`Limits`]; the rest is here as constants, each named where it holds.

use std::time::Duration;

use sealwire::options::MAX_TIMEOUT;

/// What one side lets the other have, and how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Calls that the other side may have open at once on one connection. It is told, and its callers wait.
    /// Default 4,096, at most 1,048,576.
    pub max_calls: u32,
    /// One-way messages that may be under way on one connection before some of them have been handled.
    /// Default 1,024.
    pub one_way_window: u32,
    /// The same for the items of each stream. Default 64.
    pub stream_window: u32,
    /// Bytes of a body, from either side. Default 4 MiB.
    pub max_body: u32,
    /// Bytes of the requests of all calls that the other side may have open on one connection, each
    /// counted with 64 bytes more. It is told, and its callers wait; what comes all the same ends
    /// the connection. A single request may always be open. Default 64 MiB.
    pub request_budget: u32,
    /// Bytes of one-way messages and stream items that may be under way on one connection before some of them
    /// have been handled, each counted with 64 bytes more. It is told, and senders wait. Streams share it:
    /// one whose items nobody reads takes of it what it holds. A single message may always be under way.
    /// Default 64 MiB.
    pub message_budget: u32,
    /// Bytes of answers and stream items that wait here for one connection's peer to read them,
    /// each counted with 64 bytes more, beside those in the socket (8 MiB). When they are as many,
    /// no more requests of that peer are given to the handler until it has read; when it reads
    /// nothing for the time of `write`, the connection is ended. What handlers answer that run
    /// already comes on top, at most 64 times `max_body`; then their callers get
    /// [`RESOURCE_EXHAUSTED`](crate::Code::RESOURCE_EXHAUSTED). Default 8 MiB.
    pub answer_budget: u32,
    /// Time for an answer, unless the call says otherwise; `None` for no limit. Default 30 s.
    pub request: Option<Duration>,
    /// How long a caller waits for room, and how long a peer for which answers wait may read
    /// nothing. Default 3 s.
    pub write: Duration,
    /// A connection on which nothing was heard for this time is given up, though it was asked for a sign of
    /// life. Default 15 s.
    pub read: Duration,
    /// How long what is queued may take to leave when a side closes. Default 3 s.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_calls: 4_096,
            one_way_window: 1_024,
            stream_window: 64,
            max_body: 4 << 20,
            request_budget: 64 << 20,
            message_budget: 64 << 20,
            answer_budget: 8 << 20,
            request: Some(Duration::from_secs(30)),
            write: Duration::from_secs(3),
            read: Duration::from_secs(15),
            linger: Duration::from_secs(3),
        }
    }
}

/// Returns `limit`, or [`MAX_TIMEOUT`] if that is shorter.
pub(crate) fn bounded(limit: Duration) -> Duration {
    limit.min(MAX_TIMEOUT)
}

/// Bytes that an application may put behind SETTINGS, and that a greeter may answer.
pub(crate) const MAX_HELLO: usize = 64 << 10;
/// Bytes that a message costs of a budget beside its body, so that empty ones count too.
pub(crate) const MESSAGE_COST: usize = 64;

/// Bytes of the entries of metadata, as they go over the wire.
pub(crate) const MAX_METADATA: usize = 8 << 10;
/// Entries of metadata.
pub(crate) const MAX_METADATA_ENTRIES: usize = 64;
/// Bytes that metadata may add to a body: its size, and itself.
pub(crate) const METADATA_MARGIN: usize = 2 + MAX_METADATA;
// The largest message that the socket takes is an error.
const _: () = assert!(METADATA_MARGIN <= ERROR_MARGIN);

// Calls.

/// Calls of a connection at a time, whatever the peer allows.
pub(crate) const MAX_CALLS: u32 = 1 << 20;
/// Calls that were given up and that the peer has not answered, before the connection is.
pub(crate) const MAX_GIVEN_UP: usize = 1 << 16;
/// Names of requests that are gone, beside as many as there are requests.
pub(crate) const MAX_GONE: usize = 16;
/// Answers of the largest size, beside the budget, of requests whose handlers run when it is
/// used up: as many calls as a client has on a connection unless told otherwise.
pub(crate) const ANSWERS_UNDER_WAY: usize = 64;
/// What the protocol sends by itself for each call that a peer may have open, in bytes of cost.
pub(crate) const CONTROL_PER_CALL: usize = 512;
/// Requests of one peer that have waited and go to the handler in one go.
pub(crate) const RESUMED_AT_A_TIME: usize = 64;
/// Bytes that a peer has to read within the write limit while too many wait for it.
pub(crate) const LEAST_READ: u64 = 64 << 10;

// Queues.

/// Bytes of a connection that may wait for the socket before callers have to wait.
pub(crate) const OUTBOX_BYTES: usize = 1 << 20;
/// The same in messages.
pub(crate) const OUTBOX_MESSAGES: usize = 4_096;
/// Messages in each queue of a socket's connection.
pub(crate) const QUEUE_MESSAGES: usize = 8_192;
/// Bytes in each queue of a socket's connection.
pub(crate) const QUEUE_BYTES: usize = 8 << 20;
/// Bytes that an error's message and fixed part may add to a body.
pub(crate) const ERROR_MARGIN: usize = (64 << 10) + 4;

// Connections before they are let in.

/// Connections that a server serves, unless told otherwise.
pub(crate) const MAX_CONNECTIONS: usize = 1_024;
/// Time for a handshake and then, of a server, for the greeting, unless told otherwise. Both take a
/// round trip or two, so this is enough for the slowest network that calls are of use over.
pub(crate) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);
/// Time of a client for an attempt to connect, unless told otherwise.
pub(crate) const DIAL_LIMIT: Duration = Duration::from_secs(3);
/// Time that a client's attempt may take beside those for connecting and for the handshake: for SETTINGS
/// to come back, and for threads to run.
const DIAL_MARGIN: Duration = Duration::from_secs(1);
/// Time for which a connection waits for its place, unless told otherwise: shorter than a
/// client's attempt, which so hears why it failed.
pub(crate) const CONNECTION_WAIT: Duration = Duration::from_secs(3);
/// A server may have a quarter as many connections without a greeting as it serves. An honest client greets
/// at once, so few are in that state.
const SILENT_PART: usize = 4;
/// Those are at least as many, so that a small server admits clients that come together.
const LEAST_SILENT: usize = 16;
/// And at most as many, however large the server: what they hold is held for nobody yet.
const MOST_SILENT: usize = 256;
/// Connections that wait for a place beside as many as are served, so that all clients of a server that was
/// restarted can come back together, and a few more.
const SPARE_WAITING: usize = 64;
/// Connections that wait for a place, however many are served: as many as there are unless told otherwise.
const MAX_WAITING: usize = MAX_CONNECTIONS + SPARE_WAITING;
/// Bytes of greetings that wait.
pub(crate) const WAITING_BYTES: usize = 64 * MAX_HELLO;

/// Returns the time that a client's attempt to connect may take in all.
pub(crate) fn attempt_limit(dial_limit: Duration, handshake_limit: Duration) -> Duration {
    bounded(dial_limit) + bounded(handshake_limit) + DIAL_MARGIN
}

/// How many connections there may be before they are let in, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DoorLimits {
    /// Connections that have not sent SETTINGS; the oldest gives way.
    pub(crate) silent: usize,
    pub(crate) silent_time: Duration,
    /// Connections that wait for a place.
    pub(crate) waiting: usize,
}

impl DoorLimits {
    /// Those of a server.
    pub(crate) fn of_server(max_connections: usize, handshake_limit: Duration) -> Self {
        DoorLimits {
            silent: (max_connections / SILENT_PART).clamp(LEAST_SILENT, MOST_SILENT),
            silent_time: bounded(handshake_limit),
            waiting: max_connections
                .saturating_add(SPARE_WAITING)
                .min(MAX_WAITING),
        }
    }

    /// Those of a client: each connection was dialed by this side, one at a time.
    pub(crate) fn of_client(attempt: Duration) -> Self {
        DoorLimits {
            silent: usize::MAX,
            silent_time: attempt,
            waiting: 0,
        }
    }

    /// Connections of the socket of a server that serves this many: those that wait for a place, or have
    /// said nothing yet, are connected as well.
    pub(crate) fn connections(&self, served: usize) -> usize {
        served
            .saturating_add(self.waiting)
            .saturating_add(self.silent)
    }
}

/// Of acknowledged work.
pub(crate) mod work {
    use std::time::Duration;

    /// Tasks that a worker takes before it has ended some of them, unless told otherwise.
    pub(crate) const CREDIT: u32 = 64;
    /// Tasks at most, whatever the worker says.
    pub(crate) const MAX_CREDIT: u32 = 1 << 16;
    /// Bytes of those tasks, unless told otherwise.
    pub(crate) const CREDIT_BYTES: u32 = 16 << 20;
    /// Bytes that a task counts beside its body, so that empty ones count too.
    pub(crate) const TASK_COST: usize = 128;
    /// Bytes of a task, unless told otherwise.
    pub(crate) const MAX_TASK: u32 = 4 << 20;
    /// Bytes of a result or reason, unless told otherwise.
    pub(crate) const MAX_RESULT: u32 = 4 << 10;
    /// Bytes of a reason that are kept with a task.
    pub(crate) const MAX_REASON: usize = 1 << 10;
    /// Tasks of a distributor, unless told otherwise.
    pub(crate) const MAX_TASKS: usize = 1 << 16;
    /// Bytes of them, unless told otherwise.
    pub(crate) const MAX_BYTES: usize = 256 << 20;
    /// Attempts, unless told otherwise.
    pub(crate) const MAX_ATTEMPTS: u32 = 5;
    /// Time between an attempt that failed and the next, unless told otherwise.
    pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);
    /// Time without a sign of life after which a connection is given up, unless told otherwise.
    pub(crate) const SILENCE_LIMIT: Duration = Duration::from_secs(15);
    /// Time of a worker for its greeting, which it sends with the end of the handshake.
    pub(crate) const GREETING_LIMIT: Duration = Duration::from_secs(5);
    /// Time for which tasks and outcomes are held back after others were sent, so that they go together.
    pub(crate) const ROUND: Duration = Duration::from_micros(500);
    /// Tasks that are enough for a message before that.
    pub(crate) const ENOUGH_TASKS: usize = 32;
    /// The part of a worker's credit whose outcomes are enough for a message before that: half of it. Then one half is
    /// worked on while the other is on its way.
    pub(crate) const ENOUGH_OUTCOMES: usize = 2;
    /// Bytes of a message of several tasks or outcomes. One that is larger goes alone.
    pub(crate) const BATCH_BYTES: usize = 64 << 10;
    /// Bytes of a message beside one body.
    pub(crate) const MESSAGE_MARGIN: usize = 64;
}

/// Of Go's wire, unless a program chooses.
#[cfg(feature = "monte-compat")]
pub(crate) mod monte {
    use std::time::Duration;

    /// Connections at a time of one server whose handshake is done.
    pub(crate) const MAX_CONNECTIONS: usize = 1_024;
    /// Concurrent handshakes; one address has a quarter of them at most.
    pub(crate) const MAX_HANDSHAKES: usize = 256;
    /// Calls at a time on one connection.
    pub(crate) const MAX_CALLS: usize = 65_536;
    /// Time for each address to accept a connection.
    pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(3);
    /// Time for a peer to send its key.
    pub(crate) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);
    /// Time for TCP to take what is written.
    pub(crate) const WRITE_LIMIT: Duration = Duration::from_secs(3);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that the documentation of `ServerBuilder` and ARCHITECTURE.md give.
    #[test]
    fn the_door_of_a_server_grows_with_it_within_bounds() {
        for (served, silent, waiting) in [
            (1, 16, 65),
            (64, 16, 128),
            (100, 25, 164),
            (1_024, 256, 1_088),
            (100_000, 256, 1_088),
            (usize::MAX, 256, 1_088),
        ] {
            let door = DoorLimits::of_server(served, Duration::MAX);
            assert_eq!((door.silent, door.waiting), (silent, waiting), "{served}");
            assert_eq!(door.silent_time, MAX_TIMEOUT);
            let all = served.saturating_add(silent + waiting);
            assert_eq!(door.connections(served), all, "{served}");
        }
    }

    #[test]
    fn a_client_waits_for_the_greeting_as_long_as_one_attempt_may_take() {
        let attempt = attempt_limit(Duration::from_secs(5), Duration::from_secs(7));
        let door = DoorLimits::of_client(attempt);
        assert_eq!(door.silent_time, Duration::from_secs(13));
        assert_eq!((door.silent, door.waiting), (usize::MAX, 0));
        // Limits without end have a sum.
        assert!(attempt_limit(Duration::MAX, Duration::MAX) > MAX_TIMEOUT);
    }
}
