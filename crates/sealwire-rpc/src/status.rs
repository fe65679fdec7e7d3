//! What a handler answers when it has no reply, and what a caller gets.

use std::fmt;
use std::time::Duration;

use sealwire::text::printable;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// Why the other side did not reply, as a number. 0 to 999 are assigned by the protocol
        /// (the first 16 mean what they mean in gRPC), 1,000 and above are the application's.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct Code(pub u16);

        impl Code {
            $($(#[$doc])* pub const $name: Code = Code($number);)*

            fn text(self) -> Option<&'static str> {
                match self {
                    $(Code::$name => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// The caller took its request back.
    CANCELLED = 1, "cancelled";
    /// Nothing better is known.
    UNKNOWN = 2, "unknown error";
    /// The request makes no sense.
    INVALID_ARGUMENT = 3, "invalid argument";
    /// The handler ran out of time.
    DEADLINE_EXCEEDED = 4, "deadline exceeded";
    /// The thing that was asked for is missing.
    NOT_FOUND = 5, "not found";
    /// The thing that was to be made exists already.
    ALREADY_EXISTS = 6, "already exists";
    /// This caller may not.
    PERMISSION_DENIED = 7, "permission denied";
    /// Too much at a time.
    RESOURCE_EXHAUSTED = 8, "resource exhausted";
    /// Not in this state.
    FAILED_PRECONDITION = 9, "failed precondition";
    /// Something else came between.
    ABORTED = 10, "aborted";
    /// Past the end.
    OUT_OF_RANGE = 11, "out of range";
    /// There is no such method, or no handler at all.
    UNIMPLEMENTED = 12, "unimplemented";
    /// The handler failed.
    INTERNAL = 13, "internal error";
    /// Not now; for example because the other side shuts down.
    UNAVAILABLE = 14, "unavailable";
    /// Data is lost.
    DATA_LOSS = 15, "data loss";
    /// It is not known who asks.
    UNAUTHENTICATED = 16, "unauthenticated";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => f.write_str(text),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({self})", self.0)
    }
}

/// An error of the other side's handler, or of the other side itself: a [`Code`], a message for
/// people, and details for programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}{}{}", if message.is_empty() { "" } else { ": " }, printable(message))]
pub struct Status {
    /// What kind of error.
    pub code: Code,
    /// For people. At most 65,535 bytes; what is longer is cut. As the other side sent it: `Display`
    /// escapes control characters in it.
    pub message: String,
    /// For programs; whatever the application agrees on.
    pub details: Vec<u8>,
    /// The request was turned away before any handler saw it: it is safe to ask again.
    pub(crate) not_started: bool,
}

impl Status {
    /// The one for code of others that panicked.
    pub(crate) fn panicked(what: &str) -> Self {
        Status::new(Code::INTERNAL, format!("{what} panicked"))
    }

    /// Returns a status of this code, with a message for people.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Status {
            code,
            message: message.into(),
            details: Vec::new(),
            not_started: false,
        }
    }

    /// Adds details for programs, in bytes.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<Vec<u8>>) -> Self {
        self.details = details.into();
        self
    }

    /// Says that nothing was done about the request, so that the caller may ask again.
    #[must_use]
    pub fn not_started(mut self) -> Self {
        self.not_started = true;
        self
    }

    /// Returns whether the other side says that it did nothing about the request.
    pub fn is_not_started(&self) -> bool {
        self.not_started
    }
}

impl From<Code> for Status {
    fn from(code: Code) -> Self {
        Status::new(code, "")
    }
}

/// A request, or a message, that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other side answered with an error.
    #[error("{0}")]
    Remote(Status),
    /// The time limit ran out.
    #[error("no answer within the deadline{}", MayHaveRun(*.may_have_run))]
    DeadlineExceeded {
        /// Whether the request had left, so that a handler may have seen it.
        may_have_run: bool,
    },
    /// The connection is gone.
    #[error("the connection was lost{}", MayHaveRun(*.may_have_run))]
    ConnectionLost {
        /// Whether the request had left, so that a handler may have seen it.
        may_have_run: bool,
    },
    /// No connection came about. The reason is that of the last attempt.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// There was no room for the message within the write limit.
    #[error("the peer took no message within {0:?}: it reads too slowly (write_limit)")]
    Congested(Duration),
    /// No item came within the time limit of [`CallStream::next_timeout`](crate::CallStream::next_timeout).
    #[error("no item came within {0:?}; the call goes on")]
    TimedOut(Duration),
    /// There is no room for the message or item now, or no item has come; calls that do not wait only.
    #[error(
        "there is no room for the message or item now, or no item has come: try again later, or use a call that waits"
    )]
    WouldBlock,
    /// The message is larger than the other side takes.
    #[error(
        "the body has {size} bytes, and the other side takes at most {limit}: split it, or raise its limit"
    )]
    TooLarge {
        /// Bytes of the body.
        size: usize,
        /// Bytes that may be.
        limit: usize,
    },
    /// One of both sides shuts down and takes nothing new.
    #[error("one of both sides is shutting down and takes no new calls")]
    ShuttingDown,
    /// A thread of this side has ended by a fault: the I/O thread of the context, or one of the
    /// client or server. The log says which. Calls that were under way end with
    /// [`Error::ConnectionLost`]; a new client or server works.
    #[error("a thread that moves messages ended by a fault; make a new client or server")]
    EngineFailed,
    /// An interceptor of this side did not let it out.
    #[error("not sent: {0}")]
    Intercepted(Status),
    /// A call that waits would wait for its own thread: in a handler that runs where the connection is
    /// read, or as a payload is dropped by a thread that drives a connection.
    #[error(
        "this thread reads or writes connections and cannot wait for one; call from another thread, \
         as those of a Pool"
    )]
    WouldDeadlock,
    /// The stream is over: this side or the other has ended it.
    #[error("the stream has ended")]
    StreamEnded,
    /// It was made before the process forked, and this is the child. Make a new one there; the
    /// parent goes on with its own, and may have sent the request.
    #[error("this was made before the process forked; make a new one in the child")]
    Forked,
    /// The reply is not what the service says it is.
    #[error("the reply cannot be understood: {0}")]
    Malformed(String),
}

impl Error {
    /// Returns whether a handler may have seen the request. `false` is a promise: asking again does nothing
    /// twice.
    pub fn may_have_run(&self) -> bool {
        match self {
            Error::Remote(status) => !status.not_started,
            Error::DeadlineExceeded { may_have_run } | Error::ConnectionLost { may_have_run } => {
                *may_have_run
            }
            Error::StreamEnded | Error::TimedOut(_) | Error::Malformed(_) | Error::Forked => true,
            _ => false,
        }
    }

    /// The error that the other side answered with.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Error::Remote(status) => Some(status),
            _ => None,
        }
    }
}

struct MayHaveRun(bool);

impl fmt::Display for MayHaveRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 {
            "; the request may have been carried out"
        } else {
            "; the request had not left"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_other_side_is_no_command_for_a_terminal() {
        let status = Status::new(Code::INTERNAL, "a\u{1b}[2Jb\u{9b}\n\u{202e}c");
        let shown = status.to_string();
        assert!(shown.ends_with(r"a\u{1b}[2Jb\u{9b}\n\u{202e}c"), "{shown}");
        assert!(
            status.message.contains('\u{1b}'),
            "programs get what was sent"
        );
    }
}
