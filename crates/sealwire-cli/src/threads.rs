//! Threads, which the system may refuse.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

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

/// The same within a scope.
pub(crate) fn spawn_within<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    action: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, action)
}
