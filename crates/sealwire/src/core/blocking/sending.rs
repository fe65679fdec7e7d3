//! Sending with a wait for room, up to a time limit.

use std::collections::VecDeque;
use std::time::Duration;

use crate::core::SocketCore;
use crate::error::{Error, Operation, SendError};
use crate::guard;
use crate::message::Message;
use crate::waiting::{Next, Unfinished};

impl SocketCore {
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
    fn wait_for_room<E>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<bool, E>,
    ) -> Result<Result<(), Unfinished>, E> {
        if guard::must_not_wait() {
            return Ok(Err(Unfinished::TimedOut));
        }
        let spinning = self.if_in_process(&self.send_spinning);
        self.push_output();
        self.writable.wait(spinning, self.until(limit), |next| {
            if next == Next::Sleep {
                self.push_output();
            }
            Ok(attempt()?.then_some(()))
        })
    }
}
