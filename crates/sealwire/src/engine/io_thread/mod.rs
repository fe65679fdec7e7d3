//! The I/O thread: waits for the poll, the mailbox and the clock, and gives each source its turn.

mod closing;
mod connectors;
mod datagrams;
mod handshakes;
mod listeners;
mod sessions;

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use std::{io, thread};

use bytes::BytesMut;
use mio::{Events, Poll, Registry, Token, Waker};
use slab::Slab;

use self::handshakes::Line;
use super::connector::Connector;
use super::datagrams::Datagrams;
use super::decisions::Decisions;
use super::listener::Listener;
#[cfg(test)]
use super::mailbox::Fault;
use super::mailbox::{Command, Mailbox};
use super::session::{Origin, SessionKey};
use super::shared::SharedSession;
use super::timers::{Timer, Timers};
use crate::core::{ROTATION_PERIOD, SharedCookies, SocketCore, rotate_cookies};
use crate::guard;
use crate::inproc;

/// Events taken from the poll at a time.
const EVENTS: usize = 1_024;
/// How often authenticators are asked whether they have changed their mind.
const REVISION_PERIOD: Duration = Duration::from_millis(500);
/// The mailbox's token; slots of the slab never get so far.
const MAILBOX: Token = Token(usize::MAX);

/// Starts the I/O thread of a context with these names of `inproc`.
pub(crate) fn start(inproc: Arc<inproc::Registry>) -> io::Result<Arc<Mailbox>> {
    let poll = Poll::new()?;
    let mailbox = Arc::new(Mailbox::new(Waker::new(poll.registry(), MAILBOX)?));
    let reactor = Reactor {
        registry: Arc::new(poll.registry().try_clone()?),
        decisions: Decisions::new(mailbox.clone()),
        mailbox: mailbox.clone(),
        inproc,
        timers: Timers::default(),
        spare: BytesMut::new(),
        datagram: Vec::new(),
        epoch: Instant::now(),
        became_ready: Vec::new(),
    };
    let thread = IoThread {
        sources: Slab::new(),
        listeners: Vec::new(),
        reactor,
        again: Vec::new(),
        turns: Vec::new(),
        handshakes: Line::default(),
        closing: Vec::new(),
        cookies: Vec::new(),
        revised: Vec::new(),
        #[cfg(test)]
        poll_fails: false,
        #[cfg(test)]
        removing_panics: false,
        #[cfg(test)]
        ending_panics: false,
    };
    thread::Builder::new()
        .name("sealwire-io".into())
        .spawn(move || thread.run(poll))?;
    Ok(mailbox)
}

/// What sessions need of the thread that drives them.
pub(super) struct Reactor {
    registry: Arc<Registry>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) decisions: Decisions,
    pub(super) inproc: Arc<inproc::Registry>,
    timers: Timers,
    /// Memory to read into.
    pub(super) spare: BytesMut,
    /// The same for datagrams.
    datagram: Vec<u8>,
    epoch: Instant,
    became_ready: Vec<(Origin, SessionKey)>,
}

impl Reactor {
    /// Time since the thread started.
    pub(super) fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// A session's handshake is done; its listener hears of it after the session's turn.
    pub(super) fn became_ready(&mut self, origin: Origin, session: SessionKey) {
        self.became_ready.push((origin, session));
    }
}

/// How the thread came to its end.
#[derive(PartialEq, Eq)]
enum Ended {
    /// The context is gone.
    Orderly,
    Faulty,
}

enum Source {
    Listener(Box<Listener>),
    Connector(Box<Connector>),
    Session(Arc<SharedSession>),
    Datagrams(Box<Datagrams>),
}

struct IoThread {
    sources: Slab<Source>,
    /// The slots of the listeners.
    listeners: Vec<usize>,
    reactor: Reactor,
    /// Slots that have more to do than fitted into their turn. Each gets one more, however often
    /// it asks: a peer that is never done must not get more and more of them.
    again: Vec<usize>,
    /// Those that get it now.
    turns: Vec<usize>,
    /// Listeners and sessions that are not ready have turns of their own.
    handshakes: Line,
    /// Sockets that are closing, until their linger time is over.
    closing: Vec<Weak<SocketCore>>,
    cookies: Vec<Weak<SharedCookies>>,
    /// Sockets whose authenticators may change their mind.
    revised: Vec<Weak<SocketCore>>,
    #[cfg(test)]
    poll_fails: bool,
    #[cfg(test)]
    removing_panics: bool,
    #[cfg(test)]
    ending_panics: bool,
}

impl IoThread {
    /// Serves the context until it is gone. A fault that belongs to no source ends all its sockets,
    /// so that nobody waits for what will not come.
    fn run(mut self, mut poll: Poll) {
        guard::mark_io_thread();
        let served = guard::contain("serving a context", || self.serve(&mut poll));
        if served == Some(Ended::Orderly) {
            return;
        }
        let mailbox = self.reactor.mailbox.clone();
        // From here on nothing is posted that would wait for this thread.
        let sockets = mailbox.close();
        // First, so that one which ends with its last source says why.
        for core in sockets.iter().filter_map(Weak::upgrade) {
            core.note_failure();
        }
        let slots: Vec<usize> = self.sources.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            guard::contain("ending a source", || self.fail_source(slot));
        }
        for core in sockets.iter().filter_map(Weak::upgrade) {
            core.fail();
        }
    }

    fn serve(&mut self, poll: &mut Poll) -> Ended {
        let mut events = Events::with_capacity(EVENTS);
        let mut commands = Vec::new();
        loop {
            if let Err(error) = self.poll(poll, &mut events)
                && error.kind() != io::ErrorKind::Interrupted
            {
                guard::log(|| {
                    tracing::error!(target: "sealwire", %error, "polling failed; the context ends");
                });
                return Ended::Faulty;
            }
            let round_began = self.reactor.now();
            for event in &events {
                if event.token() != MAILBOX {
                    let hung_up = event.is_read_closed() || event.is_error();
                    let readable = event.is_readable() || hung_up;
                    let slot = event.token().0;
                    self.contained(Some(slot), |this| {
                        this.transport_event(slot, readable, event.is_writable(), hung_up);
                    });
                }
            }
            self.reactor.mailbox.take(&mut commands);
            if let [Command::Output(_)] = commands[..] {
                // The first of many: whoever sends them gets ahead where both share a core, and
                // the next write carries more than one.
                thread::yield_now();
            }
            for command in commands.drain(..) {
                if matches!(command, Command::Shutdown) {
                    return Ended::Orderly;
                }
                let slot = self.slot_of(&command);
                self.contained(slot, |this| this.handle(command));
            }
            self.turns.append(&mut self.again);
            self.turns.sort_unstable();
            self.turns.dedup();
            while let Some(slot) = self.turns.pop() {
                self.contained(Some(slot), |this| this.give_turn(slot));
            }
            let now = self.reactor.now();
            while let Some(timer) = self.reactor.timers.pop_due(now) {
                let slot = match timer {
                    Timer::Source { slot, .. } => Some(slot),
                    _ => None,
                };
                self.contained(slot, |this| this.timer_due(timer));
            }
            self.advance_handshakes(round_began);
        }
    }

    fn poll(&mut self, poll: &mut Poll, events: &mut Events) -> io::Result<()> {
        #[cfg(test)]
        if std::mem::take(&mut self.poll_fails) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        poll.poll(events, self.poll_timeout())
    }

    /// Lets something happen to the source in this slot, which ends if that panics. Without a slot
    /// the whole thread would.
    pub(super) fn contained(&mut self, slot: Option<usize>, action: impl FnOnce(&mut Self)) {
        let Some(slot) = slot else {
            return action(self);
        };
        if guard::contain("serving a source", || action(self)).is_none() {
            self.fail_source(slot);
        }
    }

    /// The source that a command is about, where there is one already.
    fn slot_of(&self, command: &Command) -> Option<usize> {
        match command {
            Command::Output(key)
            | Command::Input(key)
            | Command::Revisit(key)
            | Command::Watch(key)
            | Command::EndLease(key)
            | Command::Disconnect(key, _)
            | Command::Finish(key)
            | Command::Decided(key, _) => Some(key.slot),
            Command::Withdraw { id } | Command::Resolved { id, .. } => self.find(*id),
            #[cfg(test)]
            Command::Fault(Fault::PanicIn { endpoint, .. }) => self.find_endpoint(endpoint),
            _ => None,
        }
    }

    #[cfg(test)]
    fn find_endpoint(&self, text: &str) -> Option<usize> {
        let found = self.sources.iter().find(|(_, source)| match source {
            Source::Listener(listener) => listener.endpoint.to_string() == text,
            Source::Connector(connector) => connector.endpoint.to_string() == text,
            Source::Datagrams(datagrams) => datagrams.endpoint.to_string() == text,
            Source::Session(_) => false,
        });
        found.map(|(slot, _)| slot)
    }

    /// How long the poll may wait.
    fn poll_timeout(&self) -> Option<Duration> {
        if !self.again.is_empty() || !self.handshakes.is_empty() {
            return Some(Duration::ZERO);
        }
        self.reactor
            .timers
            .next()
            .map(|at| at.saturating_sub(self.reactor.now()))
    }

    fn transport_event(&mut self, slot: usize, readable: bool, writable: bool, hung_up: bool) {
        match self.sources.get_mut(slot) {
            Some(Source::Session(session)) => {
                let ready = session.with(|session| {
                    session.transport_event(readable, writable, hung_up);
                    session.is_ready()
                });
                match ready {
                    Some(true) => self.drive(slot),
                    Some(false) => self.handshakes.push(slot),
                    // It has ended, or is about to.
                    None => self.drive(slot),
                }
            }
            Some(Source::Connector(_)) => self.advance_connecting(slot),
            Some(Source::Listener(_)) => self.handshakes.push(slot),
            Some(Source::Datagrams(_)) => self.exchange(slot),
            None => {}
        }
    }

    fn give_turn(&mut self, slot: usize) {
        match self.sources.get(slot) {
            Some(Source::Session(_)) => self.drive(slot),
            Some(Source::Listener(_)) => self.accept(slot),
            Some(Source::Datagrams(_)) => self.exchange(slot),
            Some(Source::Connector(_)) | None => {}
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Listen {
                core,
                listener,
                endpoint,
                id,
            } => {
                self.listen(core, listener, endpoint, id);
            }
            Command::Connect { core, endpoint, id } => {
                let connector = Connector::new(core, endpoint, id);
                let slot = self.sources.insert(Source::Connector(Box::new(connector)));
                self.start_attempt(slot);
            }
            Command::Exchange(datagrams) => self.add_datagrams(datagrams),
            Command::Output(key) | Command::Input(key) if self.has_datagrams(key) => {
                self.exchange(key.slot);
            }
            Command::Withdraw { id } => self.withdraw(id),
            Command::Resolved { id, targets } => {
                if let Some(slot) = self.find(id) {
                    self.resolved(slot, targets);
                }
            }
            Command::Output(key) => self.with_session(key, |session, _| {
                session.output_ready();
                Ok(())
            }),
            Command::Input(key) => self.with_session(key, |session, now| {
                session.input_wanted(now);
                Ok(())
            }),
            Command::Revisit(key) => self.with_session(key, |_, _| Ok(())),
            Command::Watch(key) => self.with_session(key, |session, now| {
                session.watch_lease(now);
                Ok(())
            }),
            Command::EndLease(key) => {
                let registry = self.reactor.registry.clone();
                self.with_session(key, |session, _| session.end_lease(&registry));
            }
            Command::Disconnect(key, reason) => {
                self.with_session(key, |session, _| Err(session.reject(reason)));
            }
            Command::Finish(key) => self.finish_session(key),
            Command::Decided(key, verdict) => {
                self.with_session_in_reactor(key, |session, reactor| {
                    session.decided(verdict, reactor)
                });
            }
            Command::CloseSocket { core, deadline } => self.close_socket(core, deadline),
            Command::RotateCookies(cookies) => {
                if self.cookies.is_empty() {
                    self.reactor
                        .timers
                        .set(self.reactor.now() + ROTATION_PERIOD, Timer::Cookies);
                }
                self.cookies.push(cookies);
            }
            Command::Revise(core) => {
                if self.revised.is_empty() {
                    let at = self.reactor.now() + REVISION_PERIOD;
                    self.reactor.timers.set(at, Timer::Revision);
                }
                self.revised.push(core);
            }
            Command::Shutdown => {}
            #[cfg(test)]
            Command::Fault(Fault::Panic { again }) => {
                self.ending_panics = again;
                panic!("asked for");
            }
            #[cfg(test)]
            Command::Fault(Fault::PanicIn { again, .. }) => {
                self.removing_panics = again;
                panic!("asked for");
            }
            #[cfg(test)]
            Command::Fault(Fault::Poll) => self.poll_fails = true,
        }
    }

    fn timer_due(&mut self, timer: Timer) {
        let now = self.reactor.now();
        match timer {
            Timer::Source { slot, number } => match self.sources.get(slot) {
                Some(Source::Session(session)) if session.key.connection == number => {
                    let (session, registry) = (session.clone(), self.reactor.registry.clone());
                    self.with_session(session.key, |inner, now| {
                        inner.check_lease(&registry, now)?;
                        inner.timer_due(now)
                    });
                }
                Some(Source::Connector(connector)) if connector.id == number => {
                    self.connector_due(slot, now);
                }
                Some(Source::Listener(listener)) if listener.id == number => self.accept(slot),
                Some(Source::Datagrams(datagrams)) if datagrams.id == number => {
                    self.remove_source(slot);
                }
                _ => {}
            },
            Timer::Linger { socket } => {
                let closing = std::mem::take(&mut self.closing).into_iter();
                for core in closing.filter_map(|core| core.upgrade()) {
                    if core.id() == socket {
                        self.abandon(&core);
                    } else {
                        self.closing.push(Arc::downgrade(&core));
                    }
                }
            }
            Timer::Revision => {
                self.revised.retain(|core| core.strong_count() > 0);
                if !self.revised.is_empty() {
                    self.reactor.decisions.revise(&self.revised);
                    self.reactor
                        .timers
                        .set(now + REVISION_PERIOD, Timer::Revision);
                }
            }
            Timer::Cookies => {
                self.cookies.retain(|cookies| match cookies.upgrade() {
                    Some(cookies) => {
                        rotate_cookies(&cookies);
                        true
                    }
                    None => false,
                });
                if !self.cookies.is_empty() {
                    self.reactor
                        .timers
                        .set(now + ROTATION_PERIOD, Timer::Cookies);
                }
            }
        }
    }

    fn find(&self, id: u64) -> Option<usize> {
        let found = self.sources.iter().find(|(_, source)| match source {
            Source::Listener(listener) => listener.id == id,
            Source::Connector(connector) => connector.id == id,
            Source::Datagrams(datagrams) => datagrams.id == id,
            Source::Session(_) => false,
        });
        found.map(|(slot, _)| slot)
    }
}
