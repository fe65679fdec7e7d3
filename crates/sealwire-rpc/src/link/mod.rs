//! What the handles of a connection share: the protocol under a lock, and who is told.

mod batch;
mod clock;
mod owner;
mod room;
mod waiters;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use sealwire::account::Kind;
use sealwire::{Frame, Peer};

use self::batch::flushes_later;
pub(crate) use self::batch::{end_batch, is_in_batch, process_for};
#[cfg(test)]
pub(crate) use self::clock::tests::inproc_peer;
pub(crate) use self::clock::{Checked, Offered};
pub(crate) use self::owner::{LinkOptions, Owner};
pub(crate) use self::room::RoomWait;
use self::waiters::Waiters;
use crate::counters::count;
use crate::guard::wake_all;
use crate::lock::lock;
use crate::proto::{Asked, Body, CallEvent, Held, Protocol, Settings, Violation};

/// What the hub does about a received message.
pub(crate) enum Received {
    /// Nothing more.
    Nothing,
    Request(Asked),
    OneWay(Body),
    /// Requests wait from here on until the peer has read.
    Paused,
}

/// A connection that was let in. [`Conn`](crate::Conn) is a handle to it.
pub(crate) struct CallLink<O> {
    owner: Arc<O>,
    peer: Arc<Peer>,
    routing_id: u32,
    core: Mutex<Core>,
    /// Open calls of this side.
    load: AtomicUsize,
    takes_calls: AtomicBool,
    /// The socket had no room for what there is to send.
    waits_for_socket: AtomicBool,
}

struct Core {
    proto: Protocol,
    /// A thread hands messages to the socket; it will see what is queued meanwhile.
    flushing: bool,
    spare: VecDeque<Frame>,
    wakers: Vec<Waker>,
    /// Those who wait for room.
    room: Waiters,
    /// Since when the peer has not read, while too much waits for it.
    unread: Option<Unread>,
    /// Since when no call can be made because the peer does not answer those that were given up.
    stuck: Option<Duration>,
    /// Requests wait for the peer to read, and the thread that reads knows.
    paused: bool,
    /// What the peer's account says.
    noted: Held,
}

/// What changed under the lock that others are told of.
struct Changed {
    /// There may be room for those who wait for it.
    room: bool,
    /// The link has come to its end. Told once: a shutdown that waits for other links goes through all of them
    /// with each change.
    at_its_end: bool,
}

/// What came of an offer to the socket.
struct Flushed {
    /// The socket had no room for all.
    full: bool,
    /// There may be room for those who wait for it.
    room: bool,
}

/// What a peer had read at a time.
#[derive(Clone, Copy)]
struct Unread {
    since: Duration,
    written: u64,
    handed_over: u64,
}

impl Core {
    fn is_finished(&self) -> bool {
        self.proto.is_finished() && !self.flushing
    }

    /// Takes what there is to send, unless another thread is at it.
    fn begin_flush(&mut self) -> Option<VecDeque<Frame>> {
        if self.flushing || !self.proto.has_output() {
            return None;
        }
        self.flushing = true;
        let mut frames = std::mem::take(&mut self.spare);
        self.proto.take_outbox(&mut frames);
        Some(frames)
    }

    /// Takes those to wake, with those who wait for room if there may be some.
    fn take_wakers(&mut self, room: bool, into: &mut Vec<Waker>) {
        self.proto.take_wakers(into);
        if room {
            self.room.take_all(into);
        }
    }

    /// Brings the peer's account up to date. Often nothing has changed: then nothing is written to
    /// memory that threads share.
    fn note_held(&mut self, peer: &Peer) {
        let held = self.proto.held();
        if held != self.noted {
            self.noted = held;
            let account = peer.account();
            account.set(Kind::Requests, held.requests);
            account.set(Kind::Unhandled, held.unhandled);
            account.set(Kind::Answers, held.answers);
        }
    }
}

impl<O: Owner> CallLink<O> {
    pub(crate) fn new(owner: Arc<O>, peer: Arc<Peer>, settings: Settings) -> Arc<Self> {
        let options = owner.options();
        let budget = options.answer_budget;
        let proto = Protocol::new(options.side, options.settings, settings, budget);
        Arc::new(CallLink {
            routing_id: peer.connection_routing_id(),
            peer,
            core: Mutex::new(Core {
                proto,
                flushing: false,
                spare: VecDeque::new(),
                wakers: Vec::new(),
                room: Waiters::default(),
                unread: None,
                stuck: None,
                paused: false,
                noted: Held::default(),
            }),
            owner,
            load: AtomicUsize::new(0),
            takes_calls: AtomicBool::new(true),
            waits_for_socket: AtomicBool::new(false),
        })
    }

    pub(crate) fn routing_id(&self) -> u32 {
        self.routing_id
    }

    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    pub(crate) fn owner(&self) -> &Arc<O> {
        &self.owner
    }

    /// Entries in both tables of calls.
    pub(crate) fn entries(&self) -> usize {
        lock(&self.core).proto.entries()
    }

    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    pub(crate) fn takes_calls(&self) -> bool {
        self.takes_calls.load(Ordering::Relaxed)
    }

    /// Lets the protocol do something, then wakes whom that concerns.
    pub(crate) fn act<R>(&self, action: impl FnOnce(&mut Protocol) -> R) -> R {
        self.act_and_keep(action).0
    }

    /// The same, and sends what there is to send then.
    pub(crate) fn with<R>(&self, action: impl FnOnce(&mut Protocol) -> R) -> R {
        let (result, core) = self.act_and_keep(action);
        if !flushes_later(self) {
            self.flush_from(core);
        }
        result
    }

    /// Gives the lock as well, for what comes next. It is not held while others are told.
    fn act_and_keep<R>(
        &self,
        action: impl FnOnce(&mut Protocol) -> R,
    ) -> (R, MutexGuard<'_, Core>) {
        let mut core = lock(&self.core);
        let (result, changed) = self.apply(&mut core, action);
        if changed.room || changed.at_its_end || core.proto.has_wakers() {
            let mut wakers = std::mem::take(&mut core.wakers);
            core.take_wakers(changed.room, &mut wakers);
            drop(core);
            self.wake(&mut wakers);
            if changed.at_its_end {
                self.owner.tell_change();
            }
            core = lock(&self.core);
            core.wakers = wakers;
        }
        (result, core)
    }

    /// Lets the protocol do something.
    fn apply<R>(&self, core: &mut Core, action: impl FnOnce(&mut Protocol) -> R) -> (R, Changed) {
        let was_at_its_end = core.is_finished();
        let result = action(&mut core.proto);
        self.load.store(core.proto.open_calls(), Ordering::Relaxed);
        self.takes_calls
            .store(core.proto.takes_calls(), Ordering::Relaxed);
        if core.unread.is_none() && core.proto.is_over_budget() {
            self.begin_to_wait(core);
        }
        let changed = Changed {
            room: core.proto.take_room(),
            at_its_end: !was_at_its_end && core.is_finished(),
        };
        (result, changed)
    }

    fn wake(&self, wakers: &mut Vec<Waker>) {
        if !wake_all(wakers) {
            count(&self.owner.counters().panics);
        }
    }

    /// Wakes those who wait for room. The lock is given back.
    fn wake_for_room(&self, mut core: MutexGuard<'_, Core>) {
        let mut wakers = std::mem::take(&mut core.wakers);
        core.room.take_all(&mut wakers);
        drop(core);
        self.wake(&mut wakers);
        lock(&self.core).wakers = wakers;
    }

    /// More waits for the peer than it should: it has until then to read.
    fn begin_to_wait(&self, core: &mut Core) {
        let now = self.owner.now();
        core.unread = Some(self.unread(core, now));
        count(&self.owner.counters().peers_paused);
        self.peer.account().note_excess(Kind::Answers);
        self.owner.arm(now + self.owner.options().write_limit);
    }

    fn unread(&self, core: &Core, now: Duration) -> Unread {
        Unread {
            since: now,
            written: self.peer.account().written(),
            handed_over: core.proto.handed_over(),
        }
    }

    /// Hands what is queued to the socket, unless another thread is at it.
    pub(crate) fn flush(&self) {
        self.flush_from(lock(&self.core));
    }

    fn flush_from<'a>(&'a self, mut core: MutexGuard<'a, Core>) {
        core.note_held(&self.peer);
        let Some(mut frames) = core.begin_flush() else {
            return;
        };
        loop {
            drop(core);
            let offered = self.offer(frames);
            core = lock(&self.core);
            let flushed = self.settle(&mut core, offered);
            if flushed.full {
                drop(core);
                return self.owner.wait_for_socket();
            }
            if flushed.room {
                self.wake_for_room(core);
                core = lock(&self.core);
            }
            match core.begin_flush() {
                Some(more) => frames = more,
                None => break,
            }
        }
        let at_its_end = core.is_finished();
        drop(core);
        if at_its_end {
            self.owner.tell_change();
        }
    }

    /// Hands frames to the socket, as far as it has room. Called without the lock.
    fn offer(&self, mut frames: VecDeque<Frame>) -> Offered {
        let gone = !self.owner.try_send(self.routing_id, &mut frames);
        Offered { left: frames, gone }
    }

    /// Puts back what the socket had no room for.
    fn settle(&self, core: &mut Core, offered: Offered) -> Flushed {
        let Offered { mut left, gone } = offered;
        let full = !gone && !left.is_empty();
        core.proto.put_back(&mut left);
        if gone {
            // The socket will say so behind the last message of the peer.
            core.proto.drop_outbox();
        }
        core.spare = left;
        core.flushing = false;
        core.note_held(&self.peer);
        self.waits_for_socket.store(full, Ordering::SeqCst);
        let room = core.proto.take_room() && !full;
        Flushed { full, room }
    }

    /// Whether there is something to send for which the socket had no room.
    pub(crate) fn waits_for_socket(&self) -> bool {
        self.waits_for_socket.load(Ordering::SeqCst)
    }

    pub(crate) fn receive(&self, frame: Frame, now: Duration) -> Result<Received, Violation> {
        let counters = self.owner.counters();
        match self.act(|proto| proto.receive(frame, now))? {
            CallEvent::Nothing => {}
            CallEvent::Request(asked) => {
                count(&counters.requests);
                return Ok(Received::Request(asked));
            }
            CallEvent::Deferred => {
                count(&counters.requests);
                if !std::mem::replace(&mut lock(&self.core).paused, true) {
                    return Ok(Received::Paused);
                }
            }
            CallEvent::Refused => {
                count(&counters.requests);
                count(&counters.requests_refused);
                self.peer.account().note_excess(Kind::Requests);
            }
            CallEvent::OneWay(body) => {
                count(&counters.messages_received);
                return Ok(Received::OneWay(body));
            }
            CallEvent::GoingAway => self.owner.tell_change(),
        }
        Ok(Received::Nothing)
    }

    /// The next request that has waited for the peer to read, if it has.
    pub(crate) fn next_request(&self, now: Duration) -> Option<Asked> {
        self.act(|proto| proto.next_request(now))
    }

    /// Whether requests still wait for the peer to read. If not, [`receive`](Self::receive) says when some do.
    pub(crate) fn check_paused(&self) -> bool {
        let mut core = lock(&self.core);
        core.paused = core.proto.has_deferred();
        core.paused
    }

    pub(crate) fn is_finished(&self) -> bool {
        lock(&self.core).is_finished()
    }

    pub(crate) fn has_farewell(&self) -> bool {
        lock(&self.core).proto.has_farewell()
    }

    pub(crate) fn close(&self) {
        // Dropped without the lock.
        drop(self.act(Protocol::close));
        let mut core = lock(&self.core);
        core.note_held(&self.peer);
        self.wake_for_room(core);
    }
}
