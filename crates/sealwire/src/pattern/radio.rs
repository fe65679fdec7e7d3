//! RADIO: a message goes to the peers that joined its group (RFC 48). It has two frames, the group
//! and the body. A peer whose queue is full misses messages; it never slows the others down.

use sealwire_zmtp::limits::MAX_GROUP;
use sealwire_zmtp::{Frame, Frames};

use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::account::Kind;
use crate::error::{Error, MessageError, Operation};
use crate::peer::PeerAddress;
use crate::transport::udp::{self, MAX_DATAGRAM};

#[derive(Default)]
pub(crate) struct Radio {
    groups: Subscriptions,
    /// Pipes whose members cannot tell what they joined: they get everything.
    datagrams: Vec<PipeId>,
    members: Vec<PipeId>,
}

/// The group of a message and nothing else that is wrong with it.
pub(super) fn group(frames: &Frames) -> Option<&[u8]> {
    match frames.frames() {
        [group, _] if is_group(group) => Some(group),
        _ => None,
    }
}

pub(super) fn is_group(name: &[u8]) -> bool {
    (1..=MAX_GROUP).contains(&name.len())
}

impl Pattern for Radio {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        if let Some(PeerAddress::Udp(_)) = pipes.peer(id).map(|peer| peer.address()) {
            self.datagrams.push(id);
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        self.groups.remove_peer(id);
        self.datagrams.retain(|&other| other != id);
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match item {
            FromPeer::Subscribe(group) => {
                if let Err(exceeded) = self.groups.add(id, &group) {
                    pipes.exceeded(id, exceeded);
                    return Delivery::Handled;
                }
                pipes.note_held(id, Kind::Subscriptions, self.groups.bytes_of(id));
                Delivery::Handled
            }
            FromPeer::Cancel(group) => {
                self.groups.cancel(id, &group);
                pipes.note_held(id, Kind::Subscriptions, self.groups.bytes_of(id));
                Delivery::Handled
            }
            FromPeer::Message(_) | FromPeer::Missed(_) => Delivery::Ignored(item),
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let Some(name) = group(frames).map(Frame::copy_from_slice) else {
            return Err(Error::from(MessageError::NoGroup).into());
        };
        let size = udp::size(&name, frames.frames().last().map_or(&[], Frame::as_slice));
        if !self.datagrams.is_empty() && size > MAX_DATAGRAM {
            return Err(Error::from(MessageError::DatagramTooLarge { size }).into());
        }
        self.groups.exactly(&name, &mut self.members);
        self.members.extend(&self.datagrams);
        Ok(pipes.push_to_all(&self.members, frames))
    }

    fn receive(&mut self, _pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Err(Error::Unsupported(Operation::Receive))
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        // A member without room misses messages and holds nobody up.
        true
    }

    fn readable(&self) -> bool {
        false
    }

    /// Members over `udp` tell nobody.
    fn subscribers(&mut self, _pipes: &Pipes, group: &[u8]) -> Option<usize> {
        self.groups.exactly(group, &mut self.members);
        Some(self.members.len())
    }
}
