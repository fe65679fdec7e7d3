//! What functions return: numbers that never change their meaning, and a text for each.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use sealwire::keys::KeyFileError;
use sealwire::options::TlsConfigError;
use sealwire_fork::Birth;

use crate::pointers::c_text;

/// What became of a call: `SEALWIRE_OK`, or one of the numbers `SEALWIRE_ERROR_...`, which are all
/// above zero and never change their meaning. New numbers may be added.
pub type sealwire_status = i32;

/// It was done.
pub const SEALWIRE_OK: sealwire_status = 0;
/// A pointer that must not be NULL is.
pub const SEALWIRE_ERROR_NULL: sealwire_status = 1;
/// An argument is out of range, too short or long, or no text in UTF-8.
pub const SEALWIRE_ERROR_ARGUMENT: sealwire_status = 2;
/// A fault of this library. Please report it.
pub const SEALWIRE_ERROR_INTERNAL: sealwire_status = 3;
/// An error that has no number yet. `sealwire_last_error` says what it is.
pub const SEALWIRE_ERROR_OTHER: sealwire_status = 4;
/// The operating system refused: no threads, no file descriptors.
pub const SEALWIRE_ERROR_SYSTEM: sealwire_status = 5;
/// The handle was made before `fork`, and this is the child: make new ones there. Freeing it is all
/// right and leaves the parent alone.
pub const SEALWIRE_ERROR_FORKED: sealwire_status = 6;
/// The thread of the context has ended by a fault: the system refused to poll, or this library failed.
/// Sockets of other contexts go on.
pub const SEALWIRE_ERROR_ENGINE_FAILED: sealwire_status = 7;
/// The socket was drained (`sealwire_socket_drain`): all that its peers sent has been received.
pub const SEALWIRE_ERROR_DRAINED: sealwire_status = 8;
/// The socket was drained, and connections were cut off: their end did not come within the time limit, or came in
/// the middle of a message. Messages on their way over them are lost. The text says how many connections.
pub const SEALWIRE_ERROR_CUT_OFF: sealwire_status = 9;
/// The operation would have to wait, and was told not to.
pub const SEALWIRE_ERROR_WOULD_BLOCK: sealwire_status = 10;
/// It was not done in time. The text ends with why the last connection failed, if one did. Where its
/// handshake did, the number is `SEALWIRE_ERROR_HANDSHAKE`.
pub const SEALWIRE_ERROR_TIMED_OUT: sealwire_status = 11;
/// The socket is closed.
pub const SEALWIRE_ERROR_CLOSED: sealwire_status = 12;
/// The type of the socket does not do that.
pub const SEALWIRE_ERROR_UNSUPPORTED: sealwire_status = 13;
/// Not now: REQ and REP take turns; DISH joins a group once; a session of the AEAD seals or opens.
pub const SEALWIRE_ERROR_STATE: sealwire_status = 14;
/// REQ: the peer went away before it answered; the request may have been carried out.
pub const SEALWIRE_ERROR_REQUEST_LOST: sealwire_status = 15;
/// ROUTER, SERVER, PEER, STREAM: there is no such peer.
pub const SEALWIRE_ERROR_UNROUTABLE: sealwire_status = 16;
/// The message is not of the form that the type of the socket sends.
pub const SEALWIRE_ERROR_MESSAGE: sealwire_status = 17;
/// A limit is reached.
pub const SEALWIRE_ERROR_LIMIT: sealwire_status = 18;
/// The endpoint cannot be understood.
pub const SEALWIRE_ERROR_ENDPOINT: sealwire_status = 19;
/// The socket cannot use the endpoint: its transport does not go with the socket's type or
/// mechanism.
pub const SEALWIRE_ERROR_TRANSPORT: sealwire_status = 20;
/// An option that the type of the socket does not have, or that cannot have this value.
pub const SEALWIRE_ERROR_OPTION: sealwire_status = 21;
/// Binding failed, for example because the address is in use.
pub const SEALWIRE_ERROR_BIND: sealwire_status = 22;
/// Connecting failed (`udp` only; with other transports it is an event of the monitor).
pub const SEALWIRE_ERROR_CONNECT: sealwire_status = 23;
/// The socket has no such endpoint.
pub const SEALWIRE_ERROR_UNKNOWN_ENDPOINT: sealwire_status = 24;
/// The endpoint is not connected to any more.
pub const SEALWIRE_ERROR_GAVE_UP: sealwire_status = 25;
/// Some messages were not sent within the linger time.
pub const SEALWIRE_ERROR_UNSENT: sealwire_status = 26;
/// No more events will come: the socket is closed and all were read.
pub const SEALWIRE_ERROR_ENDED: sealwire_status = 27;
/// A signal handler ran, and the socket was made to tell: `EINTR` of the system's calls. Nothing was sent
/// or received.
pub const SEALWIRE_ERROR_INTERRUPTED: sealwire_status = 28;
/// It was not done in time, and the last connection failed in its handshake: a wrong key, a client that is
/// not let in, another mechanism, a certificate that is not trusted. The text has the reason. The socket
/// goes on trying.
pub const SEALWIRE_ERROR_HANDSHAKE: sealwire_status = 29;
/// The text is not a key, or the bytes are not a public key in canonical form.
pub const SEALWIRE_ERROR_KEY: sealwire_status = 30;
/// A key file cannot be read or written, or is none.
pub const SEALWIRE_ERROR_KEY_FILE: sealwire_status = 31;
/// Others than its owner may read a file with a secret key.
pub const SEALWIRE_ERROR_KEY_FILE_PERMISSIONS: sealwire_status = 32;
/// A public key of low order: what is agreed with it is not secret.
pub const SEALWIRE_ERROR_WEAK_KEY: sealwire_status = 33;
/// There is no certificate in the PEM text, or one that cannot be read.
pub const SEALWIRE_ERROR_TLS_CERTIFICATE: sealwire_status = 34;
/// There is no private key in the PEM text, or none of a kind that is known.
pub const SEALWIRE_ERROR_TLS_PRIVATE_KEY: sealwire_status = 35;
/// The private key does not belong to the first certificate of the chain.
pub const SEALWIRE_ERROR_TLS_KEY_MISMATCH: sealwire_status = 36;
/// The system has no list of authorities that can be used.
pub const SEALWIRE_ERROR_TLS_SYSTEM_TRUST: sealwire_status = 37;
/// No certificate can be for such a name: it is neither a DNS name nor an IP address.
pub const SEALWIRE_ERROR_TLS_HOST_NAME: sealwire_status = 38;
/// A listening socket that was opened elsewhere cannot be used.
pub const SEALWIRE_ERROR_LISTENER: sealwire_status = 39;
/// The message is not authentic. Nothing more is said about it on purpose.
pub const SEALWIRE_ERROR_NOT_AUTHENTIC: sealwire_status = 40;
/// All positions of a stream are used up.
pub const SEALWIRE_ERROR_STREAM_EXHAUSTED: sealwire_status = 41;
/// The operating system has no randomness to give.
pub const SEALWIRE_ERROR_RANDOM: sealwire_status = 42;
/// ROUTER, STREAM: another peer of the socket has the routing id that was chosen.
pub const SEALWIRE_ERROR_ROUTING_ID_IN_USE: sealwire_status = 43;
/// The other side answered the call with an error; `sealwire_rpc_error_code` tells which.
pub const SEALWIRE_ERROR_RPC_REMOTE: sealwire_status = 50;
/// The time limit of the call ran out.
pub const SEALWIRE_ERROR_RPC_DEADLINE: sealwire_status = 51;
/// The connection was lost during the call.
pub const SEALWIRE_ERROR_RPC_CONNECTION_LOST: sealwire_status = 52;
/// No connection came about.
pub const SEALWIRE_ERROR_RPC_CONNECT: sealwire_status = 53;
/// There was no room for the message within the write limit.
pub const SEALWIRE_ERROR_RPC_CONGESTED: sealwire_status = 54;
/// The body is larger than the limit.
pub const SEALWIRE_ERROR_RPC_TOO_LARGE: sealwire_status = 55;
/// One of both sides shuts down.
pub const SEALWIRE_ERROR_RPC_SHUTTING_DOWN: sealwire_status = 56;
/// A call that waits was made by a handler that runs where the connection is read: it would wait
/// for itself.
pub const SEALWIRE_ERROR_RPC_WOULD_DEADLOCK: sealwire_status = 57;
/// The stream of a call is over: no more items come, or none can be sent. On the caller's side the
/// answer (`sealwire_rpc_stream_answer`) says why.
pub const SEALWIRE_ERROR_RPC_STREAM_ENDED: sealwire_status = 58;
/// An entry that metadata cannot have: its key has another form, or a limit would be exceeded.
pub const SEALWIRE_ERROR_RPC_METADATA: sealwire_status = 59;
/// The distributor holds as many tasks, or bytes of them, as it may.
pub const SEALWIRE_ERROR_WORK_FULL: sealwire_status = 60;
/// The task has more bytes than may be handed out (`SEALWIRE_WORK_OPTION_MAX_TASK`).
pub const SEALWIRE_ERROR_WORK_TASK_TOO_LARGE: sealwire_status = 61;
/// The result has more bytes than the distributor takes (`SEALWIRE_WORK_OPTION_MAX_RESULT`). The attempt
/// has failed.
pub const SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE: sealwire_status = 62;
/// The distributor or worker was shut down, or the worker leaves.
pub const SEALWIRE_ERROR_WORK_SHUT_DOWN: sealwire_status = 63;
/// No task with this number is set aside here.
pub const SEALWIRE_ERROR_WORK_NOT_SET_ASIDE: sealwire_status = 64;

/// # Errors
///
/// When what was made then was made before a fork, and this is the child.
pub(crate) fn here(birth: Birth) -> Result<(), Failure> {
    if birth.is_here() {
        Ok(())
    } else {
        Err(sealwire::Error::Forked.into())
    }
}

/// A call that failed: its number, and what there is to say about it.
pub(crate) struct Failure {
    status: sealwire_status,
    detail: String,
}

impl Failure {
    pub(crate) fn new(status: sealwire_status, detail: impl Into<String>) -> Self {
        Failure {
            status,
            detail: detail.into(),
        }
    }

    pub(crate) fn status(&self) -> sealwire_status {
        self.status
    }

    /// Keeps the text for `sealwire_last_error`.
    pub(crate) fn remember(self) -> sealwire_status {
        let detail = c_text(&self.detail);
        // While a thread ends there may be nowhere to keep it.
        let _ = LAST_ERROR.try_with(|last| last.replace(detail));
        self.status
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// What went wrong in the last call of this thread that failed, in words: whom it was about, and
/// often what to do. Empty when none has failed yet. Never holds a secret.
///
/// The text belongs to the library and is valid until the next call that fails on this thread, or
/// the end of the thread. Calls that succeed leave it alone. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_last_error() -> *const c_char {
    LAST_ERROR
        .try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// What a number means, in English. Never NULL; valid for ever. Numbers that mean nothing have a
/// text that says so.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_status_text(status: sealwire_status) -> *const c_char {
    let text = match status {
        SEALWIRE_OK => c"done",
        SEALWIRE_ERROR_NULL => c"a pointer is NULL",
        SEALWIRE_ERROR_ARGUMENT => c"an argument is not valid",
        SEALWIRE_ERROR_INTERNAL => c"a fault of the library",
        SEALWIRE_ERROR_OTHER => c"another error",
        SEALWIRE_ERROR_SYSTEM => c"the operating system refused",
        SEALWIRE_ERROR_FORKED => c"made before the process forked",
        SEALWIRE_ERROR_ENGINE_FAILED => c"the thread of the context has ended by a fault",
        SEALWIRE_ERROR_DRAINED => c"the socket was drained: all that its peers sent has been received",
        SEALWIRE_ERROR_CUT_OFF => c"the socket was drained, and connections were cut off",
        SEALWIRE_ERROR_WOULD_BLOCK => c"nothing can be sent or received now: try again later, or use a call that waits",
        SEALWIRE_ERROR_TIMED_OUT => c"the time limit ran out",
        SEALWIRE_ERROR_CLOSED => c"the socket is closed",
        SEALWIRE_ERROR_UNSUPPORTED => c"the socket type has no such operation",
        SEALWIRE_ERROR_STATE => c"the state of the socket does not allow this call: REQ and REP alternate",
        SEALWIRE_ERROR_REQUEST_LOST => c"the peer went away before it answered",
        SEALWIRE_ERROR_UNROUTABLE => c"no peer has the routing id",
        SEALWIRE_ERROR_MESSAGE => c"the socket type does not send messages of this shape",
        SEALWIRE_ERROR_LIMIT => c"a limit is reached: remove some before adding more",
        SEALWIRE_ERROR_ENDPOINT => c"an endpoint that cannot be understood",
        SEALWIRE_ERROR_TRANSPORT => c"the socket cannot use the endpoint",
        SEALWIRE_ERROR_OPTION => c"an option is out of its range, or the socket type does not have it",
        SEALWIRE_ERROR_BIND => c"cannot bind",
        SEALWIRE_ERROR_CONNECT => c"cannot connect",
        SEALWIRE_ERROR_UNKNOWN_ENDPOINT => c"the socket is neither bound nor connected to the endpoint",
        SEALWIRE_ERROR_GAVE_UP => c"the socket stopped connecting: the endpoint was disconnected, or reconnecting stops",
        SEALWIRE_ERROR_UNSENT => c"messages were not sent within the linger time: raise it, or see why no peer takes them",
        SEALWIRE_ERROR_ENDED => c"no more events will come",
        SEALWIRE_ERROR_INTERRUPTED => c"a signal handler ran",
        SEALWIRE_ERROR_HANDSHAKE => c"the time limit ran out, and the last connection failed in its handshake",
        SEALWIRE_ERROR_KEY => c"not a key",
        SEALWIRE_ERROR_KEY_FILE => c"a key file cannot be used",
        SEALWIRE_ERROR_KEY_FILE_PERMISSIONS => c"others may read the secret key",
        SEALWIRE_ERROR_WEAK_KEY => c"a public key of low order",
        SEALWIRE_ERROR_TLS_CERTIFICATE => c"no usable certificate",
        SEALWIRE_ERROR_TLS_PRIVATE_KEY => c"no usable private key of a certificate",
        SEALWIRE_ERROR_TLS_KEY_MISMATCH => c"the private key belongs to another certificate",
        SEALWIRE_ERROR_TLS_SYSTEM_TRUST => c"the system's trusted authorities cannot be read",
        SEALWIRE_ERROR_TLS_HOST_NAME => c"neither a DNS name nor an IP address",
        SEALWIRE_ERROR_LISTENER => c"the listening socket cannot be used",
        SEALWIRE_ERROR_NOT_AUTHENTIC => c"the message is not authentic",
        SEALWIRE_ERROR_STREAM_EXHAUSTED => c"all positions of the stream are used up",
        SEALWIRE_ERROR_RANDOM => c"the operating system has no randomness",
        SEALWIRE_ERROR_ROUTING_ID_IN_USE => c"another peer has the routing id",
        SEALWIRE_ERROR_RPC_REMOTE => c"the other side answered with an error",
        SEALWIRE_ERROR_RPC_DEADLINE => c"no answer within the deadline",
        SEALWIRE_ERROR_RPC_CONNECTION_LOST => c"the connection was lost",
        SEALWIRE_ERROR_RPC_CONNECT => c"no connection came about",
        SEALWIRE_ERROR_RPC_CONGESTED => c"the peer took no message within the write limit: it reads too slowly",
        SEALWIRE_ERROR_RPC_TOO_LARGE => c"the body is too large",
        SEALWIRE_ERROR_RPC_SHUTTING_DOWN => c"one of both sides is shutting down and takes no new calls",
        SEALWIRE_ERROR_RPC_WOULD_DEADLOCK => c"the call would wait for itself",
        SEALWIRE_ERROR_RPC_STREAM_ENDED => c"the stream has ended",
        SEALWIRE_ERROR_RPC_METADATA => c"an entry that metadata cannot have: its key has another form, or a limit would be exceeded",
        SEALWIRE_ERROR_WORK_FULL => c"the distributor is full: wait, or raise its bounds",
        SEALWIRE_ERROR_WORK_TASK_TOO_LARGE => c"the task is too large",
        SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE => c"the result is too large",
        SEALWIRE_ERROR_WORK_SHUT_DOWN => c"the distributor or worker was shut down, or leaves",
        SEALWIRE_ERROR_WORK_NOT_SET_ASIDE => c"no task with this number is set aside",
        _ => c"not a number of this library",
    };
    text.as_ptr()
}

/// The version of the library as text, for example "0.1.0". Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

impl Failure {
    /// The number of an error of a socket.
    pub(crate) fn of_socket(error: &sealwire::Error) -> sealwire_status {
        use sealwire::Error;
        match error {
            Error::WouldBlock => SEALWIRE_ERROR_WOULD_BLOCK,
            Error::TimedOut {
                last_failure: Some(failure),
                ..
            } if failure.is_handshake_failure() => SEALWIRE_ERROR_HANDSHAKE,
            Error::TimedOut { .. } => SEALWIRE_ERROR_TIMED_OUT,
            Error::Interrupted => SEALWIRE_ERROR_INTERRUPTED,
            Error::Closed => SEALWIRE_ERROR_CLOSED,
            Error::Drained { cut_off: 0 } => SEALWIRE_ERROR_DRAINED,
            Error::Drained { .. } => SEALWIRE_ERROR_CUT_OFF,
            Error::Forked => SEALWIRE_ERROR_FORKED,
            Error::EngineFailed => SEALWIRE_ERROR_ENGINE_FAILED,
            Error::Unsupported(_) => SEALWIRE_ERROR_UNSUPPORTED,
            Error::State(_) => SEALWIRE_ERROR_STATE,
            Error::RequestLost => SEALWIRE_ERROR_REQUEST_LOST,
            Error::Unroutable(_) => SEALWIRE_ERROR_UNROUTABLE,
            Error::Message(_) => SEALWIRE_ERROR_MESSAGE,
            Error::Limit(_) => SEALWIRE_ERROR_LIMIT,
            Error::Endpoint(_) => SEALWIRE_ERROR_ENDPOINT,
            Error::UnusableEndpoint { .. } => SEALWIRE_ERROR_TRANSPORT,
            Error::Listener(_) => SEALWIRE_ERROR_LISTENER,
            Error::RoutingIdInUse(_) => SEALWIRE_ERROR_ROUTING_ID_IN_USE,
            Error::Options(_) => SEALWIRE_ERROR_OPTION,
            Error::Bind { .. } => SEALWIRE_ERROR_BIND,
            Error::Connect { .. } => SEALWIRE_ERROR_CONNECT,
            Error::UnknownEndpoint(_) => SEALWIRE_ERROR_UNKNOWN_ENDPOINT,
            Error::GaveUp => SEALWIRE_ERROR_GAVE_UP,
            Error::Unsent(_) => SEALWIRE_ERROR_UNSENT,
            Error::System(_) => SEALWIRE_ERROR_SYSTEM,
            _ => SEALWIRE_ERROR_OTHER,
        }
    }
}

impl From<sealwire::Error> for Failure {
    fn from(error: sealwire::Error) -> Self {
        Failure::new(Failure::of_socket(&error), error.to_string())
    }
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        let status = match &error {
            KeyFileError::Permissions { .. } => SEALWIRE_ERROR_KEY_FILE_PERMISSIONS,
            KeyFileError::NotAKey { .. } => SEALWIRE_ERROR_KEY,
            _ => SEALWIRE_ERROR_KEY_FILE,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<TlsConfigError> for Failure {
    fn from(error: TlsConfigError) -> Self {
        let status = match &error {
            TlsConfigError::Certificate(_) => SEALWIRE_ERROR_TLS_CERTIFICATE,
            TlsConfigError::PrivateKey(_) => SEALWIRE_ERROR_TLS_PRIVATE_KEY,
            TlsConfigError::KeyMismatch => SEALWIRE_ERROR_TLS_KEY_MISMATCH,
            TlsConfigError::SystemTrust(_) => SEALWIRE_ERROR_TLS_SYSTEM_TRUST,
            TlsConfigError::HostName(_) => SEALWIRE_ERROR_TLS_HOST_NAME,
            _ => SEALWIRE_ERROR_OTHER,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<sealwire_rpc::Error> for Failure {
    fn from(error: sealwire_rpc::Error) -> Self {
        use sealwire_rpc::Error;
        let status = match &error {
            Error::Remote(_) => SEALWIRE_ERROR_RPC_REMOTE,
            Error::DeadlineExceeded { .. } => SEALWIRE_ERROR_RPC_DEADLINE,
            Error::ConnectionLost { .. } => SEALWIRE_ERROR_RPC_CONNECTION_LOST,
            Error::Connect(_) => SEALWIRE_ERROR_RPC_CONNECT,
            Error::Congested(_) => SEALWIRE_ERROR_RPC_CONGESTED,
            Error::TimedOut(_) => SEALWIRE_ERROR_TIMED_OUT,
            Error::WouldBlock => SEALWIRE_ERROR_WOULD_BLOCK,
            Error::TooLarge { .. } => SEALWIRE_ERROR_RPC_TOO_LARGE,
            Error::ShuttingDown => SEALWIRE_ERROR_RPC_SHUTTING_DOWN,
            Error::EngineFailed => SEALWIRE_ERROR_ENGINE_FAILED,
            Error::Forked => SEALWIRE_ERROR_FORKED,
            Error::WouldDeadlock => SEALWIRE_ERROR_RPC_WOULD_DEADLOCK,
            Error::StreamEnded => SEALWIRE_ERROR_RPC_STREAM_ENDED,
            _ => SEALWIRE_ERROR_OTHER,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<sealwire_rpc::MetadataError> for Failure {
    fn from(error: sealwire_rpc::MetadataError) -> Self {
        Failure::new(SEALWIRE_ERROR_RPC_METADATA, error.to_string())
    }
}

impl From<sealwire_rpc::work::Error> for Failure {
    fn from(error: sealwire_rpc::work::Error) -> Self {
        use sealwire_rpc::work::Error;
        let status = match error {
            Error::Full { .. } => SEALWIRE_ERROR_WORK_FULL,
            Error::TooLarge { .. } => SEALWIRE_ERROR_WORK_TASK_TOO_LARGE,
            Error::ResultTooLarge { .. } => SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE,
            Error::TimedOut => SEALWIRE_ERROR_TIMED_OUT,
            Error::WouldBlock => SEALWIRE_ERROR_WOULD_BLOCK,
            Error::ShutDown => SEALWIRE_ERROR_WORK_SHUT_DOWN,
            Error::EngineFailed => SEALWIRE_ERROR_ENGINE_FAILED,
            Error::Forked => SEALWIRE_ERROR_FORKED,
            Error::WouldDeadlock => SEALWIRE_ERROR_RPC_WOULD_DEADLOCK,
            Error::Socket(error) => return error.into(),
            _ => SEALWIRE_ERROR_OTHER,
        };
        Failure::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn errors_that_are_hard_to_bring_about_have_their_numbers() {
        let number = |error: sealwire_rpc::Error| Failure::from(error).status();
        let congested = sealwire_rpc::Error::Congested(Duration::from_secs(3));
        assert_eq!(number(congested), SEALWIRE_ERROR_RPC_CONGESTED);
        assert_eq!(
            number(sealwire_rpc::Error::WouldBlock),
            SEALWIRE_ERROR_WOULD_BLOCK
        );
        let malformed = sealwire_rpc::Error::Malformed("not text".into());
        assert_eq!(number(malformed), SEALWIRE_ERROR_OTHER);
        let number = |error: sealwire_rpc::work::Error| Failure::from(error).status();
        let failed = sealwire_rpc::work::Error::EngineFailed;
        assert_eq!(number(failed), SEALWIRE_ERROR_ENGINE_FAILED);
    }
}
