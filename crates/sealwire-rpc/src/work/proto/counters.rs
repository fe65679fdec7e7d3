//! What a distributor and a worker have done.

/// What a distributor has done since it was made, and what it has now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DistributorCounters {
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
    pub out: usize,
    /// Tasks without an outcome now, those with workers among them.
    pub pending: usize,
    /// Tasks that are set aside now.
    pub set_aside: usize,
    /// Workers that are connected now.
    pub workers: usize,
    /// Bytes of tasks and results held now, each counted with 128 bytes more.
    pub held_bytes: usize,
}

/// What a worker has done since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounters {
    /// Tasks received.
    pub received: u64,
    /// Tasks taken by the application.
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
