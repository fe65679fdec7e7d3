//! Admission by address and process, before the handshake: a callable of Python, under `admit`.

use std::sync::Arc;

use pyo3::prelude::*;
use sealwire::SocketBuilder;
use sealwire::auth::{Decision, Guest as Told};

use crate::asked::{Asked, Role};

/// A peer that has proved nothing yet, or that proves nothing at all.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Guest {
    address: String,
    process: Option<sealwire::ProcessCredentials>,
    groups: Vec<u32>,
}

#[pymethods]
impl Guest {
    /// Where the connection comes from, or leads to.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Over `ipc` on Linux: the numbers of the process at the other end, its user and its group.
    #[getter]
    fn process(&self) -> Option<(i32, u32, u32)> {
        self.process.map(crate::peer::numbers)
    }

    /// Over `ipc` on Linux: the supplementary groups of that process. Its main group may or may not be among them.
    #[getter]
    fn groups(&self) -> Vec<u32> {
        self.groups.clone()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Guest at {}>", self.address)
    }
}

/// Has the callable decide about the peers of a socket.
pub(crate) fn admit(builder: SocketBuilder, callable: &Arc<Py<PyAny>>) -> SocketBuilder {
    let callable = Asked::new(callable.clone());
    builder.admit(move |guest: &Told<'_>| -> Decision {
        callable.decide(Role::Admit, || Guest {
            address: guest.address().to_string(),
            process: guest.process(),
            groups: guest.groups().to_vec(),
        })
    })
}
