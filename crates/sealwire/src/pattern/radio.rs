//! RADIO: a message goes to the peers that joined its group (RFC 48). It has two frames, the group
//! and the body. A peer whose queue is full misses messages and never slows the others down, unless the socket drops nothing.

use sealwire_zmtp::limits::MAX_GROUP;
use sealwire_zmtp::{Frame, Frames};

use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::account::Kind;
use crate::error::{Error, MessageError, Operation};
use crate::options::Behaviour;
use crate::peer::PeerAddress;
use crate::transport::udp::{self, MAX_DATAGRAM};

pub(crate) struct Radio {
    /// It waits while one of the members has no room.
    no_drop: bool,
    groups: Subscriptions,
    /// Pipes whose members cannot tell what they joined: they get everything.
    datagrams: Vec<PipeId>,
    members: Vec<PipeId>,
}

impl Radio {
    pub(crate) fn new(behaviour: &Behaviour) -> Self {
        Radio {
            no_drop: behaviour.publish_no_drop,
            groups: Subscriptions::default(),
            datagrams: Vec::new(),
            members: Vec::new(),
        }
    }
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
        if self.no_drop
            && let Some(&full) = self.members.iter().find(|&&id| !pipes.has_room(id))
        {
            pipes.note_full(full);
            return Err(SendFailure::WouldBlock);
        }
        Ok(pipes.push_to_all(&self.members, frames))
    }

    fn receive(&mut self, _pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Err(Error::Unsupported(Operation::Receive))
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.no_drop = behaviour.publish_no_drop;
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        !self.no_drop || pipes.live().all(|id| pipes.has_room(id))
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::options::SocketOptions;
    use crate::pattern::silent::Scene;

    #[test]
    fn a_radio_that_drops_nothing_waits_for_the_slowest_member() {
        for (no_drop, dropped) in [(true, None), (false, Some(1))] {
            let behaviour = Behaviour {
                publish_no_drop: no_drop,
                ..Behaviour::default()
            };
            let mut radio = Radio::new(&behaviour);
            let mut scene = Scene::new(SocketOptions {
                behaviour,
                send_high_water_mark: 2,
                ..SocketOptions::new(SocketType::Radio)
            });
            let [slow, fast] = ["192.0.2.1:1", "192.0.2.2:1"].map(|address| {
                let end = scene.attach(&mut radio, address);
                let joined = FromPeer::Subscribe(Bytes::from_static(b"group"));
                let _ = radio.delivered(&mut scene.pipes, end.id, joined);
                end
            });
            let mut send = |scene: &mut Scene| {
                let mut message = Frames::from(vec![Frame::from("group"), Frame::from("body")]);
                match radio.send(&mut scene.pipes, &mut message) {
                    Ok(dropped) => Some(dropped),
                    Err(SendFailure::WouldBlock) => None,
                    Err(SendFailure::Failed(error)) => panic!("{error}"),
                }
            };
            for _ in 0..2 {
                assert_eq!(send(&mut scene), Some(0));
                assert_eq!(scene.take(&fast).len(), 1);
            }
            assert_eq!(send(&mut scene), dropped);
            assert_eq!(scene.take(&fast).len(), usize::from(!no_drop));
            assert_eq!(scene.take(&slow).len(), 2);
            assert_eq!(send(&mut scene), Some(0));
        }
    }
}
