//! Errors of the crates as exceptions, which are written in `python/sealwire/_exceptions.py`.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sealwire::{Error, Unusable};

static EXCEPTIONS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An exception of the package, by its name.
fn exception(py: Python<'_>, name: &str, args: impl for<'py> pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = EXCEPTIONS
        .get_or_try_init(py, || py.import("sealwire._exceptions").map(Bound::unbind))
        .and_then(|module| module.bind(py).getattr(name)?.call1(args));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// One with nothing but a text.
pub(crate) fn plain(py: Python<'_>, name: &str, text: impl std::fmt::Display) -> PyErr {
    exception(py, name, (text.to_string(),))
}

/// Not allowed in this state.
pub(crate) fn state(py: Python<'_>, text: &str) -> PyErr {
    plain(py, "StateError", text)
}

pub(crate) fn again(py: Python<'_>) -> PyErr {
    plain(py, "Again", Error::WouldBlock)
}

/// Messages that were taken and are not what was asked for, so that they are not lost.
pub(crate) fn several_frames(py: Python<'_>, messages: Py<PyAny>) -> PyErr {
    exception(
        py,
        "MessageError",
        (
            "a message of several frames, or of none: use recv_multipart, recv_message or their \
             batches. What was taken is in the attribute `messages`",
            messages,
        ),
    )
}

/// What `close` says when the linger time was not enough.
pub(crate) fn unsent(py: Python<'_>, count: usize) -> PyErr {
    exception(py, "Unsent", (Error::Unsent(count).to_string(), count))
}

/// The time limit of a call that waits for a socket ran out. When the last connection failed, that
/// is the reason; a failed handshake has an exception of its own.
pub(crate) fn timed_out(py: Python<'_>, limit: Duration, error: &Error) -> PyErr {
    let Error::TimedOut {
        operation,
        presence,
        last_failure,
        ..
    } = error
    else {
        return plain(py, "Error", error);
    };
    let text = Error::TimedOut {
        operation: *operation,
        limit,
        presence: *presence,
        last_failure: last_failure.clone(),
    }
    .to_string();
    let Some(failure) = last_failure else {
        return exception(py, "TimedOut", (text,));
    };
    let name = if failure.is_handshake_failure() {
        "HandshakeError"
    } else {
        "TimedOut"
    };
    exception(
        py,
        name,
        (
            text,
            failure.to_string(),
            failure.address().to_string(),
            failure.cause().name(),
        ),
    )
}

/// What a socket operation failed with.
pub(crate) fn of_socket(py: Python<'_>, error: Error) -> PyErr {
    let name = match &error {
        Error::WouldBlock => "Again",
        Error::TimedOut { limit, .. } => return timed_out(py, *limit, &error),
        Error::Closed => "SocketClosed",
        Error::Drained { cut_off } => {
            return exception(py, "Drained", (error.to_string(), *cut_off));
        }
        Error::Forked => "Forked",
        Error::EngineFailed => "EngineFailed",
        Error::Unsupported(_) => "Unsupported",
        Error::State(_) => "StateError",
        Error::RequestLost => "RequestLost",
        Error::Unroutable(_) => "Unroutable",
        Error::Message(_) => "MessageError",
        Error::UnusableEndpoint {
            reason: Unusable::NoSecurity,
            ..
        } => "NoSecurity",
        Error::Listener(_) => "ListenerError",
        Error::RoutingIdInUse(_) => "RoutingIdInUse",
        Error::Endpoint(_) | Error::UnusableEndpoint { .. } | Error::UnknownEndpoint(_) => {
            "EndpointError"
        }
        Error::Options(_) => "OptionsError",
        Error::Unsent(count) => return unsent(py, *count),
        Error::Bind { source, .. } | Error::Connect { source, .. } | Error::System(source) => {
            let errno = source.raw_os_error();
            return exception(py, "SystemRefused", (errno, error.to_string()));
        }
        _ => "Error",
    };
    plain(py, name, error)
}

/// What a call failed with.
pub(crate) fn of_call(py: Python<'_>, error: sealwire_rpc::Error) -> PyErr {
    use sealwire_rpc::Error as Call;
    let may_have_run = error.may_have_run();
    let text = error.to_string();
    let name = match &error {
        Call::Remote(status) => return of_status(py, "RemoteError", &text, status, may_have_run),
        Call::Intercepted(status) => {
            return of_status(py, "RemoteError", &text, status, may_have_run);
        }
        Call::DeadlineExceeded { .. } => "DeadlineExceeded",
        Call::ConnectionLost { .. } => "ConnectionLost",
        Call::Connect(_) => "ConnectError",
        Call::Congested(_) | Call::WouldBlock => "Congested",
        Call::TooLarge { .. } => "TooLarge",
        Call::ShuttingDown => "ShuttingDown",
        Call::StreamEnded => "StreamEnded",
        Call::Forked => return plain(py, "Forked", text),
        Call::EngineFailed => return plain(py, "EngineFailed", text),
        _ => "CallError",
    };
    exception(py, name, (text, may_have_run))
}

/// What acknowledged work failed with.
pub(crate) fn of_work(py: Python<'_>, error: sealwire_rpc::work::Error) -> PyErr {
    use sealwire_rpc::work::Error as Work;
    let text = error.to_string();
    let name = match error {
        Work::Full { tasks, bytes, .. } => {
            return exception(py, "DistributorFull", (text, tasks, bytes));
        }
        Work::TooLarge { .. } => "TaskTooLarge",
        Work::ResultTooLarge { .. } => "ResultTooLarge",
        Work::TimedOut => "TimedOut",
        Work::WouldBlock => "Again",
        Work::ShutDown => "ShutDown",
        Work::EngineFailed => "EngineFailed",
        Work::Forked => "Forked",
        Work::WouldDeadlock => "StateError",
        Work::Socket(error) => return of_socket(py, error),
        _ => "Error",
    };
    plain(py, name, text)
}

fn of_status(
    py: Python<'_>,
    name: &str,
    text: &str,
    status: &sealwire_rpc::Status,
    may_have_run: bool,
) -> PyErr {
    let details = pyo3::types::PyBytes::new(py, &status.details).unbind();
    let message = status.message.clone();
    exception(
        py,
        name,
        (
            text.to_owned(),
            may_have_run,
            status.code.0,
            message,
            details,
        ),
    )
}
