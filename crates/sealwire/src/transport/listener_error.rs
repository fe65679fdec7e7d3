//! Why a listening socket that somebody else opened cannot be used.

/// A listening socket that somebody else opened cannot be used, or a service manager passed none to this process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListenerError {
    /// Nothing that is a socket is behind this descriptor.
    #[error("descriptor {0} is not a socket: give one that listens")]
    NotASocket(i32),
    /// A socket for datagrams or packets.
    #[error(
        "descriptor {0} is not a socket for streams: give one of type SOCK_STREAM that listens"
    )]
    NotAStream(i32),
    /// The socket is not bound, or bound without listening, or connected.
    #[error("the socket of descriptor {0} does not listen: call listen before you give it away")]
    NotListening(i32),
    /// Neither TCP nor a Unix socket, or a Unix socket for WebSocket.
    #[error(
        "the socket of descriptor {0} is of a family that the transport does not have: tcp, ws and wss listen on IPv4 and \
         IPv6, ipc on Unix sockets"
    )]
    Family(i32),
    /// The name of an abstract Unix socket is not text in UTF-8, as endpoints are.
    #[error("the socket listens on an abstract name that is not UTF-8: bind it to one that is")]
    Name,
    /// The sockets were opened for the process with this number, not for this one.
    #[error(
        "LISTEN_PID is {0}, which is not this process: the sockets of LISTEN_FDS are not for it"
    )]
    OtherProcess(u32),
    /// A variable of the environment has something that no service manager sets: `LISTEN_PID`, `LISTEN_FDS`,
    /// `LISTEN_FDNAMES`.
    #[error("the environment variable {0} is not what a service manager sets")]
    Variable(&'static str),
    /// Nothing is open behind a descriptor that `LISTEN_FDS` names.
    #[error(
        "LISTEN_FDS names descriptor {0}, which is not open: take the sockets before anything closes descriptors"
    )]
    NotOpen(i32),
    /// The sockets of the service manager were taken before.
    #[error("the sockets of LISTEN_FDS were taken before: keep what the first call returned")]
    Taken,
}

#[cfg(unix)]
impl From<sealwire_unix::activation::Error> for ListenerError {
    fn from(error: sealwire_unix::activation::Error) -> Self {
        use sealwire_unix::activation::Error;
        match error {
            Error::OtherProcess(process) => ListenerError::OtherProcess(process),
            Error::NotOpen(number) => ListenerError::NotOpen(number),
            Error::Taken => ListenerError::Taken,
            Error::Variable(name) => ListenerError::Variable(name),
        }
    }
}
