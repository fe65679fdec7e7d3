//! Metadata: keys and values beside the body of a call or message.

use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString};

type Pair<'py> = (String, Bound<'py, PyBytes>);

/// Keys and values beside the body of a call or message: at most 64 entries and 8,192 bytes, each entry counted
/// as its key, its value and 3 bytes. Never changes.
///
/// A mapping from each key to its first value. A key may come more than once: `get_all` and `entries` have all.
#[pyclass(frozen, eq, mapping, module = "sealwire.rpc")]
#[derive(PartialEq)]
pub(crate) struct Metadata(sealwire_rpc::Metadata<'static>);

impl From<sealwire_rpc::Metadata<'_>> for Metadata {
    fn from(metadata: sealwire_rpc::Metadata<'_>) -> Self {
        Metadata(metadata.into_owned())
    }
}

/// What a program gave: metadata, a mapping, or pairs of key and value.
pub(super) fn given(
    object: Option<&Bound<'_, PyAny>>,
) -> PyResult<sealwire_rpc::Metadata<'static>> {
    let mut metadata = sealwire_rpc::Metadata::new();
    let Some(object) = object else {
        return Ok(metadata);
    };
    if let Ok(made) = object.cast::<Metadata>() {
        return Ok(made.get().0.clone());
    }
    let pairs = if object.hasattr("items")? {
        object.call_method0("items")?.try_iter()
    } else {
        object.try_iter()
    };
    for pair in pairs.map_err(|_| no_metadata())? {
        let (key, value): (Bound<'_, PyString>, Bound<'_, PyAny>) =
            pair?.extract().map_err(|_| no_metadata())?;
        // A text that is not Unicode is not a key either.
        let key = key.to_string_lossy();
        let appended = match value.cast::<PyString>() {
            Ok(text) => metadata.append(&key, text.to_str()?),
            Err(_) => metadata.append(&key, crate::buffer::copy(&value)?),
        };
        appended.map_err(|error| refused(object.py(), error))?;
    }
    Ok(metadata)
}

fn no_metadata() -> PyErr {
    PyTypeError::new_err("metadata is a mapping from str to str or bytes, or pairs of these")
}

pub(super) fn refused(py: Python<'_>, error: sealwire_rpc::MetadataError) -> PyErr {
    crate::error::plain(py, "MetadataError", error)
}

impl Metadata {
    /// Each key once, in the order of their first entries.
    fn distinct(&self) -> Vec<(&str, &[u8])> {
        let mut distinct: Vec<(&str, &[u8])> = Vec::new();
        for (key, value) in self.0.iter() {
            if distinct.iter().all(|(other, _)| *other != key) {
                distinct.push((key, value));
            }
        }
        distinct
    }
}

#[pymethods]
impl Metadata {
    /// Of a mapping from str to str or bytes, or of pairs of these.
    #[new]
    #[pyo3(signature = (entries = None))]
    fn new(entries: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(Metadata(given(entries)?))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyBytes>> {
        let value = self.0.get(key).map(|value| PyBytes::new(py, value));
        value.ok_or_else(|| PyKeyError::new_err(key.to_owned()))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> bool {
        let key = key.extract::<String>();
        key.is_ok_and(|key| self.0.get(&key).is_some())
    }

    /// The number of keys.
    fn __len__(&self) -> usize {
        self.distinct().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.keys().into_pyobject(py)?.try_iter()
    }

    /// The value of the first entry with this key, or `default`.
    #[pyo3(signature = (key, default = None, /))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        let value = self.0.get(key);
        value.map_or(default, |value| Some(PyBytes::new(py, value).into_any()))
    }

    /// The values of all entries with this key, in their order.
    fn get_all<'py>(&self, py: Python<'py>, key: &str) -> Vec<Bound<'py, PyBytes>> {
        let values = self.0.get_all(key);
        values.map(|value| PyBytes::new(py, value)).collect()
    }

    /// Each key once.
    fn keys(&self) -> Vec<&str> {
        self.distinct().into_iter().map(|(key, _)| key).collect()
    }

    /// The first value of each key.
    fn values<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let distinct = self.distinct().into_iter();
        distinct.map(|(_, value)| PyBytes::new(py, value)).collect()
    }

    /// Each key with its first value.
    fn items<'py>(&self, py: Python<'py>) -> Vec<Pair<'py>> {
        pairs(py, self.distinct())
    }

    /// All entries in their order.
    #[getter]
    fn entries<'py>(&self, py: Python<'py>) -> Vec<Pair<'py>> {
        pairs(py, self.0.iter())
    }

    /// Says how long values are, not what they are: they may be credentials.
    fn __repr__(&self) -> String {
        format!("<sealwire.rpc.Metadata {:?}>", self.0)
    }
}

fn pairs<'a, 'py>(
    py: Python<'py>,
    entries: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Vec<Pair<'py>> {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), PyBytes::new(py, value)))
        .collect()
}
