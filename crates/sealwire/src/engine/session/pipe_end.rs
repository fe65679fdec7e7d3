//! A session's end of its pipe: messages between the socket's queues and the protocol, in batches.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::connection::Warning;
use sealwire_zmtp::{Event as ProtocolEvent, Frames};

use super::ledger::Ledger;
use super::pauses::Pauses;
use crate::core::SocketCore;
use crate::engine::bursts::Bursts;
use crate::engine::wire::Wire;
use crate::limits::WRITE_BUDGET;
use crate::monitor::add;
use crate::pattern::{Arrivals, FromPeer, Item, PipeId, Room, Taken};

pub(super) struct PipeEnd {
    id: PipeId,
    /// The queue for the application is full; the pipe will say when it is not.
    paused: bool,
    /// The pipe said that it has something to send.
    waiting: bool,
    ledger: Ledger,
    taken: VecDeque<Item>,
    bursts: Arc<Bursts>,
    /// Messages that may still be taken from it, where the connection ends after these.
    last: Option<usize>,
    /// The pipe is the socket's no more, and another may have its id.
    parted: bool,
    /// It has made room in the queue, and those who wait for that were not told.
    untold: bool,
}

impl PipeEnd {
    /// Of a pipe that was made just now: what waited for a first peer may be in it.
    pub(super) fn new(id: PipeId, bursts: Arc<Bursts>) -> Self {
        PipeEnd {
            id,
            paused: false,
            waiting: true,
            ledger: Ledger::default(),
            taken: VecDeque::new(),
            bursts,
            last: None,
            parted: false,
            untold: false,
        }
    }

    pub(super) fn id(&self) -> PipeId {
        self.id
    }

    /// Whether the queue for the application is full.
    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    /// There is room for the application again.
    pub(super) fn resume(&mut self) {
        self.paused = false;
    }

    /// Whether the pipe has something to send.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The pipe has something to send.
    pub(super) fn output_ready(&mut self) {
        self.waiting = self.last != Some(0);
    }

    /// Takes this number of messages from the pipe and no more: the rest stays with the socket.
    pub(super) fn take_no_more_than(&mut self, messages: usize) {
        self.last = Some(messages);
        // The signal of some of them may be on its way.
        self.waiting = messages > 0;
    }

    /// Leaves the pipe, which is for the caller to detach; `None` where that was done.
    pub(super) fn part(&mut self) -> Option<PipeId> {
        (!mem::replace(&mut self.parted, true)).then_some(self.id)
    }

    pub(super) fn has_parted(&self) -> bool {
        self.parted
    }

    /// Hands over what the protocol has for the socket. Returns what it has to say beside that.
    pub(super) fn deliver(
        &mut self,
        core: &SocketCore,
        protocol: &mut dyn Wire,
        now: Duration,
    ) -> Vec<Warning> {
        if self.parted || !protocol.has_events() {
            return Vec::new();
        }
        let mut received = Received {
            protocol,
            warnings: Vec::new(),
        };
        let delivered = core.deliver(self.id, &mut received);
        let Received { protocol, warnings } = received;
        self.bursts.received();
        if delivered.full != self.paused {
            self.paused = delivered.full;
            protocol.set_reading(!delivered.full, now);
        }
        warnings
    }

    /// Gives the protocol as many messages as one or two writes can carry, or as come within the pauses.
    pub(super) fn take_outbound(
        &mut self,
        core: &SocketCore,
        protocol: &mut dyn Wire,
        pauses: Pauses<'_>,
    ) {
        let mut pauses = pauses.of_a_write();
        while self.waiting && !self.parted && protocol.pending_bytes() < WRITE_BUDGET {
            let mut room = Room::of_bytes(WRITE_BUDGET);
            room.messages = self.last.unwrap_or(room.messages);
            let begin = protocol.output_progress().staged;
            let Taken {
                messages, untold, ..
            } = core.take_outbound(self.id, &mut self.taken, room);
            self.untold = untold;
            self.last = self.last.map(|last| last.saturating_sub(messages));
            self.waiting = !self.taken.is_empty() && self.last != Some(0);
            protocol.stage(&mut self.taken);
            self.ledger
                .staged(messages, begin, protocol.output_progress());
            if self.waiting && !pauses.after(messages, protocol.pending_bytes()) {
                return;
            }
        }
    }

    /// The transport takes no more for now, and so nothing more is taken from the pipe.
    pub(super) fn stalled(&mut self, core: &SocketCore) {
        if mem::take(&mut self.untold) {
            core.notify_writable();
        }
    }

    /// The connection is over: counts what it leaves undone, and detaches the pipe.
    pub(super) fn close(self, core: &SocketCore, protocol: &mut dyn Wire) {
        let undelivered = self.ledger.close(protocol.output_progress());
        core.count_unsent(undelivered.unsent);
        add(&core.counters.unconfirmed, undelivered.unconfirmed);
        // They found no room in the socket's queue, and the connection goes with them.
        add(&core.counters.dropped_unread, protocol.drop_messages());
        // What the application queued goes with it.
        if !self.parted {
            core.detach(self.id);
        }
    }
}

/// What the protocol has for the socket, and what it has beside that.
struct Received<'a> {
    protocol: &'a mut dyn Wire,
    warnings: Vec<Warning>,
}

impl Arrivals for Received<'_> {
    fn next(&mut self) -> Option<FromPeer> {
        let warnings = &mut self.warnings;
        self.protocol.next_from_peer(&mut |event| {
            if let ProtocolEvent::Warning(warning) = event {
                warnings.push(warning);
            }
        })
    }

    fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        self.protocol.take_messages(into, room)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;
    use std::io;

    use bytes::BytesMut;
    use sealwire_zmtp::connection::OutputProgress;
    use sealwire_zmtp::{Error, SocketType};

    use super::*;
    use crate::engine::raw::Raw;
    use crate::engine::wire::Write;
    use crate::pattern::{Dismissal, Link, Provenance};
    use crate::peer::Peer;
    use crate::routing_ids::RoutingId;
    use crate::socket::Socket;
    use crate::transport::WriteSize;

    const NOW: Duration = Duration::ZERO;

    /// Hears everything and does nothing.
    struct Deaf;

    impl Link for Deaf {
        fn output_ready(&self, _alone: bool) {}
        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}
    }

    /// Notes when it is told to read and when not.
    struct Told {
        raw: Raw,
        reading: Vec<bool>,
    }

    impl Wire for Told {
        fn set_reading(&mut self, reading: bool, _: Duration) {
            self.reading.push(reading);
        }

        fn receive(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error> {
            self.raw.receive(input, now)
        }

        fn has_events(&self) -> bool {
            self.raw.has_events()
        }

        fn next_from_peer(&mut self, other: &mut dyn FnMut(ProtocolEvent)) -> Option<FromPeer> {
            self.raw.next_from_peer(other)
        }

        fn stage(&mut self, items: &mut VecDeque<Item>) {
            self.raw.stage(items);
        }

        fn output_progress(&self) -> OutputProgress {
            self.raw.output_progress()
        }

        fn pending_bytes(&self) -> usize {
            self.raw.pending_bytes()
        }

        fn write_with(&mut self, size: WriteSize, write: &mut Write<'_>) -> io::Result<bool> {
            self.raw.write_with(size, write)
        }
    }

    /// A socket with one peer, of which it may hold one message.
    pub(in crate::engine::session) fn attached() -> (Socket, PipeEnd) {
        let builder = Socket::builder(SocketType::Pair);
        let socket = builder.receive_high_water_mark(1).build().unwrap();
        let peer = Peer::inproc(
            "peer",
            1,
            false,
            RoutingId::none(),
            SocketType::Pair,
            Vec::new(),
        );
        let core = socket.core().unwrap();
        let attached = core.attach(Arc::new(peer), Arc::new(Deaf), Provenance::default());
        let pipe = PipeEnd::new(attached.unwrap(), Arc::default());
        (socket, pipe)
    }

    fn arrive(raw: &mut dyn Wire, text: &str) {
        raw.receive(&mut BytesMut::from(text), NOW).unwrap();
    }

    #[test]
    fn messages_go_to_the_protocol_until_it_has_enough_and_are_unsent_until_they_are_written() {
        let (socket, mut pipe) = attached();
        let core = socket.core().unwrap();
        let mut raw = Raw::new(usize::MAX);
        for _ in 0..5 {
            let mut frames = Frames::from(vec![7; WRITE_BUDGET / 2]);
            assert!(core.send_if_room(&mut frames).unwrap());
        }
        pipe.take_outbound(core, &mut raw, Pauses::NONE);
        assert!(pipe.is_waiting() && raw.pending_bytes() >= WRITE_BUDGET);
        assert!(raw.pending_bytes() < 2 * WRITE_BUDGET);
        while raw.pending_bytes() > 0 {
            let mut taken =
                |slices: &[io::IoSlice<'_>]| Ok(slices.iter().map(|slice| slice.len()).sum());
            raw.write_with(WriteSize::of_all(usize::MAX), &mut taken)
                .unwrap();
        }
        pipe.take_outbound(core, &mut raw, Pauses::NONE);
        pipe.take_outbound(core, &mut raw, Pauses::NONE);
        pipe.close(core, &mut raw);
        let counters = socket.counters();
        // Two were written and may have arrived, two were staged, and the last one stays with the socket.
        let lost = (counters.dropped_unsent, counters.unconfirmed);
        assert_eq!((lost, core.backlog()), ((2, 2), 1));
    }

    #[test]
    fn messages_that_come_during_the_pauses_are_taken_before_the_write_and_later_ones_behind_it() {
        let (socket, mut pipe) = attached();
        let core = socket.core().unwrap();
        let send = || {
            let mut frames = Frames::from("more");
            assert!(core.send_if_room(&mut frames).unwrap());
        };
        let taken = |pipe: &mut PipeEnd, pauses: Pauses<'_>| {
            let mut raw = Raw::new(usize::MAX);
            pipe.take_outbound(core, &mut raw, pauses);
            raw.pending_bytes() / "more".len()
        };
        let pause = |_| send();
        send();
        assert_eq!(taken(&mut pipe, Pauses::by(&pause)), 6);
        assert!(pipe.is_waiting());
        let pauses = Cell::new(0);
        let pause = |_| pauses.set(pauses.get() + 1);
        send();
        // One check more finds that there are no others.
        assert_eq!(taken(&mut pipe, Pauses::by(&pause)), 1);
        assert!(!pipe.is_waiting() && pauses.get() == 1);
        send();
        pipe.output_ready();
        assert_eq!(taken(&mut pipe, Pauses::NONE), 1);
    }

    #[test]
    fn a_full_queue_pauses_the_session_until_the_pipe_has_room() {
        let (socket, mut pipe) = attached();
        let core = socket.core().unwrap();
        let mut raw = Told {
            raw: Raw::new(usize::MAX),
            reading: Vec::new(),
        };
        for text in ["first", "second"] {
            arrive(&mut raw, text);
            assert!(pipe.deliver(core, &mut raw, NOW).is_empty());
        }
        assert!(pipe.is_paused() && raw.has_events());
        assert_eq!(core.try_receive().unwrap().unwrap(), "first".into());
        pipe.resume();
        pipe.deliver(core, &mut raw, NOW);
        assert!(!raw.has_events());
        assert_eq!(core.try_receive().unwrap().unwrap(), "second".into());
        // Told each time that the queue is full. That it goes on is told with the room.
        assert_eq!(raw.reading, [false, false]);
        arrive(&mut raw, "third");
        pipe.close(core, &mut raw);
        assert_eq!(socket.counters().dropped_unread, 1);
    }
}
