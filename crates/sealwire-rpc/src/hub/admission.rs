//! Which connections there are: who gets a place, who waits for one, who has to go.

use std::sync::Arc;
use std::time::Duration;

use sealwire::Peer;

use super::{Hub, lock, write};
use crate::conn::{Conn, ConnState, Link};
use crate::counters::count;
use crate::proto::{Settings, Side, Violation};

/// A connection that has no place yet.
pub(super) struct Waiting {
    peer: Arc<Peer>,
    settings: Settings,
    hello: Vec<u8>,
    until: Duration,
}

impl Hub {
    /// The first message of a connection.
    pub(super) fn greeted(self: &Arc<Self>, peer: &Arc<Peer>, message: &[u8]) {
        let (settings, hello) = match Settings::parse(message) {
            Ok(parsed) => parsed,
            Err(violation) => return self.violated(peer.route(), violation),
        };
        let waiting = Waiting {
            peer: peer.clone(),
            settings,
            hello: hello.to_vec(),
            until: self.now() + self.options.connection_wait,
        };
        if self.link_count() < self.options.max_connections {
            return self.admit(waiting);
        }
        let mut queue = lock(&self.waiting);
        if queue.iter().any(|other| other.peer.route() == peer.route()) {
            drop(queue);
            return self.violated(peer.route(), Violation::SettingsAgain);
        }
        self.clock.arm(waiting.until);
        queue.push(waiting);
    }

    fn admit(self: &Arc<Self>, new: Waiting) {
        let route = new.peer.route();
        let mut answer = Vec::new();
        if let Some(greeter) = &self.options.greeter {
            let decide = std::panic::AssertUnwindSafe(|| greeter(&new.peer, &new.hello));
            let decided = std::panic::catch_unwind(decide)
                .unwrap_or_else(|_| Err("the handshake hook panicked".into()));
            match decided {
                Ok(hello) => answer = hello,
                Err(reason) => {
                    tracing::warn!(target: "sealwire::rpc", peer = %new.peer, reason, "refused");
                    let _ = self.socket.disconnect_route(route, "rpc: refused");
                    return;
                }
            }
        }
        if self.options.side == Side::Server {
            let mut settings = [self.options.settings.message(&answer)].into();
            if self.socket.try_send_many_to(route, &mut settings).is_err() {
                return;
            }
        }
        let link = Link::new(self.clone(), new.peer, new.settings);
        write(&self.links).insert(route, link.clone());
        count(&self.counters.connections);
        tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "connected");
        self.tell_state(&link, ConnState::New);
        self.changed.notify(usize::MAX);
        if self.has_ended() {
            self.close_all_links();
        }
    }

    fn tell_state(&self, link: &Arc<Link>, state: ConnState) {
        if let Some(handler) = &self.options.on_state {
            handler(&Conn::new(link.clone()), state);
        }
    }

    pub(super) fn link_ended(&self, link: &Arc<Link>) {
        link.close();
        tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "disconnected");
        self.tell_state(link, ConnState::Closed);
        self.changed.notify(usize::MAX);
    }

    pub(super) fn disconnected(self: &Arc<Self>, route: u32) {
        lock(&self.waiting).retain(|waiting| waiting.peer.route() != route);
        let ended = write(&self.links).remove(&route);
        if let Some(link) = ended {
            self.link_ended(&link);
            let free = self.link_count() < self.options.max_connections;
            let mut waiting = lock(&self.waiting);
            if free && !waiting.is_empty() {
                let next = waiting.remove(0);
                drop(waiting);
                self.admit(next);
            }
        }
    }

    pub(crate) fn violated(&self, route: u32, violation: Violation) {
        count(&self.counters.violations);
        tracing::warn!(target: "sealwire::rpc", route, "{violation}: connection closed");
        // Gone already is as good.
        let _ = self.socket.disconnect_route(route, violation.reason());
    }

    pub(super) fn refuse_those_who_waited(&self, now: Duration) {
        let mut refused = Vec::new();
        lock(&self.waiting).retain(|waiting| {
            let keep = waiting.until > now;
            if keep {
                self.clock.arm(waiting.until);
            } else {
                refused.push(waiting.peer.route());
            }
            keep
        });
        for route in refused {
            count(&self.counters.connections_refused);
            let reason = "rpc: the limit of connections is reached";
            let _ = self.socket.disconnect_route(route, reason);
        }
    }
}
