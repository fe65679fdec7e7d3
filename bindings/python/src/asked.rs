//! Callables that decide about clients and guests, called from threads of Rust.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use sealwire::account::LogGate;
use sealwire::auth::{Decision, Status};

/// What a callable is asked as.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Authenticator,
    Admit,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::Authenticator => "an authenticator",
            Role::Admit => "admit",
        }
    }

    /// For a client that is turned away without a reason.
    fn refusal(self) -> Decision {
        match self {
            Role::Authenticator => false.into(),
            Role::Admit => Decision::refuse("this peer is not allowed here"),
        }
    }
}

/// A callable that threads of Rust ask.
pub(crate) struct Asked {
    callable: Arc<Py<PyAny>>,
    /// Clients choose how often it is asked.
    reports: LogGate,
}

impl Asked {
    pub(crate) fn new(callable: impl Into<Arc<Py<PyAny>>>) -> Self {
        Asked {
            callable: callable.into(),
            reports: LogGate::new(),
        }
    }

    /// Calls Python from the thread of the engine that waits for the decision.
    pub(crate) fn decide<C>(&self, role: Role, asking: impl FnOnce() -> C) -> Decision
    where
        C: for<'py> IntoPyObject<'py>,
    {
        let decided = crate::lifecycle::call_python(|py| {
            let callable = self.callable.bind(py);
            let answer = callable
                .call1((asking(),))
                .and_then(|answer| decision(&answer, role));
            answer.unwrap_or_else(|error| match refusal(py, &error) {
                Some(refused) => refused,
                None => {
                    self.report(py, error);
                    Decision::refuse_as(Status::Temporary, "the server could not decide")
                }
            })
        });
        decided.unwrap_or_else(|| Decision::refuse_as(Status::Temporary, "the server is ending"))
    }

    /// To `sys.unraisablehook`, as nobody else could catch it, and once a second at most.
    fn report(&self, py: Python<'_>, error: PyErr) {
        let Some(count) = self.reports.pass() else {
            return;
        };
        if count > 1 {
            let note = format!("{} exceptions before it were not reported", count - 1);
            // Before Python 3.11 exceptions have no notes.
            let _ = error.value(py).call_method1("add_note", (note,));
        }
        error.write_unraisable(py, Some(self.callable.bind(py)));
    }
}

fn decision(answer: &Bound<'_, PyAny>, role: Role) -> PyResult<Decision> {
    if answer.is_none() {
        return Ok(role.refusal());
    }
    if let Ok(allowed) = answer.cast::<PyBool>() {
        return Ok(if allowed.is_true() {
            true.into()
        } else {
            role.refusal()
        });
    }
    if let Ok(user_id) = answer.cast::<PyString>() {
        return Ok(Decision::allow_as(user_id.to_cow()?));
    }
    Err(PyTypeError::new_err(format!(
        "{} gives True, False, None or the name of the client, not {}",
        role.name(),
        answer.get_type().name()?
    )))
}

/// What `sealwire.Refused` says.
fn refusal(py: Python<'_>, error: &PyErr) -> Option<Decision> {
    let refused = py
        .import("sealwire._exceptions")
        .ok()?
        .getattr("Refused")
        .ok()?;
    if !error.is_instance(py, &refused) {
        return None;
    }
    let error = error.value(py);
    let reason: String = error.getattr("reason").ok()?.str().ok()?.to_string();
    let status = match error.getattr("status").ok()?.extract().ok()? {
        300 => Status::Temporary,
        500 => Status::Failed,
        _ => Status::Refused,
    };
    Some(Decision::refuse_as(status, reason))
}
