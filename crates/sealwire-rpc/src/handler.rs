//! What answers requests, and where it runs.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::conn::Conn;
use crate::counters::count;
use crate::hub::lock;
use crate::proto::{Answered, Body, ServedKey};
use crate::status::{Code, Error, Status};
use crate::stream;

/// Deals with what a peer asks. Called on the thread that reads the connection, which goes on only
/// when it returns: long work belongs elsewhere ([`Pool`], [`Spawn`]), with the request moved there.
pub trait Handler: Send + Sync + 'static {
    /// A request; it is answered by [`Request::reply`] or [`Request::fail`], now or later.
    fn request(&self, request: Request);

    /// A one-way message. The peer may send more of them once this value is dropped.
    fn message(&self, message: OneWay) {
        drop(message);
    }
}

/// A request of a peer. Dropped without an answer it is answered with an internal error.
pub struct Request {
    conn: Conn,
    key: ServedKey,
    body: Body,
    due: Option<Instant>,
    streams: bool,
    answered: bool,
}

impl Request {
    pub(crate) fn new(
        conn: Conn,
        key: ServedKey,
        body: Body,
        due: Option<Instant>,
        streams: bool,
    ) -> Self {
        Request {
            conn,
            key,
            body,
            due,
            streams,
            answered: false,
        }
    }

    /// What is asked.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The connection it came through, to call its peer or to see who that is.
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// When the caller stops waiting, if ever. At most an eighth later than the caller said.
    pub fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// How long the caller still waits; `None` for ever.
    pub fn time_left(&self) -> Option<Duration> {
        let left = |due: Instant| due.saturating_duration_since(Instant::now());
        self.due.map(left)
    }

    /// Whether the call has streams: [`send`](Request::send) and [`next`](Request::next).
    pub fn has_streams(&self) -> bool {
        self.streams
    }

    /// Whether the caller has stopped waiting.
    pub fn is_cancelled(&self) -> bool {
        self.is_overdue() || self.conn.served(|proto| proto.is_cancelled(self.key))
    }

    fn is_overdue(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }

    /// Waits until the caller has taken its request back.
    pub async fn cancelled(&self) {
        self.conn.cancelled(self.key).await;
    }

    /// The next item of the caller; `None` when it sends no more.
    pub async fn next(&self) -> Option<Body> {
        let key = self.key;
        stream::next(self.conn.link(), |proto, waker| {
            proto.poll_served_item(key, waker)
        })
        .await
    }

    /// Sends an item to the caller, waiting for it to want one.
    ///
    /// # Errors
    ///
    /// [`Error::StreamEnded`] when the caller has gone, [`Error::TooLarge`].
    pub async fn send(&self, item: &[u8]) -> Result<(), Error> {
        let key = self.key;
        let attempt = |proto: &mut crate::proto::Connection, waker: &std::task::Waker| {
            proto.send_served_item(key, item, waker)
        };
        stream::send(self.conn.link(), attempt).await
    }

    /// Answers. What comes after the deadline is not sent: nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for a body that the caller does not take; the caller gets an error.
    pub fn reply(mut self, body: &[u8]) -> Result<(), Error> {
        self.answered = true;
        if self.is_overdue() {
            self.answer_overdue();
            return Ok(());
        }
        match self.conn.served(|proto| proto.reply(self.key, body)) {
            Answered::Sent => Ok(()),
            Answered::TooLate => {
                self.too_late();
                Ok(())
            }
            Answered::TooLarge { size, limit } => {
                self.answer_error(&Status::new(
                    Code::OUT_OF_RANGE,
                    format!("the reply of {size} bytes is larger than the {limit} that are taken"),
                ));
                Err(Error::TooLarge { size, limit })
            }
        }
    }

    /// Answers with an error.
    pub fn fail(mut self, status: impl Into<Status>) {
        self.answered = true;
        if self.is_overdue() {
            return self.answer_overdue();
        }
        self.answer_error(&status.into());
    }

    /// Answers with what a handler returned.
    pub fn answer<R: AsRef<[u8]>>(self, outcome: Result<R, Status>) {
        match outcome {
            // The caller has been told what is wrong with the reply.
            Ok(reply) => drop(self.reply(reply.as_ref())),
            Err(status) => self.fail(status),
        }
    }

    fn answer_error(&self, status: &Status) {
        if self.conn.served(|proto| proto.fail(self.key, status)) == Answered::TooLate {
            self.too_late();
        }
    }

    /// The caller's own clock has ended the call, whether its word about that is here yet or not.
    fn answer_overdue(&self) {
        let status = Status::from(Code::DEADLINE_EXCEEDED);
        self.conn.served(|proto| proto.fail(self.key, &status));
        self.too_late();
    }

    fn too_late(&self) {
        count(&self.conn.link().hub().counters.answers_too_late);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.answered {
            self.answer_error(&Status::new(Code::INTERNAL, "the handler gave no answer"));
        }
        self.conn.served(|proto| proto.release(self.key));
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("body", &self.body)
            .field("peer", &self.conn.peer().to_string())
            .finish()
    }
}

/// A one-way message of a peer.
pub struct OneWay {
    conn: Conn,
    body: Body,
}

impl OneWay {
    pub(crate) fn new(conn: Conn, body: Body) -> Self {
        OneWay { conn, body }
    }

    /// What it says.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The connection it came through.
    pub fn conn(&self) -> &Conn {
        &self.conn
    }
}

impl Drop for OneWay {
    fn drop(&mut self) {
        self.conn.served(crate::proto::Connection::one_way_done);
    }
}

/// Answers every request with "unimplemented". What a client does unless told otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Handler for Nothing {
    fn request(&self, request: Request) {
        let status = Status::new(Code::UNIMPLEMENTED, "nothing is served on this side");
        request.fail(status.not_started());
    }
}

fn run<R: AsRef<[u8]>>(request: Request, handle: impl FnOnce(&Request) -> Result<R, Status>) {
    let span = tracing::debug_span!(target: "sealwire::rpc", "serve", bytes = request.body.len());
    let outcome = span.in_scope(|| catch_unwind(AssertUnwindSafe(|| handle(&request))));
    request.answer(outcome.unwrap_or_else(|_| {
        tracing::error!(target: "sealwire::rpc", "a handler panicked");
        Err(Status::new(Code::INTERNAL, "the handler panicked"))
    }));
}

fn take(message: OneWay, handle: &(impl Fn(&OneWay) + ?Sized)) {
    if catch_unwind(AssertUnwindSafe(|| handle(&message))).is_err() {
        tracing::error!(target: "sealwire::rpc", "a handler of one-way messages panicked");
    }
}

type MessageHandler = Box<dyn Fn(&OneWay) + Send + Sync>;

/// Runs a function where the connection is read: the fastest, for what takes microseconds and
/// waits for nothing.
pub struct Inline<F> {
    handle: F,
    messages: MessageHandler,
}

impl<F, R> Inline<F>
where
    F: Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    R: AsRef<[u8]>,
{
    /// Answers requests with this function.
    pub fn new(handle: F) -> Self {
        Inline {
            handle,
            messages: Box::new(|_| {}),
        }
    }

    /// Takes one-way messages with this function.
    #[must_use]
    pub fn on_message(mut self, handle: impl Fn(&OneWay) + Send + Sync + 'static) -> Self {
        self.messages = Box::new(handle);
        self
    }
}

impl<F, R> Handler for Inline<F>
where
    F: Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    R: AsRef<[u8]> + 'static,
{
    fn request(&self, request: Request) {
        run(request, &self.handle);
    }

    fn message(&self, message: OneWay) {
        take(message, &*self.messages);
    }
}

/// Runs a function on threads of its own, as many requests at a time as there are threads; further
/// ones queue, and those beyond the queue are turned away as not started.
pub struct Pool {
    shared: Arc<PoolQueue>,
}

struct PoolQueue {
    state: Mutex<PoolState>,
    work: Condvar,
    limit: usize,
}

#[derive(Default)]
struct PoolState {
    requests: VecDeque<Request>,
    messages: VecDeque<OneWay>,
    over: bool,
}

enum Work {
    Request(Request),
    Message(OneWay),
}

impl PoolQueue {
    fn next(&self) -> Option<Work> {
        let mut state = lock(&self.state);
        loop {
            if let Some(request) = state.requests.pop_front() {
                return Some(Work::Request(request));
            }
            if let Some(message) = state.messages.pop_front() {
                return Some(Work::Message(message));
            }
            if state.over {
                return None;
            }
            let woken = self.work.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pool {
    /// `threads` threads, and `queue` requests that may wait for one. One-way messages are bounded
    /// by the window of each connection.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn new<R: AsRef<[u8]>>(
        threads: usize,
        queue: usize,
        handle: impl Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::with_messages(threads, queue, handle, |_| {})
    }

    /// The same with a function for one-way messages.
    ///
    /// # Errors
    ///
    /// As [`new`](Pool::new).
    pub fn with_messages<R: AsRef<[u8]>>(
        threads: usize,
        queue: usize,
        handle: impl Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
        messages: impl Fn(&OneWay) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let pool = Pool {
            shared: Arc::new(PoolQueue {
                state: Mutex::default(),
                work: Condvar::new(),
                limit: queue,
            }),
        };
        let handlers = Arc::new((handle, messages));
        for _ in 0..threads.max(1) {
            let (queue, handlers) = (pool.shared.clone(), handlers.clone());
            thread::Builder::new()
                .name("sealwire-rpc-pool".into())
                .spawn(move || {
                    while let Some(work) = queue.next() {
                        match work {
                            // Nobody waits for it any more.
                            Work::Request(request) if request.is_cancelled() => {
                                request.fail(Status::from(Code::DEADLINE_EXCEEDED).not_started());
                            }
                            Work::Request(request) => run(request, &handlers.0),
                            Work::Message(message) => take(message, &handlers.1),
                        }
                    }
                })?;
        }
        Ok(pool)
    }
}

impl Handler for Pool {
    fn request(&self, request: Request) {
        let mut state = lock(&self.shared.state);
        if state.requests.len() >= self.shared.limit {
            drop(state);
            return request.fail(overloaded());
        }
        state.requests.push_back(request);
        drop(state);
        self.shared.work.notify_one();
    }

    fn message(&self, message: OneWay) {
        lock(&self.shared.state).messages.push_back(message);
        self.shared.work.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.shared.state).over = true;
        self.shared.work.notify_all();
    }
}

fn overloaded() -> Status {
    Status::new(Code::RESOURCE_EXHAUSTED, "too many requests wait here").not_started()
}

/// A future without a result, as executors take it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a future per request on an executor, up to a limit at a time; what goes beyond is turned
/// away as not started.
pub struct Spawn<S, F> {
    spawner: S,
    handle: Arc<F>,
    running: Arc<AtomicUsize>,
    limit: usize,
    messages: MessageHandler,
}

impl<S, F, T> Spawn<S, F>
where
    S: Fn(Task) + Send + Sync + 'static,
    F: Fn(Request) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    /// `spawner` runs a future (as `tokio::spawn` does), `handle` makes one that answers.
    pub fn new(spawner: S, limit: usize, handle: F) -> Self {
        Spawn {
            spawner,
            handle: Arc::new(handle),
            running: Arc::default(),
            limit,
            messages: Box::new(|_| {}),
        }
    }

    /// Takes one-way messages with this function, where the connection is read.
    #[must_use]
    pub fn on_message(mut self, handle: impl Fn(&OneWay) + Send + Sync + 'static) -> Self {
        self.messages = Box::new(handle);
        self
    }
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<S, F, T> Handler for Spawn<S, F>
where
    S: Fn(Task) + Send + Sync + 'static,
    F: Fn(Request) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    fn request(&self, request: Request) {
        let before = self.running.fetch_add(1, Ordering::SeqCst);
        let running = Running(self.running.clone());
        if before >= self.limit {
            return request.fail(overloaded());
        }
        let future = (self.handle)(request);
        (self.spawner)(Box::pin(async move {
            future.await;
            drop(running);
        }));
    }

    fn message(&self, message: OneWay) {
        take(message, &*self.messages);
    }
}

/// Looks at each request before its handler does, and may answer it instead.
pub(crate) struct Intercepted {
    pub(crate) before: Vec<Interceptor>,
    pub(crate) handler: Arc<dyn Handler>,
}

/// Lets a request through or answers it with an error.
pub(crate) type Interceptor = Box<dyn Fn(&Request) -> Result<(), Status> + Send + Sync>;

impl Handler for Intercepted {
    fn request(&self, request: Request) {
        match self.before.iter().try_for_each(|before| before(&request)) {
            Ok(()) => self.handler.request(request),
            Err(status) => request.fail(status),
        }
    }

    fn message(&self, message: OneWay) {
        self.handler.message(message);
    }
}
