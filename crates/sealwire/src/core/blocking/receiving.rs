//! Receiving with a wait for messages, up to a time limit.

use std::time::{Duration, Instant};

use crate::core::SocketCore;
#[cfg(unix)]
use crate::core::readable::direct::Waited;
use crate::error::{Error, Operation};
use crate::message::Message;
use crate::options::from_now;

impl SocketCore {
    /// Receives a message, for up to the limit.
    pub(crate) fn recv_within(&self, limit: Option<Duration>) -> Result<Message, Error> {
        self.wait_readable(limit, || self.try_receive())
    }

    /// Attempts it on each signal until it is done. Others may wait meanwhile for what is there and is not
    /// taken now.
    pub(crate) fn wait_for_signal<T>(
        &self,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        self.end_direct_reading();
        let done = self.readable.signal.wait(None, None, |_| attempt())?;
        done.ok_or(Error::WouldBlock)
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
        let deadline = limit.map(from_now);
        let mut done = self.wait_directly(deadline, &mut attempt)?;
        if done.is_none() {
            let spinning = self.if_in_process(&self.receive_spinning);
            done = (self.readable.signal).wait(spinning, deadline, |_| attempt())?;
        }
        done.ok_or_else(|| self.timed_out(Operation::Receive, limit))
    }

    /// Reads from the only peer, as long as that can be. `None` when it was not done by then.
    #[cfg(unix)]
    fn wait_directly<T>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(mut reading) = self.read_directly() else {
            return Ok(None);
        };
        loop {
            reading.park();
            if let Some(done) = attempt()? {
                return Ok(Some(done));
            }
            match reading.wait(deadline) {
                Waited::Retry => {}
                Waited::TimedOut | Waited::Over => return Ok(None),
            }
        }
    }

    /// Where there is nothing to poll nobody reads directly.
    #[cfg(not(unix))]
    fn wait_directly<T>(
        &self,
        _: Option<Instant>,
        _: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        Ok(None)
    }
}
