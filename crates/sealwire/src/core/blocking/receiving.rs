//! Receiving with a wait for messages, up to a time limit.

use std::time::Duration;

use crate::core::SocketCore;
#[cfg(unix)]
use crate::core::readable::direct::Waited;
use crate::error::{Error, Operation};
use crate::message::Message;
use crate::waiting::{Unfinished, Until};

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
        let until = Until::default();
        let done = (self.readable.signal).wait(None, until, |_| attempt())?;
        done.map_err(|_| Error::WouldBlock)
    }

    /// Attempts it at once and then whenever there may be something to receive, until it is done.
    pub(crate) fn wait_readable<T>(
        &self,
        limit: Option<Duration>,
        attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let done = self.wait_readable_until(|| self.until(limit), attempt)?;
        done.map_err(|why| self.unfinished(why, Operation::Receive, limit))
    }

    /// The same, for up to `until`, which is asked for only if it has to wait. The inner error says why it
    /// was not done.
    pub(crate) fn wait_readable_until<'a, T>(
        &self,
        until: impl FnOnce() -> Until<'a>,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Result<T, Unfinished>, Error> {
        if let Some(done) = attempt()? {
            return Ok(Ok(done));
        }
        let until = until();
        if let Some(done) = self.wait_directly(until, &mut attempt)? {
            return Ok(done);
        }
        let spinning = self.if_in_process(&self.receive_spinning);
        (self.readable.signal).wait(spinning, until, |_| attempt())
    }

    /// Reads from the only peer, as long as that can be. `None` when it was not done by then.
    #[cfg(unix)]
    fn wait_directly<T>(
        &self,
        until: Until<'_>,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<Result<T, Unfinished>>, Error> {
        let Some(mut reading) = self.read_directly() else {
            return Ok(None);
        };
        loop {
            reading.park();
            if let Some(done) = attempt()? {
                return Ok(Some(Ok(done)));
            }
            match reading.wait(until) {
                Waited::Retry => {}
                Waited::TimedOut | Waited::Over => return Ok(None),
                Waited::Interrupted => return Ok(Some(Err(Unfinished::Interrupted))),
            }
        }
    }

    /// Where there is nothing to poll nobody reads directly.
    #[cfg(not(unix))]
    fn wait_directly<T>(
        &self,
        _: Until<'_>,
        _: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<Result<T, Unfinished>>, Error> {
        Ok(None)
    }
}
