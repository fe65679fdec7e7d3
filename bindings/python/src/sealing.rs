//! What the ciphers have in common: sizes of arguments, and work without the GIL.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zeroize::Zeroizing;

/// Shorter messages are done before another thread could make use of the GIL.
const DETACH_FROM: usize = 4 << 10;

/// A key, nonce or tag of `N` bytes.
pub(crate) fn sized<const N: usize>(given: &Bound<'_, PyAny>, what: &str) -> PyResult<[u8; N]> {
    let bytes = Zeroizing::new(crate::buffer::copy(given)?);
    bytes[..]
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("{what} has {N} bytes, not {}", bytes.len())))
}

/// Runs it, without the GIL if it takes long.
pub(crate) fn work<R: Send>(py: Python<'_>, size: usize, run: impl FnOnce() -> R + Send) -> R {
    if size < DETACH_FROM {
        run()
    } else {
        py.detach(run)
    }
}
