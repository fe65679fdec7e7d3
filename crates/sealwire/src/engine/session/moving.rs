//! Moving to another I/O thread: a connection that a listener has accepted goes to the thread that serves least, once its
//! handshake is done and before the socket has it as a peer.
//!
//! Counts for each address and key, and the handshakes that give way, are the listener's thread's own, without locks. So
//! the handshake stays there, and the listener is told when the connection ends.

use std::sync::Arc;
use std::time::Duration;

use mio::Registry;
use sealwire_zmtp::connection::PeerInfo;

use super::Session;
use super::end::End;
use super::standing::Move;
use crate::engine::load::LoadShare;
use crate::engine::mailbox::Mailbox;
use crate::engine::reactor::Reactor;
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::timers::Timers;

impl Session {
    /// The handshake is done: messages may flow here, or another thread is to let them.
    pub(super) fn ready_or_moving(
        &mut self,
        info: Option<Arc<PeerInfo>>,
        reactor: &mut Reactor,
    ) -> Result<(), End> {
        let accepted = matches!(self.identity.origin, Origin::Listener { .. });
        let affinity = self.identity.options.io_affinity;
        let elsewhere = accepted
            .then(|| reactor.neighbours.with_less_to_serve(affinity))
            .flatten();
        match (elsewhere, self.standing.review()) {
            (Some(thread), Some(review)) => {
                review.move_to = Some(Move { thread, info });
                Ok(())
            }
            _ => self.ready(info, reactor),
        }
    }

    /// The number of the thread that is to serve it.
    pub(in crate::engine) fn destination(&mut self) -> Option<usize> {
        let review = self.standing.review()?;
        review.move_to.as_ref().map(|it| it.thread)
    }

    /// Takes it from its thread, whose mailbox is told of its end. It is counted where it goes to from now on.
    pub(in crate::engine) fn leave_for_another(
        &mut self,
        share: LoadShare,
        home: &Arc<Mailbox>,
        registry: &Registry,
        timers: &mut Timers,
        now: Duration,
    ) {
        self.withdraw(registry, timers, now);
        self.identity.home = Some(home.clone());
        self.identity._share = share;
    }

    /// Gives it its slot of the thread that is to serve it.
    pub(in crate::engine) fn arrives(&mut self, slot: usize) -> SessionKey {
        self.identity.key.slot = slot;
        self.identity.key
    }

    /// Lets messages flow where it is now.
    pub(in crate::engine) fn moved(&mut self, reactor: &mut Reactor) -> Result<(), End> {
        let review = self.standing.review();
        match review.and_then(|review| review.move_to.take()) {
            Some(Move { info, .. }) => self.ready(info, reactor),
            None => Ok(()),
        }
    }
}
