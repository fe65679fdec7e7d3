//! What distributors and workers have done.

use sealwire_rpc::work::{DistributorCounters, WorkerCounters};

/// What a distributor has done since it was made, and what it has now. Each number but those of now only grows.
#[repr(C)]
pub struct sealwire_distributor_counters {
    /// Tasks added.
    pub added: u64,
    /// Tasks done, each counted once.
    pub done: u64,
    /// Times that a task was handed out.
    pub handed_out: u64,
    /// Of these, how many were a task's second attempt or a later one.
    pub handed_out_again: u64,
    /// Attempts whose worker said that they failed.
    pub failed: u64,
    /// Attempts whose worker's connection ended.
    pub lost: u64,
    /// Attempts that had no outcome within the limit of an attempt.
    pub overdue: u64,
    /// Attempts that a leaving worker gave back without having begun them.
    pub returned: u64,
    /// Outcomes of attempts that had been given up. One that says "done" ends its task all the same.
    pub late: u64,
    /// Times that a worker said "done" of a task that was done already: its work was repeated.
    pub repeated: u64,
    /// Outcomes of another distributor's tasks, of one that was here before for example.
    pub foreign: u64,
    /// Connections ended because the worker violated the protocol.
    pub violations: u64,
    /// Connections ended because the worker did not greet in time.
    pub silent: u64,
    /// Tasks with workers now.
    pub out: u64,
    /// Tasks without an outcome now, those with workers among them.
    pub pending: u64,
    /// Tasks that are set aside now.
    pub set_aside: u64,
    /// Workers that are connected now.
    pub workers: u64,
    /// Bytes of tasks and results held now, each counted with 128 bytes more.
    pub held_bytes: u64,
}

impl From<DistributorCounters> for sealwire_distributor_counters {
    fn from(counters: DistributorCounters) -> Self {
        sealwire_distributor_counters {
            added: counters.added,
            done: counters.done,
            handed_out: counters.handed_out,
            handed_out_again: counters.handed_out_again,
            failed: counters.failed,
            lost: counters.lost,
            overdue: counters.overdue,
            returned: counters.returned,
            late: counters.late,
            repeated: counters.repeated,
            foreign: counters.foreign,
            violations: counters.violations,
            silent: counters.silent,
            out: counters.out as u64,
            pending: counters.pending as u64,
            set_aside: counters.set_aside as u64,
            workers: counters.workers as u64,
            held_bytes: counters.held_bytes as u64,
        }
    }
}

/// What a worker has done since it was made. Each number only grows.
#[repr(C)]
pub struct sealwire_worker_counters {
    /// Tasks received.
    pub received: u64,
    /// Tasks taken by the program.
    pub taken: u64,
    /// Attempts that ended as done.
    pub done: u64,
    /// Attempts that ended as failed.
    pub failed: u64,
    /// Attempts given back without having been begun.
    pub returned: u64,
    /// Tasks that were dropped before they were begun, as their connection had ended: others get them.
    pub dropped: u64,
    /// Outcomes that nobody was told of, as the distributor is gone.
    pub untold: u64,
    /// Connections to a distributor that began.
    pub connections: u64,
    /// Connections ended because the distributor violated the protocol.
    pub violations: u64,
}

impl From<WorkerCounters> for sealwire_worker_counters {
    fn from(counters: WorkerCounters) -> Self {
        sealwire_worker_counters {
            received: counters.received,
            taken: counters.taken,
            done: counters.done,
            failed: counters.failed,
            returned: counters.returned,
            dropped: counters.dropped,
            untold: counters.untold,
            connections: counters.connections,
            violations: counters.violations,
        }
    }
}
