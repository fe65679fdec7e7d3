//! Waiting for messages and for a signal, up to a time limit.

use std::time::Duration;

use event_listener::{Listener as _, listener};

use crate::core::SocketCore;
use crate::core::readable::Waited;
use crate::error::{Error, Operation};
use crate::guard;
use crate::message::Message;
use crate::options::from_now;

impl SocketCore {
    /// Receives a message, for up to the limit.
    pub(crate) fn recv_within(&self, limit: Option<Duration>) -> Result<Message, Error> {
        self.wait_readable(limit, || self.try_receive())
    }

    /// Waits like others do, also when there is something that `attempt` does not take now.
    pub(crate) fn wait_for_signal<T>(
        &self,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        loop {
            self.end_direct_reading();
            listener!(self.readable.signal.threads => listener);
            if let Some(done) = attempt()? {
                return Ok(done);
            }
            if guard::must_not_wait() {
                return Err(Error::WouldBlock);
            }
            listener.wait();
        }
    }

    /// Attempts it at once and then whenever there may be something to receive, until it is done.
    pub(crate) fn wait_readable<T>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
        if guard::must_not_wait() {
            return Err(Error::WouldBlock);
        }
        let deadline = limit.map(from_now);
        let mut reading = self.read_directly();
        while let Some(direct) = &mut reading {
            direct.park();
            if let Some(done) = attempt()? {
                return Ok(done);
            }
            match (direct.wait(deadline), limit) {
                (Waited::TimedOut, Some(limit)) => {
                    return attempt()?.ok_or_else(|| self.timed_out(Operation::Receive, limit));
                }
                (Waited::Over, _) => reading = None,
                (Waited::Retry | Waited::TimedOut, _) => {}
            }
        }
        if self.spins(&self.receive_spinning)
            && let Some(done) = self.spin(&self.receive_spinning, &mut attempt)?
        {
            return Ok(done);
        }
        loop {
            // On the stack: a thread that waits often allocates nothing for it.
            listener!(self.readable.signal.threads => listener);
            if let Some(done) = attempt()? {
                return Ok(done);
            }
            let woken = self.sleep(&self.receive_spinning, || match deadline {
                Some(deadline) => listener.wait_deadline(deadline).is_some(),
                None => {
                    listener.wait();
                    true
                }
            });
            if !woken {
                let limit = limit.unwrap_or_default();
                return attempt()?.ok_or_else(|| self.timed_out(Operation::Receive, limit));
            }
        }
    }

    /// The error where something did not come within the limit.
    pub(crate) fn timed_out(&self, operation: Operation, limit: Duration) -> Error {
        let last_failure = self.hub.last_failure().map(Box::new);
        Error::TimedOut {
            operation,
            limit,
            last_failure,
        }
    }
}
