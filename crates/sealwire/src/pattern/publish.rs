//! PUB and XPUB: every message goes to the peers that subscribed to a prefix of its first frame
//! (RFC 29). A subscriber whose queue is full misses messages; it never slows the others down.

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire_zmtp::{Frame, Message as Frames};

use super::fair_queue::FairQueue;
use super::pipe::{Item, PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation};
use crate::peer::Peer;

/// Whether the application sees what subscribers send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// PUB.
    Hidden,
    /// XPUB: a message of `0x01` or `0x00` and the topic for each new or ended subscription.
    Readable,
}

pub(crate) struct Publish {
    upstream: Upstream,
    subscriptions: Subscriptions,
    inbound: FairQueue,
    /// Cancellations on behalf of peers that left, for XPUB to read.
    departures: VecDeque<(Frames, Arc<Peer>)>,
    departures_limit: usize,
    /// Scratch of [`Subscriptions::matching`], kept for its memory.
    matching: Vec<PipeId>,
}

impl Publish {
    /// `departures_limit` is the receive high-water mark, zero for none.
    pub(crate) fn new(upstream: Upstream, departures_limit: usize) -> Self {
        Publish {
            upstream,
            subscriptions: Subscriptions::default(),
            inbound: FairQueue::default(),
            departures: VecDeque::new(),
            departures_limit,
            matching: Vec::new(),
        }
    }

    fn announce(&mut self, pipes: &mut Pipes, id: PipeId, changed: bool, frame: Frame) -> Delivery {
        if !changed || self.upstream == Upstream::Hidden {
            return Delivery::Handled;
        }
        self.inbound.push(pipes, id, Frames::single(frame));
        Delivery::Queued
    }
}

/// The message form of a subscription (RFC 29): one octet, then the topic.
fn announcement(octet: u8, topic: &[u8]) -> Frame {
    let mut body = Vec::with_capacity(1 + topic.len());
    body.push(octet);
    body.extend_from_slice(topic);
    Frame::from(body)
}

impl Pattern for Publish {
    fn attached(&mut self, _pipes: &mut Pipes, _id: PipeId) -> Result<(), &'static str> {
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: Vec<Frames>) -> usize {
        let ended = self.subscriptions.remove_peer(id);
        if let (Upstream::Readable, Some(peer)) = (self.upstream, pipes.peer(id)) {
            for topic in ended {
                let limit = self.departures_limit;
                if limit > 0 && self.departures.len() >= limit {
                    break;
                }
                let frame = announcement(0, &topic);
                self.departures
                    .push_back((Frames::single(frame), peer.clone()));
            }
        }
        unsent.len()
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: Item) -> Delivery {
        match item {
            Item::Subscribe(topic) => match self.subscriptions.add(id, &topic) {
                Ok(first) => self.announce(pipes, id, first, announcement(1, &topic)),
                Err(_) => {
                    pipes.disconnect(id, "too many subscriptions");
                    Delivery::Ignored
                }
            },
            Item::Cancel(topic) => {
                let last = self.subscriptions.cancel(id, &topic);
                self.announce(pipes, id, last, announcement(0, &topic))
            }
            Item::Message(frames) if self.upstream == Upstream::Readable => {
                self.inbound.push(pipes, id, frames);
                Delivery::Queued
            }
            Item::Message(_) => Delivery::Ignored,
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: Frames) -> Result<usize, SendFailure> {
        let head = frames.frames().first().map_or(&[][..], Frame::as_slice);
        self.subscriptions.matching(head, &mut self.matching);
        let mut dropped = 0;
        let Some((&last, others)) = self.matching.split_last() else {
            return Ok(0);
        };
        for &id in others {
            if pipes.has_room(id) {
                pipes.push(id, Item::Message(frames.clone()));
            } else {
                dropped += 1;
            }
        }
        if pipes.has_room(last) {
            pipes.push(last, Item::Message(frames));
        } else {
            dropped += 1;
        }
        Ok(dropped)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        if self.upstream == Upstream::Hidden {
            return Err(Error::Unsupported(Operation::Receive));
        }
        if let Some((_, frames, peer)) = self.inbound.pop(pipes) {
            return Ok(Some((frames, peer)));
        }
        Ok(self.departures.pop_front())
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty() || !self.departures.is_empty()
    }
}
