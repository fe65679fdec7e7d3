//! Threads that answer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::{Handler, OneWay, Request, overloaded, run, take};
use crate::lock::lock;
use crate::status::{Code, Status};

/// Runs a function, or another handler, on threads of its own: as many requests at a time as there are
/// threads; further ones queue, and those beyond the queue are turned away as not started. The threads
/// end with the pool, when the queue is empty.
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

impl PoolState {
    fn pop(&mut self) -> Option<Work> {
        let request = self.requests.pop_front().map(Work::Request);
        request.or_else(|| self.messages.pop_front().map(Work::Message))
    }
}

enum Work {
    Request(Request),
    Message(OneWay),
}

impl Work {
    fn run(self, handler: &impl Handler) {
        match self {
            // Nobody waits for it any more.
            Work::Request(request) if request.is_cancelled() => {
                request.fail(Status::from(Code::DEADLINE_EXCEEDED).not_started());
            }
            Work::Request(request) => handler.request(request),
            Work::Message(message) => handler.message(message),
        }
    }
}

impl PoolQueue {
    fn of(limit: usize) -> Arc<Self> {
        Arc::new(PoolQueue {
            state: Mutex::default(),
            work: Condvar::new(),
            limit,
        })
    }

    fn next(&self) -> Option<Work> {
        let mut state = lock(&self.state);
        loop {
            if let Some(work) = state.pop() {
                return Some(work);
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
    /// Starts `threads` threads (at least one), with `queue` requests that may wait for one. The window of
    /// each connection bounds one-way messages.
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if it gives no thread.
    pub fn new<R: AsRef<[u8]>>(
        threads: usize,
        queue: usize,
        handle: impl Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::with_messages(threads, queue, handle, |_| {})
    }

    /// Starts a pool as [`new`](Pool::new) does, with a function for one-way messages.
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if it gives no thread.
    pub fn with_messages<R: AsRef<[u8]>>(
        threads: usize,
        queue: usize,
        handle: impl Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
        messages: impl Fn(&OneWay) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        Self::start(threads, queue, Functions { handle, messages })
    }

    /// Runs a handler that may answer later, or elsewhere: a wait in its [`request`](Handler::request) holds
    /// up one thread of the pool instead of the connection. A panic of it ends the call, as one of a function
    /// does.
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if it gives no thread.
    pub fn around(threads: usize, queue: usize, handler: impl Handler) -> std::io::Result<Self> {
        Self::start(threads, queue, Guarded(handler))
    }

    /// The handler must not panic.
    fn start(threads: usize, queue: usize, handler: impl Handler) -> std::io::Result<Self> {
        let pool = Pool {
            shared: PoolQueue::of(queue),
        };
        let handler = Arc::new(handler);
        for _ in 0..threads.max(1) {
            let (queue, handler) = (pool.shared.clone(), handler.clone());
            thread::Builder::new()
                .name("sealwire-rpc-pool".into())
                .spawn(move || {
                    while let Some(work) = queue.next() {
                        work.run(&*handler);
                    }
                })?;
        }
        Ok(pool)
    }

    /// A pool whose only thread is the caller, a step at a time.
    #[cfg(test)]
    pub(crate) fn without_threads<H: Handler>(queue: usize, handler: H) -> (Self, PoolSteps<H>) {
        let shared = PoolQueue::of(queue);
        let steps = PoolSteps {
            queue: shared.clone(),
            handler,
        };
        (Pool { shared }, steps)
    }
}

/// What a thread of a pool would do.
#[cfg(test)]
pub(crate) struct PoolSteps<H> {
    queue: Arc<PoolQueue>,
    handler: H,
}

#[cfg(test)]
impl<H: Handler> PoolSteps<H> {
    /// Runs what is first in the queue. Whether there was something.
    pub(crate) fn run_next(&self) -> bool {
        let next = lock(&self.queue.state).pop();
        let is_there = next.is_some();
        if let Some(work) = next {
            work.run(&self.handler);
        }
        is_there
    }

    /// Whether the thread would have ended.
    pub(crate) fn is_over(&self) -> bool {
        let state = lock(&self.queue.state);
        state.over && state.requests.is_empty() && state.messages.is_empty()
    }
}

/// Two functions.
struct Functions<F, M> {
    handle: F,
    messages: M,
}

impl<F, M, R> Handler for Functions<F, M>
where
    F: Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    M: Fn(&OneWay) + Send + Sync + 'static,
    R: AsRef<[u8]>,
{
    fn request(&self, request: Request) {
        run(request, &self.handle);
    }

    fn message(&self, message: OneWay) {
        take(message, &self.messages);
    }
}

/// A handler whose panics end the call.
struct Guarded<H>(H);

impl<H: Handler> Handler for Guarded<H> {
    fn request(&self, request: Request) {
        let hub = request.conn().link().hub().clone();
        let _ = hub.guard("a handler", || self.0.request(request));
    }

    fn message(&self, message: OneWay) {
        let hub = message.conn().link().hub().clone();
        let _ = hub.guard("a handler of one-way messages", || self.0.message(message));
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use sealwire::Security;

    use super::*;
    use crate::{Client, Server};

    /// Hands requests on to be answered elsewhere, but panics at some.
    struct Later(mpsc::Sender<Request>);

    impl Handler for Later {
        fn request(&self, request: Request) {
            assert_ne!(&request.body()[..], b"trouble");
            self.0.send(request).expect("somebody answers");
        }
    }

    #[test]
    fn a_handler_that_answers_later_runs_on_the_pool_and_its_panics_end_the_call() {
        let (asked, questions) = mpsc::channel();
        let pool = Pool::around(1, 8, Later(asked)).expect("a thread");
        let server = Server::builder(Security::plain_text()).build(pool);
        let server = server.expect("a server");
        let endpoint = server.bind("tcp://127.0.0.1:0").expect("a port");
        let answering = thread::spawn(move || {
            for request in questions {
                let body = request.body().clone();
                request.reply(&body[..]).expect("the connection is there");
            }
        });
        let client = Client::builder(Security::plain_text()).build(endpoint);
        let client = client.expect("a client");
        for body in [b"question", b"trouble!"] {
            let asked = client.blocking().request(body);
            assert_eq!(&asked.expect("an answer")[..], body);
        }
        let error = client
            .blocking()
            .request(b"trouble")
            .expect_err("it panics");
        assert_eq!(
            error.status().map(|status| status.code),
            Some(Code::INTERNAL)
        );
        let asked = client.blocking().request(b"question");
        assert_eq!(&asked.expect("the thread is there")[..], b"question");
        assert_eq!(server.counters().panics, 1);
        drop((client, server));
        answering.join().expect("the pool has dropped the handler");
    }
}
