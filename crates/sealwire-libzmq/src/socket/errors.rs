//! One number for each error of the engine.

use std::io;

use sealwire::options::OptionsError;
use sealwire::{EndpointError, Error, ListenerError, StateError, Unusable};

use crate::errno::Errno;

/// The number that libzmq has for it, or the nearest.
pub(crate) fn errno_of(error: &Error) -> Errno {
    match error {
        Error::WouldBlock | Error::TimedOut { .. } => Errno::AGAIN,
        Error::Interrupted => Errno::INTR,
        Error::Closed | Error::Drained { .. } | Error::Forked => Errno::NOTSOCK,
        Error::EngineFailed => Errno::TERM,
        Error::Unsupported(_) => Errno::NOTSUP,
        Error::State(StateError::NotSubscribed | StateError::NoSubscriber) => Errno::INVAL,
        Error::State(_) => Errno::FSM,
        Error::Unroutable(_) => Errno::HOSTUNREACH,
        Error::UnusableEndpoint { reason, .. } => match reason {
            Unusable::Transport | Unusable::Direction => Errno::NOCOMPATPROTO,
            Unusable::NoSecurity => Errno::ACCES,
            _ => Errno::INVAL,
        },
        Error::Limit(_) => Errno::NOMEM,
        Error::RoutingIdInUse(_) => Errno(libc::EADDRINUSE),
        Error::Endpoint(EndpointError::UnknownTransport(_) | EndpointError::NotBuiltIn { .. }) => {
            Errno::PROTONOSUPPORT
        }
        Error::Endpoint(EndpointError::Length { name, limit }) if name.len() > *limit => {
            Errno(libc::ENAMETOOLONG)
        }
        Error::Options(OptionsError::SocketType(_)) => Errno::INVAL,
        Error::Options(OptionsError::IoAffinity(_)) => Errno::MTHREAD,
        Error::Bind { source, .. } | Error::Connect { source, .. } => of_transport(source),
        Error::Listener(ListenerError::NotASocket(_)) => Errno::NOTSOCK,
        Error::UnknownEndpoint(_) => Errno::NOENT,
        Error::System(source) => Errno::of(source),
        _ => Errno::INVAL,
    }
}

/// What the engine found by itself has no number of the system's, nor have names that nobody knows, or that have no address.
fn of_transport(error: &io::Error) -> Errno {
    match (error.raw_os_error(), error.kind()) {
        (Some(number), _) => Errno(number),
        (None, io::ErrorKind::InvalidInput) => Errno::INVAL,
        (None, io::ErrorKind::AddrInUse) => Errno::ADDRINUSE,
        (None, _) => Errno::NODEV,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_found_by_itself_has_a_number_too() {
        for (error, number) in [
            (io::Error::from_raw_os_error(libc::EACCES), libc::EACCES),
            (io::ErrorKind::AddrInUse.into(), libc::EADDRINUSE),
            (io::ErrorKind::InvalidInput.into(), libc::EINVAL),
            (io::Error::other("nobody knows it"), libc::ENODEV),
        ] {
            assert_eq!(of_transport(&error), Errno(number));
        }
    }
}
