//! What a pipe has at its other end, and what it is told.

use std::sync::Arc;

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
    fn disconnect(&self, reason: &'static str);
    /// The socket wants this peer gone once what is queued for it has been sent.
    fn finish(&self);
    /// How a caller that waits can read from the peer itself, if it can.
    fn direct_reader(self: Arc<Self>) -> Option<Arc<dyn DirectReader>> {
        None
    }
}

/// What a waiting caller needs to read a peer's bytes itself, without a hand-over between threads.
pub(crate) trait DirectReader: Send + Sync {
    /// Begins to wait: until [`leave`](Self::leave) the engine leaves reading to the caller.
    /// `None` when that cannot be.
    fn enter(&self) -> Option<Polled>;
    /// Reads once and delivers what came. Tells whether more can be read at once; `None` when
    /// the peer is gone.
    fn read(&self) -> Option<bool>;
    /// Stops waiting.
    fn leave(&self);
    /// The engine shall read again from now on.
    fn end_lease(&self);
}

/// What the core has to tell a link once the lock is released.
pub(super) enum Signal {
    OutputReady(Arc<dyn Link>),
    InputWanted(Arc<dyn Link>),
    Disconnect(Arc<dyn Link>, &'static str),
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

/// Signals to be delivered; the usual single one takes no allocation.
#[derive(Default)]
pub(crate) struct Signals {
    first: Option<Signal>,
    others: Vec<Signal>,
}

impl Signals {
    pub(super) fn push(&mut self, signal: Signal) {
        match self.first {
            None => self.first = Some(signal),
            Some(_) => self.others.push(signal),
        }
    }

    pub(super) fn take(&mut self) -> Option<Signals> {
        self.first.is_some().then(|| std::mem::take(self))
    }

    pub(crate) fn deliver(self) {
        let alone = self.others.is_empty();
        for signal in self.first.into_iter().chain(self.others) {
            signal.deliver(alone);
        }
    }
}
