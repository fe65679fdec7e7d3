//! What happens on a socket's connections.

use std::sync::Arc;

use pyo3::prelude::*;
use sealwire::Event as Happened;

use crate::lifecycle::OfProcess;
use crate::peer::Peer;
use crate::reactor::Operation;

/// Something that happened to an endpoint or a connection.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Event {
    inner: Happened,
}

#[pymethods]
impl Event {
    /// What it is: `listening`, `accepted`, `accept_failed`, `connecting`, `connected`, `ready`, `subscribed`,
    /// `drops_began`, `drops_ended`, `messages_missed`, `failed`, `disconnected`, `retrying`, `gave_up`, `warning`,
    /// `datagrams_dropped`, `anyone_allowed`, `nobody_allowed` or `unbound`.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.inner {
            Happened::Listening { .. } => "listening",
            Happened::Accepted { .. } => "accepted",
            Happened::AcceptFailed { .. } => "accept_failed",
            Happened::Connecting { .. } => "connecting",
            Happened::Connected { .. } => "connected",
            Happened::Ready { .. } => "ready",
            Happened::Subscribed { .. } => "subscribed",
            Happened::DropsBegan { .. } => "drops_began",
            Happened::DropsEnded { .. } => "drops_ended",
            Happened::MessagesMissed { .. } => "messages_missed",
            Happened::Failed(_) => "failed",
            Happened::Disconnected { .. } => "disconnected",
            Happened::Retrying { .. } => "retrying",
            Happened::GaveUp { .. } => "gave_up",
            Happened::Warning { .. } => "warning",
            Happened::DatagramsDropped { .. } => "datagrams_dropped",
            Happened::AnyoneAllowed { .. } => "anyone_allowed",
            Happened::NobodyAllowed { .. } => "nobody_allowed",
            Happened::Unbound { .. } => "unbound",
            _ => "other",
        }
    }

    /// The endpoint that was bound or connected to.
    #[getter]
    fn endpoint(&self) -> Option<String> {
        self.inner.endpoint().map(ToString::to_string)
    }

    /// Where the other end is.
    #[getter]
    fn address(&self) -> Option<String> {
        self.inner.address().map(ToString::to_string)
    }

    /// Where this end of the connection is, or what is listened at; ``None`` before there is a connection, and as
    /// ``Peer.local_address`` says.
    #[getter]
    fn local_address(&self) -> Option<String> {
        self.inner.local_address().map(ToString::to_string)
    }

    /// The number of the descriptor of the connection or of what listens, as ``Peer.descriptor``. It is closed where
    /// the event tells of an end.
    #[getter]
    fn descriptor(&self) -> Option<i32> {
        self.inner.descriptor()
    }

    /// A connection that ended as it should (``disconnected``): whether the peer ended it, and not this side.
    #[getter]
    fn by_peer(&self) -> Option<bool> {
        match &self.inner {
            Happened::Disconnected { by_peer, .. } => Some(*by_peer),
            _ => None,
        }
    }

    /// The connection id, the same in all events of a connection.
    #[getter]
    fn connection(&self) -> Option<u64> {
        self.inner.connection()
    }

    /// The peer that is or was connected; ``None`` where a handshake failed.
    #[getter]
    fn peer(&self) -> Option<Peer> {
        self.inner.peer().cloned().map(Into::into)
    }

    /// Why something failed, or what to worry about.
    #[getter]
    fn reason(&self) -> Option<String> {
        match &self.inner {
            Happened::AcceptFailed { reason, .. } => Some(reason.clone()),
            Happened::Failed(failure) => Some(failure.cause().to_string()),
            Happened::Warning { warning, .. } => Some(warning.to_string()),
            Happened::DatagramsDropped { reason, .. } => Some(reason.to_string()),
            _ => None,
        }
    }

    /// A failed connection: the name of its cause, for programs. It stays, while the text of ``reason`` may change.
    /// ``docs/failures.md`` lists the names.
    #[getter]
    fn cause(&self) -> Option<&'static str> {
        match &self.inner {
            Happened::Failed(failure) => Some(failure.cause().name()),
            _ => None,
        }
    }

    /// A failed connection: whether its handshake failed, as the peers did not agree.
    #[getter]
    fn is_handshake_failure(&self) -> bool {
        match &self.inner {
            Happened::Failed(failure) => failure.is_handshake_failure(),
            _ => false,
        }
    }

    /// Which attempt in a row to connect again it is, or how many datagrams or messages were dropped or missed.
    #[getter]
    fn count(&self) -> Option<u64> {
        match &self.inner {
            Happened::Retrying { attempt, .. } => Some((*attempt).into()),
            Happened::DatagramsDropped { count, .. }
            | Happened::DropsEnded { count, .. }
            | Happened::MessagesMissed { count, .. } => Some(*count),
            _ => None,
        }
    }

    /// Seconds until the next attempt.
    #[getter]
    fn delay(&self) -> Option<f64> {
        match &self.inner {
            Happened::Retrying { delay, .. } => Some(delay.as_secs_f64()),
            _ => None,
        }
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Event {}>", self.inner)
    }
}

/// Reads the events of one socket, from the moment it was made on.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Monitor {
    inner: OfProcess<Arc<sealwire::Monitor>>,
}

impl From<sealwire::Monitor> for Monitor {
    fn from(monitor: sealwire::Monitor) -> Self {
        Monitor {
            inner: OfProcess::new(Arc::new(monitor)),
        }
    }
}

#[pymethods]
impl Monitor {
    /// The next event, waiting for it for up to `timeout` seconds. `None` once the socket is closed
    /// and all events are read, or when the time is over.
    #[pyo3(signature = (timeout = None))]
    fn next(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Event>> {
        let limit = crate::wait::seconds(timeout)?;
        let event = crate::wait::block_on(py, self.inner.get(py)?.next(), limit)?;
        Ok(event.flatten().map(|inner| Event { inner }))
    }

    /// The next event if there is one already.
    fn try_next(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        let event = self.inner.get(py)?.try_next();
        Ok(event.map(|inner| Event { inner }))
    }

    /// How many events were dropped because nobody read them in time.
    #[getter]
    fn lost(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.inner.get(py)?.lost())
    }

    /// For `sealwire.asyncio`.
    fn _next_operation(&self, py: Python<'_>) -> PyResult<Operation> {
        let monitor = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { monitor.next().await },
            |py, event| {
                let event = event.map(|inner| Event { inner });
                Ok(event.into_pyobject(py)?.unbind())
            },
        ))
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        self.next(py, None)
    }
}
