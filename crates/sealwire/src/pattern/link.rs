//! The other end of a pipe, and the signals that it gets.

use std::fmt;
use std::sync::Arc;

use crate::account::Exceeded;
use crate::failure::FailureCause;
use crate::transport::Polled;

/// The other end of a pipe. Its methods are called without the socket's lock held.
pub(crate) trait Link: Send + Sync {
    /// The outbound queue went from idle to having something in it; `alone` when no other link
    /// has to be told.
    fn output_ready(&self, alone: bool);
    /// The outbound queue is full and a caller waits: moves what can be moved at once.
    fn push_output(&self) {}
    /// The inbound queue has room again after it had been full, or is empty again where the
    /// link keeps messages back.
    fn input_wanted(&self);
    /// Whether the link leaves messages with their sender while the receiver has others to read.
    /// It is told when the receiver has read those, and when the sender's queue fills up.
    fn keeps_output_back(&self) -> bool {
        false
    }
    /// The socket wants this peer gone, with this reason; what is queued for it is dropped.
    fn disconnect(&self, reason: Dismissal);
    /// The socket wants this peer gone once what is queued for it has been sent.
    fn finish(&self);
    /// How a caller that waits can read from the peer itself, if it can.
    fn direct_reader(self: Arc<Self>) -> Option<Arc<dyn DirectReader>> {
        None
    }
}

/// Why a socket wants a peer gone.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dismissal {
    Because(&'static str),
    /// It made this process hold too much.
    Exceeded(Exceeded),
}

impl Dismissal {
    pub(crate) fn cause(self) -> FailureCause {
        match self {
            Dismissal::Because(reason) => FailureCause::Rejected(reason),
            Dismissal::Exceeded(exceeded) => FailureCause::LimitExceeded(exceeded),
        }
    }
}

/// As the peer is told.
impl fmt::Display for Dismissal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dismissal::Because(reason) => f.write_str(reason),
            Dismissal::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

/// When more can be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum More {
    AtOnce,
    /// The rest of a long frame is on its way.
    Soon,
    Unknown,
}

/// What a waiting caller needs to read a peer's bytes itself, without a hand-over between threads.
pub(crate) trait DirectReader: Send + Sync {
    /// Leaves reading to the caller, who has begun its [`Lease`](crate::waiting::Lease), and gives what to
    /// poll. `None` when that cannot be.
    fn lease(&self) -> Option<Polled>;
    /// Reads once and delivers what came. Tells when more can be read; `None` when the peer is gone.
    fn read(&self) -> Option<More>;
    /// The same where nobody else acts on the connection.
    fn read_if_free(&self);
    /// Nobody reads any more: the engine shall look after the lease.
    fn watch_lease(&self);
    /// The engine shall read again from now on.
    fn end_lease(&self);
}
