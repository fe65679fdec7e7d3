//! Blocks threads until there is a message, or room for one, up to a time limit.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::SocketCore;
#[cfg(unix)]
use super::readable::direct::{Reading, Waited};
use crate::error::{Error, Operation, SendError};
use crate::guard;
use crate::message::Message;
use crate::options::from_now;
use crate::waiting::{Next, Spinning, Unfinished, Until};

/// Whether threads that block spin before they sleep: where the peer is a thread of this process, which takes
/// its next batch from a queue within microseconds: about what it takes for a queue of a hundred messages. Being
/// woken takes longer.
pub(super) struct InProcess {
    /// Whether there was such a peer.
    had_peers: AtomicBool,
    receiving: Spinning,
    /// For the answer to what was sent.
    answered: Spinning,
    sending: Spinning,
}

impl InProcess {
    pub(super) const fn new() -> Self {
        InProcess {
            had_peers: AtomicBool::new(false),
            receiving: Self::spinning(),
            // Twice what it takes to wake the thread that is to answer.
            answered: Self::spinning().reaching(Duration::from_micros(80)),
            sending: Self::spinning(),
        }
    }

    const fn spinning() -> Spinning {
        Spinning::tried_first(Duration::from_micros(8), Duration::from_micros(100))
    }

    /// A peer of this process has come.
    pub(super) fn note_peer(&self) {
        self.had_peers.store(true, Ordering::Relaxed);
    }

    fn receiving(&self, expects_answer: impl FnOnce() -> bool) -> Option<&Spinning> {
        self.had_peers().then(|| match expects_answer() {
            true => &self.answered,
            false => &self.receiving,
        })
    }

    fn sending(&self) -> Option<&Spinning> {
        self.had_peers().then_some(&self.sending)
    }

    fn had_peers(&self) -> bool {
        self.had_peers.load(Ordering::Relaxed)
    }
}

impl SocketCore {
    /// How long the calls of the socket's options wait.
    pub(crate) fn until(&self, limit: Option<Duration>) -> Until<'_> {
        Until {
            deadline: limit.map(from_now),
            interrupt: self.interrupt.as_ref(),
        }
    }

    /// The error where something was not done within the limit, or could not be waited for.
    pub(crate) fn unfinished(
        &self,
        why: Unfinished,
        operation: Operation,
        limit: Option<Duration>,
    ) -> Error {
        match why {
            #[cfg(unix)]
            Unfinished::Interrupted => Error::Interrupted,
            #[cfg(unix)]
            Unfinished::Refused(error) => Error::System(error),
            Unfinished::TimedOut if guard::must_not_wait() => Error::WouldBlock,
            Unfinished::TimedOut => Error::TimedOut {
                operation,
                limit: limit.unwrap_or_default(),
                presence: self.presence(),
                last_failure: self.hub.last_failure().map(Box::new),
            },
        }
    }

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
        let expects_answer = || self.lock().queues.expects_answer();
        let spinning = self.in_process.receiving(expects_answer);
        (self.readable.signal).wait(spinning, until, |_| attempt())
    }

    /// Reads from the only peer, as long as that can be. `None` when it was not done by then.
    #[cfg(unix)]
    fn wait_directly<T>(
        &self,
        until: Until<'_>,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<Option<Result<T, Unfinished>>, Error> {
        let Some(mut reading) = Reading::begin(self) else {
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

    /// Sends a message, waiting for room for up to the limit.
    pub(crate) fn send_within(
        &self,
        message: Message,
        limit: Option<Duration>,
    ) -> Result<(), SendError> {
        let mut frames = message.into_frames();
        let mut attempt = || self.send_if_room(&mut frames);
        if attempt()? {
            return Ok(());
        }
        let room = self.wait_for_room(limit, attempt)?;
        room.map_err(|why| {
            let error = self.unfinished(why, Operation::Send, limit);
            SendError::new(error, frames.into())
        })
    }

    /// Sends all these messages, waiting for up to the limit each time that there is no room.
    pub(crate) fn send_many_within(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Option<Duration>,
    ) -> Result<usize, Error> {
        let count = messages.len();
        loop {
            self.try_send_many(messages)?;
            if messages.is_empty() {
                return Ok(count);
            }
            let some_sent = || Ok::<_, Error>(self.try_send_many(messages)? > 0);
            self.wait_for_room(limit, some_sent)?
                .map_err(|why| self.unfinished(why, Operation::Send, limit))?;
        }
    }

    /// Attempts it whenever there may be room, until it is done. The inner error says why it was not.
    pub(crate) fn wait_for_room<E>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<bool, E>,
    ) -> Result<Result<(), Unfinished>, E> {
        if guard::must_not_wait() {
            return Ok(Err(Unfinished::TimedOut));
        }
        let spinning = self.in_process.sending();
        self.push_output();
        self.writable.wait(spinning, self.until(limit), |next| {
            if next == Next::Sleep {
                self.push_output();
            }
            Ok(attempt()?.then_some(()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::Socket;
    use crate::{Context, SocketType};

    #[test]
    fn nobody_spins_before_there_was_a_peer_in_this_process() {
        let in_process = InProcess::new();
        let receiving = |expects_answer| in_process.receiving(|| expects_answer);
        assert!(receiving(true).is_none() && in_process.sending().is_none());
        in_process.note_peer();
        assert!(receiving(true).is_some() && in_process.sending().is_some());
        assert!(!std::ptr::eq(
            receiving(true).unwrap(),
            receiving(false).unwrap()
        ));
    }

    #[test]
    fn an_answer_is_expected_once_after_something_was_sent() {
        let context = Context::new().unwrap();
        let socket = || Socket::builder(SocketType::Pair).context(&context);
        let [one, other] = [(); 2].map(|()| socket().build_blocking().unwrap());
        one.bind("inproc://answers").unwrap();
        other.connect("inproc://answers").unwrap();
        let expects = |socket: &Socket| {
            let socket = crate::Socket::from(socket.clone());
            socket.core().unwrap().lock().queues.expects_answer()
        };
        other.send("question").unwrap();
        one.recv().unwrap();
        assert!(!expects(&one));
        assert!(expects(&other) && !expects(&other));
    }
}
