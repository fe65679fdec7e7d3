//! The meaning of the transport's end, which depends on when it comes.

use core::fmt;

/// What a handshake was waiting for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The peer's greeting.
    Greeting,
    /// A server waits for the client's first command.
    Hello,
    /// A client waits for the answer to HELLO.
    Welcome,
    /// A server waits for the command that names the client.
    Initiate,
    /// A server waits for its own authenticator.
    Authorization,
    /// The last command before messages flow.
    Ready,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Greeting => "the greeting",
            Self::Hello => "HELLO",
            Self::Welcome => "WELCOME",
            Self::Initiate => "INITIATE",
            Self::Authorization => "the local authenticator",
            Self::Ready => "READY",
        })
    }
}

/// What the end of the transport means.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseKind {
    /// Before the handshake was done.
    DuringHandshake(Step),
    /// Inside a frame or between the frames of one message; that message is not delivered.
    MidMessage,
    /// Between two messages. ZMTP has no authenticated end, so messages may be missing all the same.
    Clean,
}

impl fmt::Display for CloseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuringHandshake(Step::Greeting) => f.write_str(
                "the connection was closed before the greeting was complete: the other end may use \
                 another mechanism (libzmq then closes silently), may not speak ZMTP, or may \
                 have refused this address",
            ),
            Self::DuringHandshake(Step::Welcome) => f.write_str(
                "the server closed without an answer after HELLO: its key is probably not the one \
                 configured (BLAKE3, CURVE), or it cannot decide now (PLAIN)",
            ),
            Self::DuringHandshake(step) => {
                write!(
                    f,
                    "the connection was closed during the handshake, waiting for {step}"
                )
            }
            Self::MidMessage => f.write_str(
                "the connection was closed in the middle of a message, which was discarded",
            ),
            Self::Clean => f.write_str("the connection was closed between two messages"),
        }
    }
}
