//! A hub without threads: a simulation does what they would, when it chooses to.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Context;

use sealwire::Error as SocketError;

use super::clock::Progress;
use super::{Hub, HubOptions};
use crate::lock::lock;

/// What would run on a thread of its own.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What hubs have for threads.
#[derive(Default)]
pub(crate) struct Driver {
    begun: Mutex<Vec<Task>>,
}

impl Driver {
    pub(crate) fn add(&self, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.begun).push(Box::pin(task));
    }

    /// Takes the tasks begun since the last time.
    pub(crate) fn take(&self) -> Vec<Task> {
        std::mem::take(&mut lock(&self.begun))
    }

    /// Starts a hub that this drives.
    pub(crate) fn start(
        self: &Arc<Self>,
        options: HubOptions,
        socket: sealwire::Socket,
    ) -> Arc<Hub> {
        let mut hub = Hub::new(options, socket);
        hub.driver = Some(self.clone());
        Arc::new(hub)
    }
}

/// What the threads of one hub would do, each a step at a time.
pub(crate) struct Steps {
    hub: Arc<Hub>,
    progress: Progress,
    reads: bool,
}

impl Steps {
    pub(crate) fn of(hub: &Arc<Hub>) -> Self {
        Steps {
            hub: hub.clone(),
            progress: Progress::default(),
            reads: true,
        }
    }

    /// Reads what is there, up to `most` messages. Whether there was something.
    pub(crate) fn read(&mut self, most: usize) -> bool {
        if !self.reads {
            return false;
        }
        let mut reader = lock(&self.hub.reading.reader);
        let mut taken = Ok(());
        while reader.batch.len() < most {
            match self.hub.socket.try_recv() {
                Ok(message) => reader.batch.push(message),
                Err(SocketError::WouldBlock) => break,
                // What came before it is processed first.
                Err(_) if !reader.batch.is_empty() => break,
                Err(error) => {
                    taken = Err(error);
                    break;
                }
            }
        }
        let has_read = !reader.batch.is_empty();
        self.reads = !self.hub.has_ended() && self.hub.process_taken(&mut reader, taken);
        drop(reader);
        if !self.reads {
            self.hub.reading_is_over();
        }
        has_read || !self.reads
    }

    /// Does what is due. Whether there was something.
    pub(crate) fn keep_time(&mut self, context: &mut Context<'_>) -> bool {
        !self.hub.has_ended() && self.hub.process_due(&mut self.progress, context)
    }

    /// Whether its threads would have ended.
    pub(crate) fn is_over(&self) -> bool {
        !self.reads && self.hub.has_ended()
    }

    /// Whether the clock is armed for nothing.
    pub(crate) fn has_no_timer(&self) -> bool {
        self.hub.clock.next().is_none()
    }
}
