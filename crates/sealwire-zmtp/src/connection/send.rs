//! From messages, subscriptions and heartbeats to staged frames.

use core::time::Duration;

use bytes::Bytes;
use thiserror::Error as ThisError;

use super::{Connection, Phase};
use crate::error::Error;
use crate::limits::{LARGE_FRAME, PONG_BACKLOG};
use crate::message::Frames;
use crate::socket_type::SocketType;
use crate::wire::command::subscription::Change;
use crate::wire::command::{self, error, heartbeat, missed};
use crate::wire::frame::{COMMAND, Header, MORE};

/// Why a message was not staged. Every variant gives the message back.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum SendError {
    /// The handshake is not done, or the connection is over.
    #[error("the connection takes no messages: its handshake is not done, or it has ended")]
    NotReady(Frames),
    /// The message has no frame; an empty message is one with an empty frame.
    #[error("the message has no frame: an empty message is one empty frame")]
    NoFrame(Frames),
    /// This direction has used all its nonces.
    #[error("2^64 - 1 frames were sealed under one key; open a new connection")]
    CounterExhausted(Frames),
}

impl SendError {
    /// The message that was not staged.
    pub fn into_message(self) -> Frames {
        match self {
            Self::NotReady(message) | Self::NoFrame(message) | Self::CounterExhausted(message) => {
                message
            }
        }
    }
}

impl Connection {
    /// Stages a message; [`transmit`](Self::transmit) seals and gives it out. Memory grows with
    /// every call until what is pending is taken, so look at [`pending_bytes`](Self::pending_bytes).
    ///
    /// # Errors
    ///
    /// The message comes back in it, and nothing was staged.
    ///
    /// * [`SendError::NotReady`] if the handshake is not done or the connection is over.
    /// * [`SendError::NoFrame`] if the message has no frame.
    /// * [`SendError::CounterExhausted`] if this direction has used all its nonces.
    pub fn send(&mut self, message: Frames) -> Result<(), SendError> {
        if !self.is_ready() {
            return Err(SendError::NotReady(message));
        }
        if message.is_empty() {
            return Err(SendError::NoFrame(message));
        }
        if !self.output.has_nonces_for(message.len()) {
            return Err(SendError::CounterExhausted(message));
        }
        // Staged from where it lies: for small messages moving it costs more than all the rest.
        if let [frame] = message.frames()
            && frame.len() < LARGE_FRAME
        {
            self.output.stage_slice(0, frame);
            return Ok(());
        }
        let mut frames = message.into_frames();
        while let Some(frame) = frames.next() {
            let flags = if frames.len() > 0 { MORE } else { 0 };
            self.output.stage_frame(flags, frame);
        }
        Ok(())
    }

    /// Stages messages that are frames already: what
    /// [`Frames::frame_into`](crate::Frames::frame_into) gave. Bytes of 8 KiB and more are not
    /// copied.
    ///
    /// # Errors
    ///
    /// Gives the bytes back unless the connection is ready and sends frames as they are, with NULL or
    /// PLAIN: frames that are to be sealed cannot be the same for any two peers.
    pub fn send_framed(&mut self, frames: Bytes) -> Result<(), Bytes> {
        if !self.is_ready() || self.output.overhead() > 0 {
            return Err(frames);
        }
        self.output.stage_framed(frames);
        Ok(())
    }

    /// Tells the peer that messages beginning with `topic` are wanted: by command from ZMTP 3.1 on,
    /// by message before. Where the local socket is DISH, joins the group `topic`. Without effect unless the connection is ready.
    pub fn subscribe(&mut self, topic: &[u8]) {
        self.change_subscription(Change::Subscribe, topic);
    }

    /// Gives one subscription to `topic` up. Without effect unless the connection is ready.
    pub fn cancel(&mut self, topic: &[u8]) {
        self.change_subscription(Change::Cancel, topic);
    }

    fn change_subscription(&mut self, change: Change, topic: &[u8]) {
        if self.config.socket_type == SocketType::Dish {
            self.stage(COMMAND, &command::body(change.group_command(), &[topic]));
        } else if self.peer().is_some_and(|peer| peer.zmtp_minor == 0) {
            self.stage(0, &[&[change.message_byte()], topic].concat());
        } else {
            self.stage(COMMAND, &command::body(change.command(), &[topic]));
        }
    }

    /// Tells the peer how many messages for it were dropped, if it asks for that. Without effect unless the
    /// connection is ready.
    pub fn tell_missed(&mut self, messages: u64) {
        if self.peer().is_some_and(|peer| peer.asks_for_missed) {
            self.stage(COMMAND, &missed::body(messages));
        }
    }

    /// Stages ERROR, sealed when the handshake is done and plain before.
    pub(super) fn stage_error(&mut self, reason: &str) {
        match &self.phase {
            Phase::Ready => self.stage(COMMAND, &error::body(reason)),
            Phase::Handshake(handshake) => {
                let frame = handshake.error_frame(reason);
                self.stage_handshake_error(&frame);
            }
            Phase::Greeting(_) | Phase::Over(_) => {}
        }
    }

    pub(super) fn stage_handshake_error(&mut self, frame: &[u8]) {
        self.output.stage_raw(frame);
        self.trace.sent("ERROR", frame.len());
    }

    /// Bytes that the answers to PINGs will take.
    #[inline]
    pub(super) fn owed_pongs_size(&self) -> usize {
        let sizes = self.liveness.owed_pongs().iter().map(|context| {
            let body = heartbeat::PONG_OVERHEAD + context.len() + self.output.overhead();
            Header::new(COMMAND, body).size() + body
        });
        sizes.sum()
    }

    /// Answers PINGs as long as the output has room.
    pub(super) fn stage_owed_pongs(&mut self) {
        while self.output.pending() <= PONG_BACKLOG
            && let Some(context) = self.liveness.take_owed_pong()
        {
            self.stage(COMMAND, &heartbeat::pong_body(&context));
        }
    }

    /// Deadlines and PING.
    pub(super) fn act_on_time(&mut self, now: Duration) -> Result<(), Error> {
        let taken = self.output.taken_in_all();
        self.liveness.check(now, self.phase.step(), taken)?;
        let pending = self.output.pending();
        if self.liveness.take_due_pong(now) && pending <= PONG_BACKLOG {
            self.stage(COMMAND, &heartbeat::pong_body(&[]));
        }
        if let Some((ttl, context)) = self.liveness.take_due_ping(now, taken, pending) {
            self.stage(COMMAND, &heartbeat::ping_body(ttl, &context));
            self.blocks.give_back();
            self.output.give_back();
        }
        Ok(())
    }

    fn stage(&mut self, flags: u8, payload: &[u8]) {
        if self.is_ready() && self.output.has_nonces_for(1) {
            self.output.stage_slice(flags, payload);
        }
    }
}
