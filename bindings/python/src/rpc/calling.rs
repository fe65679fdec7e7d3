//! How a client and a connection call, and what comes of it.

use std::time::Duration;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_rpc::{CallOptions, Metadata};

use super::Answer;
use super::stream::CallStream;
use crate::reactor::Operation;
use crate::wait::block_on;

type Opened = Result<sealwire_rpc::CallStream, sealwire_rpc::Error>;
type Sent = Result<(), sealwire_rpc::Error>;

/// What Python gives for a call or message.
pub(super) struct Call {
    pub(super) body: Bytes,
    limit: Option<Duration>,
    metadata: Metadata<'static>,
}

impl Call {
    pub(super) fn new(
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Call {
            body: crate::buffer::bytes(body)?,
            limit: crate::wait::seconds(timeout)?,
            metadata: super::metadata::given(metadata)?,
        })
    }

    pub(super) fn options(&self) -> CallOptions<'_> {
        CallOptions {
            limit: self.limit,
            metadata: Some(&self.metadata),
        }
    }
}

/// Waits for an answer, as long as the call may take.
pub(super) fn request<'py>(
    py: Python<'py>,
    call: impl Future<Output = Answer> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    match block_on(py, call, None)? {
        Some(answer) => super::answered(py, answer),
        None => Ok(PyBytes::new(py, b"")),
    }
}

/// Waits until a message is on its way.
pub(super) fn send(py: Python<'_>, sending: impl Future<Output = Sent> + Send) -> PyResult<()> {
    match block_on(py, sending, None)? {
        Some(outcome) => super::sent(py, outcome),
        None => Ok(()),
    }
}

/// Waits for a stream.
pub(super) fn open(
    py: Python<'_>,
    opening: impl Future<Output = Opened> + Send,
) -> PyResult<CallStream> {
    match block_on(py, opening, None)? {
        Some(Ok(stream)) => Ok(stream.into()),
        Some(Err(error)) => Err(crate::error::of_call(py, error)),
        None => Err(crate::error::again(py)),
    }
}

/// The three of them for an event loop.
pub(super) fn start_request(call: impl Future<Output = Answer> + Send + 'static) -> Operation {
    Operation::of(call, super::finished)
}

pub(super) fn start_send(sending: impl Future<Output = Sent> + Send + 'static) -> Operation {
    Operation::of(sending, |py, outcome| {
        super::sent(py, outcome).map(|()| py.None())
    })
}

pub(super) fn start_open(opening: impl Future<Output = Opened> + Send + 'static) -> Operation {
    Operation::of(opening, |py, opened| match opened {
        Ok(stream) => Ok(Bound::new(py, CallStream::from(stream))?
            .into_any()
            .unbind()),
        Err(error) => Err(crate::error::of_call(py, error)),
    })
}
