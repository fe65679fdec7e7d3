//! The thread that reads the list of allowed keys: a disk that is slow, or answers no more, holds up
//! nobody but those who are not on the list as it was read last.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Instant;

use mio::Waker;

use super::allow::{AllowList, Snapshot};
use crate::exit::{Code, Failure};
use crate::threads;

/// Reads the list of allowed keys, which may take its time.
pub(super) trait ReadList: Debug {
    /// Asks for a reading.
    fn begin(&mut self);

    /// The reading that was asked for, if it is done.
    ///
    /// # Errors
    ///
    /// When there will be no more.
    fn take(&mut self) -> Result<Option<Snapshot>, Failure>;
}

/// The thread: reads the list when it is asked to, one after the other.
#[derive(Debug)]
pub(super) struct Reading {
    ask: Sender<()>,
    readings: Receiver<Snapshot>,
}

impl Reading {
    /// Starts the thread. It uses the waker after each reading.
    pub(super) fn start(mut list: AllowList, waker: Arc<Waker>) -> Result<Self, Failure> {
        let (ask, asked) = mpsc::channel();
        let (tell, readings) = mpsc::channel();
        threads::spawn(move || {
            while asked.recv().is_ok() {
                if tell.send(list.read(Instant::now())).is_err() {
                    return;
                }
                // If that fails, so does everything else.
                let _ = waker.wake();
            }
        })?;
        Ok(Reading { ask, readings })
    }
}

impl ReadList for Reading {
    fn begin(&mut self) {
        // A thread that has ended is noticed where its snapshot is taken.
        let _ = self.ask.send(());
    }

    fn take(&mut self) -> Result<Option<Snapshot>, Failure> {
        match self.readings.try_recv() {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Failure::new(
                Code::Failed,
                "the thread that reads --allow has ended",
            )),
        }
    }
}
