//! Sending without waiting: one message, or as many as one lock may take.

use std::collections::VecDeque;
use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::{Phase, SocketCore, State};
use crate::error::{Error, MessageError, SendError};
use crate::message::Message;
use crate::monitor::add;
use crate::pattern::SendFailure;

/// Messages that are sent under one lock at most. Each further one would save less than the
/// connections, which need the lock to move the others on, may have to wait for it.
const BATCH: usize = 256;

/// Why a batch ended.
enum End {
    /// Nothing is left, or no more was to be sent.
    Taken,
    NoRoom,
    /// The first message of those left will not go.
    Failed(Box<Error>),
}

impl SocketCore {
    /// Sends a message, or leaves it as it was. Frames left of a message that was sent are of no more use.
    fn try_send(&self, frames: &mut Frames) -> Result<(), SendFailure> {
        if frames.is_empty() {
            return Err(Error::from(MessageError::Empty).into());
        }
        let dropped = self.with(|state| state.send(frames))?;
        add(&self.counters.dropped_at_send, dropped);
        Ok(())
    }

    /// The same; `false` when there is no room. An error has the message in it.
    pub(crate) fn send_if_room(&self, frames: &mut Frames) -> Result<bool, SendError> {
        match self.try_send(frames) {
            Ok(()) => Ok(true),
            Err(SendFailure::WouldBlock) => Ok(false),
            Err(SendFailure::Failed(error)) => {
                Err(SendError::new(*error, mem::take(frames).into()))
            }
        }
    }

    /// Sends messages from the front as long as there is room, and says how many. An error comes
    /// only when there is none before it.
    pub(crate) fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        let before = messages.len();
        while !messages.is_empty() {
            let (dropped, end) = self.with(|state| state.send_many(messages, BATCH));
            add(&self.counters.dropped_at_send, dropped);
            match end {
                End::Taken => {}
                End::Failed(error) if messages.len() == before => return Err(*error),
                End::NoRoom | End::Failed(_) => break,
            }
        }
        Ok(before - messages.len())
    }

    /// Queues payloads for one connection as long as it has room, under one lock.
    pub(crate) fn try_send_many_to(
        &self,
        routing_id: u32,
        payloads: &mut VecDeque<Frame>,
    ) -> Result<usize, Error> {
        self.with(|state| match state.phase {
            Phase::Open => state
                .pattern
                .send_many_to(&mut state.pipes, routing_id, payloads),
            _ => Err(state.closed()),
        })
    }

    /// Moves what is queued for peers without room, as far as that goes at once.
    pub(crate) fn push_output(&self) {
        let links = self.lock().pipes.full_links();
        for link in links.into_iter().flatten() {
            link.push_output();
        }
    }
}

impl State {
    fn send(&mut self, frames: &mut Frames) -> Result<usize, SendFailure> {
        if self.phase != Phase::Open {
            return Err(self.closed().into());
        }
        let State { pattern, pipes, .. } = self;
        if self.sends_unchanged && pipes.push_sole(frames) {
            return Ok(0);
        }
        pattern.send(pipes, frames)
    }

    /// Sends up to `limit` messages and says how many copies were dropped at full queues.
    fn send_many(&mut self, messages: &mut VecDeque<Message>, limit: usize) -> (usize, End) {
        let mut dropped = 0;
        for _ in 0..limit {
            let Some(message) = messages.front_mut() else {
                break;
            };
            let sent = match message.is_empty() {
                true => Err(Error::from(MessageError::Empty).into()),
                false => self.send(message.frames_mut()),
            };
            match sent {
                Ok(copies) => dropped += copies,
                Err(SendFailure::WouldBlock) => return (dropped, End::NoRoom),
                Err(SendFailure::Failed(error)) => return (dropped, End::Failed(error)),
            }
            if let Some(sent) = messages.pop_front() {
                self.pipes.discard(sent.into_frames());
            }
        }
        (dropped, End::Taken)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, Weak};

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::pattern::{Dismissal, Link, Room};
    use crate::peer::Peer;
    use crate::routing_ids::RoutingId;
    use crate::socket::Socket;

    /// Takes all that is queued as soon as it is told of it, as a connection does that writes at
    /// once.
    struct Eager {
        core: Weak<SocketCore>,
        /// How much it found each time.
        found: Mutex<Vec<usize>>,
    }

    impl Link for Eager {
        fn output_ready(&self, alone: bool) {
            assert!(alone, "one signal and no more");
            let core = self.core.upgrade().unwrap();
            let (mut found, mut items) = (0, VecDeque::new());
            core.take_outbound(0, &mut items, Room::of_bytes(usize::MAX));
            // Until there is nothing, or it would not be told again.
            while !items.is_empty() {
                found += items.len();
                items.clear();
                core.take_outbound(0, &mut items, Room::of_bytes(usize::MAX));
            }
            self.found.lock().unwrap().push(found);
        }

        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}
    }

    #[test]
    fn a_batch_tells_the_connection_once_for_what_one_lock_takes() {
        let socket = Socket::new(SocketType::Push).unwrap();
        let core = socket.core().unwrap();
        let link = Arc::new(Eager {
            core: Arc::downgrade(core),
            found: Mutex::default(),
        });
        let peer = Peer::inproc("eager", 1, RoutingId::none(), SocketType::Pull, Vec::new());
        let id = core.attach(Arc::new(peer), link.clone(), None).unwrap();
        assert_eq!(id, 0);
        let mut messages: VecDeque<_> = (0..600).map(|_| Message::from("work")).collect();
        assert_eq!(core.try_send_many(&mut messages).unwrap(), 600);
        assert_eq!(*link.found.lock().unwrap(), [BATCH, BATCH, 600 - 2 * BATCH]);
    }
}
