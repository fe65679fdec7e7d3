//! DISH: receives messages to the groups that it joined (RFC 48), in two frames: the group and the
//! body.

use std::collections::BTreeSet;

use bytes::Bytes;
use sealwire_zmtp::Frames;

use super::fair_queue::FairQueue;
use super::item::FromPeer;
use super::item::cost_of_topic;
use super::pipes::{PipeId, Pipes};
use super::radio::{group, is_group};
use super::{Delivered, Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError, Operation, StateError};
use crate::limits::MAX_TOPIC_BYTES_PER_PEER;

#[derive(Default)]
pub(crate) struct Dish {
    groups: BTreeSet<Vec<u8>>,
    /// What the groups cost a RADIO, which takes no more of one peer than of another.
    bytes: usize,
    inbound: FairQueue,
}

impl Pattern for Dish {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        for group in &self.groups {
            pipes.change(id, &Bytes::copy_from_slice(group), true);
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, _id: PipeId, _unsent: &mut Vec<Frames>) {}

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match item {
            // A radio may be slow to hear that a group was left.
            FromPeer::Message(frames)
                if group(&frames).is_some_and(|name| self.groups.contains(name)) =>
            {
                self.inbound.push(pipes, id, frames);
                Delivery::Queued
            }
            other => Delivery::Ignored(other),
        }
    }

    fn deliver_datagrams(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        let groups = &self.groups;
        self.inbound.push_datagrams(pipes, id, next, |frames| {
            group(frames).is_some_and(|name| groups.contains(name))
        })
    }

    fn send(&mut self, _pipes: &mut Pipes, _frames: &mut Frames) -> Result<usize, SendFailure> {
        Err(Error::Unsupported(Operation::Send).into())
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self
            .inbound
            .pop(pipes)
            .map(|(_, frames, peer)| (frames, peer)))
    }

    fn takes(&self, _pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        Err(Error::Unsupported(Operation::Send))
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        false
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }

    fn join(&mut self, pipes: &mut Pipes, group: &[u8]) -> Result<(), Error> {
        if !is_group(group) {
            return Err(MessageError::NoGroup.into());
        }
        if self.groups.contains(group) {
            return Err(StateError::JoinedAlready.into());
        }
        if self.bytes + cost_of_topic(group) > MAX_TOPIC_BYTES_PER_PEER {
            return Err(Error::Limit("16 MiB of groups on one socket"));
        }
        self.bytes += cost_of_topic(group);
        self.groups.insert(group.to_vec());
        pipes.change_for_all(group, true);
        Ok(())
    }

    fn leave(&mut self, pipes: &mut Pipes, group: &[u8]) -> Result<(), Error> {
        if !self.groups.remove(group) {
            return Err(StateError::NotJoined.into());
        }
        self.bytes -= cost_of_topic(group);
        pipes.change_for_all(group, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::super::silent::Scene;
    use super::*;
    use crate::account::Kind;
    use crate::options::SocketOptions;

    #[test]
    fn what_a_radio_does_not_read_is_no_more_than_the_groups() {
        let mut scene = Scene::new(SocketOptions::new(SocketType::Dish));
        let mut dish = Dish::default();
        let radio = scene.attach(&mut dish, "192.0.2.1:1");
        for _ in 0..10_000 {
            dish.join(&mut scene.pipes, b"group").unwrap();
            assert_eq!(
                radio.held(Kind::SubscriptionChanges),
                cost_of_topic(b"group")
            );
            dish.leave(&mut scene.pipes, b"group").unwrap();
        }
        assert_eq!(dish.bytes, 0);
        assert!(scene.take(&radio).is_empty());
        dish.join(&mut scene.pipes, b"other").unwrap();
        assert_eq!(scene.take(&radio), ["+other"]);
    }

    #[test]
    fn a_dish_joins_no_more_than_a_radio_takes() {
        let mut scene = Scene::new(SocketOptions::new(SocketType::Dish));
        let mut dish = Dish::default();
        let refused = (0..70_000_u32)
            .find_map(|number| dish.join(&mut scene.pipes, &number.to_be_bytes()).err());
        assert!(matches!(refused, Some(Error::Limit(_))), "{refused:?}");
    }
}
