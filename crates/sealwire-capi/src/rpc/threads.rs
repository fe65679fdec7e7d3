//! Threads for callbacks that take their time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sealwire_rpc::handler::Handler;
use sealwire_rpc::{Code, OneWay, Request, Status};

use super::request::Callbacks;
use crate::status::{Failure, SEALWIRE_ERROR_SYSTEM};

/// Requests that may wait for a thread. Messages are bounded by the window of their connection.
const QUEUE: usize = 1_024;

/// Hands what comes to threads of its own, which end with it.
pub(super) struct Threads {
    queue: Arc<Queue>,
}

struct Queue {
    state: Mutex<State>,
    work: Condvar,
    callbacks: Arc<Callbacks>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Request>,
    messages: VecDeque<OneWay>,
    over: bool,
}

enum Work {
    Request(Request),
    Message(OneWay),
}

impl Threads {
    pub(super) fn start(count: u32, callbacks: Arc<Callbacks>) -> Result<Self, Failure> {
        let threads = Threads {
            queue: Arc::new(Queue {
                state: Mutex::default(),
                work: Condvar::new(),
                callbacks,
            }),
        };
        for _ in 0..count {
            let queue = threads.queue.clone();
            thread::Builder::new()
                .name("sealwire-rpc-c".into())
                .spawn(move || queue.run())
                .map_err(|error| Failure::new(SEALWIRE_ERROR_SYSTEM, error.to_string()))?;
        }
        Ok(threads)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while let Some(work) = self.next() {
            match work {
                // Nobody waits for it any more.
                Work::Request(request) if request.is_cancelled() => {
                    request.fail(Status::from(Code::DEADLINE_EXCEEDED).not_started());
                }
                Work::Request(request) => self.callbacks.request(request),
                Work::Message(message) => self.callbacks.message(message),
            }
        }
    }

    /// What is to be done next; `None` once nothing more will come.
    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
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

impl Handler for Threads {
    fn request(&self, request: Request) {
        let mut state = self.queue.lock();
        if state.requests.len() >= QUEUE {
            drop(state);
            let status = Status::new(Code::RESOURCE_EXHAUSTED, "too many requests wait here");
            return request.fail(status.not_started());
        }
        state.requests.push_back(request);
        drop(state);
        self.queue.work.notify_one();
    }

    fn message(&self, message: OneWay) {
        self.queue.lock().messages.push_back(message);
        self.queue.work.notify_one();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue.lock().over = true;
        self.queue.work.notify_all();
    }
}
