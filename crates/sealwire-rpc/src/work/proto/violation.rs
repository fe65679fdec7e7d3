//! What a peer does that the protocol of acknowledged work does not allow.

/// The peer does not speak the protocol: its connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("a message is shorter than it says")]
    Truncated,
    #[error("a message is longer than its kind")]
    TooLong,
    #[error("unknown kind of message {0}")]
    UnknownKind(u8),
    #[error("unknown outcome {0}")]
    UnknownOutcome(u8),
    #[error("version {0} of the protocol, which is not known here")]
    Version(u8),
    #[error("the first message is not the greeting")]
    NoGreeting,
    #[error("the greeting a second time")]
    GreetingAgain,
    #[error("a credit of 0 tasks")]
    NoCredit,
    #[error(
        "tasks of up to {ours} bytes are handed out, and the worker takes {theirs}; set max_task alike on both sides"
    )]
    SmallTasks { ours: u32, theirs: u32 },
    #[error("more tasks, or bytes of them, than the worker takes")]
    BeyondCredit,
    #[error("a body larger than the limit")]
    TooLarge,
    #[error("a farewell to a worker that stays")]
    NotLeaving,
}

impl Violation {
    /// For the monitors of both sides.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Violation::Version(_) => "work: no common version of the protocol",
            Violation::SmallTasks { .. } => {
                "work: the worker takes smaller tasks than are handed out"
            }
            Violation::BeyondCredit => "work: more tasks than the worker takes",
            Violation::TooLarge => "work: a body larger than the limit",
            _ => "work: protocol violated",
        }
    }
}
