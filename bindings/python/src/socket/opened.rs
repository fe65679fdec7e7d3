//! A socket before and after it is made.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealwire::waits::FirstFailure;
use sealwire::{Error, Mechanism, Security, SocketType, blocking};

use crate::context::{Ending, Shared};
use crate::error::of_socket;
use crate::lifecycle::OfProcess;
use crate::options::{Options, Value};
use crate::security::mechanism_names;

/// What there is of a socket.
pub(crate) struct Opened {
    socket_type: SocketType,
    context: Arc<Shared>,
    setup: Mutex<Setup>,
    made: OnceLock<OfProcess<sealwire::Socket>>,
    closed: AtomicBool,
    receive_timeout_ms: AtomicI64,
    send_timeout_ms: AtomicI64,
    pub(super) first_failure: FirstFailure,
}

struct Setup {
    options: Options,
    security: Option<Security>,
    topics: Vec<Vec<u8>>,
    last_endpoint: Option<String>,
}

impl Opened {
    pub(super) fn new(py: Python<'_>, number: i32, context: Arc<Shared>) -> PyResult<Self> {
        if context.is_terminated() {
            return Err(crate::error::plain(
                py,
                "ContextTerminated",
                "the context has been terminated",
            ));
        }
        let socket_type = SocketType::from_number(number)
            .ok_or_else(|| PyValueError::new_err(format!("there is no socket type {number}")))?;
        Ok(Opened {
            socket_type,
            context,
            setup: Mutex::new(Setup {
                options: Options::default(),
                security: None,
                topics: Vec::new(),
                last_endpoint: None,
            }),
            made: OnceLock::new(),
            closed: AtomicBool::new(false),
            receive_timeout_ms: AtomicI64::new(-1),
            send_timeout_ms: AtomicI64::new(-1),
            first_failure: FirstFailure::default(),
        })
    }

    /// Locked with the GIL held only, and never for long.
    fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn socket_type(&self) -> SocketType {
        self.socket_type
    }

    pub(super) fn number_of_type(&self) -> i32 {
        self.socket_type.number()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn is_of(&self, context: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }

    pub(super) fn mechanism(&self) -> String {
        self.setup()
            .security
            .as_ref()
            .map_or_else(|| Mechanism::Null.name().to_owned(), mechanism_names)
    }

    /// The Rust socket, made now if this is the first use.
    #[inline]
    pub(super) fn socket(&self, py: Python<'_>) -> PyResult<&sealwire::Socket> {
        if let Some(made) = self.made.get()
            && !self.is_closed()
        {
            return made.get(py);
        }
        self.make(py)
    }

    #[cold]
    fn make(&self, py: Python<'_>) -> PyResult<&sealwire::Socket> {
        let setup = self.setup();
        if self.is_closed() {
            return Err(self.failed(py, Error::Closed));
        }
        if let Some(made) = self.made.get() {
            return made.get(py);
        }
        let builder = self.builder(py, &setup)?;
        let socket = builder.build().map_err(|error| of_socket(py, error))?;
        for topic in &setup.topics {
            socket
                .subscribe(topic)
                .map_err(|error| of_socket(py, error))?;
        }
        self.made.get_or_init(|| OfProcess::new(socket)).get(py)
    }

    fn builder(&self, py: Python<'_>, setup: &Setup) -> PyResult<sealwire::SocketBuilder> {
        let mut builder =
            sealwire::Socket::builder(self.socket_type).context(self.context.inner(py)?);
        if let Some(security) = &setup.security {
            builder = builder.security(security.clone());
        }
        setup.options.apply(builder)
    }

    /// Changes the setup, and the socket where it is made already. After an error both are as they were.
    pub(super) fn change<R>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Options, &mut Option<Security>) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut setup = self.setup();
        let before = (setup.options.clone(), setup.security.clone());
        let Setup {
            options, security, ..
        } = &mut *setup;
        let changed = change(options, security);
        let builder = match self.made.get() {
            Some(_) if changed.is_ok() => Some(self.builder(py, &setup)),
            _ => None,
        };
        // Not under the lock: what was there before may end now, and be code of Python.
        drop(setup);
        let applied = match (self.made.get(), builder) {
            (Some(made), Some(builder)) => builder.and_then(|builder| {
                let socket = made.get(py)?;
                (socket.reconfigure(builder)).map_err(|error| self.failed(py, error))
            }),
            _ => Ok(()),
        };
        let changed = changed.and_then(|result| applied.map(|()| result));
        if changed.is_err() {
            let mut setup = self.setup();
            (setup.options, setup.security) = before;
        }
        changed
    }

    pub(super) fn security(&self) -> Option<Security> {
        self.setup().security.clone()
    }

    pub(super) fn set_security(&self, py: Python<'_>, security: Security) -> PyResult<()> {
        self.change(py, |_, present| {
            *present = Some(security);
            Ok(())
        })
    }

    pub(super) fn set_option(
        &self,
        py: Python<'_>,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let waiting = match name {
            "rcvtimeo" => Some(&self.receive_timeout_ms),
            "sndtimeo" => Some(&self.send_timeout_ms),
            _ => None,
        };
        let Some(waiting) = waiting else {
            return self.change(py, |options, _| options.set(name, value).map(drop));
        };
        // How long a call waits is decided by each call.
        if let Value::Int(limit) = self.setup().options.set(name, value)? {
            waiting.store(limit, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn option<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.setup().options.get(py, name)
    }

    /// Before the first use subscriptions are kept, so that options may still be set.
    pub(super) fn subscribe(&self, py: Python<'_>, topic: Vec<u8>) -> PyResult<()> {
        if self.made.get().is_none()
            && !self.is_closed()
            && matches!(self.socket_type, SocketType::Sub | SocketType::XSub)
        {
            self.setup().topics.push(topic);
            return Ok(());
        }
        self.socket(py)?
            .subscribe(topic)
            .map_err(|error| self.failed(py, error))
    }

    pub(super) fn remember_endpoint(&self, endpoint: String) {
        self.setup().last_endpoint = Some(endpoint);
    }

    pub(super) fn last_endpoint(&self) -> Option<String> {
        self.setup().last_endpoint.clone()
    }

    /// That of a call, in milliseconds, or else of receiving.
    pub(super) fn limit_of_receive(&self, timeout: Option<f64>) -> Option<Duration> {
        match timeout {
            Some(milliseconds) => crate::wait::milliseconds(milliseconds),
            None => limit(&self.receive_timeout_ms),
        }
    }

    pub(super) fn send_limit(&self) -> Option<Duration> {
        limit(&self.send_timeout_ms)
    }

    /// That of a call, in milliseconds, or else of sending.
    pub(super) fn limit_of_wait(&self, timeout: Option<f64>) -> Option<Duration> {
        match timeout {
            Some(milliseconds) => crate::wait::milliseconds(milliseconds),
            None => self.send_limit(),
        }
    }

    /// The end of an operation, as an exception.
    pub(super) fn failed(&self, py: Python<'_>, error: Error) -> PyErr {
        if matches!(error, Error::Closed) && self.context.is_terminated() {
            return crate::error::plain(
                py,
                "ContextTerminated",
                "the context of this socket has been terminated",
            );
        }
        of_socket(py, error)
    }

    /// After `limit`: the message that has come by now, or why none came.
    pub(super) fn last_recv(&self, py: Python<'_>, limit: Duration) -> PyResult<sealwire::Message> {
        // Only a call that waits tells of the last failure, so it waits for no time.
        let socket = blocking::Socket::from(self.socket(py)?.clone());
        py.detach(|| socket.recv_timeout(Duration::ZERO))
            .map_err(|error| self.expired(py, error, limit))
    }

    /// After `limit`: sends the message if there is room by now, or says why there is none.
    pub(super) fn last_send(
        &self,
        py: Python<'_>,
        message: sealwire::Message,
        limit: Duration,
    ) -> PyResult<()> {
        let socket = blocking::Socket::from(self.socket(py)?.clone());
        py.detach(|| socket.send_timeout(message, Duration::ZERO))
            .map_err(|unsent| self.expired(py, unsent.into(), limit))
    }

    /// After `limit`: whether enough peers are connected by now, or why not.
    pub(super) fn last_connected(
        &self,
        py: Python<'_>,
        peers: usize,
        limit: Duration,
    ) -> PyResult<()> {
        let socket = blocking::Socket::from(self.socket(py)?.clone());
        py.detach(|| socket.wait_connected_timeout(peers, Duration::ZERO))
            .map_err(|error| self.expired(py, error, limit))
    }

    /// After `limit`: whether enough peers are subscribed by now, or why not.
    pub(super) fn last_subscribed(
        &self,
        py: Python<'_>,
        topic: &[u8],
        peers: usize,
        limit: Duration,
    ) -> PyResult<()> {
        let socket = blocking::Socket::from(self.socket(py)?.clone());
        py.detach(|| socket.wait_subscribed_timeout(topic, peers, Duration::ZERO))
            .map_err(|error| self.expired(py, error, limit))
    }

    fn expired(&self, py: Python<'_>, error: Error, limit: Duration) -> PyErr {
        match error {
            Error::TimedOut { .. } => crate::error::timed_out(py, limit, &error),
            error => self.failed(py, error),
        }
    }

    /// The Rust socket, for the thread that closes it; `None` when that was done, or there is none.
    fn take_for_closing(&self) -> Option<sealwire::Socket> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return None;
        }
        self.made.get()?.here().cloned()
    }

    /// The closing of it, with this linger time in milliseconds or that of the options; `None` when that was done, or
    /// there is nothing to close. A later call with a linger time shortens it; the first call is told of what was
    /// not sent.
    pub(crate) fn close(&self, linger: Option<f64>) -> Option<Ending> {
        let linger =
            linger.map(|linger| crate::wait::milliseconds(linger).unwrap_or(Duration::MAX));
        let first = self.take_for_closing();
        let is_first = first.is_some();
        let socket = match (first, linger) {
            (Some(socket), _) => socket,
            (None, Some(_)) => self.made.get()?.here()?.clone(),
            (None, None) => return None,
        };
        Some(Box::pin(async move {
            let closed = match linger {
                Some(linger) => socket.close_with_linger(linger).await,
                None => socket.close().await,
            };
            match closed {
                Err(Error::Unsent(_)) if !is_first => Ok(()),
                closed => closed,
            }
        }))
    }

    pub(super) fn describe(&self) -> String {
        let state = if self.is_closed() {
            "closed".to_owned()
        } else {
            self.last_endpoint()
                .unwrap_or_else(|| "not bound or connected".to_owned())
        };
        format!(
            "<sealwire.Socket {} {}, {state}>",
            self.socket_type.name(),
            self.mechanism()
        )
    }
}

/// Its queues may hold messages still: they are sent in the background.
impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(closing) = self.close(None) {
            crate::context::close_later(closing);
        }
    }
}

fn limit(milliseconds: &AtomicI64) -> Option<Duration> {
    u64::try_from(milliseconds.load(Ordering::Relaxed))
        .ok()
        .map(Duration::from_millis)
}
