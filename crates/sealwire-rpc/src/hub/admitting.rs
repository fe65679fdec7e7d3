//! Which connections there are: who gets a place, who waits for one, who has to go.

use std::sync::Arc;
use std::time::Duration;

use sealwire::Peer;

use super::Hub;
use super::admission::{ConnectionChange, Passing, Placed};
use super::door::{FirstMessage, Greeted};
use super::links::HubLink;
use crate::counters::count;
use crate::guard::log;
use crate::limits::MAX_HELLO;
use crate::proto::{Settings, Side, Violation};

impl Hub {
    /// A connection has begun or ended: a message that no peer can send says so.
    pub(super) fn connection_changed(self: &Arc<Self>, peer: &Peer) {
        let routing_id = peer.connection_routing_id();
        match self.admission.changed(routing_id, self.now()) {
            ConnectionChange::Ended(link) => self.disconnected(link),
            ConnectionChange::Began {
                gives_way,
                check_at,
            } => {
                if let Some(at) = check_at {
                    self.clock.arm(at);
                }
                if let Some(routing_id) = gives_way {
                    self.silent(routing_id, "rpc: too many connections without SETTINGS");
                }
            }
        }
    }

    fn silent(&self, routing_id: u32, reason: &'static str) {
        count(&self.counters.connections_silent);
        let _ = self.socket.disconnect_peer(routing_id, reason);
    }

    /// The first message of a connection.
    pub(super) fn greeted(self: &Arc<Self>, peer: &Arc<Peer>, message: &[u8]) {
        let routing_id = peer.connection_routing_id();
        match self.admission.greeted(routing_id) {
            FirstMessage::First => {}
            FirstMessage::Again => return self.violated(routing_id, Violation::SettingsAgain),
            FirstMessage::Ignored => return,
        }
        let (settings, hello) = match Settings::parse(message) {
            Ok(parsed) => parsed,
            Err(violation) => return self.violated(routing_id, violation),
        };
        let new = Greeted {
            routing_id,
            peer: peer.clone(),
            settings,
            hello: hello.to_vec(),
            until: self.now() + self.options.connection_wait,
        };
        match self.admission.place(new) {
            Placed::Free(new) => self.admit(new),
            Placed::Waits(until) => self.clock.arm(until),
            Placed::Nowhere => self.no_place(routing_id),
        }
    }

    fn no_place(&self, routing_id: u32) {
        count(&self.counters.connections_refused);
        let reason = "rpc: the limit of connections is reached";
        let _ = self.socket.disconnect_peer(routing_id, reason);
    }

    fn admit(self: &Arc<Self>, new: Greeted) {
        let routing_id = new.routing_id;
        let mut answer = Vec::new();
        if let Some(greeter) = &self.options.greeter {
            let decided = self.guard("a greeter", || greeter(&new.peer, &new.hello));
            let decided = decided
                .unwrap_or_else(|| Err("the greeter panicked".into()))
                .and_then(|hello| match hello.len() {
                    0..=MAX_HELLO => Ok(hello),
                    size => Err(format!(
                        "the greeter's answer of {size} bytes exceeds {MAX_HELLO} bytes"
                    )),
                });
            match decided {
                Ok(hello) => answer = hello,
                Err(reason) => {
                    if let Some(times) = self.admission.refusals.pass() {
                        let peer = &new.peer;
                        log(|| {
                            tracing::warn!(target: "sealwire::rpc", %peer, reason, times, "refused");
                        });
                    }
                    self.admission.leave(routing_id);
                    let _ = self.socket.disconnect_peer(routing_id, "rpc: refused");
                    return;
                }
            }
        }
        let Some(passing) = self.admission.begin_to_pass() else {
            // Its calls would find nobody; it has made none yet.
            self.admission.leave(routing_id);
            let _ = self
                .socket
                .disconnect_peer(routing_id, "rpc: shutting down");
            return;
        };
        if self.let_in(new, &answer, passing) && self.has_ended() {
            self.close_all_links();
        }
    }

    /// Tells a connection that it is let in, and makes its link. `false` where it has gone.
    fn let_in(self: &Arc<Self>, new: Greeted, answer: &[u8], passing: Passing<'_>) -> bool {
        let routing_id = new.routing_id;
        if self.options.link.side == Side::Server {
            let mut settings = [self.options.link.settings.message(answer)].into();
            if self
                .socket
                .try_send_many_to(routing_id, &mut settings)
                .is_err()
            {
                drop(passing);
                self.changes.tell();
                return false;
            }
        }
        let link = HubLink::new(self.clone(), new.peer, new.settings);
        self.admission.admit(routing_id, link.clone());
        drop(passing);
        count(&self.counters.connections);
        log(|| tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "connected"));
        self.options.upcalls.connected(&link);
        self.changes.tell();
        true
    }

    pub(super) fn link_ended(&self, link: &Arc<HubLink>) {
        link.close();
        log(|| tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "disconnected"));
        self.options.upcalls.disconnected(link);
        self.changes.tell();
    }

    fn disconnected(self: &Arc<Self>, link: Option<Arc<HubLink>>) {
        if let Some(link) = link {
            self.link_ended(&link);
        }
        while let Some(next) = self.admission.next() {
            self.admit(next);
        }
    }

    pub(crate) fn violated(&self, routing_id: u32, violation: Violation) {
        let link = self.admission.link(routing_id);
        if let Some(link) = &link {
            // What it has sent after this is not read.
            link.close();
        }
        self.turn_away(link.as_deref(), violation, routing_id);
    }

    /// Ends a connection whose link, if it has one, is closed.
    pub(super) fn turn_away(&self, link: Option<&HubLink>, violation: Violation, routing_id: u32) {
        count(&self.counters.violations);
        if let Some(times) = self.admission.violations.pass() {
            log(|| {
                tracing::warn!(
                    target: "sealwire::rpc", routing_id, times, "{violation}: connection closed"
                );
            });
        }
        self.admission.leave(routing_id);
        if let (Some(link), Some(kind)) = (link, violation.kind()) {
            link.peer().account().note_excess(kind);
        }
        // Gone already is as good.
        let _ = self.socket.disconnect_peer(routing_id, violation.reason());
    }

    /// Ends connections whose time to say something, or to wait for a place, is over.
    pub(super) fn check_door(&self, now: Duration) {
        let (silent, waited, next) = self.admission.overdue(now);
        for routing_id in silent {
            self.silent(routing_id, "rpc: no SETTINGS in time");
        }
        for routing_id in waited {
            self.no_place(routing_id);
        }
        if let Some(next) = next {
            self.clock.arm(next);
        }
    }
}
