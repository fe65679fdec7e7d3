//! The I/O thread's listeners: accepting within bounds.

use std::cmp::Reverse;
use std::io;
use std::sync::Arc;

use mio::Token;

use super::IoThread;
use super::closing::accept_panicked;
use super::sources::{EventSource, SourceEvent};
use crate::account::{self, Kind, Place};
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::listener::{Accepted, Listener};
use crate::engine::load::LoadShare;
use crate::engine::session::End;
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::timers::Timer;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::limits::ACCEPTS_PER_TIME_SLICE;
use crate::monitor::Event;
use crate::options::CurrentOptions;
use crate::peer::{Ends, PeerAddress};
use crate::transport::{BoundListener, Stream};

impl IoThread {
    pub(super) fn serve_listener(&mut self, slot: usize, event: SourceEvent) {
        match event {
            SourceEvent::Polled(_) => self.handshakes.push(slot),
            SourceEvent::TimeSlice | SourceEvent::Due(_) => self.accept(slot),
            // Connections whose handshake is under way live on: so do those that have only just been made.
            SourceEvent::Withdrawn { peers_stay: true }
            | SourceEvent::SocketClosing { backlog: true } => {
                self.accept_last(slot);
                self.remove_endpoint(slot);
            }
            SourceEvent::Withdrawn { peers_stay: false }
            | SourceEvent::SocketClosing { backlog: false }
            | SourceEvent::Draining { .. }
            | SourceEvent::LingerOver => self.remove_endpoint(slot),
            SourceEvent::Panicked => {
                if let Some(listener) = self.sources.listener(slot) {
                    let (core, id) = (listener.core.clone(), listener.id);
                    let event = accept_panicked(&listener.endpoint);
                    self.endpoint_panicked(slot, &core, id, event);
                }
            }
        }
    }

    pub(super) fn listen(
        &mut self,
        core: Arc<SocketCore>,
        options: Arc<CurrentOptions>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
        share: LoadShare,
    ) {
        let mut listener = Listener::new(
            core,
            options,
            listener,
            endpoint,
            id,
            self.reactor.world.descriptor_limit(),
            share,
        );
        let token = Token(self.sources.vacant_slot());
        if let Err(error) = listener
            .source_mut()
            .register(self.reactor.world.registry(), token)
        {
            listener.core.hub.emit(Event::AcceptFailed {
                endpoint: listener.endpoint.clone(),
                reason: error.to_string(),
                os_error: error.raw_os_error(),
                count: 1,
            });
            listener.core.remove_attachment();
            return;
        }
        self.sources
            .insert(EventSource::Listener(Box::new(listener)));
    }

    pub(super) fn accept(&mut self, slot: usize) {
        if self.accept_up_to(slot, ACCEPTS_PER_TIME_SLICE) {
            self.handshakes.push(slot);
        }
    }

    /// Takes those whom the system has connected already to a listener that is about to be closed: they would be
    /// reset.
    fn accept_last(&mut self, slot: usize) {
        if let Some(listener) = self.sources.listener(slot) {
            listener.remove_file();
            let most = listener.last_accepts();
            self.accept_up_to(slot, most);
        }
    }

    /// Accepts up to `most` connections. Returns whether more may wait.
    fn accept_up_to(&mut self, slot: usize, most: usize) -> bool {
        let now = self.reactor.now();
        let mut exhausted = false;
        for _ in 0..most {
            let Some(listener) = self.sources.listener(slot) else {
                return false;
            };
            if listener.is_paused(now) {
                return false;
            }
            match listener.accept(now) {
                Accepted::Nothing => return false,
                Accepted::Gone => {}
                Accepted::TurnedAway(address, cause) => self.turned_away(slot, address, cause),
                Accepted::Connection(stream, address, source) => {
                    self.admit(slot, stream, address, source);
                    exhausted = false;
                }
                Accepted::Exhausted(error) => {
                    // One handshake for each connection that is accepted: more would not help
                    // where somebody else takes what becomes free.
                    if !std::mem::replace(&mut exhausted, true) && self.shed_handshake(None) {
                        continue;
                    }
                    let Some(listener) = self.sources.listener(slot) else {
                        return false;
                    };
                    match listener.refuse() {
                        Ok(address) => {
                            self.turned_away(slot, address, FailureCause::OutOfDescriptors);
                        }
                        Err(_) => {
                            self.pause(slot, &error);
                            return false;
                        }
                    }
                }
                Accepted::Failed(error) => {
                    self.pause(slot, &error);
                    return false;
                }
            }
        }
        true
    }

    /// Makes a session of a connection that was accepted, if there is a place for it.
    fn admit(
        &mut self,
        slot: usize,
        stream: Stream,
        address: PeerAddress,
        source: account::Source,
    ) {
        let Some(place) = self.place(slot) else {
            drop(stream);
            return self.turned_away(slot, address, FailureCause::TooManyConnections);
        };
        let Some(listener) = self.sources.listener(slot) else {
            return;
        };
        let (core, options, endpoint, id) = (
            listener.core.clone(),
            listener.options.clone(),
            listener.endpoint.clone(),
            listener.id,
        );
        let descriptors = listener.descriptors;
        core.end_lease();
        let origin = Origin::Listener { slot, id };
        let (local, descriptor) = (stream.local_address(), stream.descriptor());
        // Over a Unix socket both ends have the listener's name.
        let of_listener = || matches!(address, PeerAddress::Ipc(_)).then(|| address.clone());
        let local_address = local.or_else(of_listener);
        let ends = Ends {
            endpoint: endpoint.clone(),
            accepted: true,
            local: local_address.clone(),
            remote: address.clone(),
            descriptor,
        };
        let (key, registered) = self.add_session(core.clone(), options, origin, ends, stream);
        if let Some(session) = self.sources.session(key.slot) {
            session.with(|session| session.take_place(place));
        }
        let evicted = self
            .sources
            .listener_of(origin)
            .and_then(|listener| listener.began(key, source));
        core.hub.emit(Event::Accepted {
            connection: key.connection,
            endpoint,
            address,
            local_address,
            descriptor,
        });
        match registered {
            Ok(()) => self.handshakes.push(key.slot),
            Err(error) => {
                let cause = FailureCause::Transport(Arc::new(error));
                self.end_session(key.slot, End::Failed(cause));
            }
        }
        if let Some((oldest, cause)) = evicted {
            self.evict(oldest, cause);
        } else if descriptors.has_too_many_handshakes() {
            self.shed_handshake(Some(key));
        }
    }

    /// A place for one more connection; the handshake that goes first makes room if need be.
    fn place(&mut self, slot: usize) -> Option<Place> {
        let listener = self.sources.listener(slot)?;
        let descriptors = listener.descriptors;
        if listener.is_full() {
            let (oldest, _) = listener.first_to_give_way()?;
            self.evict(oldest, FailureCause::HandshakeEvicted);
        }
        descriptors
            .place()
            .or_else(|| self.shed_handshake(None).then(|| descriptors.place())?)
    }

    fn turned_away(&mut self, slot: usize, address: PeerAddress, cause: FailureCause) {
        let Some(listener) = self.sources.listener(slot) else {
            return;
        };
        listener.core.counters.excesses.note(Kind::Connections);
        listener.core.tell_failure(ConnectionFailure {
            connection: None,
            ends: Arc::new(Ends {
                accepted: true,
                ..Ends::outward(listener.endpoint.clone(), address)
            }),
            peer: None,
            cause,
        });
    }

    fn pause(&mut self, slot: usize, error: &io::Error) {
        let now = self.reactor.now();
        if let Some(listener) = self.sources.listener(slot) {
            let (until, number) = (listener.pause(error, now), listener.id);
            let timer = Timer::EventSource { slot, number };
            self.reactor.timers.set(until, timer);
        }
    }

    /// Ends the oldest handshake of the address that has most, at whichever listener of this
    /// thread, unless that is the one to keep. `false` when there is none.
    fn shed_handshake(&mut self, keep: Option<SessionKey>) -> bool {
        let handshakes = self.sources.listeners();
        let most = handshakes
            .filter_map(Listener::first_to_give_way)
            .max_by_key(|(key, handshakes)| (*handshakes, Reverse(key.connection)));
        match most {
            Some((oldest, _)) if keep != Some(oldest) => {
                self.evict(oldest, FailureCause::HandshakeEvicted);
                true
            }
            _ => false,
        }
    }

    fn evict(&mut self, session: SessionKey, cause: FailureCause) {
        self.with_session(session, |session, _| {
            session
                .identity
                .core
                .counters
                .excesses
                .note(Kind::Handshakes);
            Err(End::Failed(cause))
        });
    }
}
