//! Threads that answer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::{Handler, OneWay, Request, overloaded, run, take};
use crate::hub::lock;
use crate::status::{Code, Status};

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
