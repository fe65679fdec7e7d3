//! The reader of connections: one thread at a time, on a client preferably one that waits for an answer.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use sealwire::{Error as SocketError, Message};

use super::Hub;
use crate::conn::Link;
use crate::limits::RESUMED_AT_A_TIME;
use crate::lock::lock;
use crate::proto::Side;

/// Messages taken from the socket at a time.
const BATCH: usize = 512;
/// How long a thread that waited keeps the reading to itself after it got what it waited for.
const LEASE: Duration = Duration::from_millis(2);
/// Longest uninterrupted wait for messages of a thread that waits for an answer.
const LOOK_UP: Duration = Duration::from_millis(50);
/// Longest wait for messages while requests wait for their peer to read its answers.
const LOOK_FOR_ROOM: Duration = Duration::from_millis(2);

/// What reading needs; the thread that holds it reads.
#[derive(Default)]
pub(super) struct Reader {
    batch: Vec<Message>,
    touched: Vec<Arc<Link>>,
    /// Those whose requests wait for them to read.
    paused: Vec<Arc<Link>>,
}

thread_local! {
    /// This thread handles a batch of messages, now with one from this connection, which it
    /// flushes at the batch's end.
    static IN_BATCH: Cell<Option<Dealing>> = const { Cell::new(None) };
    static PARKER: (Arc<Parker>, Waker) = {
        let parker = Arc::new(Parker { thread: thread::current(), woken: AtomicBool::new(false) });
        (parker.clone(), parker.into())
    };
}

/// The owner of the messages that a thread handles.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Dealing {
    /// Where the link is in memory; `None` between two.
    link: Option<usize>,
}

impl Dealing {
    fn with(link: Option<&Link>) -> Option<Self> {
        let link = link.map(|link| std::ptr::from_ref(link).addr());
        Some(Dealing { link })
    }
}

/// Whether this thread handles a batch of messages.
pub(crate) fn in_batch() -> bool {
    IN_BATCH.get().is_some()
}

/// Whether this thread handles a message of this link, and flushes it later.
pub(crate) fn flushes_later(link: &Link) -> bool {
    IN_BATCH.get() == Dealing::with(Some(link))
}

struct Parker {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// What wakes this thread out of [`thread::park`].
pub(super) fn waker_of_this_thread() -> Waker {
    PARKER.with(|(_, waker)| waker.clone())
}

/// Runs a future on this thread; nothing when it is not done by then.
pub(crate) fn block_until<F: Future>(deadline: Instant, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let waker = waker_of_this_thread();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

/// A thread that waits in [`Hub::block_on`], until it leaves, also by a panic.
struct Blocked<'a> {
    hub: &'a Hub,
    /// It was woken to read and has not read yet.
    chosen: bool,
}

impl<'a> Blocked<'a> {
    fn new(hub: &'a Hub) -> Self {
        hub.blocked.fetch_add(1, Ordering::SeqCst);
        Blocked { hub, chosen: false }
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        if self.hub.options.side == Side::Client {
            *lock(&self.hub.lease) = Instant::now();
        }
        self.hub.blocked.fetch_sub(1, Ordering::SeqCst);
        if self.chosen {
            // It had its answer already, so another thread has to read.
            self.hub.wake_follower();
        }
    }
}

impl Hub {
    fn process(self: &Arc<Self>, reader: &mut Reader) {
        let now = self.now();
        IN_BATCH.set(Dealing::with(None));
        let mut current: Option<Arc<Link>> = None;
        for message in reader.batch.drain(..) {
            let Some(peer) = message.peer() else { continue };
            let routing_id = peer.connection_routing_id();
            if current
                .as_ref()
                .is_none_or(|link| link.routing_id() != routing_id)
            {
                if let Some(link) = current.take() {
                    reader.touched.push(link);
                }
                current = self.link(routing_id);
                IN_BATCH.set(Dealing::with(current.as_deref()));
            }
            if message.is_empty() {
                // Nothing of the peer's: what it sends has a frame.
                if let Some(link) = current.take() {
                    reader.touched.push(link);
                }
                IN_BATCH.set(Dealing::with(None));
                self.connection_changed(peer);
                continue;
            }
            let Some(link) = &current else {
                self.greeted(peer, message.as_bytes());
                continue;
            };
            let Some(frame) = message.into_frames().pop_front() else {
                continue;
            };
            match link.receive(frame, now) {
                Ok(false) => {}
                Ok(true) => reader.paused.push(link.clone()),
                Err(violation) => self.violated(routing_id, violation),
            }
        }
        IN_BATCH.set(None);
        for link in reader.touched.drain(..).chain(current) {
            link.flush();
        }
    }

    /// Gives requests to the handler that have waited for their peer to read.
    fn resume(&self, reader: &mut Reader) {
        let now = self.now();
        reader.paused.retain(|link| {
            IN_BATCH.set(Dealing::with(Some(link)));
            let waits = link.resume(now, RESUMED_AT_A_TIME);
            IN_BATCH.set(None);
            link.flush();
            waits
        });
    }

    /// Reads once. `false` when the socket is closed.
    fn read_once(self: &Arc<Self>, reader: &mut Reader, limit: Option<Duration>) -> bool {
        let limit = if reader.paused.is_empty() {
            limit
        } else {
            Some(limit.map_or(LOOK_FOR_ROOM, |limit| limit.min(LOOK_FOR_ROOM)))
        };
        let taken = match limit {
            Some(limit) => self
                .reading
                .recv_many_timeout(&mut reader.batch, BATCH, limit),
            None => self.reading.recv_many(&mut reader.batch, BATCH),
        };
        match taken {
            Ok(_) => self.process(reader),
            Err(SocketError::TimedOut { .. }) => {}
            Err(SocketError::EngineFailed) => {
                self.fail();
                return false;
            }
            Err(_) => return false,
        }
        if !reader.paused.is_empty() {
            self.resume(reader);
        }
        true
    }

    pub(super) fn read_until_end(self: Arc<Self>) {
        while !self.has_ended() {
            if self.options.side == Side::Client && self.leave_reading_to_others() {
                continue;
            }
            let mut reader = lock(&self.reader);
            let open = self.read_once(&mut reader, None);
            drop(reader);
            self.wake_follower();
            if !open {
                break;
            }
        }
        self.end();
        self.close_all_links();
    }

    /// Waits while threads that wait for answers do the reading.
    fn leave_reading_to_others(&self) -> bool {
        let lease = lock(&self.lease);
        // Without a connection nobody leads.
        let used = self.link_count() > 0
            && (self.blocked.load(Ordering::SeqCst) > 0 || lease.elapsed() < LEASE);
        if used && !self.has_ended() {
            // Somebody else may wait without a thread: then `step_in` is notified.
            let (_lease, _) = self
                .step_in
                .wait_timeout(lease, LEASE)
                .unwrap_or_else(PoisonError::into_inner);
        }
        used
    }

    fn wake_follower(&self) {
        if let Some(thread) = lock(&self.followers).pop() {
            thread.unpark();
        }
    }

    /// Runs a future on this thread, which reads while it waits if it may.
    pub(crate) fn block_on<F: Future>(self: &Arc<Self>, future: F) -> F::Output {
        let mut future = pin!(future);
        PARKER.with(|(parker, waker)| {
            let mut context = Context::from_waker(waker);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            let mut blocked = Blocked::new(self);
            loop {
                if parker.woken.swap(false, Ordering::Acquire)
                    && let Poll::Ready(output) = future.as_mut().poll(&mut context)
                {
                    return output;
                }
                if self.options.side == Side::Client && !in_batch() && self.link_count() > 0 {
                    blocked.chosen = self.lead_or_follow(parker);
                } else {
                    thread::park();
                }
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return output;
                }
            }
        })
    }

    /// Reads, or waits until this thread may read or has been woken. `true` where it was chosen to read
    /// and has not done so yet.
    fn lead_or_follow(self: &Arc<Self>, parker: &Parker) -> bool {
        if let Ok(mut reader) = self.reader.try_lock() {
            self.lead(&mut reader, parker);
            drop(reader);
            self.wake_follower();
            return false;
        }
        lock(&self.followers).push(parker.thread.clone());
        // The reader may have left a moment ago, without seeing this follower.
        match self.reader.try_lock() {
            Ok(mut reader) => {
                self.lead(&mut reader, parker);
                drop(reader);
                self.follow_no_more(parker);
                self.wake_follower();
                false
            }
            Err(_) => {
                // The thread that reads now leaves it to those who wait once it has something.
                *lock(&self.lease) = Instant::now();
                thread::park();
                self.follow_no_more(parker)
            }
        }
    }

    /// `true` when this thread was no follower any more: the one that read last has chosen it.
    fn follow_no_more(&self, parker: &Parker) -> bool {
        let mut followers = lock(&self.followers);
        let before = followers.len();
        followers.retain(|other| other.id() != parker.thread.id());
        followers.len() == before
    }

    fn lead(self: &Arc<Self>, reader: &mut Reader, parker: &Parker) {
        if parker.woken.load(Ordering::Acquire) {
            return;
        }
        let wait = self.clock.next().saturating_sub(self.now()).min(LOOK_UP);
        let open = self.read_once(reader, Some(wait.max(Duration::from_micros(100))));
        *lock(&self.lease) = Instant::now();
        if !open {
            self.end();
        }
    }
}
