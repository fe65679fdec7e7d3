//! The side that takes tasks.

use std::ffi::c_char;

use sealwire_fork::Birth;
use sealwire_rpc::work::Worker;

use super::counters::sealwire_worker_counters;
use super::limit;
use super::options::sealwire_work_options;
use super::task::sealwire_work_task;
use crate::monitor::sealwire_monitor;
use crate::options::sealwire_options;
use crate::panics::{free, guard, value};
use crate::pointers::{give, output, required, text};
use crate::security::sealwire_security;
use crate::status::{here, sealwire_status};
use crate::time::Wait;

/// Takes tasks of a distributor. Connects in the background, and again where its connection is lost.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_work_worker {
    worker: Worker,
    birth: Birth,
}

/// A worker for the distributor at this endpoint. `options` of the socket and `work_options` may be NULL. Free
/// it with `sealwire_work_worker_free`.
///
/// Errors: `SEALWIRE_ERROR_ENDPOINT`, `SEALWIRE_ERROR_TRANSPORT`, `SEALWIRE_ERROR_OPTION`, also for an option
/// that distributors have, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_new(
    endpoint: *const c_char,
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    work_options: Option<&sealwire_work_options>,
    out: *mut *mut sealwire_work_worker,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let endpoint = text(endpoint, "endpoint")?;
        let security = required(security, "security")?;
        let mut builder = Worker::builder(security.security());
        if let Some(options) = options {
            builder = builder.socket(|socket| options.apply(socket));
        }
        if let Some(options) = work_options {
            builder = options.of_worker(builder)?;
        }
        out.write(give(sealwire_work_worker {
            worker: builder.build(endpoint)?,
            birth: Birth::now(),
        }));
        Ok(())
    })
}

/// Takes a task, and waits for one up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
/// `SEALWIRE_NO_WAIT`. The task is the caller's, who ends it with `sealwire_work_task_done`, `_fail` or
/// `_give_back`.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN` once the
/// worker leaves, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`,
/// `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_take(
    worker: Option<&sealwire_work_worker>,
    timeout_ms: i64,
    task: *mut *mut sealwire_work_task,
) -> sealwire_status {
    guard(|| {
        let worker = &required(worker, "worker")?.worker;
        let out = output(task, "task")?;
        let taken = match Wait::from_ms(timeout_ms)? {
            Wait::No => worker.try_take()?,
            Wait::Default | Wait::For(_) => worker.take_blocking(limit(timeout_ms)?)?,
        };
        out.write(give(sealwire_work_task::new(taken)));
        Ok(())
    })
}

/// Leaves in good order: takes no more tasks, gives those back that were not taken, which counts as no attempt,
/// and waits up to `timeout_ms` milliseconds or `SEALWIRE_WAIT` (for ever) until the tasks that were taken have
/// outcomes and the distributor knows them. Then nothing of it is repeated. The worker ends in any case but for
/// wrong arguments; it is still to be freed.
///
/// Errors: `SEALWIRE_ERROR_TIMED_OUT`: others get what it had; `SEALWIRE_ERROR_WORK_SHUT_DOWN` where it had
/// ended, `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_leave(
    worker: Option<&sealwire_work_worker>,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let worker = required(worker, "worker")?;
        Ok(worker.worker.leave_blocking(limit(timeout_ms)?)?)
    })
}

/// Whether a distributor has let this worker in. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_is_connected(worker: Option<&sealwire_work_worker>) -> bool {
    value(false, || {
        worker.is_some_and(|worker| worker.worker.is_connected())
    })
}

/// Writes what the worker has done so far.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_counters(
    worker: Option<&sealwire_work_worker>,
    counters: *mut sealwire_worker_counters,
) -> sealwire_status {
    guard(|| {
        let worker = required(worker, "worker")?;
        let out = output(counters, "counters")?;
        here(worker.birth)?;
        out.write(worker.worker.counters().into());
        Ok(())
    })
}

/// Reads what happens to the connection: handshakes, failures.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_monitor(
    worker: Option<&sealwire_work_worker>,
    out: *mut *mut sealwire_monitor,
) -> sealwire_status {
    guard(|| {
        let worker = required(worker, "worker")?;
        let out = output(out, "out")?;
        here(worker.birth)?;
        let monitor = sealwire_monitor::new(worker.worker.monitor(), false);
        out.write(give(monitor));
        Ok(())
    })
}

/// Frees the worker. When its tasks are freed too it ends, and others get what it had
/// (`sealwire_work_worker_leave` ends in good order). NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_worker_free(worker: Option<Box<sealwire_work_worker>>) {
    free(worker);
}
