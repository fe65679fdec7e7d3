//! The trace that a call belongs to, as the W3C's Trace Context says it, in its metadata.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::metadata::{Metadata, given, refused};
use crate::sealing::sized;

/// The trace that a call belongs to, and the span that it is made from: `traceparent` and `tracestate` of the
/// W3C's Trace Context (Recommendation, Level 1). Never changes.
#[pyclass(frozen, eq, module = "sealwire.rpc")]
#[derive(PartialEq)]
pub(crate) struct TraceContext(sealwire_rpc::trace::TraceContext);

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl TraceContext {
    /// Of the texts that a tracer writes.
    #[new]
    #[pyo3(signature = (traceparent, tracestate = ""))]
    fn new(traceparent: &str, tracestate: &str) -> PyResult<Self> {
        let context: sealwire_rpc::trace::TraceContext = traceparent.parse().map_err(invalid)?;
        let state = tracestate.parse().map_err(invalid)?;
        Ok(TraceContext(context.with_state(state)))
    }

    /// The context that metadata carries. As the standard says, `None` unless there is exactly one `traceparent`
    /// and it is valid; a `tracestate` that is not valid is left out.
    #[staticmethod]
    fn of(metadata: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let metadata = given(Some(metadata))?;
        Ok(sealwire_rpc::trace::TraceContext::of(&metadata).map(TraceContext))
    }

    /// The same trace with a span of this side in the place of the caller's, for calls that are made from it.
    /// `span_id` is its identifier, 8 bytes that are not all 0; `None` chooses a random one, for a side without a
    /// tracer.
    #[pyo3(signature = (span_id = None))]
    fn child(&self, py: Python<'_>, span_id: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let child = match span_id {
            None => self
                .0
                .random_child()
                .map_err(|error| crate::error::of_socket(py, sealwire::Error::System(error)))?,
            Some(span_id) => {
                let span_id = sized::<8>(span_id, "a span id")?;
                let child = self.0.checked_child(span_id);
                child.ok_or_else(|| invalid("a span id of 0 stands for no span"))?
            }
        };
        Ok(TraceContext(child))
    }

    /// Metadata with this context in it, in the place of one that is there. Of a `tracestate` for which there is
    /// no room 512 characters are written, as the standard says.
    #[pyo3(signature = (metadata = None))]
    fn write(&self, py: Python<'_>, metadata: Option<&Bound<'_, PyAny>>) -> PyResult<Metadata> {
        let mut metadata = given(metadata)?;
        let written = self.0.write(&mut metadata);
        written.map_err(|error| refused(py, error))?;
        Ok(metadata.into())
    }

    /// The text of `traceparent`, version 00.
    #[getter]
    fn traceparent(&self) -> String {
        self.0.to_string()
    }

    /// The text of `tracestate`, which is empty if there is none.
    #[getter]
    fn tracestate(&self) -> &str {
        self.0.state().as_str()
    }

    /// The identifier of the trace: 16 bytes.
    #[getter]
    fn trace_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.trace_id())
    }

    /// The identifier of the caller's span: 8 bytes.
    #[getter]
    fn parent_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.parent_id())
    }

    /// Whether the caller may have recorded the trace.
    #[getter]
    fn is_sampled(&self) -> bool {
        self.0.is_sampled()
    }

    fn __str__(&self) -> String {
        self.traceparent()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.rpc.TraceContext {}>", self.0)
    }
}
