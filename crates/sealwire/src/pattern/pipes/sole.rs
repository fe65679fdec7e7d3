//! The fast path of a socket with a single peer. If the pattern passes messages on unchanged and
//! there is no order of peers to keep, messages bypass it on the way between the application and that
//! peer's queues.
//!
//! ```text
//!   application ─▶ Sole::outbound ─▶ pipe.outbound      one peer, and nothing waits before the message
//!   application ◀─ Sole::inbound ◀── pipe.inbound       one peer with something to read, and more left
//! ```
//!
//! The last message of a queue goes through the pattern: the fair queue has to know that the peer
//! has no more.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use sealwire_zmtp::Frames;

use super::{PipeId, Pipes};
use crate::message::Message;
use crate::pattern::Pattern;
use crate::pattern::item::Item;
use crate::pattern::link::Link;

/// The pipe that messages take past the pattern, in each direction.
pub(crate) struct Sole {
    inbound: Bypass,
    outbound: Bypass,
}

/// Whether messages of one direction go past the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bypass {
    /// The pattern changes messages, counts them, or chooses a peer for each.
    Never,
    /// No peer, or several in turn.
    Closed,
    Through(PipeId),
}

impl Sole {
    /// As far as the pattern lets messages pass.
    pub(crate) fn past(pattern: &dyn Pattern) -> Self {
        let bypass = |unchanged| match unchanged {
            true => Bypass::Closed,
            false => Bypass::Never,
        };
        Sole {
            inbound: bypass(pattern.receives_unchanged()),
            outbound: bypass(pattern.sends_unchanged()),
        }
    }

    /// Notes which pipes have something to read.
    pub(in crate::pattern) fn note_readable(&mut self, order: &VecDeque<PipeId>) {
        self.inbound.note(order);
    }

    /// Notes which pipes messages go to in turn, and whether others wait before them.
    pub(in crate::pattern) fn note_targets(&mut self, order: &VecDeque<PipeId>, backlog: bool) {
        match backlog {
            true => self.outbound.close(),
            false => self.outbound.note(order),
        }
    }

    #[inline]
    fn inbound(&self) -> Option<PipeId> {
        self.inbound.pipe()
    }

    #[inline]
    fn outbound(&self) -> Option<PipeId> {
        self.outbound.pipe()
    }
}

impl Bypass {
    fn note(&mut self, order: &VecDeque<PipeId>) {
        match order.front() {
            Some(&id) if order.len() == 1 && *self != Bypass::Never => *self = Bypass::Through(id),
            _ => self.close(),
        }
    }

    fn close(&mut self) {
        if *self != Bypass::Never {
            *self = Bypass::Closed;
        }
    }

    #[inline]
    fn pipe(self) -> Option<PipeId> {
        match self {
            Bypass::Through(id) => Some(id),
            Bypass::Never | Bypass::Closed => None,
        }
    }
}

impl Pipes {
    /// Takes a message where no order of peers has to be kept: of the only peer that has some, as
    /// long as it has more.
    #[inline]
    pub(crate) fn pop_sole(&mut self) -> Option<Message> {
        let id = self.sole.inbound()?;
        if self.slab.get(id)?.inbound.len() < 2 {
            return None;
        }
        let (frames, peer) = self.pop_inbound(id)?;
        Some(Message::received(frames, peer))
    }

    /// The same for up to `limit` messages.
    pub(crate) fn pop_sole_many(&mut self, into: &mut Vec<Message>, limit: usize) -> usize {
        let Some(pipe) = self.sole.inbound().and_then(|id| self.slab.get_mut(id)) else {
            return 0;
        };
        if !pipe.senders.is_empty() {
            return 0;
        }
        let count = limit.min(pipe.inbound.len().saturating_sub(1));
        into.reserve(count);
        for frames in pipe.inbound.drain(..count) {
            pipe.inbound_bytes -= frames.size();
            into.push(Message::received(frames, pipe.peer.clone()));
        }
        if let Some(since) = pipe.measured.inbound.taken(count) {
            self.waits.note_inbound(since);
        }
        pipe.taken_inbound(&mut self.signals);
        count
    }

    /// Queues a message where no order of peers has to be kept: for the only peer there is, as long
    /// as it has room. Else leaves it, and gives `false`.
    #[inline]
    pub(crate) fn push_sole(&mut self, frames: &mut Frames) -> bool {
        let pipe = self.sole.outbound().and_then(|id| self.slab.get_mut(id));
        let Some(pipe) = pipe.filter(|pipe| pipe.life.takes_messages() && pipe.has_room()) else {
            return false;
        };
        pipe.push(Item::Message(mem::take(frames)), &mut self.signals);
        true
    }

    /// The link of the only pipe there is.
    pub(crate) fn sole_link(&self) -> Option<Arc<dyn Link>> {
        let mut pipes = self.slab.iter().map(|(_, pipe)| pipe);
        let pipe = pipes.next().filter(|pipe| pipe.life.is_present())?;
        pipes.next().is_none().then(|| pipe.link.clone())
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::options::SocketOptions;
    use crate::pattern::pattern;
    use crate::pattern::silent::{End, Scene};

    /// A socket with peers, behind its pattern.
    struct Socket {
        pattern: Box<dyn Pattern>,
        scene: Scene,
    }

    impl Socket {
        fn new(socket_type: SocketType, high_water_mark: usize) -> Self {
            let options = SocketOptions {
                send_high_water_mark: high_water_mark,
                ..SocketOptions::new(socket_type)
            };
            Socket {
                pattern: pattern(&options, |_| {}).unwrap(),
                scene: Scene::new(options),
            }
        }

        fn attach(&mut self) -> End {
            self.scene.attach(&mut *self.pattern, "203.0.113.5:4711")
        }

        fn detach(&mut self, end: &End) {
            self.scene.detach(&mut *self.pattern, end);
        }

        fn deliver(&mut self, end: &End, texts: &[&str]) {
            let messages = texts.iter().map(|text| Frames::from(*text));
            let mut source: VecDeque<Item> = messages.map(Item::Message).collect();
            let pipes = &mut self.scene.pipes;
            self.pattern.deliver_all(pipes, end.id, &mut source);
        }

        /// Sends a message past the pattern, if that can be.
        fn pushes(&mut self) -> bool {
            self.scene.pipes.push_sole(&mut Frames::from("message"))
        }

        /// Receives messages past the pattern, as long as that can be.
        fn pops(&mut self) -> Vec<Message> {
            std::iter::from_fn(|| self.scene.pipes.pop_sole()).collect()
        }

        /// Receives a message through the pattern.
        fn receive(&mut self) -> Option<Message> {
            let received = self.pattern.receive(&mut self.scene.pipes).unwrap();
            received.map(|(frames, peer)| Message::received(frames, peer))
        }
    }

    #[test]
    fn messages_go_past_the_pattern_while_there_is_one_peer_with_room() {
        let mut push = Socket::new(SocketType::Push, 2);
        assert!(!push.pushes());
        let one = push.attach();
        assert!(push.pushes() && push.pushes() && !push.pushes());
        assert_eq!(push.scene.take(&one), ["1 message", "1 message"]);
        let other = push.attach();
        assert!(!push.pushes());
        push.detach(&one);
        assert!(push.pushes());
        assert_eq!(push.scene.take(&other), ["1 message"]);
        push.detach(&other);
        assert!(!push.pushes());
    }

    #[test]
    fn nothing_goes_past_a_message_that_waits() {
        let mut push = Socket::new(SocketType::Push, 1);
        let one = push.attach();
        let mut unsent = vec![Frames::from("first"), Frames::from("second")];
        let (pipes, pattern) = (&mut push.scene.pipes, &mut push.pattern);
        // They were on their way to a peer that is gone; one finds room.
        pattern.detached(pipes, 99, &mut unsent);
        assert_eq!(push.scene.take(&one), ["1 message"]);
        assert!(!push.pushes());
        push.pattern.room_freed(&mut push.scene.pipes);
        assert_eq!(push.scene.take(&one), ["1 message"]);
        assert!(push.pushes());
    }

    #[test]
    fn all_but_the_last_message_of_the_only_peer_come_past_the_pattern() {
        let mut pull = Socket::new(SocketType::Pull, 10);
        let one = pull.attach();
        pull.deliver(&one, &["first", "second", "third"]);
        assert_eq!(pull.pops(), ["first", "second"].map(Message::from));
        assert_eq!(pull.receive(), Some(Message::from("third")));
        pull.deliver(&one, &["first", "second", "third"]);
        let mut taken = Vec::new();
        assert_eq!(pull.scene.pipes.pop_sole_many(&mut taken, 1), 1);
        assert_eq!(pull.scene.pipes.pop_sole_many(&mut taken, 9), 1);
        assert_eq!(taken, ["first", "second"].map(Message::from));
    }

    #[test]
    fn two_peers_that_have_something_are_read_in_turn() {
        let mut pull = Socket::new(SocketType::Pull, 10);
        let (one, other) = (pull.attach(), pull.attach());
        pull.deliver(&one, &["a", "b", "c"]);
        // The other one has nothing to read.
        pull.deliver(&other, &[]);
        assert_eq!(pull.scene.pipes.pop_sole(), Some(Message::from("a")));
        pull.deliver(&other, &["x"]);
        assert_eq!(pull.pops(), []);
        assert_eq!(pull.receive(), Some(Message::from("b")));
        assert_eq!(pull.receive(), Some(Message::from("x")));
        assert_eq!(pull.receive(), Some(Message::from("c")));
        assert_eq!(pull.receive(), None);
    }

    #[test]
    fn a_pattern_that_changes_or_counts_messages_sees_all_of_them() {
        for socket_type in [SocketType::Req, SocketType::Router, SocketType::Pub] {
            let mut socket = Socket::new(socket_type, 10);
            let one = socket.attach();
            socket.deliver(&one, &["first", "second", "third"]);
            assert!(!socket.pushes() && socket.pops().is_empty());
        }
    }

    #[test]
    fn a_link_is_the_only_one_until_another_comes_or_it_ends() {
        let mut push = Socket::new(SocketType::Push, 1);
        assert!(push.scene.pipes.sole_link().is_none());
        let one = push.attach();
        assert!(push.scene.pipes.sole_link().is_some());
        let other = push.attach();
        assert!(push.scene.pipes.sole_link().is_none());
        push.detach(&other);
        assert!(push.scene.pipes.sole_link().is_some());
        push.detach(&one);
        assert!(push.scene.pipes.sole_link().is_none());
    }
}
