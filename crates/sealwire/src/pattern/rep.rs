//! REP: takes requests in turn and answers each before the next (RFC 28).

use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, StateError};
use crate::options::SocketOptions;

/// The way back to who asked: the frames before and including the empty delimiter.
struct Envelope {
    pipe: Option<PipeId>,
    frames: Vec<Frame>,
}

pub(crate) struct Rep {
    as_libzmq: bool,
    inbound: FairQueue,
    asker: Option<Envelope>,
}

impl Rep {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Rep {
            as_libzmq: options.as_libzmq,
            inbound: FairQueue::default(),
            asker: None,
        }
    }
}

impl Pattern for Rep {
    fn attached(&mut self, _pipes: &mut Pipes, _id: PipeId) -> Result<(), &'static str> {
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        if let Some(envelope) = &mut self.asker
            && envelope.pipe == Some(id)
        {
            envelope.pipe = None;
        }
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let frames = match item {
            FromPeer::Message(frames) => frames,
            other => return Delivery::Ignored(other),
        };
        // Without a delimiter there is no telling the envelope from the request. libzmq takes none for a request that
        // has nothing behind it.
        let mut before = frames.frames();
        if self.as_libzmq {
            before = before.split_last().map_or(&[], |(_, before)| before);
        }
        if !before.iter().any(|frame| frame.is_empty()) {
            return Delivery::Ignored(FromPeer::Message(frames));
        }
        self.inbound.push(pipes, id, frames);
        Delivery::Queued
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let Some(envelope) = self.asker.take() else {
            return Err(Error::State(StateError::NothingToAnswer).into());
        };
        // As in libzmq, the answer to someone who has left is dropped and the socket goes on.
        let Some(id) = envelope.pipe.filter(|&id| pipes.has_room(id)) else {
            envelope.pipe.inspect(|&id| pipes.note_dropped(id));
            pipes.discard(envelope.frames.into());
            return Ok(1);
        };
        for frame in envelope.frames.into_iter().rev() {
            frames.push_front(frame);
        }
        pipes.push(id, Item::Message(mem::take(frames)));
        Ok(0)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        if self.asker.is_some() {
            return Err(Error::State(StateError::AnswerOwed));
        }
        let Some((id, mut frames, peer)) = self.inbound.pop(pipes) else {
            return Ok(None);
        };
        let mut envelope = Vec::new();
        while let Some(frame) = frames.pop_front() {
            let delimiter = frame.is_empty();
            envelope.push(frame);
            if delimiter {
                break;
            }
        }
        if frames.is_empty() {
            // A delimiter with nothing behind it asks with an empty message.
            frames.push_back(Frame::new());
        }
        self.asker = Some(Envelope {
            pipe: pipes.is_live(id).then_some(id),
            frames: envelope,
        });
        Ok(Some((frames, peer)))
    }

    fn takes(&self, _pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        match self.asker {
            Some(_) => Ok(true),
            None => Err(Error::State(StateError::NothingToAnswer)),
        }
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        self.asker.is_some()
    }

    fn readable(&self) -> bool {
        self.asker.is_none() && !self.inbound.is_empty()
    }
}
