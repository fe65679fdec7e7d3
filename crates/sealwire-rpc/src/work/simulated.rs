//! Distributors and workers without threads, for simulations: each with the steps that its thread would make.

use std::time::Duration;

pub(crate) use super::driver::simulated::Steps;
use super::driver::simulated::play;
use super::{Distributor, DistributorBuilder, Error, Worker, WorkerBuilder};

/// What a distributor holds: tasks, results, connections, and entries of queues.
pub(crate) type HeldByDistributor = (usize, usize, usize, usize);
/// What a worker holds: tasks that were not taken, outcomes that have not left, and messages.
pub(crate) type HeldByWorker = (usize, usize, usize);

/// Builds a distributor.
pub(crate) fn distributor(
    builder: DistributorBuilder,
) -> Result<(Distributor, Box<dyn Steps>), Error> {
    let mut played = None;
    let distributor = builder.build_with(|core, socket| {
        let (driver, steps) = play(core, socket);
        played = Some(steps);
        Ok(driver)
    })?;
    Ok((distributor, played.expect("it was started")))
}

/// Builds a worker that connects to this endpoint.
pub(crate) fn worker(
    builder: WorkerBuilder,
    endpoint: &str,
) -> Result<(Worker, Box<dyn Steps>), Error> {
    let mut played = None;
    let (worker, _) = builder.build_with(endpoint, |core, socket| {
        let (driver, steps) = play(core, socket);
        played = Some(steps);
        Ok(driver)
    })?;
    Ok((worker, played.expect("it was started")))
}

impl Distributor {
    pub(crate) fn held(&self) -> HeldByDistributor {
        self.driver().with(|core| core.held())
    }

    /// When its core has something to do.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.driver().with(|core| core.due())
    }
}

impl Worker {
    pub(crate) fn held(&self) -> HeldByWorker {
        self.driver().with(|core| core.held())
    }
}
