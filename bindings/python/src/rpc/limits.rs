//! Sizes, windows and time limits by name.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sealwire_rpc::Limits;

/// From keyword arguments; times are seconds.
pub(super) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let seconds = || {
            let seconds: f64 = value.extract()?;
            Ok::<_, PyErr>(crate::wait::seconds(Some(seconds))?.unwrap_or_default())
        };
        match &name[..] {
            "max_calls" => limits.max_calls = value.extract()?,
            "one_way_window" => limits.one_way_window = value.extract()?,
            "stream_window" => limits.stream_window = value.extract()?,
            "max_body" => limits.max_body = value.extract()?,
            "request_budget" => limits.request_budget = value.extract()?,
            "message_budget" => limits.message_budget = value.extract()?,
            "answer_budget" => limits.answer_budget = value.extract()?,
            "request_timeout" if value.is_none() => limits.request = None,
            "request_timeout" => limits.request = Some(seconds()?),
            "write_timeout" => limits.write = seconds()?,
            "read_timeout" => limits.read = seconds()?,
            "linger" => limits.linger = seconds()?,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "there is no limit '{name}': max_calls, one_way_window, stream_window, \
                     max_body, request_budget, message_budget, answer_budget, request_timeout, \
                     write_timeout, read_timeout, linger"
                )));
            }
        }
    }
    Ok(limits)
}
