//! What a pipe has at its other end, and what it is told.

use std::fmt;
use std::mem;
use std::sync::Arc;

use super::discarding::Discarded;
use crate::account::Exceeded;
use crate::failure::FailureCause;
use crate::guard;
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

/// What a waiting caller needs to read a peer's bytes itself, without a hand-over between threads.
pub(crate) trait DirectReader: Send + Sync {
    /// Leaves reading to the caller, who has begun its [`Lease`](crate::waiting::Lease), and gives what to
    /// poll. `None` when that cannot be.
    fn lease(&self) -> Option<Polled>;
    /// Reads once and delivers what came. Tells whether more can be read at once; `None` when
    /// the peer is gone.
    fn read(&self) -> Option<bool>;
    /// The same where nobody else acts on the connection.
    fn read_if_free(&self);
    /// Nobody reads any more: the engine shall look after the lease.
    fn watch_lease(&self);
    /// The engine shall read again from now on.
    fn end_lease(&self);
}

/// What the core has to tell a link once the lock is released.
pub(super) enum Signal {
    OutputReady(Arc<dyn Link>),
    InputWanted(Arc<dyn Link>),
    Disconnect(Arc<dyn Link>, Dismissal),
    Finish(Arc<dyn Link>),
}

impl Signal {
    fn deliver(self, alone: bool) {
        match self {
            Signal::OutputReady(link) => link.output_ready(alone),
            Signal::InputWanted(link) => link.input_wanted(),
            Signal::Disconnect(link, reason) => link.disconnect(reason),
            Signal::Finish(link) => link.finish(),
        }
    }
}

/// Most entries of a list whose memory is kept.
const MOST_KEPT: usize = 1_024;

/// The work that is left once the lock is released: links are told, and discarded frames are dropped. A
/// single signal takes no memory; the rest takes some, which is kept.
#[derive(Default)]
pub(crate) struct Signals {
    first: Option<Signal>,
    others: Vec<Signal>,
    discarded: Vec<Discarded>,
    /// Messages that newer ones replaced, since the socket was made.
    pub(super) replaced: u64,
}

impl Signals {
    pub(super) fn push(&mut self, signal: Signal) {
        match self.first {
            None => self.first = Some(signal),
            Some(_) => self.others.push(signal),
        }
    }

    #[cold]
    pub(super) fn leave(&mut self, discarded: Discarded) {
        self.discarded.push(discarded);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.discarded.is_empty()
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Signals> {
        if self.is_empty() {
            return None;
        }
        let mut taken = Signals {
            first: self.first.take(),
            ..Signals::default()
        };
        if !self.others.is_empty() {
            mem::swap(&mut taken.others, &mut self.others);
        }
        if !self.discarded.is_empty() {
            mem::swap(&mut taken.discarded, &mut self.discarded);
        }
        Some(taken)
    }

    /// Returns the memory that was used, for [`reuse`](Self::reuse).
    pub(crate) fn deliver(mut self) -> Option<Signals> {
        let alone = self.others.is_empty();
        for signal in self.first.take().into_iter().chain(self.others.drain(..)) {
            signal.deliver(alone);
        }
        let dropped = !self.discarded.is_empty();
        // One by one: what panics must not keep the others from being dropped.
        for discarded in self.discarded.drain(..) {
            guard::contain("dropping messages", || discarded.drop());
        }
        (!alone || dropped).then_some(self)
    }

    /// Takes memory back, unless other signals have come and taken some themselves.
    pub(super) fn reuse(&mut self, delivered: Signals) {
        if self.others.capacity() == 0 {
            self.others = delivered.others;
        }
        if self.discarded.capacity() == 0 && delivered.discarded.capacity() <= MOST_KEPT {
            self.discarded = delivered.discarded;
        }
    }
}
