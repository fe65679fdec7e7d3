//! How a client and a connection call.

use std::time::Duration;

use bytes::Bytes;
use pyo3::prelude::*;
use sealwire_rpc::{CallOptions, Metadata};

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
