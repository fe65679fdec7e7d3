//! The messages of a socket: the pattern, the pipes, and messages that were taken and given back.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Weak};

use sealwire_zmtp::Frames;

use crate::error::{Error, MessageError};
use crate::message::Message;
use crate::options::{Behaviour, EndpointOptions, OptionsError, SocketOptions};
use crate::pattern::{
    Clock, Delivery, FromPeer, HighWaterMarks, Item, Link, Pattern, PipeId, Pipes, Provenance,
    Room, SendFailure, Sole, Taken, pattern,
};
use crate::peer::Peer;

pub(super) struct Queues {
    pub(super) pattern: Box<dyn Pattern>,
    pub(super) pipes: Pipes,
    /// Taken in a batch and given back: the next to be received.
    returned: VecDeque<Message>,
    /// Something was sent since a thread last waited to receive.
    sent: bool,
    high_water_marks: HighWaterMarks,
    pub(super) behaviour: Behaviour,
    /// What came from a peer is discarded as the socket disconnects from it.
    pub(super) forgets: bool,
}

/// Why a batch ended.
pub(super) enum End {
    /// Nothing is left, or no more was to be sent.
    Taken,
    NoRoom,
    /// The first message of those left will not go.
    Failed(Box<Error>),
}

impl Queues {
    /// `fill_random` is asked for bytes that nobody can foresee.
    ///
    /// # Errors
    ///
    /// Those of [`pattern`].
    pub(super) fn new(
        options: &SocketOptions,
        fill_random: impl FnOnce(&mut [u8]),
        clock: Clock,
    ) -> Result<Self, OptionsError> {
        let pattern = pattern(options, fill_random)?;
        Ok(Queues {
            pipes: Pipes::new(Sole::past(&*pattern), clock),
            pattern,
            returned: VecDeque::new(),
            sent: false,
            high_water_marks: HighWaterMarks::of(options),
            behaviour: options.behaviour.clone(),
            forgets: options.as_libzmq,
        })
    }

    // ---- receiving -------------------------------------------------------------------------------

    /// A message that is there, where no order of peers has to be kept.
    #[inline]
    pub(super) fn receive_of_sole_peer(&mut self) -> Option<Message> {
        if !self.returned.is_empty() {
            return None;
        }
        self.pipes.pop_sole()
    }

    pub(super) fn receive(&mut self) -> Result<Option<Message>, Error> {
        if let Some(message) = self.returned.pop_front() {
            return Ok(Some(message));
        }
        let received = self.pattern.receive(&mut self.pipes)?;
        Ok(received.map(|(frames, peer)| Message::received(frames, peer)))
    }

    pub(super) fn receive_many(
        &mut self,
        into: &mut Vec<Message>,
        limit: usize,
    ) -> Result<usize, Error> {
        let returned = limit.min(self.returned.len());
        into.extend(self.returned.drain(..returned));
        let taken = returned + self.pipes.pop_sole_many(into, limit - returned);
        match self
            .pattern
            .receive_many(&mut self.pipes, into, limit - taken)
        {
            Err(error) if taken == 0 => Err(error),
            more => Ok(taken + more.unwrap_or(0)),
        }
    }

    /// Takes messages back that were received and are to be received again, in this order.
    pub(super) fn give_back(&mut self, messages: VecDeque<Message>) {
        for message in messages.into_iter().rev() {
            self.returned.push_front(message);
        }
    }

    /// Whether a thread that is about to wait may expect an answer: something was sent since one last waited.
    pub(super) fn expects_answer(&mut self) -> bool {
        mem::take(&mut self.sent)
    }

    pub(super) fn readable(&self) -> bool {
        !self.returned.is_empty() || self.pattern.readable()
    }

    // ---- sending ---------------------------------------------------------------------------------

    #[inline]
    pub(super) fn send(&mut self, frames: &mut Frames) -> Result<usize, SendFailure> {
        self.sent = true;
        if self.pipes.push_sole(frames) {
            return Ok(0);
        }
        self.pattern.send(&mut self.pipes, frames)
    }

    /// Sends up to `limit` messages and says how many copies were dropped at full queues.
    pub(super) fn send_many(
        &mut self,
        messages: &mut VecDeque<Message>,
        limit: usize,
    ) -> (usize, End) {
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

    pub(super) fn takes(&self, head: &[u8]) -> Result<bool, Error> {
        self.pattern.takes(&self.pipes, head)
    }

    pub(super) fn writable(&self) -> bool {
        self.pattern.writable(&self.pipes)
    }

    // ---- peers -----------------------------------------------------------------------------------

    /// Takes a peer, with messages of the socket's own that it gets first.
    pub(super) fn attach(
        &mut self,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        provenance: Provenance,
    ) -> Result<PipeId, &'static str> {
        let marks = self.high_water_marks;
        let id = self.pipes.insert(peer, link, marks, provenance);
        for frames in self.behaviour.greetings() {
            self.pipes.push(id, Item::OwnMessage(frames));
        }
        match self.pattern.attached(&mut self.pipes, id) {
            Ok(()) => Ok(id),
            Err(reason) => {
                self.pipes.remove(id);
                Err(reason)
            }
        }
    }

    /// Makes a queue for the peer of a `connect` before it is there, where the type has use for one. The error is
    /// the pattern's.
    pub(super) fn await_peer(&mut self, provenance: Provenance) -> Result<(), &'static str> {
        if !self.pattern.queues_before(provenance.routing_id.is_some()) {
            return Ok(());
        }
        let id = self.pipes.await_peer(self.high_water_marks, provenance);
        let attached = self.pattern.attached(&mut self.pipes, id);
        if attached.is_err() {
            self.pipes.remove(id);
        }
        attached
    }

    /// The peer that was awaited is there.
    pub(super) fn arrived(
        &mut self,
        id: PipeId,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        options: Weak<EndpointOptions>,
    ) {
        let greetings = self.behaviour.greetings();
        self.pipes.arrived(id, peer, link, options, greetings);
        self.pattern.arrived(&mut self.pipes, id);
    }

    /// Nobody connects to this endpoint any more. What waited for its peer goes to others where the type has several
    /// in turn; says how many messages are lost.
    pub(super) fn give_up(&mut self, connector: u64) -> usize {
        let Some(id) = self.pipes.awaited(connector) else {
            return 0;
        };
        let mut unsent = self.pipes.take_awaiting_of(id);
        self.pattern.detached(&mut self.pipes, id, &mut unsent);
        self.pipes.end(id);
        self.pipes.release(id);
        let lost = unsent.len();
        self.pipes.discard_all(unsent);
        lost
    }

    /// The socket leaves a peer, whose connection goes on until its queue has gone out. For the pattern it is gone.
    /// `farewell` is what the application is to read about that.
    pub(super) fn leave(&mut self, id: PipeId, farewell: Option<Frames>) {
        if !self.pipes.is_live(id) {
            return;
        }
        self.tell(id, farewell);
        self.pipes.leave(id);
        self.pattern.detached(&mut self.pipes, id, &mut Vec::new());
    }

    /// Discards what came from a peer and was not read. Returns how many messages it was.
    pub(super) fn forget(&mut self, id: PipeId) -> usize {
        let Some(peer) = self.pipes.peer(id).cloned() else {
            return 0;
        };
        let its_own = |message: &Message| message.peer().is_some_and(|it| Arc::ptr_eq(it, &peer));
        let returned = mem::take(&mut self.returned).into_iter();
        let (forgotten, returned): (VecDeque<_>, _) = returned.partition(its_own);
        self.returned = returned;
        let count = forgotten.len() + self.pattern.forget(&mut self.pipes, id);
        let forgotten = forgotten.into_iter().map(Message::into_frames);
        self.pipes.discard_all(forgotten.collect());
        count
    }

    /// A peer is gone. `farewell` is what the application is to read about that, unless the socket had left it.
    /// Says how many messages are lost with it.
    pub(super) fn detach(&mut self, id: PipeId, farewell: Option<Frames>) -> usize {
        let was_left = self.pipes.was_left(id);
        if !was_left {
            self.tell(id, farewell);
        }
        let (mut unsent, framed) = self.pipes.end(id);
        match (was_left, self.pattern.round_robin()) {
            (false, _) => self.pattern.detached(&mut self.pipes, id, &mut unsent),
            (true, Some(outbound)) => outbound.take_back(&mut self.pipes, &mut unsent),
            (true, None) => {}
        }
        let lost = framed + unsent.len();
        self.pipes.discard_all(unsent);
        self.pipes.release(id);
        lost
    }

    /// Has the application read something about a peer.
    fn tell(&mut self, id: PipeId, message: Option<Frames>) {
        if let Some(frames) = message {
            let arrival = FromPeer::Message(frames);
            if let Delivery::Ignored(ignored) = self.pattern.delivered(&mut self.pipes, id, arrival)
            {
                self.pipes.discard_from_peer(ignored);
            }
        }
    }

    /// Moves queued items to a link. Returns how many messages of the application these are, and whether half of the
    /// queue became free.
    pub(super) fn take_outbound(
        &mut self,
        id: PipeId,
        into: &mut VecDeque<Item>,
        room: Room,
    ) -> Taken {
        let taken = self.pipes.take_outbound(id, into, room);
        if !into.is_empty() {
            self.pattern.room_freed(&mut self.pipes);
        }
        taken
    }

    /// Changes the options of single socket types. Returns those before, as their messages are not to be dropped
    /// here.
    pub(super) fn configure(&mut self, behaviour: Behaviour) -> Behaviour {
        self.pattern.configure(&self.pipes, &behaviour);
        mem::replace(&mut self.behaviour, behaviour)
    }

    // ---- limits ----------------------------------------------------------------------------------

    /// The bytes that one peer may have waiting to be read; 0 for no limit.
    pub(super) fn receive_byte_budget(&self) -> usize {
        self.high_water_marks.receive.bytes
    }

    /// Changes the limits of all queues. Messages above a lower limit stay.
    pub(super) fn limit(&mut self, marks: HighWaterMarks) {
        self.high_water_marks = marks;
        self.pipes.limit(marks);
        self.pattern.limit_backlog(marks);
    }

    // ---- the end ---------------------------------------------------------------------------------

    /// Messages for which no peer has been found yet.
    pub(super) fn backlog(&mut self) -> usize {
        self.pattern.backlog() + self.pipes.awaiting_messages()
    }

    /// Gives up on the backlog, and says how many messages that were.
    pub(super) fn drop_backlog(&mut self) -> usize {
        let backlog = self.pattern.take_backlog();
        let awaiting = self.pipes.take_awaiting();
        let dropped = backlog.len() + awaiting.len();
        self.pipes.discard_all(backlog);
        self.pipes.discard_all(awaiting);
        dropped
    }

    /// Discards what was received and nobody will read, and says how many messages that were.
    pub(super) fn discard_unread(&mut self) -> usize {
        let returned = mem::take(&mut self.returned);
        let unread = returned.len() + self.pipes.discard_unread();
        let returned = returned.into_iter().map(Message::into_frames);
        self.pipes.discard_all(returned.collect());
        unread
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::pattern::Dismissal;
    use crate::routing_ids::RoutingId;

    struct Silent;

    impl Link for Silent {
        fn output_ready(&self, _alone: bool) {}
        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}
    }

    fn attach(queues: &mut Queues) -> PipeId {
        let peer = Peer::inproc(
            "peer",
            1,
            false,
            RoutingId::none(),
            SocketType::Pair,
            Vec::new(),
        );
        let attached = queues.attach(Arc::new(peer), Arc::new(Silent), Provenance::default());
        attached.unwrap()
    }

    fn deliver(queues: &mut Queues, id: PipeId, texts: &[&str]) {
        let messages = texts.iter().map(|text| Item::Message(Frames::from(*text)));
        let mut source: VecDeque<Item> = messages.collect();
        let delivered = queues
            .pattern
            .deliver_all(&mut queues.pipes, id, &mut source);
        assert_eq!(delivered.queued, texts.len());
    }

    /// Carries nothing out: the links are deaf.
    fn settle(queues: &mut Queues) {
        if let Some(signals) = queues.pipes.take_signals() {
            signals.deliver();
        }
    }

    #[test]
    fn what_is_given_back_comes_first_and_in_its_order() {
        let options = SocketOptions::new(SocketType::Pull);
        let mut queues = Queues::new(&options, |_| {}, Arc::new(|| Duration::ZERO)).unwrap();
        let id = attach(&mut queues);
        deliver(&mut queues, id, &["a", "b", "c", "d"]);
        let mut taken = Vec::new();
        assert_eq!(queues.receive_many(&mut taken, 3).unwrap(), 3);
        queues.give_back(taken.drain(1..).collect());
        assert!(queues.receive_of_sole_peer().is_none());
        assert_eq!(queues.receive().unwrap(), Some(Message::from("b")));
        assert_eq!(queues.receive_many(&mut taken, 9).unwrap(), 2);
        assert_eq!(taken, ["a", "c", "d"].map(Message::from));
        assert!(!queues.readable());
    }

    #[test]
    fn a_batch_ends_where_there_is_no_room_and_at_a_message_that_will_not_go() {
        let options = SocketOptions {
            send_high_water_mark: 3,
            ..SocketOptions::new(SocketType::Push)
        };
        let mut queues = Queues::new(&options, |_| {}, Arc::new(|| Duration::ZERO)).unwrap();
        attach(&mut queues);
        let texts = ["a", "b", "c", "d", "e"];
        let mut messages: VecDeque<_> = texts.map(Message::from).into();
        assert!(matches!(
            queues.send_many(&mut messages, 2),
            (0, End::Taken)
        ));
        assert!(matches!(
            queues.send_many(&mut messages, 9),
            (0, End::NoRoom)
        ));
        assert_eq!(messages, ["d", "e"].map(Message::from));
        messages.push_front(Message::from(Frames::default()));
        let ended = queues.send_many(&mut messages, 9);
        assert!(matches!(ended, (0, End::Failed(_))));
        assert_eq!(messages.len(), 3);
        settle(&mut queues);
    }

    #[test]
    fn what_ends_with_a_peer_or_a_socket_is_counted() {
        let options = SocketOptions::new(SocketType::Pair);
        let mut queues = Queues::new(&options, |_| {}, Arc::new(|| Duration::ZERO)).unwrap();
        queues.pattern.expect_peers(true);
        let id = attach(&mut queues);
        for text in ["a", "b"] {
            queues.send(&mut Frames::from(text)).unwrap();
        }
        deliver(&mut queues, id, &["x", "y"]);
        // They wait for another peer.
        assert_eq!(queues.detach(id, Some(Frames::from("gone"))), 0);
        assert_eq!(queues.backlog(), 2);
        assert_eq!(queues.drop_backlog(), 2);
        let first = queues.receive().unwrap().unwrap();
        assert_eq!(first, Message::from("x"));
        queues.give_back([first].into());
        assert_eq!(queues.discard_unread(), 3);
        settle(&mut queues);
    }
}
