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
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    use super::*;

    /// Holds the I/O thread up until its sender is gone.
    struct Hold(SyncSender<()>, Mutex<Receiver<()>>);

    impl Work for Hold {
        fn run(&self, _: &Waker) -> Option<Duration> {
            let _ = self.0.try_send(());
            let _ = self.1.lock().unwrap().recv();
            None
        }
    }

    #[test]
    fn nothing_is_answered_while_the_io_thread_is_held_up() {
        let mut answers = engine().unwrap();
        let (entered, has_entered) = mpsc::sync_channel(1);
        let (release, held) = channel::<()>();
        let work = Arc::new(Hold(entered, Mutex::new(held)));
        let task = Task::start(&Context::global().unwrap(), work);
        task.waker().wake();
        has_entered.recv().unwrap();
        let (tell, told) = channel();
        let asking = thread::spawn(move || tell.send(answers()));
        assert!(told.recv_timeout(Duration::from_millis(100)).is_err());
        drop(release);
        assert!(told.recv().unwrap());
        asking.join().unwrap().unwrap();
    }

    #[test]
    fn each_question_is_answered() {
        let mut answers = engine().unwrap();
        for _ in 0..3 {
            assert!(answers());
        }
    }
}
