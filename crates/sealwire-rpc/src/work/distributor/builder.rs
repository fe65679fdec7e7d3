//! Makes distributors.

use std::sync::Arc;
use std::time::Duration;

use sealwire::{Security, Socket, SocketBuilder};

use super::{Distributor, Shared};
use crate::limits::work::{
    BATCH_BYTES, MAX_ATTEMPTS, MAX_BYTES, MAX_RESULT, MAX_TASK, MAX_TASKS, RETRY_DELAY,
};
use crate::limits::{MAX_CONNECTIONS, bounded};
use crate::work::connecting::{Connecting, connecting_methods};
use crate::work::driver::Driver;
use crate::work::error::Error;
use crate::work::proto::{DistributorCore, DistributorOptions};

/// Sets the options of a [`Distributor`].
pub struct DistributorBuilder {
    connecting: Connecting,
    options: DistributorOptions,
    max_workers: usize,
}

impl DistributorBuilder {
    pub(super) fn new(security: Security) -> Self {
        DistributorBuilder {
            connecting: Connecting::new(security),
            options: DistributorOptions {
                max_tasks: MAX_TASKS,
                max_bytes: MAX_BYTES,
                max_task: MAX_TASK,
                max_result: MAX_RESULT,
                max_attempts: MAX_ATTEMPTS,
                attempt_limit: None,
                retry_delay: RETRY_DELAY,
                keeps_results: false,
            },
            max_workers: MAX_CONNECTIONS,
        }
    }

    /// Sets how many tasks are held: those that wait, are with workers or set aside, and results that were not read.
    /// Default 65,536.
    #[must_use]
    pub fn max_tasks(mut self, tasks: usize) -> Self {
        self.options.max_tasks = tasks.max(1);
        self
    }

    /// Sets how many bytes of them are held, each counted with 128 bytes more. A single task may always be held.
    /// Reasons and results come on top of the tasks that they are of, and no task is added while they take the room.
    /// Default 256 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.options.max_bytes = bytes;
        self
    }

    /// Sets the bytes of the largest task. Workers that take less are refused. Default 4 MiB.
    #[must_use]
    pub fn max_task(mut self, bytes: u32) -> Self {
        self.options.max_task = bytes;
        self
    }

    /// Sets the bytes of the largest result or reason of a worker. Default 4 KiB.
    #[must_use]
    pub fn max_result(mut self, bytes: u32) -> Self {
        self.options.max_result = bytes;
        self
    }

    /// Sets how many attempts a task has before it is set aside: 1 or more (0 counts as 1). Default 5.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.options.max_attempts = attempts.max(1);
        self
    }

    /// Sets how long an attempt may take, from the time that the task is handed out. A worker's credit counts: with
    /// 64 tasks of a second each, the last one is begun after a minute. Then the attempt has failed, and the task goes
    /// to another worker. `None`, the default, for no limit.
    #[must_use]
    pub fn attempt_limit(mut self, limit: Option<Duration>) -> Self {
        self.options.attempt_limit = limit.map(bounded);
        self
    }

    /// Sets the time between an attempt that its worker says has failed and the next one. Default 1 s.
    #[must_use]
    pub fn retry_delay(mut self, delay: Duration) -> Self {
        self.options.retry_delay = bounded(delay);
        self
    }

    /// Keeps results until [`next_result`](Distributor::next_result) reads them. Default: off; they are dropped.
    #[must_use]
    pub fn keep_results(mut self, keep: bool) -> Self {
        self.options.keeps_results = keep;
        self
    }

    /// Sets how many workers may be connected: 1 or more (0 counts as 1). Default 1,024.
    #[must_use]
    pub fn max_workers(mut self, workers: usize) -> Self {
        self.max_workers = workers.max(1);
        self
    }

    connecting_methods!();

    /// Makes the distributor, which listens nowhere yet.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] if an option of the socket is out of its range, or the system gives no thread or no random
    /// number.
    pub fn build(self) -> Result<Distributor, Error> {
        self.build_with(Driver::start)
    }

    pub(in crate::work) fn build_with(
        self,
        start: impl FnOnce(DistributorCore, Socket) -> Result<Arc<Driver<DistributorCore>>, Error>,
    ) -> Result<Distributor, Error> {
        let max_body = self.options.max_result.saturating_add(BATCH_BYTES as u32);
        let socket = (self.connecting.limited(max_body))
            .max_connections(self.max_workers)
            .build()?;
        let mut id = [0; 8];
        getrandom::fill(&mut id)
            .map_err(|error| sealwire::Error::System(std::io::Error::other(error)))?;
        let id = u64::from_be_bytes(id);
        let driver = start(DistributorCore::new(id, self.options), socket)?;
        let shared = Shared {
            driver,
            id,
            max_task: self.options.max_task as usize,
        };
        Ok(Distributor {
            shared: Arc::new(shared),
        })
    }
}
