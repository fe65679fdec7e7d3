//! Acknowledged work: tasks that are handed out until somebody says that they are done.
//!
//! A [`Distributor`] keeps each task until a [`Worker`] says that it is done. It hands tasks out by credit, and those
//! of a worker whose connection ends, who says nothing for too long or who leaves go to another. What fails again and
//! again is set aside. There is no broker between them, and no disk: tasks live as long as the distributor.
//!
//! **At least once.** A task is done at least once as long as its distributor lives, and sometimes more than once: a
//! worker that was given up may have done the work already. [`Task::number`] is the same at each attempt, so that a
//! worker can tell.
//!
//! ```
//! use std::time::Duration;
//! use sealwire::auth::AllowedKeys;
//! use sealwire::{Generate as _, KeyPair, Security};
//! use sealwire_rpc::work::{Distributor, Worker};
//!
//! let (distributor_keys, worker_keys) = (KeyPair::generate(), KeyPair::generate());
//! let allowed = AllowedKeys::new().allow_as(worker_keys.public(), "worker 1");
//! let distributor = Distributor::builder(Security::blake3_server(distributor_keys.clone(), allowed)).build()?;
//! let endpoint = distributor.bind("tcp://127.0.0.1:0")?;
//! for task in ["resize 1.png", "resize 2.png"] {
//!     distributor.add_blocking(task, None)?;
//! }
//!
//! let security = Security::blake3_client_with_keys(distributor_keys.public(), worker_keys);
//! let worker = Worker::builder(security).build(endpoint)?;
//! for _ in 0..2 {
//!     let task = worker.take_blocking(None)?;
//!     println!("{}: {:?}, attempt {}", task.number(), task.body(), task.attempt());
//!     task.done();
//! }
//! worker.leave_blocking(Some(Duration::from_secs(10)))?;
//! distributor.finished_blocking(None)?;
//! assert_eq!(distributor.counters().done, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | bound what is held | [`DistributorBuilder::max_tasks`], [`DistributorBuilder::max_bytes`], [`Distributor::try_add`] |
//! | bound the time of an attempt | [`DistributorBuilder::attempt_limit`] |
//! | wait for outcomes one by one | [`Distributor::outcome`] |
//! | read what failed, and put it back | [`Distributor::set_aside`], [`Distributor::put_back`] |
//! | send a small result back | [`Task::done_with`], [`DistributorBuilder::keep_results`] |
//! | leave without a repetition | [`Worker::leave`] |
//! | keep what is left at the end | [`Distributor::shutdown`] |
//!
//! The wire is specified in `docs/spec/work.md`.

mod connecting;
mod distributor;
mod driver;
mod error;
mod number;
mod proto;
#[cfg(test)]
pub(crate) mod simulated;
mod worker;

pub use distributor::{Distributor, DistributorBuilder, Outcome, UnfinishedTask};
pub use error::Error;
pub use number::TaskNumber;
pub use proto::{DistributorCounters, WorkerCounters};
pub use worker::{Task, Worker, WorkerBuilder};
