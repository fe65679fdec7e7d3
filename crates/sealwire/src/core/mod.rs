//! The state that the handles of one socket and its connections share: the pattern and the pipes
//! under one lock, and the means to wait for them. Handles and the engine stand above and know the
//! core. It reaches them as [`Link`](crate::pattern::Link)s, signals and its [`Engine`].
//!
//! ```text
//!   handles.rs    what handles ask and is done at once      blocking.rs    what they wait for
//!   links.rs      what links and the engine ask             readable.rs    who waits for messages
//!   leaving.rs    what disconnecting changes at once        awaiting.rs    queues for peers that are to come
//!   peers.rs      what handles ask about peers
//!   renewing.rs   other options for an endpoint
//!        │
//!        ▼ under the lock
//!   queues.rs     pattern and pipes      endpoints.rs      lifecycle.rs
//! ```
//!
//! The lock is held for queue operations only. Signals to links and to waiting callers go out after
//! its release, and undelivered messages are dropped then. So no foreign code runs while it is
//! held.

mod awaiting;
mod blocking;
mod clients;
#[cfg(test)]
mod connecting_tests;
mod context;
mod cookies;
mod endpoints;
mod handles;
mod holders;
mod leaving;
mod lifecycle;
mod links;
mod measures;
mod peers;
mod present;
mod protocol;
mod queues;
mod readable;
mod renewing;
mod revising;
mod usable;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_fork::Birth;
use sealwire_zmtp::SocketType;

use self::blocking::InProcess;
pub(crate) use self::clients::Clients;
pub(crate) use self::context::{ContextCore, Engine};
pub(crate) use self::cookies::{ROTATION_PERIOD, ServerCookies, rotate_cookies};
use self::endpoints::Endpoints;
pub(crate) use self::endpoints::{Registration, RegistrationKind};
pub(crate) use self::holders::{Holder, Holding};
pub(crate) use self::lifecycle::Closing;
use self::lifecycle::Lifecycle;
use self::present::Present;
use self::queues::Queues;
use self::readable::Readable;
pub(crate) use self::usable::UsableBy;
use crate::error::Error;
use crate::guard;
use crate::monitor::{Event, Hub, LiveCounters};
use crate::options::{OptionsError, SocketOptions};
use crate::pattern::{DropEvent, Signals};
use crate::waiting::{Interrupt, Signal};
#[cfg(unix)]
use crate::waiting::{Pollable, Pollers, Ready};

/// The I/O thread for what belongs to no endpoint of a socket.
const FIRST_THREAD: usize = 0;

pub(crate) struct SocketCore {
    id: u64,
    birth: Birth,
    context: Arc<ContextCore>,
    socket_type: SocketType,
    /// Queues hold the latest message only. Read by those who have no lock.
    conflates: AtomicBool,
    interrupt: Option<Interrupt>,
    present: Present,
    state: Mutex<State>,
    pub(crate) readable: Readable,
    /// Told of room to send, and of peers that come or ask for topics.
    pub(crate) writable: Signal,
    in_process: InProcess,
    #[cfg(unix)]
    pub(crate) pollers: Pollers,
    pub(crate) ended: Signal,
    pub(crate) counters: LiveCounters,
    pub(crate) hub: Hub,
    pub(crate) clients: Clients,
}

/// What the lock is for.
struct State {
    queues: Queues,
    endpoints: Endpoints,
    life: Lifecycle,
}

impl SocketCore {
    /// # Errors
    ///
    /// [`OptionsError::SocketType`] for a type that no socket has here.
    pub(crate) fn new(
        context: Arc<ContextCore>,
        options: SocketOptions,
    ) -> Result<Arc<Self>, OptionsError> {
        let counters = LiveCounters::default();
        let state = State {
            queues: Queues::new(
                &options,
                |bytes| context.engine().fill_random(bytes),
                context.clock(),
            )?,
            endpoints: Endpoints::default(),
            life: Lifecycle::new(options.linger),
        };
        let (conflates, interrupt) = (options.behaviour.conflate, options.interrupt.clone());
        let (socket_type, spin) = (options.socket_type, options.spin);
        let present = Present::new(context.engine(), options);
        let core = Arc::new(SocketCore {
            id: context.next_number(),
            birth: Birth::now(),
            context,
            socket_type,
            conflates: AtomicBool::new(conflates),
            interrupt,
            clients: Clients::new(present.revisions()),
            present,
            state: Mutex::new(state),
            readable: Readable::new(spin),
            writable: Signal::default(),
            in_process: InProcess::new(),
            #[cfg(unix)]
            pollers: Pollers::default(),
            ended: Signal::default(),
            hub: Hub::new(counters.excesses.clone()),
            counters,
        });
        core.watch_revisions();
        if !core.context.engine().enroll(FIRST_THREAD, &core) {
            core.fail();
        }
        Ok(core)
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

    pub(crate) fn socket_type(&self) -> SocketType {
        self.socket_type
    }

    pub(crate) fn conflates(&self) -> bool {
        self.conflates.load(Ordering::Relaxed)
    }

    /// What leaves signals behind goes through [`with`](Self::with).
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock can only come from a bug in a pattern; the queues stay valid.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        debug_assert!(state.queues.pipes.is_settled(), "signals were left behind");
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
        let signals = state.queues.pipes.take_signals();
        drop(state);
        if let Some(signals) = signals {
            self.carry_out(signals);
        }
    }

    /// Several signals, and what was discarded, are kept in memory that goes back: telling many
    /// subscribers of a message allocates nothing.
    #[inline(never)]
    fn carry_out(&self, signals: Signals) {
        let tells = signals.tells;
        if let Some(delivered) = signals.deliver() {
            self.lock().queues.pipes.reuse_signals(delivered);
        }
        if tells {
            self.tell_of_drops();
        }
    }

    /// Tells of drops in the order in which they happened: what another thread leaves meanwhile too.
    #[cold]
    fn tell_of_drops(&self) {
        let mut telling = false;
        loop {
            let next = self.lock().queues.pipes.drop_events.next(&mut telling);
            let Some(drop_event) = next else { return };
            let event = match drop_event {
                DropEvent::Began(peer) => Event::DropsBegan { peer },
                DropEvent::Ended(peer, count) => Event::DropsEnded { peer, count },
                DropEvent::Missed(peer, count) => Event::MessagesMissed { peer, count },
            };
            guard::contain("telling of drops", || self.hub.emit(event));
        }
    }

    // ---- telling those who wait ------------------------------------------------------------------

    /// Tells up to `count` waiters that there is something to receive.
    pub(crate) fn notify_readable(&self, count: usize) {
        self.readable.notify(count);
        #[cfg(unix)]
        self.pollers.signal();
    }

    /// Tells up to `count` waiters that were not told yet.
    fn notify_readable_more(&self, count: usize) {
        self.readable.notify_more(count);
        #[cfg(unix)]
        self.pollers.signal();
    }

    /// Tells all waiters that there may be room to send.
    pub(crate) fn notify_writable(&self) {
        self.writable.notify(usize::MAX);
        #[cfg(unix)]
        self.pollers.signal();
    }

    fn announce_end(&self) {
        self.hub.end();
        self.ended.notify(usize::MAX);
    }
}

#[cfg(unix)]
impl SocketCore {
    /// The operations that would not wait now.
    pub(crate) fn check_ready(&self) -> Ready {
        let ready = self.ready();
        if ready.receive || ready.closed {
            return ready;
        }
        self.read_leased();
        self.fetch_what_is_kept_back();
        self.ready()
    }

    /// Whether a message that begins like this would be taken now.
    pub(crate) fn takes(&self, head: &[u8]) -> Result<bool, Error> {
        let state = self.lock();
        let State { queues, life, .. } = &*state;
        life.open()?;
        queues.takes(head)
    }
}

impl Pollable for SocketCore {
    fn ready(&self) -> Ready {
        let state = self.lock();
        let State { queues, life, .. } = &*state;
        let open = life.is_open();
        Ready {
            receive: open && (queues.readable() || state.is_drained()),
            send: open && queues.writable(),
            closed: !open,
        }
    }
}

impl State {
    /// A socket on its way to its end has ended once nothing works for it any more.
    fn end_if_done(&mut self) -> bool {
        let ended = self.endpoints.is_idle() && self.life.end();
        if ended {
            let unsent = self.queues.drop_backlog() + self.queues.pipes.outbound_messages();
            self.life.count_unsent(unsent);
            self.life.count_unread(self.queues.discard_unread());
        }
        ended
    }

    /// Gives up on the backlog of a socket that is closing, where no peer can take it any more once the one that asks
    /// is released. Returns how many messages that were.
    fn drop_backlog_if_last(&mut self) -> usize {
        if self.life.is_open() || !self.endpoints.is_last() {
            return 0;
        }
        let dropped = self.queues.drop_backlog();
        self.life.count_unsent(dropped);
        dropped
    }

    /// Whether the socket was drained, and nothing more can come.
    fn is_drained(&self) -> bool {
        self.life.is_draining() && self.endpoints.is_idle()
    }

    /// Fails once the socket was drained. Asked when there is nothing to receive.
    fn fail_once_drained(&self) -> Result<(), Error> {
        match self.is_drained() {
            true => self.life.takes_endpoints(),
            false => Ok(()),
        }
    }

    fn endpoints_changed(&mut self) {
        let expecting = self.endpoints.expects_peers();
        self.queues.pattern.expect_peers(expecting);
    }
}
