//! The account of a peer: bytes and objects held for it, by kind.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sealwire::account::{Account as Live, Kind, Side};

/// The account of a peer, as it was when it was asked for.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Account {
    held: [usize; Kind::ALL.len()],
    exceeded: [u64; Kind::ALL.len()],
    inbound: usize,
    outbound: usize,
    written: u64,
}

impl From<&Live> for Account {
    fn from(account: &Live) -> Self {
        Account {
            held: Kind::ALL.map(|kind| account.held(kind)),
            exceeded: Kind::ALL.map(|kind| account.exceeded(kind)),
            inbound: account.total(Side::Inbound),
            outbound: account.total(Side::Outbound),
            written: account.written(),
        }
    }
}

#[pymethods]
impl Account {
    /// Bytes held for the peer, by the name of the kind; of connections, handshakes, tunnels, timers
    /// and log lines their number.
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_kind(py, self.held)
    }

    /// How often the peer reached the bound of a kind: pauses, refusals or its disconnection.
    #[getter]
    fn exceeded<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        by_kind(py, self.exceeded)
    }

    /// Bytes held because the peer sent them.
    #[getter]
    fn inbound(&self) -> usize {
        self.inbound
    }

    /// Bytes held because the peer does not read them.
    #[getter]
    fn outbound(&self) -> usize {
        self.outbound
    }

    /// Bytes that the transport has taken for the peer so far; 0 within the process.
    #[getter]
    fn written(&self) -> u64 {
        self.written
    }

    fn __repr__(&self) -> String {
        format!(
            "<sealwire.Account of {} bytes in, {} out>",
            self.inbound, self.outbound
        )
    }
}

/// A number for each kind, by its name.
pub(crate) fn by_kind<'py, N: IntoPyObject<'py>>(
    py: Python<'py>,
    numbers: [N; Kind::ALL.len()],
) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for (kind, number) in Kind::ALL.into_iter().zip(numbers) {
        named.set_item(kind.label(), number)?;
    }
    Ok(named)
}
