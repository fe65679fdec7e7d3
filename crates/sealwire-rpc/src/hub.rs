//! What the connections of one client or server share: the socket, and who reads it.
//!
//! Messages are read by one thread at a time. On a client that is a thread that waits for an answer
//! (it saves two hand-overs between threads), and when there is none, a thread of the client's own;
//! on a server always the server's own. Answers given while a batch of messages is dealt with go
//! out together at its end.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use event_listener::Event as Signal;
use sealwire::{Error as SocketError, Message, Peer, blocking};

use crate::conn::{Conn, ConnState, Link};
use crate::counters::{LiveCounters, count};
use crate::handler::Handler;
use crate::proto::{Settings, Side, Violation};

/// Messages taken from the socket at a time.
const BATCH: usize = 512;
/// How long a thread that waited keeps the reading to itself after it got what it waited for.
const LEASE: Duration = Duration::from_millis(2);
/// Longest uninterrupted wait for messages of a thread that waits for an answer.
const LOOK_UP: Duration = Duration::from_millis(50);

/// How often a side that shuts down looks whether all has ended.
const SHUTDOWN_LOOK: Duration = Duration::from_millis(2);

/// Decides about a new connection, with what the other side's application sent, and says what to
/// send to it.
pub(crate) type Greeter = Arc<dyn Fn(&Peer, &[u8]) -> Result<Vec<u8>, String> + Send + Sync>;
pub(crate) type StateHandler = Arc<dyn Fn(&Conn, ConnState) + Send + Sync>;

pub(crate) struct HubOptions {
    pub(crate) side: Side,
    pub(crate) settings: Settings,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) greeter: Option<Greeter>,
    pub(crate) on_state: Option<StateHandler>,
    pub(crate) max_connections: usize,
    pub(crate) connection_wait: Duration,
    pub(crate) write_limit: Duration,
    pub(crate) request_limit: Option<Duration>,
}

pub(crate) struct Hub {
    pub(crate) options: HubOptions,
    pub(crate) socket: sealwire::Socket,
    reading: blocking::Socket,
    links: RwLock<HashMap<u32, Arc<Link>>>,
    waiting: Mutex<Vec<Waiting>>,
    /// A connection came or went, or is to come no more.
    pub(crate) changed: Signal,
    pub(crate) counters: LiveCounters,
    epoch: Instant,
    reader: Mutex<Reader>,
    /// Threads that wait for an answer while another one reads.
    followers: Mutex<Vec<Thread>>,
    /// Threads that wait for something, whether they read or not.
    blocked: AtomicUsize,
    lease: Mutex<Instant>,
    step_in: Condvar,
    clock: Clock,
    ended: AtomicBool,
}

/// A connection that has no place yet.
struct Waiting {
    peer: Arc<Peer>,
    settings: Settings,
    hello: Vec<u8>,
    until: Duration,
}

/// What reading needs; whoever holds it reads.
#[derive(Default)]
struct Reader {
    batch: Vec<Message>,
    touched: Vec<Arc<Link>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks leaves them half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// This thread deals with a batch of messages, now with one from this connection, which it
    /// flushes at the batch's end.
    static IN_BATCH: Cell<Option<Dealing>> = const { Cell::new(None) };
    static PARKER: (Arc<Parker>, Waker) = {
        let parker = Arc::new(Parker { thread: thread::current(), woken: AtomicBool::new(false) });
        (parker.clone(), parker.into())
    };
}

/// Whose messages a thread deals with.
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

/// Whether this thread deals with a batch of messages.
pub(crate) fn in_batch() -> bool {
    IN_BATCH.get().is_some()
}

/// Whether this thread deals with a message of this link, and flushes it later.
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

impl Hub {
    pub(crate) fn start(
        options: HubOptions,
        socket: sealwire::Socket,
    ) -> std::io::Result<Arc<Hub>> {
        let hub = Arc::new(Hub {
            reading: blocking::Socket::from(socket.clone()),
            options,
            socket,
            links: RwLock::default(),
            waiting: Mutex::default(),
            changed: Signal::new(),
            counters: LiveCounters::default(),
            epoch: Instant::now(),
            reader: Mutex::default(),
            followers: Mutex::default(),
            blocked: AtomicUsize::new(0),
            lease: Mutex::new(Instant::now()),
            step_in: Condvar::new(),
            clock: Clock::default(),
            ended: AtomicBool::new(false),
        });
        let (reader, clock) = (hub.clone(), hub.clone());
        thread::Builder::new()
            .name("sealwire-rpc".into())
            .spawn(move || reader.read_until_end())?;
        thread::Builder::new()
            .name("sealwire-rpc-clock".into())
            .spawn(move || clock.keep_time())?;
        Ok(hub)
    }

    pub(crate) fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    pub(crate) fn at(&self, time: Duration) -> Instant {
        self.epoch + time
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Ends everything now. What was queued is still sent, within the socket's linger time.
    pub(crate) fn end(&self) {
        if self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        // The socket's other handles are woken with an error.
        let socket = self.reading.clone();
        let closing = thread::Builder::new()
            .name("sealwire-rpc-end".into())
            .spawn(move || socket.close());
        drop(closing);
        self.close_all_links();
        self.clock.arm(Duration::ZERO);
        self.step_in.notify_all();
        self.changed.notify(usize::MAX);
    }

    /// Lets what is under way end, then ends everything. `false` when the limit was not enough.
    pub(crate) fn shut_down(self: &Arc<Self>, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            // Connections may still be on their way.
            for link in self.links() {
                link.with(crate::proto::Connection::go_away);
            }
            let finished = self.links().iter().all(|link| link.is_finished());
            if finished || Instant::now() >= deadline || self.has_ended() {
                self.end();
                return finished;
            }
            thread::sleep(SHUTDOWN_LOOK);
        }
    }

    fn close_all_links(&self) {
        let links: Vec<_> = write(&self.links).drain().map(|(_, link)| link).collect();
        for link in links {
            self.link_ended(&link);
        }
    }

    // ---- connections ----------------------------------------------------------------------------

    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        read(&self.links).values().cloned().collect()
    }

    pub(crate) fn link_count(&self) -> usize {
        read(&self.links).len()
    }

    pub(crate) fn has_link(&self, route: u32) -> bool {
        read(&self.links).contains_key(&route)
    }

    /// The connection with the fewest calls that takes more.
    pub(crate) fn least_loaded(&self) -> Option<Arc<Link>> {
        let links = read(&self.links);
        let open = links.values().filter(|link| link.takes_calls());
        open.min_by_key(|link| link.load()).cloned()
    }

    fn link(&self, route: u32) -> Option<Arc<Link>> {
        read(&self.links).get(&route).cloned()
    }

    /// The first message of a connection.
    fn greeted(self: &Arc<Self>, peer: &Arc<Peer>, message: &[u8]) {
        let (settings, hello) = match Settings::parse(message) {
            Ok(parsed) => parsed,
            Err(violation) => return self.violated(peer.route(), violation),
        };
        let waiting = Waiting {
            peer: peer.clone(),
            settings,
            hello: hello.to_vec(),
            until: self.now() + self.options.connection_wait,
        };
        if self.link_count() < self.options.max_connections {
            return self.admit(waiting);
        }
        let mut queue = lock(&self.waiting);
        if queue.iter().any(|other| other.peer.route() == peer.route()) {
            drop(queue);
            return self.violated(peer.route(), Violation::SettingsAgain);
        }
        self.clock.arm(waiting.until);
        queue.push(waiting);
    }

    fn admit(self: &Arc<Self>, new: Waiting) {
        let route = new.peer.route();
        let mut answer = Vec::new();
        if let Some(greeter) = &self.options.greeter {
            let decide = std::panic::AssertUnwindSafe(|| greeter(&new.peer, &new.hello));
            let decided = std::panic::catch_unwind(decide)
                .unwrap_or_else(|_| Err("the handshake hook panicked".into()));
            match decided {
                Ok(hello) => answer = hello,
                Err(reason) => {
                    tracing::warn!(target: "sealwire::rpc", peer = %new.peer, reason, "refused");
                    let _ = self.socket.disconnect_route(route, "rpc: refused");
                    return;
                }
            }
        }
        if self.options.side == Side::Server {
            let mut settings = [self.options.settings.message(&answer)].into();
            if self.socket.try_send_many_to(route, &mut settings).is_err() {
                return;
            }
        }
        let link = Link::new(self.clone(), new.peer, new.settings);
        write(&self.links).insert(route, link.clone());
        count(&self.counters.connections);
        tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "connected");
        self.tell_state(&link, ConnState::New);
        self.changed.notify(usize::MAX);
        if self.has_ended() {
            self.close_all_links();
        }
    }

    fn tell_state(&self, link: &Arc<Link>, state: ConnState) {
        if let Some(handler) = &self.options.on_state {
            handler(&Conn::new(link.clone()), state);
        }
    }

    fn link_ended(&self, link: &Arc<Link>) {
        link.close();
        tracing::debug!(target: "sealwire::rpc", peer = %link.peer(), "disconnected");
        self.tell_state(link, ConnState::Closed);
        self.changed.notify(usize::MAX);
    }

    fn disconnected(self: &Arc<Self>, route: u32) {
        lock(&self.waiting).retain(|waiting| waiting.peer.route() != route);
        let ended = write(&self.links).remove(&route);
        if let Some(link) = ended {
            self.link_ended(&link);
            let free = self.link_count() < self.options.max_connections;
            let mut waiting = lock(&self.waiting);
            if free && !waiting.is_empty() {
                let next = waiting.remove(0);
                drop(waiting);
                self.admit(next);
            }
        }
    }

    pub(crate) fn violated(&self, route: u32, violation: Violation) {
        count(&self.counters.violations);
        tracing::warn!(target: "sealwire::rpc", route, "{violation}: connection closed");
        // Gone already is as good.
        let _ = self.socket.disconnect_route(route, violation.reason());
    }

    // ---- reading --------------------------------------------------------------------------------

    fn deal_with(self: &Arc<Self>, reader: &mut Reader) {
        let now = self.now();
        IN_BATCH.set(Dealing::with(None));
        let mut current: Option<Arc<Link>> = None;
        for message in reader.batch.drain(..) {
            let Some(peer) = message.peer() else { continue };
            let route = peer.route();
            if current.as_ref().is_none_or(|link| link.route() != route) {
                if let Some(link) = current.take() {
                    reader.touched.push(link);
                }
                current = self.link(route);
                IN_BATCH.set(Dealing::with(current.as_deref()));
            }
            if message.size() == 0 {
                // The socket's own way to say that the peer is gone.
                current = None;
                IN_BATCH.set(Dealing::with(None));
                self.disconnected(route);
                continue;
            }
            let Some(link) = &current else {
                self.greeted(peer, message.as_bytes());
                continue;
            };
            if let Some(frame) = message.into_frames().pop_front()
                && let Err(violation) = link.receive(frame, now)
            {
                self.violated(route, violation);
            }
        }
        IN_BATCH.set(None);
        for link in reader.touched.drain(..).chain(current) {
            link.flush();
        }
    }

    /// Reads once. `false` when the socket is closed.
    fn read_once(self: &Arc<Self>, reader: &mut Reader, limit: Option<Duration>) -> bool {
        let taken = match limit {
            Some(limit) => self.reading.recv_many_for(&mut reader.batch, BATCH, limit),
            None => self.reading.recv_many(&mut reader.batch, BATCH),
        };
        match taken {
            Ok(_) => self.deal_with(reader),
            Err(SocketError::TimedOut { .. }) => {}
            Err(_) => return false,
        }
        true
    }

    fn read_until_end(self: Arc<Self>) {
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
            self.blocked.fetch_add(1, Ordering::SeqCst);
            let output = loop {
                if parker.woken.swap(false, Ordering::Acquire)
                    && let Poll::Ready(output) = future.as_mut().poll(&mut context)
                {
                    break output;
                }
                if self.options.side == Side::Client && !in_batch() && self.link_count() > 0 {
                    self.lead_or_follow(parker);
                } else {
                    thread::park();
                }
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    break output;
                }
            };
            if self.options.side == Side::Client {
                *lock(&self.lease) = Instant::now();
            }
            self.blocked.fetch_sub(1, Ordering::SeqCst);
            output
        })
    }

    fn lead_or_follow(self: &Arc<Self>, parker: &Parker) {
        if let Ok(mut reader) = self.reader.try_lock() {
            self.lead(&mut reader, parker);
            drop(reader);
            return self.wake_follower();
        }
        lock(&self.followers).push(parker.thread.clone());
        // The reader may have left a moment ago, without seeing this follower.
        match self.reader.try_lock() {
            Ok(mut reader) => {
                self.lead(&mut reader, parker);
                drop(reader);
                lock(&self.followers).retain(|other| other.id() != parker.thread.id());
                self.wake_follower();
            }
            Err(_) => {
                // Whoever reads now leaves it to those who wait once it has something.
                *lock(&self.lease) = Instant::now();
                thread::park();
                lock(&self.followers).retain(|other| other.id() != parker.thread.id());
            }
        }
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

    // ---- time -----------------------------------------------------------------------------------

    /// Something has to be looked at then.
    pub(crate) fn arm(&self, at: Duration) {
        self.clock.arm(at);
    }

    fn keep_time(self: Arc<Self>) {
        while !self.has_ended() {
            self.clock.wait(self.epoch);
            let now = self.now();
            for link in self.links() {
                if let Some(next) = link.look_at_clock(now) {
                    self.clock.arm(next);
                }
            }
            self.refuse_those_who_waited(now);
        }
    }

    fn refuse_those_who_waited(&self, now: Duration) {
        let mut refused = Vec::new();
        lock(&self.waiting).retain(|waiting| {
            let keep = waiting.until > now;
            if keep {
                self.clock.arm(waiting.until);
            } else {
                refused.push(waiting.peer.route());
            }
            keep
        });
        for route in refused {
            count(&self.counters.connections_refused);
            let reason = "rpc: the limit of connections is reached";
            let _ = self.socket.disconnect_route(route, reason);
        }
    }
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// When to look next; arming it for later than that costs one load.
struct Clock {
    /// Microseconds since the epoch; the maximum for never.
    next: AtomicU64,
    sleeping: Mutex<()>,
    sooner: Condvar,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            next: AtomicU64::new(u64::MAX),
            sleeping: Mutex::default(),
            sooner: Condvar::new(),
        }
    }
}

impl Clock {
    fn arm(&self, at: Duration) {
        let at = u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
        if at < self.next.load(Ordering::SeqCst) && at < self.next.fetch_min(at, Ordering::SeqCst) {
            drop(lock(&self.sleeping));
            self.sooner.notify_one();
        }
    }

    fn next(&self) -> Duration {
        Duration::from_micros(self.next.load(Ordering::SeqCst))
    }

    /// Sleeps until it is time, then forgets what it was armed for.
    fn wait(&self, epoch: Instant) {
        let mut sleeping = lock(&self.sleeping);
        loop {
            let next = self.next.load(Ordering::SeqCst);
            let now = u64::try_from(epoch.elapsed().as_micros()).unwrap_or(u64::MAX);
            if next <= now {
                self.next.store(u64::MAX, Ordering::SeqCst);
                return;
            }
            // What is years away is looked at once a day.
            let wait = Duration::from_micros(next - now).min(Duration::from_secs(86_400));
            (sleeping, _) = self
                .sooner
                .wait_timeout(sleeping, wait)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
