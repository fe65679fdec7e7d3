//! What the handles of one socket and its connections share: the pattern and the pipes under one
//! lock, and the means to wait for them. Handles and the engine stand above and know the core; it
//! reaches them as [`Link`]s, signals and its [`Engine`].
//!
//! The lock is held for queue operations only. Signals to links and to waiting callers go out
//! after it is released, and messages that are not delivered are dropped then, so that nobody is
//! called while it is held.

mod blocking;
mod closing;
mod context;
mod endpoints;
mod holders;
mod links;
mod notifying;
mod presence;
mod protocol;
mod readable;
mod revising;
mod sending;

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_fork::Birth;
use sealwire_zmtp::SocketType;

pub(crate) use self::context::{ContextCore, Engine};
use self::holders::Holders;
pub(crate) use self::holders::{Holder, Holding};
use self::protocol::protocol_config;
pub(crate) use self::protocol::{ROTATION_PERIOD, SharedCookies, rotate_cookies};
use self::readable::Readable;
use self::revising::Revising;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::message::Message;
use crate::monitor::{Hub, LiveCounters};
use crate::options::SocketOptions;
use crate::pattern::{Link, Pattern, PipeId, Pipes, Signals, pattern};
use crate::peer::{Peer, PeerAddress};
#[cfg(unix)]
use crate::waiting::Pollers;
use crate::waiting::{Signal, Spinning};

pub(crate) struct SocketCore {
    id: u64,
    birth: Birth,
    context: Arc<ContextCore>,
    options: Arc<SocketOptions>,
    protocol: Arc<sealwire_zmtp::Config>,
    state: Mutex<State>,
    pub(crate) readable: Readable,
    /// Told of room to send, and of peers that come or ask for topics.
    pub(crate) writable: Signal,
    /// Whether there was a peer in this process.
    pub(crate) has_had_peers_in_process: AtomicBool,
    /// Whether threads that block spin before they sleep.
    pub(crate) receive_spinning: Spinning,
    pub(crate) send_spinning: Spinning,
    #[cfg(unix)]
    pub(crate) pollers: Pollers,
    pub(crate) ended: Signal,
    pub(crate) counters: LiveCounters,
    pub(crate) hub: Hub,
    pub(crate) holders: Arc<Holders>,
    revising: Revising,
    /// A ZAP handler is or was bound in the context.
    pub(crate) has_zap_handler: AtomicBool,
    /// Whether it was told that everybody is let in.
    pub(crate) warned_of_anyone: AtomicBool,
}

struct State {
    pattern: Box<dyn Pattern>,
    /// What the pattern says of itself.
    receives_unchanged: bool,
    sends_unchanged: bool,
    pipes: Pipes,
    /// Taken in a batch and given back: the next to be received.
    returned: VecDeque<Message>,
    phase: Phase,
    endpoints: Vec<Registration>,
    /// Listeners, connectors and connections that work for this socket.
    attachments: usize,
    /// The context's thread has ended by a fault.
    failed: bool,
    /// Messages that were lost while the socket was closing.
    unsent: usize,
    /// Messages that nobody had read when the socket ended.
    unread: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// No more operations; what is queued may still go out.
    Closing,
    Ended,
}

/// An endpoint that the socket is bound or connected to.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) endpoint: Endpoint,
    pub(crate) id: u64,
    pub(crate) kind: RegistrationKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationKind {
    Bound,
    Connected,
}

impl SocketCore {
    pub(crate) fn new(context: Arc<ContextCore>, options: SocketOptions) -> Arc<Self> {
        let (pattern, counters) = (pattern(&options), LiveCounters::default());
        let state = State {
            receives_unchanged: pattern.receives_unchanged(),
            sends_unchanged: pattern.sends_unchanged(),
            pattern,
            pipes: Pipes::new(),
            returned: VecDeque::new(),
            phase: Phase::Open,
            endpoints: Vec::new(),
            attachments: 0,
            failed: false,
            unsent: 0,
            unread: 0,
        };
        let revisions = options.security.revisions();
        let protocol = Arc::new(protocol_config(context.engine(), &options));
        let readable = Readable::new(options.spin);
        let core = Arc::new(SocketCore {
            id: context.next_number(),
            birth: Birth::now(),
            context,
            protocol,
            options: Arc::new(options),
            state: Mutex::new(state),
            readable,
            writable: Signal::default(),
            has_had_peers_in_process: AtomicBool::new(false),
            receive_spinning: blocking::spinning_in_process(),
            send_spinning: blocking::spinning_in_process(),
            #[cfg(unix)]
            pollers: Pollers::default(),
            ended: Signal::default(),
            hub: Hub::new(counters.excesses.clone()),
            counters,
            holders: Arc::default(),
            revising: Revising::new(revisions),
            has_zap_handler: AtomicBool::new(false),
            warned_of_anyone: AtomicBool::new(false),
        });
        if core.revises_clients() {
            core.context.engine().revise_clients(Arc::downgrade(&core));
        }
        if !core.context.engine().enroll(&core) {
            core.fail();
        }
        core
    }

    /// Whether it was made in this process, and not before a fork.
    #[inline]
    pub(crate) fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn context(&self) -> &Arc<ContextCore> {
        &self.context
    }

    pub(crate) fn options(&self) -> &Arc<SocketOptions> {
        &self.options
    }

    pub(crate) fn protocol(&self) -> &Arc<sealwire_zmtp::Config> {
        &self.protocol
    }

    /// What leaves signals behind goes through [`with`](Self::with).
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock can only come from a bug in a pattern; the queues stay valid.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        debug_assert!(state.pipes.is_settled(), "signals were left behind");
        state
    }

    /// Runs `operation` under the lock, then carries out the signals it left behind.
    fn with<R>(&self, operation: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let result = operation(&mut state);
        self.release(state);
        result
    }

    /// Releases the lock, then carries out what was left behind under it. Inlined by force: as a call it
    /// takes 15 of a message's 600 instructions.
    #[inline(always)]
    fn release(&self, mut state: MutexGuard<'_, State>) {
        let signals = state.pipes.take_signals();
        drop(state);
        if let Some(signals) = signals {
            self.carry_out(signals);
        }
    }

    /// Several signals, and what was discarded, are kept in memory that goes back: telling many
    /// subscribers of a message allocates nothing.
    #[inline(never)]
    fn carry_out(&self, signals: Signals) {
        if let Some(delivered) = signals.deliver() {
            self.lock().pipes.reuse_signals(delivered);
        }
    }

    pub(crate) fn disconnect_peer(
        &self,
        routing_id: u32,
        reason: &'static str,
    ) -> Result<(), Error> {
        self.with(|state| {
            state
                .pattern
                .disconnect(&mut state.pipes, routing_id, reason)
        })
    }

    /// Receives without waiting.
    #[inline]
    pub(crate) fn try_receive(&self) -> Result<Option<Message>, Error> {
        match self.next_of_sole_peer() {
            None => self.try_receive_in_turn(),
            message => Ok(message),
        }
    }

    /// A message that is there, where no order of peers has to be kept.
    #[inline]
    pub(crate) fn next_of_sole_peer(&self) -> Option<Message> {
        let mut state = self.lock();
        if !state.receives_unchanged || state.phase != Phase::Open || !state.returned.is_empty() {
            return None;
        }
        let message = state.pipes.pop_sole();
        self.release(state);
        #[cfg(unix)]
        if message.is_some() {
            // More is left, or the order of peers decides.
            self.pollers.signal();
        }
        message
    }

    fn try_receive_in_turn(&self) -> Result<Option<Message>, Error> {
        let (received, left) = self.with(|state| {
            let received = state.receive()?;
            Ok::<_, Error>((received, state.readable()))
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
            let taken = state.receive_many(into, limit)?;
            Ok::<_, Error>((taken, state.readable()))
        })?;
        if left {
            self.notify_readable(1);
        }
        Ok(taken)
    }

    /// Whether messages may be taken before somebody asks for them: what receives one at a time has
    /// more to do with it than to read it, and those who wait elsewhere have to be woken.
    pub(crate) fn hands_out_batches(&self) -> bool {
        let one_at_a_time = matches!(self.options.socket_type, SocketType::Req | SocketType::Rep);
        !one_at_a_time && !self.readable.is_waited_for()
    }

    /// Takes messages back that were received and are to be received again, in this order.
    pub(crate) fn give_back(&self, messages: VecDeque<Message>) {
        let count = messages.len();
        self.with(|state| {
            for message in messages.into_iter().rev() {
                state.returned.push_front(message);
            }
        });
        self.notify_readable(count);
    }

    /// Moves here what peers of this process keep back until more is wanted.
    #[cfg(unix)]
    pub(crate) fn fetch_what_is_kept_back(&self) {
        let links = self.lock().pipes.links_that_keep_back();
        for link in links {
            link.input_wanted();
        }
    }

    /// Whether everything for this socket has to be moved to it at once: somebody waits for each
    /// arrival, subscriptions take effect, or the latest message replaces the one before.
    pub(crate) fn takes_at_once(&self) -> bool {
        #[cfg(unix)]
        if self.pollers.any() {
            return true;
        }
        self.options.behaviour.conflate || self.options.socket_type.takes_subscriptions()
    }

    /// The link of the only peer there is.
    pub(crate) fn sole_link(&self) -> Option<Arc<dyn Link>> {
        self.lock().pipes.sole_link()
    }

    pub(crate) fn subscribe(&self, topic: &[u8]) -> Result<(), Error> {
        self.with(|state| state.pattern.subscribe(&mut state.pipes, topic))?;
        // XPUB grants by hand what its peers asked for.
        self.writable.notify(usize::MAX);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, topic: &[u8]) -> Result<(), Error> {
        self.with(|state| state.pattern.unsubscribe(&mut state.pipes, topic))
    }

    pub(crate) fn join(&self, group: &[u8]) -> Result<(), Error> {
        self.with(|state| state.pattern.join(&mut state.pipes, group))
    }

    pub(crate) fn leave(&self, group: &[u8]) -> Result<(), Error> {
        self.with(|state| state.pattern.leave(&mut state.pipes, group))
    }

    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        let state = self.lock();
        state.pipes.settle_accounts();
        state
            .pipes
            .live()
            .filter_map(|id| state.pipes.peer(id).cloned())
            .filter(|peer| !matches!(peer.address(), PeerAddress::Udp(_)))
            .collect()
    }

    pub(crate) fn accounts(&self) -> Vec<Arc<Peer>> {
        self.lock().pipes.settle_accounts()
    }

    /// The routing id of the connection that came of the `connect` with this number; `None` while
    /// there is none.
    pub(crate) fn routing_id_of_connector(&self, connector: u64) -> Result<Option<u32>, Error> {
        let state = self.lock();
        if state.phase != Phase::Open {
            return Err(state.closed());
        }
        let pipes = &state.pipes;
        let led_there = |id: &PipeId| pipes.connector(*id) == Some(connector);
        if let Some(peer) = pipes.live().find(led_there).and_then(|id| pipes.peer(id)) {
            return Ok(Some(peer.connection_routing_id()));
        }
        let tried = state.endpoints.iter().any(|entry| entry.id == connector);
        match tried {
            true => Ok(None),
            false if state.failed => Err(Error::EngineFailed),
            false => Err(Error::GaveUp),
        }
    }
}

impl State {
    /// Why nothing can be done any more.
    fn closed(&self) -> Error {
        if self.failed {
            Error::EngineFailed
        } else {
            Error::Closed
        }
    }

    fn receive(&mut self) -> Result<Option<Message>, Error> {
        if self.phase != Phase::Open {
            return Err(self.closed());
        }
        if let Some(message) = self.returned.pop_front() {
            return Ok(Some(message));
        }
        let received = self.pattern.receive(&mut self.pipes)?;
        Ok(received.map(|(frames, peer)| Message::received(frames, peer)))
    }

    fn receive_many(&mut self, into: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        if self.phase != Phase::Open {
            return Err(self.closed());
        }
        let returned = limit.min(self.returned.len());
        into.extend(self.returned.drain(..returned));
        let mut taken = returned;
        if self.receives_unchanged {
            taken += self.pipes.pop_sole_many(into, limit - taken);
        }
        match self
            .pattern
            .receive_many(&mut self.pipes, into, limit - taken)
        {
            Err(error) if taken == 0 => Err(error),
            more => Ok(taken + more.unwrap_or(0)),
        }
    }

    fn readable(&self) -> bool {
        !self.returned.is_empty() || self.pattern.readable()
    }

    fn endpoints_changed(&mut self, options: &SocketOptions) {
        let expecting = self
            .endpoints
            .iter()
            .any(|entry| entry.kind == RegistrationKind::Connected);
        self.pattern.expect_peers(expecting && !options.immediate);
    }
}
