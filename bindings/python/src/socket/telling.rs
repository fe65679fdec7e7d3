//! A socket that waits says why nothing comes, once: to Python's `logging`.

use std::future::Future;
use std::time::Duration;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use sealwire::ConnectionFailure;
use sealwire::waits::Waited;

use super::{Opened, SocketCore};
use crate::wait::{block_until, deadline};

impl SocketCore {
    /// Waits for what `attempt` gives, or until `limit` is over: `None` then. The log hears of the first failed
    /// handshake meanwhile.
    ///
    /// Its handlers are a program's: they may use this socket. So nothing waits while they run, and `attempt`
    /// begins again after them.
    ///
    /// # Errors
    ///
    /// What a signal handler raised, `KeyboardInterrupt` for one.
    pub(super) fn wait<F>(
        &self,
        py: Python<'_>,
        mut attempt: impl FnMut() -> F,
        limit: Option<Duration>,
    ) -> PyResult<Option<F::Output>>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let (socket, deadline) = (self.socket(py)?, deadline(limit));
        let first_failure = &self.opened.first_failure;
        while !first_failure.is_told() {
            match block_until(py, first_failure.or(socket, attempt()), deadline)? {
                Some(Waited::Done(value)) => return Ok(Some(value)),
                Some(Waited::Failed(failure)) => self.opened.tell(py, &failure)?,
                None => return Ok(None),
            }
        }
        block_until(py, attempt(), deadline)
    }
}

impl Opened {
    /// Waits for what `attempt` gives, for a coroutine, and on the thread of its loop.
    pub(super) async fn waiting<F: Future>(
        &self,
        socket: &sealwire::Socket,
        mut attempt: impl FnMut() -> F,
    ) -> F::Output {
        if !self.first_failure.is_told() {
            match self.first_failure.or(socket, attempt()).await {
                Waited::Done(value) => return value,
                Waited::Failed(failure) => Python::attach(|py| {
                    if let Err(raised) = self.tell(py, &failure) {
                        raised.write_unraisable(py, None);
                    }
                }),
            }
        }
        attempt().await
    }

    /// A failure to tell fails nothing else, since nobody asked for it; `KeyboardInterrupt` goes on to the caller.
    fn tell(&self, py: Python<'_>, failure: &ConnectionFailure) -> PyResult<()> {
        let kind = self.socket_type().name();
        let text = format!("a {kind} waits, and a connection of it failed: {failure}");
        let told = py
            .import("sealwire._telling")
            .and_then(|module| module.call_method1("tell", (text,)));
        match told {
            Err(error) if error.is_instance_of::<PyException>(py) => {
                error.write_unraisable(py, None);
                Ok(())
            }
            told => told.map(drop),
        }
    }
}
