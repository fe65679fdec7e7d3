//! The end of a socket: no more operations, then nothing left to be sent.

use super::{Phase, SocketCore, State};
use crate::error::Error;
use crate::message::Message;
use crate::monitor::{Counters, add};

impl SocketCore {
    /// Ends all operations; queued messages may still go out. `false` when that was done before.
    pub(crate) fn begin_close(&self) -> bool {
        let (begun, ended) = self.with(|state| {
            let begun = state.phase == Phase::Open;
            if begun {
                state.phase = Phase::Closing;
            }
            (begun, state.end_if_done())
        });
        if ended {
            self.announce_end();
        }
        self.notify_readable(usize::MAX);
        self.notify_writable();
        begun
    }

    /// The thread that does its I/O has ended by a fault: whatever ends now ends for that.
    pub(crate) fn note_failure(&self) {
        self.lock().failed = true;
    }

    /// Ends the socket at once for that.
    pub(crate) fn fail(&self) {
        self.with(|state| {
            state.failed = true;
            state.phase = Phase::Ended;
            state.discard_unread();
        });
        self.announce_end();
        self.notify_readable(usize::MAX);
        self.notify_writable();
    }

    /// Why nothing can be done any more, where that is so.
    pub(crate) fn closed(&self) -> Option<Error> {
        let state = self.lock();
        (state.phase != Phase::Open).then(|| state.closed())
    }

    /// The thread of the context has ended by a fault.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failed
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.lock().phase != Phase::Open
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().phase == Phase::Ended
    }

    pub(crate) fn unsent(&self) -> usize {
        self.lock().unsent
    }

    /// The numbers as of now.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.counters.snapshot();
        let state = self.lock();
        counters.replaced = state.pipes.replaced();
        counters.dropped_unread += state.unread as u64;
        counters
    }

    /// Messages for which no peer has been found yet.
    pub(crate) fn backlog(&self) -> usize {
        self.lock().pattern.backlog()
    }

    /// Gives up on the backlog: the linger time is over.
    pub(crate) fn abandon_backlog(&self) {
        let dropped = self.with(|state| {
            let dropped = state.drop_backlog();
            state.unsent += dropped;
            dropped
        });
        add(&self.counters.dropped_unsent, dropped);
    }

    pub(super) fn announce_end(&self) {
        self.hub.end();
        self.ended.notify(usize::MAX);
    }
}

impl State {
    /// A closing socket has ended once nothing works for it any more.
    pub(super) fn end_if_done(&mut self) -> bool {
        let done = self.phase == Phase::Closing && self.attachments == 0;
        if done {
            self.unsent += self.drop_backlog() + self.pipes.outbound_messages();
            self.discard_unread();
            self.phase = Phase::Ended;
        }
        done
    }

    /// Discards what was received and nobody will read.
    fn discard_unread(&mut self) {
        let returned = std::mem::take(&mut self.returned);
        self.unread += returned.len() + self.pipes.discard_unread();
        let returned = returned.into_iter().map(Message::into_frames);
        self.pipes.discard_all(returned.collect());
    }

    /// Gives up on the backlog, and says how many messages that were.
    pub(super) fn drop_backlog(&mut self) -> usize {
        let backlog = self.pattern.take_backlog();
        let dropped = backlog.len();
        self.pipes.discard_all(backlog);
        dropped
    }
}
