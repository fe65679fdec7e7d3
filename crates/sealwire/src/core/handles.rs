//! Operations of handles that end at once.

use std::collections::VecDeque;
#[cfg(unix)]
use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::{Frame, Frames, SocketType};

use super::lifecycle::Closing;
use super::queues::End;
use super::{Registration, RegistrationKind, SocketCore, State};
use crate::endpoint::Endpoint;
use crate::error::{Error, MessageError, Operation, SendError, Unusable};
use crate::message::Message;
use crate::monitor::{Counters, add};
use crate::pattern::SendFailure;
#[cfg(unix)]
use crate::waiting::Readiness;

/// Messages that are sent under one lock at most. Each further one would save less than the
/// connections, which need the lock to move the others on, may have to wait for it.
const BATCH: usize = 256;

impl SocketCore {
    // ---- receiving -------------------------------------------------------------------------------

    /// Receives without waiting.
    #[inline]
    pub(crate) fn try_receive(&self) -> Result<Option<Message>, Error> {
        match self.next_of_sole_peer() {
            None => self.try_receive_fairly(),
            message => Ok(message),
        }
    }

    /// A message that is there, where no order of peers has to be kept.
    #[inline]
    pub(crate) fn next_of_sole_peer(&self) -> Option<Message> {
        let mut state = self.lock();
        if !state.life.is_open() {
            return None;
        }
        let message = state.queues.receive_of_sole_peer();
        self.release(state);
        #[cfg(unix)]
        if message.is_some() {
            // More is left, or the order of peers decides.
            self.pollers.signal();
        }
        message
    }

    fn try_receive_fairly(&self) -> Result<Option<Message>, Error> {
        let (received, left) = self.with(|state| {
            state.life.open()?;
            let received = state.queues.receive()?;
            if received.is_none() {
                state.fail_once_drained()?;
            }
            Ok::<_, Error>((received, state.queues.readable()))
        })?;
        if received.is_some() && left {
            // Someone else may be waiting for what is left.
            self.notify_readable(1);
        }
        Ok(received)
    }

    /// Receives up to `limit` messages that are there, under one lock. Returns how many.
    pub(crate) fn try_receive_many(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
    ) -> Result<usize, Error> {
        let (taken, left) = self.with(|state| {
            state.life.open()?;
            let taken = state.queues.receive_many(into, limit)?;
            if taken == 0 && limit > 0 {
                state.fail_once_drained()?;
            }
            Ok::<_, Error>((taken, state.queues.readable()))
        })?;
        if left {
            self.notify_readable(1);
        }
        Ok(taken)
    }

    /// Whether messages may be taken before somebody asks for them: what receives one at a time has
    /// more to do with it than to read it, and those who wait elsewhere have to be woken.
    pub(crate) fn hands_out_batches(&self) -> bool {
        let one_at_a_time = matches!(self.socket_type, SocketType::Req | SocketType::Rep);
        !one_at_a_time && !self.readable.is_waited_for()
    }

    /// Takes messages back that were received and are to be received again, in this order.
    pub(crate) fn give_back(&self, messages: VecDeque<Message>) {
        let count = messages.len();
        self.with(|state| state.queues.give_back(messages));
        self.notify_readable(count);
    }

    /// A descriptor that becomes readable when the socket should be looked at.
    #[cfg(unix)]
    pub(crate) fn readiness(self: &Arc<Self>) -> io::Result<Readiness> {
        let readiness = Readiness::new(&self.pollers, self.clone())?;
        // A thread that reads directly would take the messages that the descriptor announces.
        self.end_direct_reading();
        self.fetch_what_is_kept_back();
        Ok(readiness)
    }

    /// Moves here what peers of this process keep back until more is wanted.
    #[cfg(unix)]
    pub(crate) fn fetch_what_is_kept_back(&self) {
        let links = self.lock().queues.pipes.links_that_keep_back();
        for link in links {
            link.input_wanted();
        }
    }

    // ---- sending ---------------------------------------------------------------------------------

    /// Sends a message, or leaves it as it was. After a success, `frames` holds nothing of use.
    fn try_send(&self, frames: &mut Frames) -> Result<(), SendFailure> {
        if frames.is_empty() {
            return Err(Error::from(MessageError::Empty).into());
        }
        let dropped = self.with(|state| {
            state.life.open()?;
            state.queues.send(frames)
        })?;
        add(&self.counters.dropped_at_send, dropped);
        Ok(())
    }

    /// The same; `false` when there is no room.
    #[inline]
    pub(crate) fn send_or_leave(&self, frames: &mut Frames) -> Result<bool, Error> {
        match self.try_send(frames) {
            Ok(()) => Ok(true),
            Err(SendFailure::WouldBlock) => Ok(false),
            Err(SendFailure::Failed(error)) => Err(*error),
        }
    }

    /// The same. An error has the message in it.
    pub(crate) fn send_if_room(&self, frames: &mut Frames) -> Result<bool, SendError> {
        let sent = self.send_or_leave(frames);
        sent.map_err(|error| SendError::new(error, mem::take(frames).into()))
    }

    /// Sends messages from the front as long as there is room, and says how many. An error comes
    /// only when there is none before it.
    pub(crate) fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        let before = messages.len();
        while !messages.is_empty() {
            let (dropped, end) = self.with(|state| match state.life.open() {
                Ok(()) => state.queues.send_many(messages, BATCH),
                Err(error) => (0, End::Failed(Box::new(error))),
            });
            add(&self.counters.dropped_at_send, dropped);
            match end {
                End::Taken => {}
                End::Failed(error) if messages.len() == before => return Err(*error),
                End::NoRoom | End::Failed(_) => break,
            }
        }
        Ok(before - messages.len())
    }

    /// Queues payloads for one connection as long as it has room, under one lock.
    pub(crate) fn try_send_many_to(
        &self,
        routing_id: u32,
        payloads: &mut VecDeque<Frame>,
    ) -> Result<usize, Error> {
        self.with(|state| {
            state.life.open()?;
            let queues = &mut state.queues;
            (queues.pattern).send_many_to(&mut queues.pipes, routing_id, payloads)
        })
    }

    /// Moves what is queued for peers without room, as far as that goes at once.
    pub(crate) fn push_output(&self) {
        let links = self.lock().queues.pipes.full_links();
        for link in links.into_iter().flatten() {
            link.push_output();
        }
    }

    // ---- subscriptions ---------------------------------------------------------------------------

    pub(crate) fn subscribe(&self, topic: &[u8]) -> Result<(), Error> {
        self.with(|state| {
            let queues = &mut state.queues;
            queues.pattern.subscribe(&mut queues.pipes, topic)
        })?;
        // XPUB grants by hand what its peers asked for.
        self.writable.notify(usize::MAX);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, topic: &[u8]) -> Result<(), Error> {
        self.with(|state| {
            let queues = &mut state.queues;
            queues.pattern.unsubscribe(&mut queues.pipes, topic)
        })
    }

    pub(crate) fn topics(&self) -> Result<usize, Error> {
        let state = self.lock();
        state.life.open()?;
        state.queues.pattern.topics()
    }

    pub(crate) fn join(&self, group: &[u8]) -> Result<(), Error> {
        self.with(|state| {
            let queues = &mut state.queues;
            queues.pattern.join(&mut queues.pipes, group)
        })
    }

    pub(crate) fn leave(&self, group: &[u8]) -> Result<(), Error> {
        self.with(|state| {
            let queues = &mut state.queues;
            queues.pattern.leave(&mut queues.pipes, group)
        })
    }

    // ---- endpoints -------------------------------------------------------------------------------

    /// Notes an endpoint that something is about to work for.
    ///
    /// # Errors
    ///
    /// [`Error::RoutingIdInUse`] where the application chose one that another peer has; [`Error::Closed`] and the like.
    pub(crate) fn register(&self, registration: Registration) -> Result<(), Error> {
        self.with(|state| {
            state.life.open()?;
            state.life.takes_endpoints()?;
            self.admits_one_more(state, &registration)?;
            state.await_peer(&registration)?;
            state.endpoints.register(registration);
            state.endpoints_changed();
            Ok::<_, Error>(())
        })?;
        // Messages may wait for a peer from now on.
        self.notify_writable();
        Ok(())
    }

    /// A DGRAM is bound once: what it sends leaves there.
    fn admits_one_more(&self, state: &State, registration: &Registration) -> Result<(), Error> {
        let bound = state.endpoints.of_kind(RegistrationKind::Bound).next();
        match bound {
            Some(_) if self.socket_type == SocketType::Dgram => Err(Error::UnusableEndpoint {
                socket_type: self.socket_type,
                endpoint: registration.endpoint.clone(),
                reason: Unusable::SecondEndpoint,
            }),
            _ => Ok(()),
        }
    }

    /// Has the I/O thread with this number work for the socket, which ends should that thread.
    ///
    /// # Errors
    ///
    /// [`Error::EngineFailed`] if it has ended.
    pub(crate) fn enroll_at(self: &Arc<Self>, thread: usize) -> Result<(), Error> {
        let known = self.lock().endpoints.is_served_by(thread);
        match known || self.context.engine().enroll(thread, self) {
            true => Ok(()),
            false => Err(Error::EngineFailed),
        }
    }

    /// Has the I/O thread with this number serve a connection that a listener of the socket has accepted: `hand_over` gives it
    /// that. `false`, and nothing is handed over, once the socket is closing, is being drained or has left the listener's
    /// endpoint with its peers. What the socket tells its threads afterwards comes behind what was handed over.
    pub(crate) fn spread_to(
        self: &Arc<Self>,
        thread: usize,
        listener: u64,
        hand_over: impl FnOnce(),
    ) -> bool {
        if self.enroll_at(thread).is_err() {
            return false;
        }
        let state = &mut *self.lock();
        let life = &state.life;
        if !life.is_open() || life.is_draining() || state.endpoints.has_left(listener) {
            return false;
        }
        state.endpoints.spread_to(thread);
        hand_over();
        true
    }

    /// The I/O threads that may serve something of the socket.
    pub(crate) fn threads(&self) -> Vec<usize> {
        self.lock().endpoints.threads()
    }

    /// The I/O threads that may serve something of the socket, beside this one.
    pub(crate) fn threads_beside(&self, thread: usize) -> Vec<usize> {
        let mut threads = self.lock().endpoints.threads();
        threads.retain(|other| *other != thread);
        threads
    }

    /// The I/O threads that may serve something of the socket. No more come once it is closing or draining. It is
    /// attached once more for each but the first, so that it does not end before they have what they are told.
    pub(crate) fn attach_threads(&self) -> Vec<usize> {
        let endpoints = &mut self.lock().endpoints;
        let threads = endpoints.threads();
        for _ in 1..threads.len() {
            endpoints.attach();
        }
        threads
    }

    /// Begins to drain the socket, and gives the endpoints that it had; `None` where that was begun before.
    pub(crate) fn begin_drain(&self) -> Result<Option<Vec<Registration>>, Error> {
        let socket_type = self.socket_type;
        if !matches!(
            socket_type,
            SocketType::Pull | SocketType::Gather | SocketType::Sub | SocketType::Dish
        ) {
            return Err(Error::Unsupported(Operation::Drain));
        }
        let withdrawn = self.with(|state| {
            let begins = state.life.drain()?;
            Ok::<_, Error>(begins.then(|| state.endpoints.withdraw_all()))
        })?;
        // Those who wait for peers wait in vain.
        self.notify_writable();
        Ok(withdrawn)
    }

    /// Whether the socket takes no more endpoints.
    pub(crate) fn is_draining(&self) -> bool {
        self.lock().life.is_draining()
    }

    /// A connection of a socket that is being drained went without its peer's end.
    pub(crate) fn note_cut_off(&self) {
        self.lock().life.note_cut_off();
    }

    pub(crate) fn endpoints(&self, kind: RegistrationKind) -> Vec<Endpoint> {
        let state = self.lock();
        let of_kind = state.endpoints.of_kind(kind);
        of_kind.map(|it| it.endpoint.clone()).collect()
    }

    /// What it is bound to.
    pub(crate) fn listening(&self) -> Vec<Registration> {
        let state = self.lock();
        state
            .endpoints
            .of_kind(RegistrationKind::Bound)
            .cloned()
            .collect()
    }

    // ---- the end ---------------------------------------------------------------------------------

    /// Ends all operations; queued messages may still go out, for this linger time or that of the options.
    pub(crate) fn begin_close(&self, linger: Option<Duration>) -> Closing {
        let (closing, ended) = self.with(|state| {
            let closing = state.life.close(linger);
            (closing, state.end_if_done())
        });
        if ended {
            self.announce_end();
        }
        self.notify_readable(usize::MAX);
        self.notify_writable();
        closing
    }

    /// How long closing may wait for what is unsent.
    pub(crate) fn linger(&self) -> Duration {
        self.lock().life.linger()
    }

    /// Why nothing can be done any more, where that is so.
    pub(crate) fn closed(&self) -> Option<Error> {
        self.lock().life.open().err()
    }

    /// The thread of the context has ended by a fault.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().life.has_failed()
    }

    pub(crate) fn is_closing(&self) -> bool {
        !self.lock().life.is_open()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().life.has_ended()
    }

    pub(crate) fn unsent(&self) -> usize {
        self.lock().life.unsent()
    }

    /// Messages that are neither sent nor given up yet.
    pub(crate) fn to_send(&self) -> usize {
        let queues = &mut self.lock().queues;
        // Those that await a peer are in pipes too.
        queues.pattern.backlog() + queues.pipes.outbound_messages()
    }

    /// The numbers as of now.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = self.counters.snapshot();
        let state = self.lock();
        let pipes = &state.queues.pipes;
        let traffic = pipes.traffic();
        counters.messages_sent = traffic.messages_sent;
        counters.bytes_sent = traffic.bytes_sent;
        counters.messages_received = traffic.messages_received;
        counters.bytes_received = traffic.bytes_received;
        counters.replaced = pipes.replaced();
        counters.missed = pipes.missed();
        counters.dropped_unread += state.life.unread() as u64;
        counters
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, Weak};

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::pattern::{Dismissal, Link, Provenance, Room};
    use crate::peer::Peer;
    use crate::routing_ids::RoutingId;
    use crate::socket::Socket;

    /// Takes all that is queued as soon as it is told of it, as a connection does that writes at
    /// once.
    struct Eager {
        core: Weak<SocketCore>,
        /// How much it found each time.
        found: Mutex<Vec<usize>>,
    }

    impl Link for Eager {
        fn output_ready(&self, alone: bool) {
            assert!(alone, "one signal and no more");
            let core = self.core.upgrade().unwrap();
            let (mut found, mut items) = (0, VecDeque::new());
            core.take_outbound(0, &mut items, Room::of_bytes(usize::MAX));
            // Until there is nothing, or it would not be told again.
            while !items.is_empty() {
                found += items.len();
                items.clear();
                core.take_outbound(0, &mut items, Room::of_bytes(usize::MAX));
            }
            self.found.lock().unwrap().push(found);
        }

        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}
    }

    #[test]
    fn a_batch_tells_the_connection_once_for_what_one_lock_takes() {
        let socket = Socket::new(SocketType::Push).unwrap();
        let core = socket.core().unwrap();
        let link = Arc::new(Eager {
            core: Arc::downgrade(core),
            found: Mutex::default(),
        });
        let peer = Peer::inproc(
            "eager",
            1,
            false,
            RoutingId::none(),
            SocketType::Pull,
            Vec::new(),
        );
        let id = core
            .attach(Arc::new(peer), link.clone(), Provenance::default())
            .unwrap();
        assert_eq!(id, 0);
        let mut messages: VecDeque<_> = (0..600).map(|_| Message::from("work")).collect();
        assert_eq!(core.try_send_many(&mut messages).unwrap(), 600);
        assert_eq!(*link.found.lock().unwrap(), [BATCH, BATCH, 600 - 2 * BATCH]);
    }
}
