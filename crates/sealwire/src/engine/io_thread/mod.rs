//! The I/O thread: waits for the poll, the mailbox and the clock, and serves each source.

mod closing;
mod connectors;
mod datagrams;
mod handshakes;
mod lingering;
mod listeners;
mod moving;
mod renewing;
mod sessions;
mod sources;
mod time_slices;

use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{io, thread};

use self::handshakes::HandshakeQueue;
use self::lingering::Lingering;
use self::sources::{EventSource, SourceEvent, Sources};
use self::time_slices::TimeSlices;
use super::connector::Connector;
#[cfg(test)]
use super::mailbox::Fault;
use super::mailbox::{Command, Mailbox};
use super::neighbours::Neighbours;
use super::reactor::Reactor;
use super::tasks::Tasks;
use super::timeouts::Timeouts;
use super::timers::Timer;
use super::world::{PollEvent, World};
use crate::core::{ROTATION_PERIOD, ServerCookies, SocketCore, rotate_cookies};
use crate::guard;
use crate::inproc;
use crate::options::CurrentOptions;

/// How often authenticators are asked whether they have changed their mind.
const REVISION_PERIOD: Duration = Duration::from_millis(500);
/// A time that is not over yet.
const MOMENT: Duration = Duration::from_nanos(1);

/// How the thread came to its end.
#[derive(PartialEq, Eq)]
pub(super) enum Ended {
    /// The context is gone.
    Orderly,
    Faulty,
}

pub(super) struct IoThread {
    sources: Sources,
    reactor: Reactor,
    time_slices: TimeSlices,
    /// What the poll said last.
    ready: Vec<PollEvent>,
    /// What the mailbox had last.
    commands: Vec<Command>,
    /// Listeners, and sessions that are not ready.
    handshakes: HandshakeQueue,
    lingering: Lingering,
    cookies: Vec<Weak<ServerCookies>>,
    /// Sockets whose authenticators may change their mind.
    revised: Vec<Weak<SocketCore>>,
    timeouts: Timeouts,
    tasks: Tasks,
    #[cfg(test)]
    faults: Faults,
}

/// The fault to make next, as a test asked for.
#[cfg(test)]
#[derive(Default)]
struct Faults {
    poll_fails: bool,
    removing_panics: bool,
    ending_panics: bool,
}

/// Lets go of what is not served any more. What the application gave it to call may end with it.
fn not_served(core: Arc<SocketCore>, options: Arc<CurrentOptions>) {
    core.remove_attachment();
    guard::contain("dropping an endpoint", || drop((core, options)));
}

impl IoThread {
    /// The I/O of a context in this world, with these names of `inproc`, for one thread to do.
    pub(super) fn new(world: Arc<dyn World>, inproc: Arc<inproc::Registry>) -> Self {
        IoThread {
            sources: Sources::default(),
            reactor: Reactor::new(world, inproc),
            time_slices: TimeSlices::default(),
            ready: Vec::new(),
            commands: Vec::new(),
            handshakes: HandshakeQueue::default(),
            lingering: Lingering::default(),
            cookies: Vec::new(),
            revised: Vec::new(),
            timeouts: Timeouts::default(),
            tasks: Tasks::default(),
            #[cfg(test)]
            faults: Faults::default(),
        }
    }

    /// Lets it know the threads of its context.
    pub(super) fn meet(&mut self, neighbours: Neighbours) {
        self.reactor.neighbours = neighbours;
    }

    /// How others ask it to do something.
    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.reactor.mailbox
    }

    /// Serves the context until it is gone. A fault that belongs to no source ends all its sockets,
    /// so that nobody waits for what will not come.
    pub(super) fn run(mut self) {
        guard::mark_io_thread();
        let served = guard::contain("serving a context", || {
            loop {
                if let Some(ended) = self.iterate() {
                    return ended;
                }
            }
        });
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
        for slot in self.sources.slots() {
            guard::contain("ending a source", || self.fail_source(slot));
        }
        for core in sockets.iter().filter_map(Weak::upgrade) {
            core.fail();
        }
    }

    /// Waits until there is something to do, and does it. Says how the thread ends, if it does.
    pub(super) fn iterate(&mut self) -> Option<Ended> {
        if let Err(error) = self.poll()
            && error.kind() != io::ErrorKind::Interrupted
        {
            guard::log(|| {
                tracing::error!(target: "sealwire", %error, "polling failed; the context ends");
            });
            return Some(Ended::Faulty);
        }
        let began = self.reactor.now();
        let mut ready = std::mem::take(&mut self.ready);
        self.note_due(ready.len());
        for ready in ready.drain(..) {
            self.contained(Some(ready.slot), |this| {
                this.serve(ready.slot, SourceEvent::Polled(ready));
            });
        }
        self.ready = ready;

        let mut commands = std::mem::take(&mut self.commands);
        self.reactor.mailbox.take(&mut commands);
        if let [Command::Output(_)] = commands[..] {
            // The first of many: the sender gets ahead where both share a core, and
            // the next write carries more than one.
            thread::yield_now();
        }
        self.note_due(commands.len());
        for command in commands.drain(..) {
            if matches!(command, Command::Shutdown) {
                return Some(Ended::Orderly);
            }
            let slot = self.slot_of(&command);
            self.contained(slot, |this| this.handle(command));
        }
        self.commands = commands;

        self.time_slices.begin();
        self.note_due(0);
        while let Some(slot) = self.time_slices.next() {
            self.contained(Some(slot), |this| {
                this.serve(slot, SourceEvent::TimeSlice);
            });
        }
        let now = self.reactor.now();
        let mut more = !self.handshakes.is_empty();
        while let Some(timer) = self.reactor.timers.pop_due(now) {
            more = true;
            let slot = match timer {
                Timer::EventSource { slot, .. } => Some(slot),
                _ => None,
            };
            self.contained(slot, |this| this.timer_due(timer));
        }
        self.advance_handshakes(began);
        // The time is asked for once more only where there was more work since.
        let ended = if more { self.reactor.now() } else { now };
        let work = self.reactor.mailbox.work();
        work.note(ended.saturating_sub(began));
        None
    }

    /// As many sources, beside those with a time slice, have something to do now.
    fn note_due(&mut self, sources: usize) {
        let due = sources + self.time_slices.len();
        self.reactor.others_wait = due > 1 || !self.handshakes.is_empty();
    }

    fn poll(&mut self) -> io::Result<()> {
        #[cfg(test)]
        if std::mem::take(&mut self.faults.poll_fails) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let timeout = self.poll_timeout();
        self.reactor.world.poll(timeout, &mut self.ready)
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
            Command::Withdraw { id }
            | Command::WithdrawWithPeers { id, .. }
            | Command::Resolved { id, .. } => self.sources.find(*id),
            #[cfg(test)]
            Command::Fault(Fault::PanicIn { endpoint, .. }) => self.sources.find_endpoint(endpoint),
            _ => None,
        }
    }

    /// How long the poll may wait.
    fn poll_timeout(&self) -> Option<Duration> {
        if !self.time_slices.is_empty() || !self.handshakes.is_empty() {
            return Some(Duration::ZERO);
        }
        self.reactor
            .timers
            .next()
            .map(|at| at.saturating_sub(self.reactor.now()))
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Listen {
                core,
                options,
                listener,
                endpoint,
                id,
                share,
            } => {
                // Another thread has begun to drain the socket meanwhile.
                if core.is_draining() {
                    return not_served(core, options);
                }
                self.listen(core, options, listener, endpoint, id, share);
            }
            Command::Connect {
                core,
                options,
                endpoint,
                id,
                share,
            } => {
                if core.is_draining() {
                    return not_served(core, options);
                }
                let connector = Connector::new(core, options, endpoint, id, share);
                let slot = self
                    .sources
                    .insert(EventSource::Connector(Box::new(connector)));
                self.start_attempt(slot);
            }
            Command::Exchange(datagrams) => self.add_datagrams(datagrams),
            Command::Output(key) | Command::Input(key) if self.has_datagrams(key) => {
                self.exchange(key.slot);
            }
            Command::Withdraw { id } => self.withdraw(id),
            Command::WithdrawWithPeers { core, id } => self.withdraw_with_peers(core, id),
            Command::LeaveAccepted { core, id } => self.leave_accepted(core, id),
            Command::Renew {
                core,
                id,
                withdrawn,
            } => self.renew(core, id, withdrawn),
            Command::Adopt(session) => {
                if let Ok(session) = session.downcast() {
                    self.adopt(*session);
                }
            }
            Command::AdoptedEnded { origin, key } => self.accepted_ended(origin, key),
            Command::Resolved { id, targets } => {
                if let Some(slot) = self.sources.find(id) {
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
                self.with_session_in_reactor(key, |session, reactor| {
                    session.end_lease(reactor.world.registry())
                });
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
            Command::CloseSocket(core) => self.close_socket(core),
            Command::ShortenLinger(core) => self.shorten_linger(core),
            Command::Abandon(core) => self.abandon(core),
            Command::DrainSocket(core, limit) => self.drain_socket(&core, limit),
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
            Command::SetTimeout { number, at, expiry } => {
                self.timeouts.set(number, expiry);
                self.reactor.timers.set(at, Timer::Timeout { number });
            }
            Command::CancelTimeout { number } => {
                self.timeouts.forget(number);
                self.reactor.timers.clear(Timer::Timeout { number });
            }
            Command::StartTask(task) => {
                let number = task.number;
                let next = self.tasks.start(task);
                self.set_task_timer(number, next);
            }
            Command::RunTask { number } => self.run_task(number),
            Command::EndTask { number } => {
                self.tasks.forget(number);
                self.reactor.timers.clear(Timer::Task { number });
            }
            Command::Shutdown => {}
            #[cfg(test)]
            Command::Fault(Fault::Panic { again }) => {
                self.faults.ending_panics = again;
                panic!("asked for");
            }
            #[cfg(test)]
            Command::Fault(Fault::PanicIn { again, .. }) => {
                self.faults.removing_panics = again;
                panic!("asked for");
            }
            #[cfg(test)]
            Command::Fault(Fault::Poll) => self.faults.poll_fails = true,
        }
    }

    fn run_task(&mut self, number: u64) {
        let next = self.tasks.run(number);
        self.set_task_timer(number, next);
    }

    fn set_task_timer(&mut self, number: u64, next: Option<Duration>) {
        let (timer, timers) = (Timer::Task { number }, &mut self.reactor.timers);
        match next {
            // Others have their iteration first.
            Some(at) => timers.set(at.max(self.reactor.world.now() + MOMENT), timer),
            None => timers.clear(timer),
        }
    }

    fn timer_due(&mut self, timer: Timer) {
        let now = self.reactor.now();
        match timer {
            Timer::EventSource { slot, number } => self.serve(slot, SourceEvent::Due(number)),
            Timer::Timeout { number } => self.timeouts.expire(number),
            Timer::Task { number } => self.run_task(number),
            Timer::Linger { socket } => {
                if let Some(core) = self.lingering.take(socket) {
                    self.abandon(core);
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
                let world = &self.reactor.world;
                self.cookies.retain(|cookies| match cookies.upgrade() {
                    Some(cookies) => {
                        rotate_cookies(&cookies, |key| world.fill_random(key));
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
}
