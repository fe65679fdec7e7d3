//! SUB and XSUB: subscriptions go to every publisher, messages come back in turn (RFC 29).
//!
//! What nobody subscribed to is dropped here too: a publisher may be slow to hear of a
//! cancellation, or may not filter at all.

use std::collections::BTreeMap;

use bytes::Bytes;
use sealwire_zmtp::{Frame, Message as Frames};

use super::fair_queue::FairQueue;
use super::item::Item;
use super::pipes::{PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation};
use crate::options::SocketOptions;

/// Whether the application may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// SUB.
    Closed,
    /// XSUB: messages starting with `0x01` or `0x00` are subscriptions, others go to all peers.
    Open,
}

/// The application's subscriptions are held like those of a peer of this number.
const SELF: PipeId = 0;

pub(crate) struct Subscribe {
    upstream: Upstream,
    /// What was subscribed to is dropped, the rest delivered.
    invert: bool,
    topics: BTreeMap<Vec<u8>, usize>,
    filter: Subscriptions,
    inbound: FairQueue,
    matching: Vec<PipeId>,
}

impl Subscribe {
    pub(crate) fn new(upstream: Upstream, options: &SocketOptions) -> Self {
        Subscribe {
            upstream,
            invert: options.behaviour.invert_matching,
            topics: BTreeMap::new(),
            filter: Subscriptions::default(),
            inbound: FairQueue::default(),
            matching: Vec::new(),
        }
    }
}

impl Pattern for Subscribe {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        for topic in self.topics.keys() {
            pipes.push(id, Item::Subscribe(Bytes::copy_from_slice(topic)));
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, _id: PipeId, unsent: Vec<Frames>) -> usize {
        unsent.len()
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: Item) -> Delivery {
        let Item::Message(frames) = item else {
            return Delivery::Ignored;
        };
        let head = frames.frames().first().map_or(&[][..], Frame::as_slice);
        self.filter.matching(head, &mut self.matching);
        if self.matching.is_empty() != self.invert {
            return Delivery::Ignored;
        }
        self.inbound.push(pipes, id, frames);
        Delivery::Queued
    }

    fn queue_of_all(&mut self) -> Option<&mut FairQueue> {
        let wants_all = self.filter.wants_everything() && !self.invert;
        wants_all.then_some(&mut self.inbound)
    }

    fn send(&mut self, pipes: &mut Pipes, frames: Frames) -> Result<usize, SendFailure> {
        if self.upstream == Upstream::Closed {
            return Err(SendFailure::failed(
                Error::Unsupported(Operation::Send),
                frames,
            ));
        }
        let subscription = match frames.frames() {
            [frame] => frame.split_first(),
            _ => None,
        };
        let outcome = match subscription {
            Some((1, topic)) => self.subscribe(pipes, topic),
            Some((0, topic)) => self.unsubscribe(pipes, topic),
            _ => {
                let (ready, full): (Vec<_>, Vec<_>) =
                    pipes.live().partition(|&id| pipes.has_room(id));
                for id in ready {
                    pipes.push(id, Item::Message(frames.clone()));
                }
                full.iter().for_each(|&id| pipes.note_full(id));
                return Ok(full.len());
            }
        };
        outcome
            .map(|()| 0)
            .map_err(|error| SendFailure::failed(error, frames))
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self
            .inbound
            .pop(pipes)
            .map(|(_, frames, peer)| (frames, peer)))
    }

    fn receives_unchanged(&self) -> bool {
        true
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        self.upstream == Upstream::Open
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }

    fn subscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        self.filter
            .add(SELF, topic)
            .map_err(|_| Error::Limit("16 MiB of topics on one socket"))?;
        let count = self.topics.entry(topic.to_vec()).or_default();
        *count += 1;
        if *count == 1 {
            let topic = Bytes::copy_from_slice(topic);
            for id in pipes.live().collect::<Vec<_>>() {
                pipes.push(id, Item::Subscribe(topic.clone()));
            }
        }
        Ok(())
    }

    fn unsubscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let Some(count) = self.topics.get_mut(topic) else {
            return Err(Error::Unsupported(Operation::UnsubscribeUnknown));
        };
        *count -= 1;
        self.filter.cancel(SELF, topic);
        if *count == 0 {
            self.topics.remove(topic);
            let topic = Bytes::copy_from_slice(topic);
            for id in pipes.live().collect::<Vec<_>>() {
                pipes.push(id, Item::Cancel(topic.clone()));
            }
        }
        Ok(())
    }
}
