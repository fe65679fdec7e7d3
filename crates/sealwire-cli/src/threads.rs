//! Threads, which the system may refuse.

use std::thread::{Builder, JoinHandle};

use crate::exit::{Code, Failure};

/// Starts a thread.
pub(crate) fn spawn<T: Send + 'static>(
    action: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    Builder::new().spawn(action).map_err(|error| {
        let message = format!("the system refused a thread: {error}");
        Failure::new(Code::Failed, message)
    })
}
