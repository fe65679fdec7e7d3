//! Why a distributor or worker does not do what it is asked for.

use bytes::Bytes;

/// An error of a [`Distributor`](super::Distributor) or [`Worker`](super::Worker).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The distributor holds as many tasks, or bytes of them, as it may.
    #[error(
        "the distributor is full: {tasks} tasks and {bytes} bytes are held; wait, or raise max_tasks or max_bytes"
    )]
    Full {
        /// Tasks that it holds, those that are set aside and results that were not read among them.
        tasks: usize,
        /// Bytes of them.
        bytes: usize,
        /// The task that was not added.
        body: Bytes,
    },
    /// The task has more bytes than may be handed out.
    #[error(
        "a task of {size} bytes exceeds max_task ({limit} bytes); raise it on both sides or split the task"
    )]
    TooLarge {
        /// Bytes of the task.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The result or reason has more bytes than the distributor takes. The task has no outcome yet.
    #[error("a result of {size} bytes exceeds the distributor's max_result ({limit} bytes)")]
    ResultTooLarge {
        /// Bytes of the result.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The time was over.
    #[error("not in time")]
    TimedOut,
    /// There is no task now.
    #[error("no task is here now")]
    WouldBlock,
    /// The worker leaves, or the distributor or worker was shut down.
    #[error("shut down")]
    ShutDown,
    /// The I/O thread of its context, or its own, has ended by a fault.
    #[error("a thread of the engine has ended by a fault")]
    EngineFailed,
    /// It was made before a fork, in the parent.
    #[error("made by the parent of this process: make another one here")]
    Forked,
    /// This thread does the I/O that it would wait for.
    #[error("this thread would wait for itself")]
    WouldDeadlock,
    /// The socket cannot be made or used so.
    #[error(transparent)]
    Socket(#[from] sealwire::Error),
}
