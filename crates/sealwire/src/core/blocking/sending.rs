//! Sending with a wait for room, up to a time limit.

use std::collections::VecDeque;
use std::time::Duration;

use event_listener::{Listener as _, listener};

use crate::core::SocketCore;
use crate::error::{Error, Operation, SendError};
use crate::guard;
use crate::message::Message;
use crate::options::from_now;

impl SocketCore {
    /// Sends a message, waiting for room while the condition holds, which is looked at on each
    /// signal.
    pub(crate) fn send_while(
        &self,
        message: Message,
        condition: impl Fn() -> bool,
    ) -> Result<(), SendError> {
        let mut frames = message.into_frames();
        loop {
            // Listening comes before the attempt, or a signal could slip through.
            listener!(self.writable.threads => listener);
            if self.send_if_room(&mut frames)? {
                return Ok(());
            }
            if !condition() || guard::must_not_wait() {
                return Err(SendError::new(Error::WouldBlock, frames.into()));
            }
            listener.wait();
        }
    }

    /// Sends a message, waiting for room for up to the limit.
    pub(crate) fn send_within(
        &self,
        message: Message,
        limit: Option<Duration>,
    ) -> Result<(), SendError> {
        let mut frames = message.into_frames();
        let mut attempt = || self.send_if_room(&mut frames);
        if attempt()? || self.wait_for_room(limit, attempt)? {
            return Ok(());
        }
        Err(SendError::new(self.no_room(limit), frames.into()))
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
            if !self.wait_for_room(limit, some_sent)? {
                return Err(self.no_room(limit));
            }
        }
    }

    /// Why nothing was sent where there is no room.
    fn no_room(&self, limit: Option<Duration>) -> Error {
        if guard::must_not_wait() {
            return Error::WouldBlock;
        }
        self.timed_out(Operation::Send, limit.unwrap_or_default())
    }

    /// Attempts it at once and then whenever there may be room, until it is done; `false` when
    /// there was none within the limit, or the thread must not wait.
    fn wait_for_room<E>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<bool, E>,
    ) -> Result<bool, E> {
        if guard::must_not_wait() {
            return Ok(false);
        }
        let deadline = limit.map(from_now);
        if self.spins(&self.send_spinning) {
            self.push_output();
            let done = || Ok(attempt()?.then_some(()));
            if self.spin(&self.send_spinning, done)?.is_some() {
                return Ok(true);
            }
        }
        loop {
            // Listening comes before the attempt that decides, or a signal could slip through. On
            // the stack, as a thread that sends faster than others receive comes here often.
            listener!(self.writable.threads => room);
            self.push_output();
            if attempt()? {
                return Ok(true);
            }
            let woken = self.sleep(&self.send_spinning, || match deadline {
                None => {
                    room.wait();
                    true
                }
                Some(deadline) => room.wait_deadline(deadline).is_some(),
            });
            if !woken {
                return attempt();
            }
        }
    }
}
