//! Acknowledged work without sockets and clocks: `docs/spec/work.md`.
//!
//! Messages and the time go in as arguments, messages come out of outboxes. [`wire`] is bytes and values, [`tasks`]
//! and [`workers`] are the tables of a distributor, [`distributor`] and [`worker`] the two sides.

mod counters;
mod distributor;
mod numbered;
mod pacing;
mod reason;
mod tasks;
#[cfg(test)]
mod tests;
mod violation;
mod wire;
mod worker;
mod workers;

pub use counters::{DistributorCounters, WorkerCounters};
pub(crate) use distributor::{DistributorCore, DistributorOptions, HeldTask};
pub(crate) use reason::shortened;
pub(crate) use violation::Violation;
pub(crate) use wire::{Ended, Hello};
pub(crate) use worker::{Taken, WorkerCore};
