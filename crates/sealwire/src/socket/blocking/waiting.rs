//! Waiting for messages and for a signal, up to a time limit.

use std::time::Duration;

use event_listener::{Listener as _, listener};

use super::Socket;
use crate::core::Waited;
use crate::error::{Error, Operation};
use crate::guard;
use crate::message::Message;
use crate::options::from_now;

impl Socket {
    pub(super) fn recv_within(&self, limit: Option<Duration>) -> Result<Message, Error> {
        let core = self.inner.core()?;
        self.wait_readable(limit, || core.try_receive())
    }

    /// Waits like others do, also when there is something that `attempt` does not take now.
    pub(super) fn wait_for_signal<T>(
        &self,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let core = self.inner.core()?;
        loop {
            core.end_direct_reading();
            listener!(core.readable.signal.threads => listener);
            if let Some(done) = attempt()? {
                return Ok(done);
            }
            if guard::must_not_wait() {
                return Err(Error::WouldBlock);
            }
            listener.wait();
        }
    }

    pub(super) fn wait_readable<T>(
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
        let core = self.inner.core()?;
        let mut reading = core.read_directly();
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
        if self.looks(&core.looks_for_messages)
            && let Some(done) = self.look(&core.looks_for_messages, &mut attempt)?
        {
            return Ok(done);
        }
        loop {
            // On the stack: a thread that waits often allocates nothing for it.
            listener!(core.readable.signal.threads => listener);
            if let Some(done) = attempt()? {
                return Ok(done);
            }
            let woken = self.sleep(&core.looks_for_messages, || match deadline {
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

    pub(super) fn timed_out(&self, operation: Operation, limit: Duration) -> Error {
        let last_failure = self.inner.handle.core.hub.last_failure().map(Box::new);
        Error::TimedOut {
            operation,
            limit,
            last_failure,
        }
    }
}
