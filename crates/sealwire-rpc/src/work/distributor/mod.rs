//! The side that hands tasks out.

mod builder;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
#[cfg(unix)]
use sealwire::Listener;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Frame, Monitor, Security};

pub use self::builder::DistributorBuilder;
use super::driver::{Core, Driver};
use super::error::Error;
use super::number::TaskNumber;
use super::proto::{DistributorCore, DistributorCounters, HeldTask, Violation};

impl Core for DistributorCore {
    fn connected(&mut self, connection: u32, now: Duration) {
        DistributorCore::connected(self, connection, now);
    }

    fn disconnected(&mut self, connection: u32) {
        DistributorCore::disconnected(self, connection);
    }

    fn receive(&mut self, connection: u32, message: Frame, now: Duration) -> Result<(), Violation> {
        DistributorCore::receive(self, connection, message, now)
    }

    fn violated(&mut self) {
        DistributorCore::violated(self);
    }

    fn due(&self) -> Option<Duration> {
        DistributorCore::due(self)
    }

    fn process_due(&mut self, now: Duration) {
        DistributorCore::process_due(self, now);
    }

    fn send(&mut self, now: Duration, send: &mut dyn FnMut(u32, &mut VecDeque<Frame>)) -> bool {
        loop {
            self.hand_out(now);
            let (mut from, mut full, mut sent) = (0, false, false);
            while let Some(worker) = self.next_writable(from) {
                let left = self.flush(worker, |outbox| send(worker, outbox));
                full |= left;
                sent |= !left;
                let Some(next) = worker.checked_add(1) else {
                    break;
                };
                from = next;
            }
            // Workers whose messages have gone may take more.
            if !sent {
                return full;
            }
        }
    }

    fn take_closing(&mut self) -> Vec<(u32, &'static str)> {
        DistributorCore::take_closing(self)
    }

    fn take_change(&mut self) -> bool {
        let changes = self.take_changes();
        changes.room || changes.ended
    }
}

/// A task without an outcome: one that was set aside, or one that was left at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfinishedTask {
    /// Its number.
    pub number: TaskNumber,
    /// Attempts that were made and count.
    pub attempts: u32,
    /// Why the last one failed, up to 1,024 bytes; nothing where none has.
    pub reason: Option<String>,
    /// Whether it was set aside: it has failed as often as it may.
    pub is_set_aside: bool,
    /// The task.
    pub body: Bytes,
}

/// The outcome of a task, as a distributor tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A task is done. Only told where [`keep_results`](DistributorBuilder::keep_results) is on.
    Done {
        /// Its number.
        number: TaskNumber,
        /// Its result, empty where its worker gave none.
        result: Bytes,
    },
    /// A task has failed as often as it may, and the distributor no longer has it.
    SetAside(UnfinishedTask),
}

/// Hands tasks out to [`Worker`](super::Worker)s, and keeps each until one says that it is done. Clones are handles
/// to the same distributor; when the last is dropped, it ends, and tasks without an outcome are gone
/// ([`shutdown`](Distributor::shutdown) returns them).
#[derive(Clone)]
pub struct Distributor {
    shared: Arc<Shared>,
}

struct Shared {
    driver: Arc<Driver<DistributorCore>>,
    id: u64,
    max_task: usize,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.driver.end();
    }
}

impl Distributor {
    /// Returns a builder, to set options. `security` is that of the connections: [`Security::blake3_server`] with the
    /// authenticator of workers.
    pub fn builder(security: impl Into<Security>) -> DistributorBuilder {
        DistributorBuilder::new(security.into())
    }

    pub(super) fn driver(&self) -> &Driver<DistributorCore> {
        &self.shared.driver
    }

    fn number(&self, counter: u64) -> TaskNumber {
        TaskNumber {
            distributor: self.shared.id,
            counter,
        }
    }

    fn unfinished(&self, task: HeldTask) -> UnfinishedTask {
        UnfinishedTask {
            number: self.number(task.counter),
            attempts: task.attempts,
            reason: task.reason.map(Into::into),
            is_set_aside: task.is_aside,
            body: task.body,
        }
    }

    /// Listens on an endpoint and returns it, with the port that the system chose for port 0. May be called for
    /// several endpoints.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] if the endpoint cannot be parsed or used, or the system refuses; [`Error::Forked`],
    /// [`Error::ShutDown`], [`Error::EngineFailed`].
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        self.driver().check()?;
        Ok(self.driver().socket.bind(endpoint)?)
    }

    /// Listens on a socket that somebody else opened, as a service manager that [passed](Listener::passed) it, and returns
    /// its endpoint. The manager goes on listening where this distributor ends: workers that connect meanwhile wait for
    /// the next.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] if it is not a socket that listens for streams, and those of [`bind`](Distributor::bind).
    #[cfg(unix)]
    pub fn bind_listener(&self, listener: impl Into<Listener>) -> Result<Endpoint, Error> {
        self.driver().check()?;
        Ok(self.driver().socket.bind_listener(listener)?)
    }

    /// Adds a task if there is room. Returns its number.
    ///
    /// # Errors
    ///
    /// * [`Error::Full`] if the distributor holds as much as it may. It has the task.
    /// * [`Error::TooLarge`] if the task has more bytes than [`max_task`](DistributorBuilder::max_task).
    /// * [`Error::ShutDown`], [`Error::EngineFailed`], [`Error::Forked`].
    pub fn try_add(&self, task: impl Into<Bytes>) -> Result<TaskNumber, Error> {
        let body = task.into();
        self.check_size(&body)?;
        self.driver().check()?;
        match self.attempt_to_add(&body) {
            Some(added) => added,
            None => {
                let counters = self.counters();
                Err(Error::Full {
                    tasks: counters.pending + counters.set_aside,
                    bytes: counters.held_bytes,
                    body,
                })
            }
        }
    }

    /// Adds a task, and waits for room. Returns its number.
    ///
    /// # Errors
    ///
    /// Those of [`try_add`](Distributor::try_add) but [`Error::Full`].
    pub async fn add(&self, task: impl Into<Bytes>) -> Result<TaskNumber, Error> {
        let body = task.into();
        self.check_size(&body)?;
        self.driver().until(|| self.attempt_to_add(&body)).await
    }

    /// Adds a task, and blocks until there is room, up to `limit`; `None` for no limit. Returns its number.
    ///
    /// # Errors
    ///
    /// Those of [`add`](Distributor::add), and [`Error::TimedOut`], [`Error::WouldDeadlock`].
    pub fn add_blocking(
        &self,
        task: impl Into<Bytes>,
        limit: Option<Duration>,
    ) -> Result<TaskNumber, Error> {
        let body = task.into();
        self.check_size(&body)?;
        self.driver()
            .until_blocking(limit, || self.attempt_to_add(&body))
    }

    fn check_size(&self, body: &Bytes) -> Result<(), Error> {
        let (size, limit) = (body.len(), self.shared.max_task);
        match size <= limit {
            true => Ok(()),
            false => Err(Error::TooLarge { size, limit }),
        }
    }

    fn attempt_to_add(&self, body: &Bytes) -> Option<Result<TaskNumber, Error>> {
        let added = self.driver().change(|core, now| {
            if core.is_stopped() {
                return (Some(Err(Error::ShutDown)), false);
            }
            match core.add(body) {
                Some(counter) => (Some(Ok(counter)), core.hands_out_now(now)),
                None => (None, false),
            }
        })?;
        Some(added.map(|counter| self.number(counter)))
    }

    /// Returns the result of a task that is done, and its number, in the order in which they came. Nothing unless
    /// [`keep_results`](DistributorBuilder::keep_results) is on.
    pub fn next_result(&self) -> Option<(TaskNumber, Bytes)> {
        if !self.driver().is_here() {
            return None;
        }
        let result = self.driver().with(DistributorCore::next_result);
        if result.is_some() {
            self.driver().tell();
        }
        result.map(|(counter, result)| (self.number(counter), result))
    }

    /// Takes the outcome of a task: the result of one that is done, in the order in which they came, or else a task that
    /// was set aside, as [`drop_aside`](Distributor::drop_aside) does. Nothing where there is none now. Results can also
    /// be taken after the end.
    pub fn try_outcome(&self) -> Option<Outcome> {
        if !self.driver().is_here() {
            return None;
        }
        if let Some((number, result)) = self.next_result() {
            return Some(Outcome::Done { number, result });
        }
        let first = self.driver().with(DistributorCore::drop_first_aside)?;
        self.driver().tell();
        Some(Outcome::SetAside(self.unfinished(first)))
    }

    /// Takes the outcome of a task as [`try_outcome`](Distributor::try_outcome) does, and waits for one.
    ///
    /// # Errors
    ///
    /// [`Error::ShutDown`], [`Error::EngineFailed`], [`Error::Forked`].
    pub async fn outcome(&self) -> Result<Outcome, Error> {
        self.driver().until(|| self.try_outcome().map(Ok)).await
    }

    /// Takes the outcome of a task, and blocks until there is one, up to `limit`; `None` for no limit.
    ///
    /// # Errors
    ///
    /// Those of [`outcome`](Distributor::outcome), and [`Error::TimedOut`], [`Error::WouldDeadlock`].
    pub fn outcome_blocking(&self, limit: Option<Duration>) -> Result<Outcome, Error> {
        self.driver()
            .until_blocking(limit, || self.try_outcome().map(Ok))
    }

    /// Returns the tasks that have failed as often as they may, in the order of their numbers.
    pub fn set_aside(&self) -> Vec<UnfinishedTask> {
        if !self.driver().is_here() {
            return Vec::new();
        }
        let aside = self.driver().with(|core| core.set_aside());
        aside
            .into_iter()
            .map(|task| self.unfinished(task))
            .collect()
    }

    /// Hands a task out again that was set aside, for as many attempts as it had. Returns whether it was.
    pub fn put_back(&self, number: TaskNumber) -> bool {
        let is_ours = self.driver().is_here() && number.distributor == self.shared.id;
        let put_back = is_ours && self.driver().with(|core| core.put_back(number.counter));
        if put_back {
            self.driver().wake();
        }
        put_back
    }

    /// Forgets a task that was set aside, and returns it.
    pub fn drop_aside(&self, number: TaskNumber) -> Option<UnfinishedTask> {
        if !self.driver().is_here() || number.distributor != self.shared.id {
            return None;
        }
        let dropped = self.driver().with(|core| core.drop_aside(number.counter))?;
        self.driver().tell();
        Some(self.unfinished(dropped))
    }

    /// Waits until each task is done or set aside.
    ///
    /// # Errors
    ///
    /// [`Error::ShutDown`], [`Error::EngineFailed`], [`Error::Forked`].
    pub async fn finished(&self) -> Result<(), Error> {
        self.driver().until(|| self.is_finished()).await
    }

    /// Blocks until each task is done or set aside, up to `limit`; `None` for no limit.
    ///
    /// # Errors
    ///
    /// Those of [`finished`](Distributor::finished), and [`Error::TimedOut`], [`Error::WouldDeadlock`].
    pub fn finished_blocking(&self, limit: Option<Duration>) -> Result<(), Error> {
        self.driver().until_blocking(limit, || self.is_finished())
    }

    fn is_finished(&self) -> Option<Result<(), Error>> {
        let pending = self.driver().with(|core| core.pending());
        (pending == 0).then_some(Ok(()))
    }

    /// Returns what the distributor has done, and what it has now. Zeros in a child of the process that made it.
    pub fn counters(&self) -> DistributorCounters {
        match self.driver().is_here() {
            true => self.driver().with(|core| core.counters()),
            false => DistributorCounters::default(),
        }
    }

    /// Gives all its endpoints, and those that are bound later, other keys and another authenticator while it hands out, as
    /// [`Server::renew_security`](crate::Server::renew_security) does. Tasks of a worker whose connection ends for it go to others: with
    /// [`Withdrawn::Stay`] none is repeated.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] with those of [`sealwire::Socket::reconfigure_endpoint`], endpoints before the one that failed
    /// changed already; [`Error::ShutDown`], [`Error::EngineFailed`], [`Error::Forked`].
    pub fn renew_security(
        &self,
        security: impl Into<Security>,
        withdrawn: Withdrawn,
    ) -> Result<(), Error> {
        self.driver().renew_security(security.into(), withdrawn)
    }

    /// Returns a monitor, which reads the events of the connections below: handshakes, failures.
    pub fn monitor(&self) -> Monitor {
        self.driver().socket.monitor()
    }

    /// Hands nothing out any more, and waits for the outcomes of tasks that are with workers, without blocking a thread.
    /// [`shutdown`](Distributor::shutdown) with a limit of zero then ends the distributor and returns what is left.
    ///
    /// # Errors
    ///
    /// [`Error::ShutDown`], [`Error::EngineFailed`], [`Error::Forked`].
    pub async fn settled(&self) -> Result<(), Error> {
        self.driver().check()?;
        self.driver().with(DistributorCore::stop);
        self.driver().tell();
        let settled = || (self.driver().with(|core| core.under_way()) == 0).then_some(Ok(()));
        self.driver().until(settled).await
    }

    /// Shuts the distributor down: it hands nothing out any more, waits up to `limit` for the outcomes of tasks that
    /// are with workers, and ends the connections. Blocks the thread. Returns the tasks without an outcome, those that
    /// were set aside among them, in the order of their numbers: nothing is lost that the caller keeps.
    pub fn shutdown(&self, limit: Duration) -> Vec<UnfinishedTask> {
        if !self.driver().is_here() {
            return Vec::new();
        }
        self.driver().with(DistributorCore::stop);
        self.driver().tell();
        // At the limit, or after a fault, the rest is returned.
        let _ = self.driver().until_blocking(Some(limit), || {
            let under_way = self.driver().with(|core| core.under_way());
            (under_way == 0).then_some(Ok(()))
        });
        let left = self.driver().with(DistributorCore::take_unfinished);
        self.driver().end_and_wait();
        left.into_iter().map(|task| self.unfinished(task)).collect()
    }
}

impl std::fmt::Debug for Distributor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distributor")
            .field("bound", &self.driver().socket.bound_endpoints())
            .finish_non_exhaustive()
    }
}
