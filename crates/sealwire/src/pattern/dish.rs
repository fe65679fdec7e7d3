//! DISH: receives what is sent to the groups that it joined (RFC 48), in two frames: the group and
//! the body.

use std::collections::BTreeSet;

use bytes::Bytes;
use sealwire_zmtp::Message as Frames;

use super::fair_queue::FairQueue;
use super::item::Item;
use super::pipes::{PipeId, Pipes};
use super::radio::{group, is_group};
use super::{Delivered, Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation, StateError};

#[derive(Default)]
pub(crate) struct Dish {
    groups: BTreeSet<Vec<u8>>,
    inbound: FairQueue,
}

impl Pattern for Dish {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        for group in &self.groups {
            pipes.push(id, Item::Subscribe(Bytes::copy_from_slice(group)));
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, _id: PipeId, unsent: Vec<Frames>) -> usize {
        unsent.len()
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: Item) -> Delivery {
        match item {
            // A radio may be slow to hear that a group was left.
            Item::Message(frames)
                if group(&frames).is_some_and(|name| self.groups.contains(name)) =>
            {
                self.inbound.push(pipes, id, frames);
                Delivery::Queued
            }
            _ => Delivery::Ignored,
        }
    }

    fn deliver_datagrams(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        while pipes.accepts_input(id) {
            let Some((frames, sender)) = next() else {
                return delivered;
            };
            if !group(&frames).is_some_and(|name| self.groups.contains(name)) {
                delivered.ignored += 1;
                continue;
            }
            delivered.queued += 1;
            delivered.bytes += frames.size();
            self.inbound.push_from(pipes, id, frames, sender);
        }
        delivered.full = true;
        delivered
    }

    fn send(&mut self, _pipes: &mut Pipes, frames: Frames) -> Result<usize, SendFailure> {
        Err(SendFailure::failed(
            Error::Unsupported(Operation::Send),
            frames,
        ))
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self
            .inbound
            .pop(pipes)
            .map(|(_, frames, peer)| (frames, peer)))
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        false
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }

    fn join(&mut self, pipes: &mut Pipes, group: &[u8]) -> Result<(), Error> {
        if !is_group(group) {
            return Err(Error::NoGroup);
        }
        if !self.groups.insert(group.to_vec()) {
            return Err(StateError::JoinedAlready.into());
        }
        let group = Bytes::copy_from_slice(group);
        for id in pipes.live().collect::<Vec<_>>() {
            pipes.push(id, Item::Subscribe(group.clone()));
        }
        Ok(())
    }

    fn leave(&mut self, pipes: &mut Pipes, group: &[u8]) -> Result<(), Error> {
        if !self.groups.remove(group) {
            return Err(StateError::NotJoined.into());
        }
        let group = Bytes::copy_from_slice(group);
        for id in pipes.live().collect::<Vec<_>>() {
            pipes.push(id, Item::Cancel(group.clone()));
        }
        Ok(())
    }
}
