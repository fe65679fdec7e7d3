//! PUB and XPUB: every message goes to the peers that subscribed to a prefix of its first frame
//! (RFC 29). A subscriber whose queue is full misses messages; it never slows the others down.

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire_zmtp::{Frame, Message as Frames};

use super::item::Item;
use super::pipes::{PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation, StateError};
use crate::options::SocketOptions;
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
    settings: Settings,
    subscriptions: Subscriptions,
    /// With `manual`: what the peers asked for, whatever was granted.
    requested: Subscriptions,
    /// With `manual`: who sent the last subscription that was read.
    last_reader: Option<PipeId>,
    /// What XPUB reads, as it came: of two peers the one may cancel what the other asks for.
    arrivals: VecDeque<Arrival>,
    /// How many of them are of peers that left.
    departures: usize,
    departures_limit: usize,
    /// Scratch of [`Subscriptions::matching`], kept for its memory.
    matching: Vec<PipeId>,
}

/// Something for the application to read.
enum Arrival {
    /// The next message in this peer's queue.
    From(PipeId),
    /// A cancellation on behalf of a peer that left.
    Departure(Frames, Arc<Peer>),
}

/// What the options change.
struct Settings {
    /// Every subscription is read, not only the first to a topic.
    verbose_subscribe: bool,
    /// Every cancellation is read.
    verbose_cancel: bool,
    manual: bool,
    no_drop: bool,
    invert: bool,
}

impl Publish {
    pub(crate) fn new(upstream: Upstream, options: &SocketOptions) -> Self {
        let behaviour = &options.behaviour;
        Publish {
            upstream,
            settings: Settings {
                verbose_subscribe: behaviour.xpub_verbose
                    || behaviour.xpub_verboser
                    || behaviour.xpub_manual,
                verbose_cancel: behaviour.xpub_verboser || behaviour.xpub_manual,
                manual: behaviour.xpub_manual,
                no_drop: behaviour.publish_no_drop,
                invert: behaviour.invert_matching,
            },
            subscriptions: Subscriptions::default(),
            requested: Subscriptions::default(),
            last_reader: None,
            arrivals: VecDeque::new(),
            departures: 0,
            departures_limit: options.receive_high_water_mark,
            matching: Vec::new(),
        }
    }

    fn announce(&mut self, pipes: &mut Pipes, id: PipeId, changed: bool, frame: Frame) -> Delivery {
        if !changed || self.upstream == Upstream::Hidden {
            return Delivery::Handled;
        }
        self.arrived(pipes, id, Frames::single(frame))
    }

    fn arrived(&mut self, pipes: &mut Pipes, id: PipeId, frames: Frames) -> Delivery {
        pipes.push_inbound(id, frames);
        self.arrivals.push_back(Arrival::From(id));
        Delivery::Queued
    }

    /// The table that peers' subscriptions go to.
    fn asked(&mut self) -> &mut Subscriptions {
        if self.settings.manual {
            &mut self.requested
        } else {
            &mut self.subscriptions
        }
    }

    /// Finds who gets a message that begins like this.
    fn match_peers(&mut self, pipes: &Pipes, head: &[u8]) {
        self.subscriptions.matching(head, &mut self.matching);
        if self.settings.invert {
            let wanted = std::mem::take(&mut self.matching);
            let others = pipes.live().filter(|id| wanted.binary_search(id).is_err());
            self.matching.extend(others);
        }
    }
}

impl Publish {
    /// Whom a manual subscription is for.
    fn addressee(&self) -> Result<PipeId, Error> {
        if !self.settings.manual {
            return Err(Error::Unsupported(Operation::Subscribe));
        }
        self.last_reader.ok_or(StateError::NoSubscriber.into())
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
        let ended = self.asked().remove_peer(id);
        if self.settings.manual {
            self.subscriptions.remove_peer(id);
            if self.last_reader == Some(id) {
                self.last_reader = None;
            }
        }
        if let (Upstream::Readable, Some(peer)) = (self.upstream, pipes.peer(id)) {
            for (topic, last) in ended {
                if !last && !self.settings.verbose_cancel {
                    continue;
                }
                let limit = self.departures_limit;
                if limit > 0 && self.departures >= limit {
                    break;
                }
                let frames = Frames::single(announcement(0, &topic));
                self.departures += 1;
                self.arrivals
                    .push_back(Arrival::Departure(frames, peer.clone()));
            }
        }
        unsent.len()
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: Item) -> Delivery {
        match item {
            Item::Subscribe(topic) => match self.asked().add(id, &topic) {
                Ok(first) => {
                    let told = first || self.settings.verbose_subscribe;
                    self.announce(pipes, id, told, announcement(1, &topic))
                }
                Err(_) => {
                    pipes.disconnect(id, "too many subscriptions");
                    Delivery::Ignored
                }
            },
            Item::Cancel(topic) => {
                let last = self.asked().cancel(id, &topic);
                let told = last || self.settings.verbose_cancel;
                self.announce(pipes, id, told, announcement(0, &topic))
            }
            Item::Message(frames) | Item::Notice(frames) if self.upstream == Upstream::Readable => {
                self.arrived(pipes, id, frames)
            }
            Item::Message(_) | Item::Stretch(_) | Item::Framed(_) | Item::Notice(_) => {
                Delivery::Ignored
            }
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: Frames) -> Result<usize, SendFailure> {
        let head = frames.frames().first().map_or(&[][..], Frame::as_slice);
        self.match_peers(pipes, head);
        if self.settings.no_drop
            && let Some(&full) = self.matching.iter().find(|&&id| !pipes.has_room(id))
        {
            pipes.note_full(full);
            return Err(SendFailure::WouldBlock(frames));
        }
        Ok(pipes.push_to_all(&self.matching, frames))
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        if self.upstream == Upstream::Hidden {
            return Err(Error::Unsupported(Operation::Receive));
        }
        match self.arrivals.pop_front() {
            None => Ok(None),
            Some(Arrival::From(id)) => {
                let received = pipes.pop_inbound(id);
                self.last_reader = pipes.is_live(id).then_some(id);
                Ok(received)
            }
            Some(Arrival::Departure(frames, peer)) => {
                self.departures -= 1;
                Ok(Some((frames, peer)))
            }
        }
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        !self.settings.no_drop || pipes.live().all(|id| pipes.has_room(id))
    }

    fn readable(&self) -> bool {
        !self.arrivals.is_empty()
    }

    fn subscribe(&mut self, _pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let id = self.addressee()?;
        self.subscriptions
            .add(id, topic)
            .map(drop)
            .map_err(|_| Error::Limit("16 MiB of topics for one subscriber"))
    }

    fn unsubscribe(&mut self, _pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let id = self.addressee()?;
        self.subscriptions.cancel(id, topic);
        Ok(())
    }
}
