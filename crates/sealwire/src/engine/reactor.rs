//! The services that the I/O thread gives to the sessions that it drives.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;

use super::decisions::Decisions;
use super::mailbox::Mailbox;
use super::neighbours::Neighbours;
use super::session_key::{Origin, SessionKey};
use super::timers::Timers;
use super::world::World;
use crate::inproc;

/// What sessions need of the thread that drives them.
pub(super) struct Reactor {
    pub(super) world: Arc<dyn World>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) neighbours: Neighbours,
    pub(super) decisions: Decisions,
    pub(super) inproc: Arc<inproc::Registry>,
    pub(super) timers: Timers,
    /// Memory to read into.
    pub(super) spare: BytesMut,
    /// The same for datagrams.
    pub(super) datagram: Vec<u8>,
    pub(super) became_ready: Vec<(Origin, SessionKey)>,
    /// Other sources than the one that is served have something to do now.
    pub(super) others_wait: bool,
}

impl Reactor {
    /// Of a context in this world, with these names of `inproc`.
    pub(super) fn new(world: Arc<dyn World>, inproc: Arc<inproc::Registry>) -> Self {
        let mailbox = Arc::new(Mailbox::new(world.clone()));
        Reactor {
            decisions: Decisions::new(mailbox.clone(), world.clone()),
            world,
            mailbox,
            neighbours: Neighbours::default(),
            inproc,
            timers: Timers::default(),
            spare: BytesMut::new(),
            datagram: Vec::new(),
            became_ready: Vec::new(),
            others_wait: false,
        }
    }

    /// Time since the context began.
    pub(super) fn now(&self) -> Duration {
        self.world.now()
    }

    /// A session's handshake is done; its listener hears of it once the session was served.
    pub(super) fn became_ready(&mut self, origin: Origin, session: SessionKey) {
        self.became_ready.push((origin, session));
    }
}
