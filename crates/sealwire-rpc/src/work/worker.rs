//! The side that takes tasks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Frame, Monitor, Security, Socket, SocketBuilder};

use super::connecting::{Connecting, connecting_methods};
use super::driver::{Core, Driver};
use super::error::Error;
use super::number::TaskNumber;
use super::proto::{Ended, Hello, Taken, Violation, WorkerCore, WorkerCounters, shortened};
use crate::limits::work::{
    BATCH_BYTES, CREDIT, CREDIT_BYTES, MAX_CREDIT, MAX_REASON, MAX_TASK, MESSAGE_MARGIN,
};

impl Core for WorkerCore {
    fn connected(&mut self, connection: u32, _: Duration) {
        WorkerCore::connected(self, connection);
    }

    fn disconnected(&mut self, connection: u32) {
        if self.is_link(connection) {
            WorkerCore::disconnected(self);
        }
    }

    fn receive(&mut self, connection: u32, message: Frame, _: Duration) -> Result<(), Violation> {
        WorkerCore::receive(self, connection, message)
    }

    fn violated(&mut self) {
        WorkerCore::violated(self);
    }

    fn due(&self) -> Option<Duration> {
        WorkerCore::due(self)
    }

    fn process_due(&mut self, now: Duration) {
        WorkerCore::process_due(self, now);
    }

    fn send(&mut self, _: Duration, send: &mut dyn FnMut(u32, &mut VecDeque<Frame>)) -> bool {
        self.flush(send)
    }

    fn take_closing(&mut self) -> Vec<(u32, &'static str)> {
        Vec::new()
    }

    fn take_change(&mut self) -> bool {
        WorkerCore::take_change(self)
    }
}

/// Takes tasks of a [`Distributor`](super::Distributor). It connects in the background, and again where its
/// connection is lost. Clones are handles to the same worker; when the last one and its tasks are dropped, it ends,
/// and others get what it had ([`leave`](Worker::leave) ends in good order).
#[derive(Clone)]
pub struct Worker {
    shared: Arc<Shared>,
}

struct Shared {
    driver: Arc<Driver<WorkerCore>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.driver.end();
    }
}

/// Sets the options of a [`Worker`].
pub struct WorkerBuilder {
    connecting: Connecting,
    hello: Hello,
}

impl WorkerBuilder {
    /// Sets how many tasks are here before some of them have an outcome: 1 or more (0 counts as 1), at most 65,536.
    /// Default 64. With 1 the next task comes only after the outcome of the last one has arrived.
    #[must_use]
    pub fn credit(mut self, tasks: u32) -> Self {
        self.hello.credit = tasks.clamp(1, MAX_CREDIT);
        self
    }

    /// Sets how many bytes of tasks are here before some of them have an outcome, each counted with 128 bytes more. A
    /// single task may always be here. Default 16 MiB.
    #[must_use]
    pub fn credit_bytes(mut self, bytes: u32) -> Self {
        self.hello.credit_bytes = bytes;
        self
    }

    /// Sets the bytes of the largest task, at least as many as the distributor's. Default 4 MiB.
    #[must_use]
    pub fn max_task(mut self, bytes: u32) -> Self {
        self.hello.max_task = bytes;
        self
    }

    connecting_methods!();

    /// Makes the worker, which connects in the background.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] if the endpoint cannot be parsed or used, an option of the socket is out of its range, or
    /// the system gives no thread.
    pub fn build<E>(self, endpoint: E) -> Result<Worker, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        let (worker, _) = self.build_monitored(endpoint)?;
        Ok(worker)
    }

    /// Makes the worker, and a monitor that has all its events: it may be connected before
    /// [`Worker::monitor`] can be called.
    ///
    /// # Errors
    ///
    /// Those of [`build`](WorkerBuilder::build).
    pub fn build_monitored<E>(self, endpoint: E) -> Result<(Worker, Monitor), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        self.build_with(endpoint, Driver::start)
    }

    pub(super) fn build_with<E>(
        self,
        endpoint: E,
        start: impl FnOnce(WorkerCore, Socket) -> Result<Arc<Driver<WorkerCore>>, Error>,
    ) -> Result<(Worker, Monitor), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        let most = (BATCH_BYTES + MESSAGE_MARGIN) as u32;
        let max_body = self.hello.max_task.saturating_add(most);
        let socket = (self.connecting.limited(max_body))
            .hello_message(self.hello.message())
            .build()?;
        let monitor = socket.monitor();
        socket.connect(endpoint)?;
        let driver = start(WorkerCore::new(self.hello), socket)?;
        let shared = Arc::new(Shared { driver });
        Ok((Worker { shared }, monitor))
    }
}

impl Worker {
    /// Returns a builder, to set options. `security` is that of the connection: [`Security::blake3_client_with_keys`]
    /// with the distributor's public key and this worker's keys.
    pub fn builder(security: impl Into<Security>) -> WorkerBuilder {
        WorkerBuilder {
            connecting: Connecting::new(security.into()),
            hello: Hello {
                credit: CREDIT,
                credit_bytes: CREDIT_BYTES,
                max_task: MAX_TASK,
            },
        }
    }

    pub(super) fn driver(&self) -> &Driver<WorkerCore> {
        &self.shared.driver
    }

    /// Takes a task if one is here.
    ///
    /// # Errors
    ///
    /// * [`Error::WouldBlock`] if there is none.
    /// * [`Error::ShutDown`] once the worker leaves, [`Error::EngineFailed`], [`Error::Forked`].
    pub fn try_take(&self) -> Result<Task, Error> {
        self.driver().check()?;
        self.attempt_to_take().unwrap_or(Err(Error::WouldBlock))
    }

    /// Takes a task, and waits for one.
    ///
    /// # Errors
    ///
    /// Those of [`try_take`](Worker::try_take) but [`Error::WouldBlock`].
    pub async fn take(&self) -> Result<Task, Error> {
        self.driver().until(|| self.attempt_to_take()).await
    }

    /// Takes a task, and blocks until there is one, up to `limit`; `None` for no limit.
    ///
    /// # Errors
    ///
    /// Those of [`take`](Worker::take), and [`Error::TimedOut`], [`Error::WouldDeadlock`].
    pub fn take_blocking(&self, limit: Option<Duration>) -> Result<Task, Error> {
        self.driver()
            .until_blocking(limit, || self.attempt_to_take())
    }

    fn attempt_to_take(&self) -> Option<Result<Task, Error>> {
        let taken = self.driver().with(|core| match core.leaves() {
            true => Some(Err(Error::ShutDown)),
            false => core.take().map(Ok),
        })?;
        Some(taken.map(|taken| Task {
            taken,
            has_ended: false,
            worker: self.shared.clone(),
        }))
    }

    /// Leaves in good order: takes no more tasks, gives those back that were not taken, which counts as no attempt,
    /// and waits until the tasks that were taken have outcomes and the distributor knows them. Without a connection
    /// that cannot be known, and the outcomes since it ended are lost: their tasks are repeated. Then the worker ends.
    ///
    /// # Errors
    ///
    /// [`Error::ShutDown`] if it has ended, [`Error::EngineFailed`], [`Error::Forked`].
    pub async fn leave(&self) -> Result<(), Error> {
        self.begin_to_leave()?;
        let left = self.driver().until(|| self.has_left()).await;
        self.driver().end();
        left
    }

    /// Leaves as [`leave`](Worker::leave) does, and blocks the thread for up to `limit`; `None` for no limit. At the
    /// limit the worker ends, and others get what it had.
    ///
    /// # Errors
    ///
    /// Those of [`leave`](Worker::leave), and [`Error::TimedOut`], [`Error::WouldDeadlock`].
    pub fn leave_blocking(&self, limit: Option<Duration>) -> Result<(), Error> {
        self.begin_to_leave()?;
        let left = self.driver().until_blocking(limit, || self.has_left());
        self.driver().end_and_wait();
        left
    }

    fn begin_to_leave(&self) -> Result<(), Error> {
        self.driver().check()?;
        self.driver().with(WorkerCore::leave);
        self.driver().wake();
        self.driver().tell();
        Ok(())
    }

    fn has_left(&self) -> Option<Result<(), Error>> {
        let left = self.driver().with(|core| core.has_left());
        left.then_some(Ok(()))
    }

    /// Returns whether a distributor has let this worker in.
    pub fn is_connected(&self) -> bool {
        self.driver().is_here() && self.driver().with(|core| core.is_connected())
    }

    /// Returns what the worker has done so far. Zeros in a child of the process that made it.
    pub fn counters(&self) -> WorkerCounters {
        match self.driver().is_here() {
            true => self.driver().with(|core| core.counters()),
            false => WorkerCounters::default(),
        }
    }

    /// Gives it other keys, of its own or of the distributor, while it works. With [`Withdrawn::End`] it connects again at once, and its tasks may
    /// go to others meanwhile; with [`Withdrawn::Stay`] the next time that it connects.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] with those of [`sealwire::Socket::reconfigure_endpoint`]; [`Error::ShutDown`],
    /// [`Error::EngineFailed`], [`Error::Forked`].
    pub fn renew_security(
        &self,
        security: impl Into<Security>,
        withdrawn: Withdrawn,
    ) -> Result<(), Error> {
        self.driver().renew_security(security.into(), withdrawn)
    }

    /// Returns a monitor, which reads the events of the connection below from now on: handshakes, failures.
    /// [`build_monitored`](WorkerBuilder::build_monitored) has one that reads those before as well.
    pub fn monitor(&self) -> Monitor {
        self.driver().socket.monitor()
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}

/// A task that a worker has taken. Dropping it without an outcome, by a panic for example, is a failure.
#[must_use = "a task that is dropped has failed"]
pub struct Task {
    taken: Taken,
    has_ended: bool,
    worker: Arc<Shared>,
}

impl Task {
    /// Returns the number, which is the same at each attempt: what was done under it need not be done again.
    pub fn number(&self) -> TaskNumber {
        TaskNumber {
            distributor: self.taken.distributor,
            counter: self.taken.counter,
        }
    }

    /// Returns which attempt this is: 1 for the first.
    pub fn attempt(&self) -> u32 {
        self.taken.attempt
    }

    /// Returns the task. It shares the memory that it was received in.
    pub fn body(&self) -> &Bytes {
        &self.taken.body
    }

    /// Says that the work is done. The outcome leaves at once, or within 500 us if others left just before.
    pub fn done(mut self) {
        self.end(Ended::Done, Bytes::new());
    }

    /// Says that the work is done, with a result.
    ///
    /// # Errors
    ///
    /// [`Error::ResultTooLarge`] if the distributor takes fewer bytes. Then the attempt has failed.
    pub fn done_with(mut self, result: impl Into<Bytes>) -> Result<(), Error> {
        let result = result.into();
        let (size, limit) = (result.len(), self.max_result());
        if size > limit {
            let error = Error::ResultTooLarge { size, limit };
            self.fail(&error.to_string());
            return Err(error);
        }
        self.end(Ended::Done, result);
        Ok(())
    }

    /// Says that the attempt has failed, and why, up to 1,024 bytes or as many as the distributor takes.
    pub fn fail(mut self, reason: &str) {
        self.end_failed(reason);
    }

    /// Gives the task back as if it had not been taken: no attempt counts, and it may come again.
    pub fn give_back(mut self) {
        self.end(Ended::Returned, Bytes::new());
    }

    /// Returns the bytes of the largest result that the distributor takes.
    pub fn max_result(&self) -> usize {
        self.taken.max_result as usize
    }

    fn end_failed(&mut self, reason: &str) {
        let reason = shortened(reason, self.max_result().min(MAX_REASON));
        let reason = Bytes::copy_from_slice(reason.as_bytes());
        self.end(Ended::Failed, reason);
    }

    fn end(&mut self, ended: Ended, result: Bytes) {
        self.has_ended = true;
        let driver = &self.worker.driver;
        if driver.is_here() {
            driver.change(|core, now| {
                core.end(&self.taken, ended, result);
                ((), core.tells_now(now))
            });
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end_failed("dropped without an outcome");
        }
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task")
            .field("number", &format_args!("{}", self.number()))
            .field("attempt", &self.attempt())
            .field("size", &self.body().len())
            .finish_non_exhaustive()
    }
}
