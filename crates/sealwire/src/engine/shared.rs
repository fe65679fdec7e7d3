//! A session and who may drive it: the I/O thread, whenever something happens, and a thread of the
//! application, when it would otherwise hand a single message over and wait.
//!
//! ```text
//!   I/O thread ───────────┐
//!                         ├─▶ lock ─▶ Session
//!   send, recv ───────────┘
//!        └─ what they cannot do ─▶ mailbox ─▶ I/O thread
//! ```
//!
//! A thread of the application waits for the lock only if it waits for messages afterwards.
//! Otherwise it only tries the lock, and holds it for one read, a few writes, or those of one long message, which the
//! I/O thread would have to do else. It never ends a session: it leaves faults to the I/O thread.

use std::cell::RefCell;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use bytes::BytesMut;

use super::bursts::Bursts;
use super::failure::FailureCause;
use super::guard;
use super::mailbox::{Command, Mailbox};
use super::pattern::{DirectReader, Dismissal, Link, More};
use super::session::{End, Session};
use super::session_key::SessionKey;
use super::sync::{Mutex, MutexGuard, thread_local};
use super::transport::Polled;
use super::waiting::Lease;
use super::world::World;

/// Writes of an application's thread in a row.
const WRITES_PER_CALL: usize = 4;

pub(super) struct SharedSession {
    pub(super) key: SessionKey,
    /// Of its socket.
    pub(super) socket: u64,
    session: Mutex<Option<Session>>,
    mailbox: Arc<Mailbox>,
    world: Arc<dyn World>,
    bursts: Arc<Bursts>,
    /// Whether a thread of the application reads instead of the I/O thread, where this is its socket's
    /// only connection.
    lease: Arc<Lease>,
}

impl SharedSession {
    pub(super) fn new(session: Session, mailbox: Arc<Mailbox>, world: Arc<dyn World>) -> Arc<Self> {
        Arc::new_cyclic(|shared: &Weak<Self>| SharedSession {
            key: session.identity.key,
            socket: session.identity.core.id(),
            bursts: session.bursts.clone(),
            lease: session.identity.core.lease().clone(),
            session: Mutex::new(Some(session.linked_by(shared.clone()))),
            mailbox,
            world,
        })
    }

    /// `None` once something has panicked that acted on the session: it is half done, and only to
    /// be taken away.
    fn lock(&self) -> Option<MutexGuard<'_, Option<Session>>> {
        self.session.lock().ok()
    }

    /// Runs `operation` with the session to itself; `None` when it has ended.
    pub(super) fn with<R>(&self, operation: impl FnOnce(&mut Session) -> R) -> Option<R> {
        self.lock()?.as_mut().map(operation)
    }

    /// Whether something has panicked that acted on the session.
    pub(super) fn is_broken(&self) -> bool {
        self.session.is_poisoned()
    }

    /// Lets the I/O thread act on the session. When that ends it nobody else acts on it any more,
    /// also before it is taken.
    pub(super) fn advance<R>(
        &self,
        action: impl FnOnce(&mut Session) -> Result<R, End>,
    ) -> Option<Result<R, End>> {
        let advanced = guard::contain("driving a connection", || {
            self.with(|session| {
                let outcome = action(session);
                if outcome.is_err() {
                    session.mark_over();
                }
                outcome
            })
        });
        match advanced.flatten() {
            None if self.is_broken() => Some(Err(End::Failed(FailureCause::Internal))),
            outcome => outcome,
        }
    }

    /// Takes the session for good.
    pub(super) fn take(&self) -> Option<Session> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.take()
    }

    fn now(&self) -> Duration {
        self.world.now()
    }

    /// Lets a thread of the application act on a session that is ready, and passes on what it
    /// left to do. `false` when there is no such session. A panic leaves its end to do.
    fn act(
        &self,
        session: MutexGuard<'_, Option<Session>>,
        action: impl FnOnce(&mut Session),
    ) -> bool {
        let acted = guard::contain("driving a connection", move || {
            // Dropped by a panic it marks the session as broken.
            let mut session = session;
            let session = session.as_mut().filter(|session| session.is_usable())?;
            guard::driving(|| action(session));
            Some(session.needs_io_thread())
        });
        if acted != Some(None) && acted != Some(Some(false)) {
            self.mailbox.post(Command::Revisit(self.key));
        }
        acted.flatten().is_some()
    }

    fn read_with(&self, session: MutexGuard<'_, Option<Session>>) -> Option<More> {
        thread_local! {
            static SPARE: RefCell<BytesMut> = RefCell::new(BytesMut::new());
        }
        SPARE.with(|spare| {
            let mut more = None;
            self.act(session, |session| {
                session.transport_event(true, false, false);
                session.read_directly(&mut spare.borrow_mut(), self.now());
                session.write_directly(WRITES_PER_CALL);
                more = Some(session.more_to_read());
            });
            more
        })
    }

    /// Lets this thread write, if nobody else has the session. `false` leaves it to the caller to say that there is something
    /// to write.
    fn write_now(&self, now: Duration, write: impl FnOnce(&mut Session)) -> bool {
        let Ok(session) = self.session.try_lock() else {
            return false;
        };
        // A message to a peer that has gone would be lost. The I/O thread takes none for it once it knows of the end.
        let ended_unseen = |session: &Session| session.peer_has_ended_unseen(now);
        if session.as_ref().is_some_and(ended_unseen) {
            drop(session);
            self.mailbox.post(Command::Output(self.key));
            return true;
        }
        self.act(session, |session| {
            session.output_ready();
            write(session);
        })
    }
}

/// How a pipe reaches its session.
impl Link for SharedSession {
    fn output_ready(&self, alone: bool) {
        let now = self.now();
        let direct = self.bursts.is_single(now)
            && alone
            && self.write_now(now, |session| {
                session.write_lone_message(WRITES_PER_CALL);
                self.bursts.sent(self.now());
            });
        if !direct {
            self.mailbox.post(Command::Output(self.key));
        }
    }

    fn push_output(&self) {
        self.write_now(self.now(), |session| {
            session.write_directly(WRITES_PER_CALL)
        });
    }

    fn input_wanted(&self) {
        let mut read_by_others = false;
        if self.lease.is_held()
            && let Ok(session) = self.session.try_lock()
        {
            self.act(session, |session| {
                session.input_wanted(self.now());
                // A thread that reads directly goes on as soon as it has read all. It may have been about
                // to read and not be able to: then there is no lease.
                read_by_others = session.is_leased();
            });
        }
        if !read_by_others {
            self.mailbox.post(Command::Input(self.key));
        }
    }

    fn disconnect(&self, reason: Dismissal) {
        self.mailbox.post(Command::Disconnect(self.key, reason));
    }

    fn finish(&self) {
        self.mailbox.post(Command::Finish(self.key));
    }

    fn direct_reader(self: Arc<Self>) -> Option<Arc<dyn DirectReader>> {
        Some(self)
    }
}

impl DirectReader for SharedSession {
    fn lease(&self) -> Option<Polled> {
        let mut session = self.lock()?;
        let session = session.as_mut().filter(|session| session.is_usable())?;
        if !session.is_leased() {
            self.lease.is_new();
        }
        session.lease(self.world.registry()).ok()
    }

    fn read(&self) -> Option<More> {
        self.read_with(self.lock()?)
    }

    fn read_if_free(&self) {
        // A caller may hold a lock of its own that a payload's owner waits for, as it is dropped by
        // who acts on the session.
        if !guard::must_not_wait()
            && let Ok(session) = self.session.try_lock()
        {
            self.read_with(session);
        }
    }

    fn watch_lease(&self) {
        self.mailbox.post(Command::Watch(self.key));
    }

    fn end_lease(&self) {
        self.mailbox.post(Command::EndLease(self.key));
    }
}
