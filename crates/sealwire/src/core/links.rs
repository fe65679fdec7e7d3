//! Operations of a socket's links, and of the engine for them: attach, deliver, take.

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire_zmtp::Frames;
use sealwire_zmtp::error::CLOSING;

use super::queues::Queues;
use super::{SocketCore, State};
use crate::account::{Exceeded, Kind};
use crate::auth::Decision;
use crate::monitor::{Event, add};
use crate::options::EndpointOptions;
use crate::pattern::{
    Arrivals, Delivered, Dismissal, Item, Link, PipeId, Provenance, Received, Room, Taken,
};
use crate::peer::Peer;

impl SocketCore {
    /// A peer is ready. The error is for both sides to read.
    pub(crate) fn attach(
        &self,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        mut provenance: Provenance,
    ) -> Result<PipeId, Dismissal> {
        let in_process = link.keeps_output_back();
        if in_process {
            self.in_process.note_peer();
        }
        peer.account().belongs_to(&self.counters.excesses);
        let attached = self.with(|state| {
            if state.has_left(&provenance) {
                return Err(Dismissal::Because("the socket has disconnected from here"));
            }
            let State {
                queues,
                life,
                endpoints,
            } = state;
            if !life.welcomes_peers(queues.backlog() > 0) {
                return Err(Dismissal::Because(CLOSING));
            }
            // Others were on their way before.
            if in_process && life.is_draining() {
                return Err(Dismissal::Because("the socket is leaving"));
            }
            self.admits_beside_what_is_left(queues, &peer)?;
            let connector = provenance.connector;
            let endpoint = connector.or(provenance.listener);
            let awaited = connector.and_then(|connector| queues.pipes.awaited(connector));
            let id = match awaited {
                Some(id) => {
                    queues.arrived(id, peer, link, provenance.options);
                    id
                }
                None => {
                    let endpoint = connector.and_then(|connector| endpoints.get(connector));
                    provenance.routing_id = endpoint.and_then(|it| it.routing_id.clone());
                    let attached = queues.attach(peer, link, provenance);
                    attached.map_err(Dismissal::Because)?
                }
            };
            if let Some(endpoint) = endpoint {
                endpoints.note_connection(endpoint);
            }
            Ok((id, queues.pattern.readable()))
        });
        self.notify_writable();
        let (id, readable) = attached?;
        if readable {
            self.notify_readable(1);
        }
        Ok(id)
    }

    /// Refuses a peer while earlier connections of its address hold more than one connection may:
    /// messages outlive their connection, and a peer that connects again and again while nobody
    /// reads would have a new queue each time.
    fn admits_beside_what_is_left(&self, queues: &Queues, peer: &Peer) -> Result<(), Dismissal> {
        let limit = queues.receive_byte_budget();
        let Some(source) = peer.source().filter(|_| limit > 0) else {
            return Ok(());
        };
        if queues.pipes.left_behind_by(source) <= limit {
            return Ok(());
        }
        let kind = Kind::LeftBehind;
        peer.account().note_excess(kind);
        Err(Dismissal::Exceeded(Exceeded { kind, limit }))
    }

    /// A peer is gone. Returns whether the socket had left it, or is closing.
    pub(crate) fn detach(&self, id: PipeId) -> bool {
        let (dropped, readable, begun_here) = self.with(|state| {
            let begun_here = state.queues.pipes.was_left(id) || !state.life.is_open();
            state.note_gone(id);
            let farewell = state.farewell(id);
            let connector = state.queues.pipes.connector(id);
            let dropped = state.queues.detach(id, farewell);
            state.life.count_unsent(dropped);
            state.await_peer_again(connector);
            (dropped, state.queues.pattern.readable(), begun_here)
        });
        add(&self.counters.dropped_unsent, dropped);
        // A thread that reads from this peer directly has to read elsewhere.
        self.readable.wake_direct_reader();
        if readable {
            self.notify_readable(1);
        }
        self.notify_writable();
        begun_here
    }

    /// Messages that a connection had taken and could not send.
    pub(crate) fn count_unsent(&self, messages: usize) {
        if messages > 0 {
            self.lock().life.count_unsent(messages);
            add(&self.counters.dropped_unsent, messages);
        }
    }

    /// Takes items from a link until there are no more or the pipe is full: then the link stops
    /// reading until it is told that input is wanted. The source is asked under the lock.
    pub(crate) fn deliver(&self, id: PipeId, source: &mut dyn Arrivals) -> Delivered {
        let (delivered, subscriber) = self.with(|state| {
            let Queues { pattern, pipes, .. } = &mut state.queues;
            if pipes.was_left(id) {
                return (pipes.discard_arrivals(source), None);
            }
            let delivered = pattern.deliver_all(pipes, id, source);
            pipes.note_received(id, delivered.queued, delivered.bytes);
            let subscriber = match delivered.changed {
                true => pipes.newly_subscribed(id),
                false => None,
            };
            (delivered, subscriber)
        });
        self.count_delivered(&delivered);
        if delivered.changed {
            self.writable.notify(usize::MAX);
        }
        if let Some(peer) = subscriber {
            self.hub.emit(Event::Subscribed { peer });
        }
        delivered
    }

    /// The same for datagrams, each with its sender.
    pub(crate) fn deliver_datagrams(
        &self,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        let delivered = self.with(|state| {
            let Queues { pattern, pipes, .. } = &mut state.queues;
            let delivered = pattern.deliver_datagrams(pipes, id, next);
            pipes.note_received(id, delivered.queued, delivered.bytes);
            delivered
        });
        self.count_delivered(&delivered);
        delivered
    }

    fn count_delivered(&self, delivered: &Delivered) {
        add(&self.counters.dropped_at_receive, delivered.ignored);
        if delivered.queued > 0 {
            self.notify_readable_more(delivered.queued);
        }
    }

    /// What a link may deliver now; `None` when that is nothing: then it is told once there is
    /// room.
    pub(crate) fn input_room(&self, id: PipeId) -> Option<Room> {
        self.lock().queues.pipes.input_room(id)
    }

    /// Moves queued items to a link, as many as there is room for. Those who wait for room in the queue are told once half of
    /// it is free; of less the link tells them ([`SocketCore::notify_writable`]) where it cannot take more at once.
    pub(crate) fn take_outbound(&self, id: PipeId, into: &mut VecDeque<Item>, room: Room) -> Taken {
        let taken = self.with(|state| state.queues.take_outbound(id, into, room));
        if taken.half_free {
            self.notify_writable();
        }
        taken
    }

    /// Whether everything for this socket has to be moved to it at once: somebody waits for each
    /// arrival, subscriptions take effect, or the latest message replaces the one before.
    pub(crate) fn takes_at_once(&self) -> bool {
        #[cfg(unix)]
        if self.pollers.want_each_arrival() {
            return true;
        }
        self.conflates() || self.socket_type.takes_subscriptions()
    }

    /// The link of the only peer there is.
    pub(super) fn sole_link(&self) -> Option<Arc<dyn Link>> {
        self.lock().queues.pipes.sole_link()
    }

    // ---- what the engine asks --------------------------------------------------------------------

    /// Forgets an endpoint that is given up.
    pub(crate) fn give_up(&self, id: u64) {
        let dropped = self.with(|state| {
            state.endpoints.forget(id);
            state.endpoints_changed();
            let dropped = state.queues.give_up(id);
            state.life.count_unsent(dropped);
            dropped
        });
        add(&self.counters.dropped_unsent, dropped);
        self.notify_writable();
    }

    /// Counts a connection (or other worker) of this socket.
    pub(crate) fn add_attachment(&self) {
        self.lock().endpoints.attach();
    }

    /// The counterpart of [`SocketCore::register`] and [`SocketCore::add_attachment`].
    pub(crate) fn remove_attachment(&self) {
        let (dropped, ended, drained) = self.with(|state| {
            let dropped = state.drop_backlog_if_last();
            state.endpoints.release();
            (dropped, state.end_if_done(), state.is_drained())
        });
        add(&self.counters.dropped_unsent, dropped);
        if ended {
            self.announce_end();
        }
        if drained {
            self.notify_readable(usize::MAX);
        }
    }

    /// Messages for which no peer has been found yet.
    pub(crate) fn backlog(&self) -> usize {
        self.lock().queues.backlog()
    }

    /// Gives up on the backlog: the linger time is over.
    pub(crate) fn abandon_backlog(&self) {
        let dropped = self.with(|state| {
            let dropped = state.queues.drop_backlog();
            state.life.count_unsent(dropped);
            dropped
        });
        add(&self.counters.dropped_unsent, dropped);
    }

    /// The thread that does its I/O has ended by a fault: whatever ends now ends for that.
    pub(crate) fn note_failure(&self) {
        self.lock().life.note_failure();
    }

    /// Ends the socket at once for that.
    pub(crate) fn fail(self: &Arc<Self>) {
        let threads = self.with(|state| {
            state.life.fail();
            state.life.count_unread(state.queues.discard_unread());
            state.endpoints.threads()
        });
        // The others go on, and would connect and accept for nobody.
        for thread in threads {
            self.context.engine().abandon(thread, self.clone());
        }
        self.announce_end();
        self.notify_readable(usize::MAX);
        self.notify_writable();
    }

    /// Decides again about all clients if the authenticator has changed its mind, and disconnects
    /// those that it would refuse now. May block.
    pub(crate) fn revise_clients(&self) {
        let revising = &self.clients.revising;
        if !revising.begin(self.present.revisions()) {
            return;
        }
        let peers: Vec<(PipeId, Arc<Peer>, Arc<EndpointOptions>, bool)> = {
            let pipes = &self.lock().queues.pipes;
            let of = |id| {
                let (peer, options) = (pipes.peer(id)?.clone(), pipes.options(id)?);
                Some((id, peer, options, pipes.is_undecided(id)))
            };
            pipes.connected().filter_map(of).collect()
        };
        for (id, peer, options, undecided) in peers {
            let decision = match undecided {
                true => options.security.decide_anew(&peer),
                false => options.security.decide_again(&peer),
            };
            if revising.disallows(decision.as_ref()) {
                self.disallow(id, &peer);
            } else if undecided && !matches!(decision, Some(Decision::Refuse { .. })) {
                self.decided(id, &peer, &options);
            }
        }
    }

    fn disallow(&self, id: PipeId, peer: &Arc<Peer>) {
        let reason = match peer.public_key() {
            Some(_) => "this key is no longer allowed here",
            None => "this username and password are no longer allowed here",
        };
        self.with(|state| {
            // The slot may have been taken by another peer in the meantime.
            let pipes = &mut state.queues.pipes;
            if pipes.peer(id).is_some_and(|now| Arc::ptr_eq(now, peer)) {
                pipes.disconnect(id, reason);
            }
        });
    }
}

impl State {
    /// What the application is to read about a peer that is gone.
    pub(super) fn farewell(&self, id: PipeId) -> Option<Frames> {
        let behaviour = &self.queues.behaviour;
        let connector = self.queues.pipes.connector(id);
        let again = connector.is_some_and(|connector| self.endpoints.returns(connector));
        let message = if again {
            &behaviour.hiccup_message
        } else {
            &behaviour.disconnect_message
        };
        message.clone().filter(|_| self.life.is_open())
    }
}
