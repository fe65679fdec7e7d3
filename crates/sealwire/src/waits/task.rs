use std::sync::Arc;
use std::task::Waker;

use crate::context::Context;
use crate::engine::RunningTask;

pub use crate::engine::Work;

/// Work that the thread of a context does beside its I/O, until this is dropped.
///
/// Everything that the context serves waits meanwhile: it is little work at a time, which takes no lock that other
/// threads hold while they run code of the program's.
///
/// Dropping it waits until the work has run where it runs now. The work is dropped there, and not by the context's
/// thread.
pub struct Task(RunningTask);

impl Task {
    /// Starts it: it runs at once, on the context's thread.
    pub fn start(context: &Context, work: Arc<dyn Work>) -> Self {
        let number = context.core().next_number();
        Task(RunningTask::start(context.mailbox(), number, work))
    }

    /// Returns what makes it run at once.
    pub fn waker(&self) -> Waker {
        self.0.waker()
    }
}
