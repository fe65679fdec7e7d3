//! Where requests and one-way messages wait for Python.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event;
use pyo3::prelude::*;
use sealwire_rpc::{Code, Handler, Status};

use super::request::{OneWay, Request};
use crate::reactor::Operation;

enum Work {
    Request(sealwire_rpc::Request),
    Message(sealwire_rpc::OneWay),
}

struct Queue {
    state: Mutex<State>,
    arrived: Event,
    /// Requests that may wait; one-way messages have the windows of their connections.
    limit: usize,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    requests: usize,
    over: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, work: Work) -> Result<(), Box<(Work, Status)>> {
        let mut state = self.lock();
        let is_request = matches!(work, Work::Request(_));
        if state.over {
            let status = Status::new(Code::UNAVAILABLE, "shutting down").not_started();
            return Err(Box::new((work, status)));
        }
        if is_request && state.requests >= self.limit {
            let text = "too many requests wait here";
            let status = Status::new(Code::RESOURCE_EXHAUSTED, text).not_started();
            return Err(Box::new((work, status)));
        }
        state.requests += usize::from(is_request);
        state.work.push_back(work);
        drop(state);
        self.arrived.notify(1);
        Ok(())
    }

    /// `Err` once it is closed and empty.
    fn take(&self) -> Result<Option<Work>, ()> {
        let mut state = self.lock();
        match state.work.pop_front() {
            Some(work) => {
                state.requests -= usize::from(matches!(work, Work::Request(_)));
                Ok(Some(work))
            }
            None if state.over => Err(()),
            None => Ok(None),
        }
    }

    async fn next(&self) -> Option<Work> {
        loop {
            let listener = self.arrived.listen();
            match self.take() {
                Ok(Some(work)) => return Some(work),
                Ok(None) => listener.await,
                Err(()) => return None,
            }
        }
    }
}

/// Puts what arrives into the queue.
pub(super) struct Arriving(Arc<Queue>);

impl Handler for Arriving {
    fn request(&self, request: sealwire_rpc::Request) {
        if let Err(refused) = self.0.add(Work::Request(request))
            && let (Work::Request(request), status) = *refused
        {
            request.fail(status);
        }
    }

    fn message(&self, message: sealwire_rpc::OneWay) {
        // At the end they are dropped, as they would be with the connection.
        drop(self.0.add(Work::Message(message)));
    }
}

/// Requests and one-way messages that wait for Python.
#[pyclass(frozen, module = "sealwire._sealwire")]
pub(crate) struct Inbox {
    queue: Arc<Queue>,
}

impl Inbox {
    pub(super) fn handler(&self) -> Arriving {
        Arriving(self.queue.clone())
    }
}

fn given(py: Python<'_>, work: Option<Work>) -> PyResult<Py<PyAny>> {
    Ok(match work {
        None => py.None(),
        Some(Work::Request(request)) => Bound::new(py, Request::from(request))?.into_any().unbind(),
        Some(Work::Message(message)) => Bound::new(py, OneWay::from(message))?.into_any().unbind(),
    })
}

#[pymethods]
impl Inbox {
    #[new]
    fn new(limit: usize) -> Self {
        Inbox {
            queue: Arc::new(Queue {
                state: Mutex::default(),
                arrived: Event::new(),
                limit,
            }),
        }
    }

    /// The next request or one-way message; `None` once it is closed and empty.
    fn next(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let work = crate::wait::block_on(py, self.queue.next(), None)?;
        given(py, work.flatten())
    }

    /// The same for an event loop.
    fn start_next(&self) -> Operation {
        let queue = self.queue.clone();
        Operation::of(async move { queue.next().await }, given)
    }

    /// Takes nothing new. What waits is still given out.
    fn close(&self) {
        self.queue.lock().over = true;
        self.queue.arrived.notify(usize::MAX);
    }
}
