//! The thread that reads the list of allowed keys: a disk that is slow, or answers no more, holds up
//! nobody but those who are not on the list as it was read last.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Instant;

use mio::Waker;

use super::allow::{AllowList, Look};
use crate::exit::{Code, Failure};
use crate::threads;

/// Looks at the list when it is asked to, one look after the other.
#[derive(Debug)]
pub(super) struct Reading {
    ask: Sender<()>,
    looks: Receiver<Look>,
}

impl Reading {
    /// Starts the thread. It uses the waker after each look.
    pub(super) fn start(mut list: AllowList, waker: Arc<Waker>) -> Result<Self, Failure> {
        let (ask, asked) = mpsc::channel();
        let (tell, looks) = mpsc::channel();
        threads::spawn(move || {
            while asked.recv().is_ok() {
                if tell.send(list.look(Instant::now())).is_err() {
                    return;
                }
                // If that fails, so does everything else.
                let _ = waker.wake();
            }
        })?;
        Ok(Reading { ask, looks })
    }

    /// Asks for a look.
    pub(super) fn begin(&self) {
        // A thread that has ended is noticed where its look is taken.
        let _ = self.ask.send(());
    }

    /// The look that was asked for, if it is done.
    ///
    /// # Errors
    ///
    /// When the thread has ended.
    pub(super) fn take(&self) -> Result<Option<Look>, Failure> {
        match self.looks.try_recv() {
            Ok(look) => Ok(Some(look)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Failure::new(
                Code::Failed,
                "the thread that reads --allow has ended",
            )),
        }
    }
}
