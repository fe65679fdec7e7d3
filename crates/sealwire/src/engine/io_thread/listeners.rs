//! The I/O thread's listeners: accepting within bounds.

use std::sync::Arc;

use mio::Token;

use super::{IoThread, Source};
use crate::endpoint::Endpoint;
use crate::engine::listener::{ACCEPT_PAUSE, ACCEPTS_PER_TURN, Accepted, Listener};
use crate::engine::session::{End, Origin};
use crate::engine::timers::Timer;
use crate::monitor::{ConnectionFailure, Event, FailureCause};
use crate::socket::SocketCore;
use crate::transport::BoundListener;

impl IoThread {
    pub(super) fn listen(
        &mut self,
        core: Arc<SocketCore>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
    ) {
        let mut listener = Listener::new(core, listener, endpoint, id);
        let entry = self.sources.vacant_entry();
        let token = Token(entry.key());
        if let Err(error) = listener
            .source_mut()
            .register(&self.reactor.registry, token)
        {
            let (endpoint, reason) = (listener.endpoint.clone(), error.to_string());
            listener
                .core
                .hub
                .emit(Event::AcceptFailed { endpoint, reason });
            listener.core.remove_attachment();
            return;
        }
        entry.insert(Source::Listener(listener));
    }

    pub(super) fn accept(&mut self, slot: usize) {
        let now = self.reactor.now();
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(Source::Listener(listener)) = self.sources.get_mut(slot) else {
                return;
            };
            let (core, endpoint) = (listener.core.clone(), listener.endpoint.clone());
            let id = listener.id;
            match listener.accept(now) {
                Accepted::Nothing => return,
                Accepted::Pause => {
                    let at = self.reactor.now() + ACCEPT_PAUSE;
                    self.reactor
                        .timers
                        .set(at, Timer::Source { slot, number: id });
                    return;
                }
                Accepted::TurnedAway(address, cause) => {
                    core.hub.emit(Event::Failed(ConnectionFailure {
                        connection: None,
                        endpoint,
                        address,
                        was_ready: false,
                        cause,
                    }))
                }
                Accepted::Connection(stream, address) => {
                    core.end_lease();
                    let origin = Origin::Listener { slot, id };
                    let (key, registered) =
                        self.add_session(core.clone(), origin, endpoint, address.clone(), stream);
                    let evicted = self
                        .listener_of(origin)
                        .and_then(|listener| listener.began(key, &address));
                    core.hub.emit(Event::Accepted {
                        connection: key.connection,
                        address,
                    });
                    match registered {
                        Ok(()) => self.handshakes.push(key.slot),
                        Err(error) => {
                            let cause = FailureCause::Transport(Arc::new(error));
                            self.end_session(key.slot, End::Failed(cause));
                        }
                    }
                    if let Some(oldest) = evicted {
                        self.with_session(oldest, |_, _| {
                            Err(End::Failed(FailureCause::HandshakeEvicted))
                        });
                    }
                }
            }
        }
        self.handshakes.push(slot);
    }
}
