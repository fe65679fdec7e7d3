//! Acknowledged work: distributors, workers, and the tasks between them.

mod counters;
mod distributor;
mod options;
mod outcome;
mod task;
mod worker;

use std::time::Duration;

use sealwire_rpc::work::Error;

use crate::status::{Failure, SEALWIRE_ERROR_WOULD_BLOCK};
use crate::time::Wait;

pub use counters::*;
pub use distributor::*;
pub use options::*;
pub use outcome::*;
pub use task::*;
pub use worker::*;

/// How long to wait for something of distributors and workers, which have no time limits of their own.
fn limit(timeout_ms: i64) -> Result<Option<Duration>, Failure> {
    Ok(match Wait::from_ms(timeout_ms)? {
        Wait::Default => None,
        Wait::No => Some(Duration::ZERO),
        Wait::For(limit) => Some(limit),
    })
}

/// Waits for something, and says of a wait of no time that there would have been one.
fn waited<R>(
    timeout_ms: i64,
    nothing: &str,
    wait: impl FnOnce(Option<Duration>) -> Result<R, Error>,
) -> Result<R, Failure> {
    let limit = limit(timeout_ms)?;
    wait(limit).map_err(|error| match (limit, error) {
        (Some(Duration::ZERO), Error::TimedOut) => {
            Failure::new(SEALWIRE_ERROR_WOULD_BLOCK, nothing)
        }
        (_, error) => error.into(),
    })
}
