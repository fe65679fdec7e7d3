//! Connections that go from the thread of their listener to another one.

use super::IoThread;
use super::sources::EventSource;
use crate::engine::mailbox::Command;
use crate::engine::reactor::Reactor;
use crate::engine::session::{End, Session};
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::shared::SharedSession;
use crate::failure::FailureCause;

impl IoThread {
    /// Gives a session to another thread, or goes on with it where its socket has no use for that.
    pub(super) fn hand_over(&mut self, slot: usize, thread: usize) {
        let Some(shared) = self.sources.session(slot) else {
            return;
        };
        let (key, identity) = (shared.key, |session: &mut Session| {
            let identity = &session.identity;
            Some((identity.core.clone(), identity.origin.listener()?))
        });
        let Some((core, listener)) = shared.with(identity).flatten() else {
            return;
        };
        let handed_over = core.spread_to(thread, listener, || self.give(slot, thread));
        if !handed_over {
            self.with_session_in_reactor(key, Session::moved);
        }
    }

    fn give(&mut self, slot: usize, thread: usize) {
        let shared = self.sources.take_session(slot);
        let Some(mut session) = shared.and_then(|shared| shared.take()) else {
            return;
        };
        let (origin, key, now) = (
            session.identity.origin,
            session.identity.key,
            self.reactor.now(),
        );
        let Reactor {
            world,
            timers,
            mailbox,
            neighbours,
            ..
        } = &mut self.reactor;
        let neighbour = neighbours.mailbox(thread);
        let share = neighbour.load().share();
        session.leave_for_another(share, mailbox, world.registry(), timers, now);
        neighbour.post(Command::Adopt(Box::new(session)));
        if let Some(listener) = self.sources.listener_of(origin) {
            listener.became_ready(key);
        }
    }

    /// Serves a session from now on, whose handshake another thread has done.
    pub(super) fn adopt(&mut self, mut session: Session) {
        let slot = self.sources.vacant_slot();
        let Reactor { mailbox, world, .. } = &self.reactor;
        let key = session.arrives(slot);
        let registered = session.register(world.registry());
        let shared = SharedSession::new(session, mailbox.clone(), world.clone());
        self.sources.insert(EventSource::Session(shared));
        match registered {
            Ok(()) => self.with_session_in_reactor(key, Session::moved),
            Err(error) => self.end_session(slot, End::Failed(FailureCause::of_transport(error))),
        }
    }

    /// A connection that a listener of this thread has accepted is over.
    pub(super) fn accepted_ended(&mut self, origin: Origin, key: SessionKey) {
        if let Some(listener) = self.sources.listener_of(origin) {
            listener.ended(key);
        }
    }
}
