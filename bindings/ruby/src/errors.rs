//! Errors as Ruby sees them.

use std::time::Duration;

use magnus::value::{Lazy, ReprValue as _};
use magnus::{
    Class as _, Error, Exception, ExceptionClass, IntoValue, Module as _, Object as _, RModule,
    RObject, Ruby,
};
use sealwire::Operation;

use crate::monitor::Failure;

macro_rules! classes {
    ($($constant:ident, $name:literal, $parent:ident;)*) => {
        $(static $constant: Lazy<ExceptionClass> = Lazy::new(|ruby| {
            let sealwire: Result<RModule, Error> = ruby.class_object().const_get("Sealwire");
            sealwire.and_then(|sealwire| sealwire.const_get($name)).expect("defined by `define`")
        });)*

        pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
            sealwire.define_error("Error", ruby.exception_standard_error())?;
            Lazy::force(&ERROR, ruby);
            $(
                // The first of them is its own parent here, and defined above.
                if $name != "Error" {
                    sealwire.define_error($name, ruby.get_inner(&$parent))?;
                }
                // Looked up by the main Ractor, for all of them.
                Lazy::force(&$constant, ruby);
            )*
            Ok(())
        }
    };
}

classes! {
    ERROR, "Error", ERROR;
    TIMEOUT, "TimeoutError", ERROR;
    HANDSHAKE, "HandshakeError", TIMEOUT;
    CLOSED, "ClosedError", ERROR;
    DRAINED, "DrainedError", ERROR;
    STATE, "StateError", ERROR;
    REQUEST_LOST, "RequestLostError", ERROR;
    UNSUPPORTED, "UnsupportedError", ERROR;
    UNROUTABLE, "UnroutableError", ERROR;
    ROUTING_ID_IN_USE, "RoutingIdInUseError", ERROR;
    MESSAGE, "MessageError", ERROR;
    LIMIT, "LimitError", ERROR;
    ENDPOINT, "EndpointError", ERROR;
    BIND, "BindError", ENDPOINT;
    LISTENER, "ListenerError", ENDPOINT;
    CONNECT, "ConnectError", ENDPOINT;
    NO_SECURITY, "NoSecurityError", ENDPOINT;
    OPTION, "OptionError", ERROR;
    TLS_CONFIG, "TlsConfigError", ERROR;
    UNSENT, "UnsentError", ERROR;
    SYSTEM, "SystemError", ERROR;
    FORKED, "ForkedError", ERROR;
    ENGINE_FAILED, "EngineFailedError", ERROR;
    KEY_FILE, "KeyFileError", ERROR;
    DECRYPTION, "DecryptionError", ERROR;
    VERIFICATION, "VerificationError", ERROR;
    WEAK_KEY, "WeakKeyError", ERROR;
    FULL, "FullError", ERROR;
    TASK_TOO_LARGE, "TaskTooLargeError", ERROR;
    RESULT_TOO_LARGE, "ResultTooLargeError", ERROR;
    SHUT_DOWN, "ShutDownError", ERROR;
    UNFINISHED, "UnfinishedError", ERROR;
}

fn class(error: &sealwire::Error) -> &'static Lazy<ExceptionClass> {
    use sealwire::Error as E;
    match error {
        E::WouldBlock | E::TimedOut { .. } => &TIMEOUT,
        E::Closed => &CLOSED,
        E::Drained { .. } => &DRAINED,
        E::Forked => &FORKED,
        E::EngineFailed => &ENGINE_FAILED,
        E::State(_) => &STATE,
        E::RequestLost => &REQUEST_LOST,
        E::Unsupported(_) => &UNSUPPORTED,
        E::Unroutable(_) => &UNROUTABLE,
        E::Message(_) => &MESSAGE,
        E::Limit(_) => &LIMIT,
        E::Bind { .. } => &BIND,
        E::Connect { .. } | E::GaveUp => &CONNECT,
        E::UnusableEndpoint {
            reason: sealwire::Unusable::NoSecurity,
            ..
        } => &NO_SECURITY,
        E::Endpoint(_) | E::UnusableEndpoint { .. } | E::UnknownEndpoint(_) => &ENDPOINT,
        E::Listener(_) => &LISTENER,
        E::RoutingIdInUse(_) => &ROUTING_ID_IN_USE,
        E::Options(_) => &OPTION,
        E::Unsent(_) => &UNSENT,
        E::System(_) => &SYSTEM,
        _ => &ERROR,
    }
}

/// An error with its exception made here and now. magnus makes one when it raises, and ends the
/// process when the thread is killed just then.
pub(crate) fn new(ruby: &Ruby, class: ExceptionClass, problem: impl AsRef<str>) -> Error {
    let exception = class.new_instance((ruby.str_new(problem.as_ref()),));
    exception.map_or_else(|error| error, Error::from)
}

/// What a socket said, in its own words.
pub(crate) fn raised(ruby: &Ruby, error: &sealwire::Error) -> Error {
    let class = ruby.get_inner(class(error));
    match error {
        sealwire::Error::Drained { cut_off } => {
            that_knows(class, error.to_string(), "@cut_off", *cut_off)
        }
        _ => new(ruby, class, error.to_string()),
    }
}

/// An exception of this class that knows something beside its text.
fn that_knows(class: ExceptionClass, problem: String, name: &str, value: impl IntoValue) -> Error {
    let exception: Result<Exception, Error> = class.new_instance((problem,));
    let attached = exception.and_then(|exception| {
        let object = RObject::from_value(exception.as_value());
        object.map_or(Ok(()), |object| object.ivar_set(name, value))?;
        Ok(exception)
    });
    attached.map_or_else(|error| error, Error::from)
}

/// The error of a wait that `limit` ended, with the reason as far as the socket knows it.
pub(crate) fn timed_out(
    ruby: &Ruby,
    operation: Operation,
    limit: Duration,
    socket: &sealwire::Socket,
) -> Error {
    expired(
        ruby,
        sealwire::Error::TimedOut {
            operation,
            limit,
            presence: socket.presence(),
            last_failure: socket.last_failure().map(Box::new),
        },
    )
}

/// What acknowledged work failed with.
pub(crate) fn of_work(ruby: &Ruby, error: &sealwire_rpc::work::Error) -> Error {
    use sealwire_rpc::work::Error as E;
    let class = match error {
        E::Full { .. } => &FULL,
        E::TooLarge { .. } => &TASK_TOO_LARGE,
        E::ResultTooLarge { .. } => &RESULT_TOO_LARGE,
        E::TimedOut | E::WouldBlock => &TIMEOUT,
        E::ShutDown => &SHUT_DOWN,
        E::EngineFailed => &ENGINE_FAILED,
        E::Forked => &FORKED,
        E::WouldDeadlock => &STATE,
        E::Socket(error) => return raised(ruby, error),
        _ => &ERROR,
    };
    new(ruby, ruby.get_inner(class), error.to_string())
}

/// An error of time. The last failure of a connection often says why, and is there as `failure` too.
pub(crate) fn expired(ruby: &Ruby, error: sealwire::Error) -> Error {
    let problem = error.to_string();
    let failure = match error {
        sealwire::Error::TimedOut { last_failure, .. } => last_failure,
        _ => None,
    };
    let class = match &failure {
        Some(failure) if failure.is_handshake_failure() => &HANDSHAKE,
        _ => &TIMEOUT,
    };
    let failure = failure.map(|failure| Failure::wrap(ruby, *failure));
    that_knows(ruby.get_inner(class), problem, "@failure", failure)
}

pub(crate) fn forked(ruby: &Ruby, problem: &'static str) -> Error {
    new(ruby, ruby.get_inner(&FORKED), problem)
}

pub(crate) fn closed(ruby: &Ruby) -> Error {
    raised(ruby, &sealwire::Error::Closed)
}

/// A receive found nothing after `close_read`.
pub(crate) fn read_closed(ruby: &Ruby) -> Error {
    let problem = "nothing to receive, and close_read has ended receiving";
    new(ruby, ruby.get_inner(&CLOSED), problem)
}

pub(crate) fn state(ruby: &Ruby, problem: String) -> Error {
    new(ruby, ruby.get_inner(&STATE), problem)
}

pub(crate) fn unsupported(ruby: &Ruby, problem: String) -> Error {
    new(ruby, ruby.get_inner(&UNSUPPORTED), problem)
}

pub(crate) fn option(ruby: &Ruby, problem: String) -> Error {
    new(ruby, ruby.get_inner(&OPTION), problem)
}

/// Certificates or keys of TLS that cannot be used.
pub(crate) fn tls_config(ruby: &Ruby, error: &sealwire::options::TlsConfigError) -> Error {
    new(ruby, ruby.get_inner(&TLS_CONFIG), error.to_string())
}

pub(crate) fn key_file(ruby: &Ruby, error: &sealwire::keys::KeyFileError) -> Error {
    new(ruby, ruby.get_inner(&KEY_FILE), error.to_string())
}

/// A message of Newplex or of NaCl's `box` that does not open.
pub(crate) fn not_authentic(ruby: &Ruby, problem: String) -> Error {
    new(ruby, ruby.get_inner(&DECRYPTION), problem)
}

/// A signature or tag that is not that of the message.
pub(crate) fn not_verified(ruby: &Ruby, problem: &str) -> Error {
    new(ruby, ruby.get_inner(&VERIFICATION), problem)
}

/// A public key of low order.
pub(crate) fn weak_key(ruby: &Ruby, problem: String) -> Error {
    new(ruby, ruby.get_inner(&WEAK_KEY), problem)
}

pub(crate) fn argument(ruby: &Ruby, problem: impl AsRef<str>) -> Error {
    new(ruby, ruby.exception_arg_error(), problem)
}
