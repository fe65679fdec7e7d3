//! Whether the threads that serve answer: a sign of life for a watchdog.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::task::Waker;
use std::time::Duration;

use sealwire::Context;
use sealwire::waits::{Task, Work};

use crate::exit::Failure;

/// Waits for a sign of life that it asks for; `false` once there will be none any more.
pub(crate) type Answers = Box<dyn FnMut() -> bool + Send>;

/// Asks the I/O thread of all sockets, which answers between two of its connections.
pub(crate) fn engine() -> Result<Answers, Failure> {
    let (tell, told) = mpsc::sync_channel(1);
    let task = Task::start(&Context::global()?, Arc::new(Answer(tell)));
    Ok(Box::new(move || {
        while told.try_recv().is_ok() {}
        task.waker().wake();
        told.recv().is_ok()
    }))
}

struct Answer(SyncSender<()>);

impl Work for Answer {
    fn run(&self, _: &Waker) -> Option<Duration> {
        // One that waits is enough.
        let _ = self.0.try_send(());
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_is_answered() {
        let mut answers = engine().unwrap();
        for _ in 0..3 {
            assert!(answers());
        }
    }
}
