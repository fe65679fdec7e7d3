//! The thread that reads for a distributor or worker, keeps its time and sends.
//!
//! It sleeps in one place, at the socket, and is woken there: by messages, by a core that has something to do, and
//! by room in the socket. What the application adds while it is awake goes out together.

#[cfg(test)]
pub(super) mod simulated;

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use sealwire::options::Withdrawn;
use sealwire::waits::{self, Signal};
use sealwire::{Frame, Message, Security, Socket, blocking};
use sealwire_fork::Birth;

use super::error::Error;
use super::proto::Violation;
use crate::guard::{LogGate, contain, log};
use crate::limits::bounded;
use crate::lock::lock;
use crate::seat::{block_on, block_until};
use crate::{sockets, threads};

/// Messages taken from the socket in one go.
const BATCH: usize = 256;

/// What a driver drives: one side without its sockets.
pub(super) trait Core: Send + 'static {
    fn connected(&mut self, connection: u32, now: Duration);
    fn disconnected(&mut self, connection: u32);
    fn receive(&mut self, connection: u32, message: Frame, now: Duration) -> Result<(), Violation>;
    /// A connection is ended for a violation.
    fn violated(&mut self);
    fn due(&self) -> Option<Duration>;
    fn process_due(&mut self, now: Duration);
    /// Offers messages to the socket. Returns whether it had no room for some.
    fn send(&mut self, now: Duration, send: &mut dyn FnMut(u32, &mut VecDeque<Frame>)) -> bool;
    /// Connections that are to be ended.
    fn take_closing(&mut self) -> Vec<(u32, &'static str)>;
    /// Whether those who wait are to be told.
    fn take_change(&mut self) -> bool;
}

/// Ends the sleep of the thread.
struct Alarm {
    socket: blocking::Socket,
    rung: AtomicBool,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            waits::wake_receivers(&self.socket);
        }
    }
}

/// A core, and the connections whose beginning it has been told of.
struct Driven<C> {
    core: C,
    connections: BTreeSet<u32>,
    /// Until when the thread sleeps if nobody wakes it.
    sleeps_until: Option<Duration>,
}

pub(super) struct Driver<C> {
    birth: Birth,
    /// Dropped before the socket: a blocking handle that is the last one waits until everything is sent, also in a task.
    alarm: Arc<Alarm>,
    pub(super) socket: Socket,
    driven: Mutex<Driven<C>>,
    /// Something has changed for those who wait.
    changes: Signal,
    /// When the clock of the context began.
    epoch: Instant,
    ended: AtomicBool,
    failed: AtomicBool,
    violations: LogGate,
}

impl<C: Core> Driver<C> {
    pub(super) fn start(core: C, socket: Socket) -> Result<Arc<Self>, Error> {
        let driver = Self::new(core, socket);
        let driven = driver.clone();
        threads::start("sealwire-work", move || driven.run())
            .map_err(|error| Error::Socket(sealwire::Error::System(error)))?;
        Ok(driver)
    }

    /// One that nobody drives yet.
    fn new(core: C, socket: Socket) -> Arc<Self> {
        let now = Instant::now();
        let epoch = now.checked_sub(socket.context().now()).unwrap_or(now);
        Arc::new(Driver {
            birth: Birth::now(),
            alarm: Arc::new(Alarm {
                socket: blocking::Socket::from(socket.clone()),
                rung: AtomicBool::new(false),
            }),
            socket,
            driven: Mutex::new(Driven {
                core,
                connections: BTreeSet::new(),
                sleeps_until: None,
            }),
            changes: Signal::default(),
            epoch,
            ended: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            violations: LogGate::new(),
        })
    }

    fn run(self: Arc<Self>) {
        if contain("the thread of acknowledged work", || self.drive()).is_none() {
            self.failed.store(true, Ordering::SeqCst);
        }
        self.end();
    }

    fn drive(&self) {
        let mut batch = Vec::new();
        let waker = Waker::from(self.alarm.clone());
        let mut context = Context::from_waker(&waker);
        while !self.ended.load(Ordering::SeqCst) {
            self.alarm.rung.store(false, Ordering::SeqCst);
            // Asked for before the attempt to send that may find none.
            let next_room = pin!(self.socket.room());
            let (is_full, due) = self.iterate(&mut batch);
            let mut room = is_full.then_some(next_room);
            if let Some(room) = &mut room
                && room.as_mut().poll(&mut context).is_ready()
            {
                continue;
            }
            let over = || self.alarm.rung.load(Ordering::SeqCst);
            let deadline = due.map(|due| self.epoch + due);
            let received =
                waits::recv_many_unless(&self.alarm.socket, &mut batch, BATCH, deadline, over);
            match received {
                Ok(_) => {}
                Err(sealwire::Error::EngineFailed) => {
                    self.failed.store(true, Ordering::SeqCst);
                    break;
                }
                Err(_) => break,
            }
        }
    }

    /// Processes what was received and what is due, and sends what that causes. Whether the socket is full, and when
    /// something is due next.
    fn iterate(&self, batch: &mut Vec<Message>) -> (bool, Option<Duration>) {
        let mut driven = lock(&self.driven);
        let now = self.socket.context().now();
        for message in batch.drain(..) {
            self.process(&mut driven, message, now);
        }
        let core = &mut driven.core;
        core.process_due(now);
        let full = self.send(core, now);
        let (due, changed) = (core.due(), core.take_change());
        let closing = core.take_closing();
        driven.sleeps_until = due;
        drop(driven);
        for (connection, reason) in closing {
            let _ = self.socket.disconnect_peer(connection, reason);
        }
        if changed {
            self.changes.notify_all();
        }
        (full, due)
    }

    /// Sends all that is to be sent. Whether the socket is full.
    fn send(&self, core: &mut C, now: Duration) -> bool {
        core.send(now, &mut |connection, frames| {
            // A connection that is gone takes its messages along; its end is on its way here.
            if self.socket.try_send_many_to(connection, frames).is_err() {
                frames.clear();
            }
        })
    }

    fn process(&self, driven: &mut Driven<C>, mut message: Message, now: Duration) {
        let Some(peer) = message.peer().cloned() else {
            return;
        };
        let connection = peer.connection_routing_id();
        let core = &mut driven.core;
        let Some(frame) = message.pop_front() else {
            // The engine says that it has begun or ended: no peer can send a message without a frame.
            if driven.connections.remove(&connection) {
                core.disconnected(connection);
            } else {
                driven.connections.insert(connection);
                core.connected(connection, now);
            }
            return;
        };
        if let Err(violation) = core.receive(connection, frame, now) {
            // What it has sent after this is not read.
            core.disconnected(connection);
            core.violated();
            if let Some(times) = self.violations.pass() {
                log(|| {
                    tracing::warn!(target: "sealwire::work", %peer, times, "{violation}: connection closed");
                });
            }
            let _ = self.socket.disconnect_peer(connection, violation.reason());
        }
    }

    /// Runs something on the core, for the application.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut C) -> R) -> R {
        action(&mut lock(&self.driven).core)
    }

    /// Changes the core for the application, and sends from this thread if the change says that it is time: without a
    /// change of threads. The other thread is woken only for what it does not wait for yet.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut C, Duration) -> (R, bool)) -> R {
        let now = self.socket.context().now();
        let mut driven = lock(&self.driven);
        let (outcome, sends) = change(&mut driven.core, now);
        let full = sends && self.send(&mut driven.core, now);
        let sleeps_until = driven.sleeps_until;
        let is_sooner = |due| sleeps_until.is_none_or(|until| due < until);
        let wakes = full || driven.core.due().is_some_and(is_sooner);
        drop(driven);
        if wakes {
            self.wake();
        }
        outcome
    }

    /// Has the thread process what the application has changed.
    pub(super) fn wake(&self) {
        self.alarm.wake_by_ref();
    }

    /// Tells those who wait of a change by the application.
    pub(super) fn tell(&self) {
        self.changes.notify_all();
    }

    /// Gives the socket's endpoints other keys.
    pub(super) fn renew_security(
        &self,
        security: Security,
        withdrawn: Withdrawn,
    ) -> Result<(), Error> {
        self.check()?;
        Ok(sockets::renew(&self.socket, security, withdrawn)?)
    }

    /// # Errors
    ///
    /// Why nothing can be done here any more.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.birth.is_here() {
            return Err(Error::Forked);
        }
        match (
            self.ended.load(Ordering::SeqCst),
            self.failed.load(Ordering::SeqCst),
        ) {
            (_, true) => Err(Error::EngineFailed),
            (true, false) => Err(Error::ShutDown),
            (false, false) => Ok(()),
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    /// Waits until `attempt` gives something, which is tried again after each change.
    pub(super) async fn until<R>(
        &self,
        mut attempt: impl FnMut() -> Option<Result<R, Error>>,
    ) -> Result<R, Error> {
        loop {
            self.check()?;
            // Mostly there is nothing to wait for.
            if let Some(outcome) = attempt() {
                return outcome;
            }
            let changed = self.changes.listen();
            self.check()?;
            if let Some(outcome) = attempt() {
                return outcome;
            }
            changed.await;
        }
    }

    /// The same on this thread, up to a time limit.
    pub(super) fn until_blocking<R>(
        &self,
        limit: Option<Duration>,
        attempt: impl FnMut() -> Option<Result<R, Error>>,
    ) -> Result<R, Error> {
        self.check()?;
        if waits::must_not_wait() {
            return Err(Error::WouldDeadlock);
        }
        let waiting = self.until(attempt);
        match limit {
            None => block_on(waiting),
            Some(limit) => {
                let deadline = Instant::now() + bounded(limit);
                block_until(deadline, waiting).unwrap_or(Err(Error::TimedOut))
            }
        }
    }

    /// Ends the thread, and begins to close the socket. Queued messages are still sent, within the linger time.
    pub(super) fn end(&self) {
        if !self.birth.is_here() || self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        let mut closing = pin!(self.socket.clone().close());
        // Its first poll begins to close, and nobody waits for the rest.
        let _ = closing
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        self.wake();
        self.changes.notify_all();
    }

    /// Ends it, and waits until what is queued is sent, up to the linger time.
    pub(super) fn end_and_wait(&self) {
        self.end();
        if self.birth.is_here() && !waits::must_not_wait() {
            let _ = block_on(self.socket.clone().close());
        }
    }
}
