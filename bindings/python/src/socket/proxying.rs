//! Proxies: everything that arrives on one socket goes out on another, both ways.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use event_listener::Event;
use pyo3::prelude::*;
use sealwire::{Context, Error, Proxy, SocketType, blocking::Socket};

use super::SocketCore;
use crate::error::of_socket;
use crate::wait::block_on;

/// How a proxy that runs on a thread of its own has ended.
#[derive(Default)]
struct Ending {
    outcome: Mutex<Option<Result<(), Error>>>,
    ended: Event,
}

impl Ending {
    fn take(&self) -> Option<Result<(), Error>> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.take()
    }

    async fn wait(&self) -> Result<(), Error> {
        loop {
            let ended = self.ended.listen();
            if let Some(outcome) = self.take() {
                return outcome;
            }
            ended.await;
        }
    }
}

/// Tells a proxy to end, which reads the other end of it.
struct Steering {
    operator: Socket,
    control: Socket,
    // Kept while the sockets are there.
    _context: Context,
}

impl Steering {
    fn new() -> Result<Self, Error> {
        let context = Context::new()?;
        let made = |kind| {
            sealwire::Socket::builder(kind)
                .context(&context)
                .build_blocking()
        };
        let (operator, control) = (made(SocketType::Push)?, made(SocketType::Pull)?);
        control.bind("inproc://control")?;
        operator.connect("inproc://control")?;
        Ok(Steering {
            operator,
            control,
            _context: context,
        })
    }
}

/// Passes everything that arrives on `frontend` on to `backend`, and back, until one of both is
/// closed: ROUTER and DEALER, XSUB and XPUB, PULL and PUSH. `capture` gets a copy of each message.
/// An exception of a signal handler, Ctrl-C for one, ends it, and the sockets stay open.
#[pyfunction]
#[pyo3(signature = (frontend, backend, capture = None))]
pub(crate) fn proxy(
    py: Python<'_>,
    frontend: &Bound<'_, SocketCore>,
    backend: &Bound<'_, SocketCore>,
    capture: Option<&Bound<'_, SocketCore>>,
) -> PyResult<()> {
    let blocking = |socket: &Bound<'_, SocketCore>| {
        let socket = socket.get().socket(py)?.clone();
        Ok::<_, PyErr>(Socket::from(socket))
    };
    let (front, back) = (blocking(frontend)?, blocking(backend)?);
    let capture = capture.map(blocking).transpose()?;
    let steering = Steering::new().map_err(|error| of_socket(py, error))?;
    let ending = Arc::new(Ending::default());
    let running = {
        let (ending, control) = (ending.clone(), steering.control.clone());
        move || {
            let mut proxy = Proxy::new(&front, &back).control(&control);
            if let Some(capture) = &capture {
                proxy = proxy.capture(capture);
            }
            let outcome = proxy.run();
            let mut ended = ending
                .outcome
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *ended = Some(outcome);
            drop(ended);
            ending.ended.notify(usize::MAX);
        }
    };
    let thread = thread::Builder::new().name("sealwire-proxy".into());
    let thread = thread.spawn(running)?;
    let ended = block_on(py, ending.wait(), None);
    // Of an interruption. One that has ended does not mind.
    let _ = steering.operator.send("TERMINATE");
    py.detach(|| thread.join()).ok();
    match ended? {
        Some(outcome) => outcome.map_err(|error| frontend.get().failed(py, error)),
        None => Ok(()),
    }
}
