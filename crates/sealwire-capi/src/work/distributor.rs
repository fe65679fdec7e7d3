//! The side that hands tasks out.

use std::ffi::{c_char, c_void};

use bytes::Bytes;
use sealwire_fork::Birth;
use sealwire_rpc::work::{Distributor, TaskNumber};

use super::counters::sealwire_distributor_counters;
use super::options::sealwire_work_options;
use super::outcome::{
    sealwire_work_outcome, sealwire_work_unfinished, sealwire_work_unfinished_list, write_number,
};
use super::{limit, waited};
use crate::keys::write_text;
use crate::listener::bind_given;
use crate::monitor::sealwire_monitor;
use crate::options::sealwire_options;
use crate::panics::{free, guard};
use crate::pointers::{array, bytes, give, optional_output, output, required, text};
use crate::security::sealwire_security;
use crate::status::{
    Failure, SEALWIRE_ERROR_WORK_NOT_SET_ASIDE, SEALWIRE_ERROR_WOULD_BLOCK, here, sealwire_status,
};
use crate::time::{Wait, duration_ms};

/// Hands tasks out to workers, and keeps each until one says that it is done: at least once. A worker that was
/// given up may have done the work, and another does it again.
///
/// Threads: any number may use it at once, but for freeing it.
pub struct sealwire_work_distributor {
    distributor: Distributor,
    birth: Birth,
}

/// A distributor that listens nowhere yet. `security` is that of the connections, a server's with the
/// authenticator of workers. `options` of the sockets and `work_options` may be NULL. Free it with
/// `sealwire_work_distributor_free`.
///
/// Errors: `SEALWIRE_ERROR_OPTION`, also for an option that workers have, `SEALWIRE_ERROR_SYSTEM`,
/// `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_new(
    security: Option<&sealwire_security>,
    options: Option<&sealwire_options>,
    work_options: Option<&sealwire_work_options>,
    out: *mut *mut sealwire_work_distributor,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let security = required(security, "security")?;
        let mut builder = Distributor::builder(security.security());
        if let Some(options) = options {
            builder = builder.socket(|socket| options.apply(socket));
        }
        if let Some(options) = work_options {
            builder = options.of_distributor(builder)?;
        }
        out.write(give(sealwire_work_distributor {
            distributor: builder.build()?,
            birth: Birth::now(),
        }));
        Ok(())
    })
}

/// Listens at an endpoint. As `sealwire_socket_bind` otherwise.
///
/// Errors: those of `sealwire_socket_bind`, and `SEALWIRE_ERROR_WORK_SHUT_DOWN`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_bind(
    distributor: Option<&sealwire_work_distributor>,
    endpoint: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let endpoint = distributor.distributor.bind(text(endpoint, "endpoint")?)?;
        write_text(bound, "bound", &endpoint.to_string())
    })
}

/// Listens on a TCP or Unix socket that somebody else opened. As `sealwire_socket_bind_listener` otherwise: afterwards the
/// descriptor is the distributor's.
///
/// Errors: those of `sealwire_socket_bind_listener`, and `SEALWIRE_ERROR_WORK_SHUT_DOWN`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_bind_listener(
    distributor: Option<&sealwire_work_distributor>,
    descriptor: i32,
    ws_path: *const c_char,
    wss_path: *const c_char,
    bound: *mut *mut c_char,
) -> sealwire_status {
    guard(|| {
        let distributor = &required(distributor, "distributor")?.distributor;
        bind_given(descriptor, [ws_path, wss_path], bound, |listener| {
            distributor.bind_listener(listener)
        })
    })
}

/// Adds a task with a copy of `size` bytes, and waits for room up to `timeout_ms` milliseconds, `SEALWIRE_WAIT`
/// (for ever) or `SEALWIRE_NO_WAIT`. Where `number` is not NULL it has room for `SEALWIRE_WORK_NUMBER_SIZE`
/// bytes and gets the number of the task.
///
/// Errors: `SEALWIRE_ERROR_WORK_FULL` with `SEALWIRE_NO_WAIT`, `SEALWIRE_ERROR_TIMED_OUT`,
/// `SEALWIRE_ERROR_WORK_TASK_TOO_LARGE`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`, `SEALWIRE_ERROR_ENGINE_FAILED`,
/// `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_add(
    distributor: Option<&sealwire_work_distributor>,
    data: *const c_void,
    size: usize,
    timeout_ms: i64,
    number: *mut u8,
) -> sealwire_status {
    guard(|| {
        let distributor = &required(distributor, "distributor")?.distributor;
        let body = bytes(data.cast(), size, "data")?;
        let wait = Wait::from_ms(timeout_ms)?;
        let body = Bytes::copy_from_slice(body);
        let added = match wait {
            Wait::No => distributor.try_add(body)?,
            Wait::Default | Wait::For(_) => distributor.add_blocking(body, limit(timeout_ms)?)?,
        };
        match number.is_null() {
            true => Ok(()),
            false => write_number(added, number),
        }
    })
}

/// Takes the outcome of a task, and waits for one up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
/// `SEALWIRE_NO_WAIT`: the result of one that is done, in the order in which they came and only with
/// `SEALWIRE_WORK_OPTION_KEEP_RESULTS`, or else a task that was set aside, which the distributor then no longer
/// has. Free it with `sealwire_work_outcome_free`. With `SEALWIRE_NO_WAIT` results can also be taken after
/// the end.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`,
/// `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_outcome(
    distributor: Option<&sealwire_work_distributor>,
    timeout_ms: i64,
    out: *mut *mut sealwire_work_outcome,
) -> sealwire_status {
    guard(|| {
        let distributor = &required(distributor, "distributor")?.distributor;
        let out = output(out, "out")?;
        let at_once = match Wait::from_ms(timeout_ms)? {
            Wait::No => distributor.try_outcome(),
            Wait::Default | Wait::For(_) => None,
        };
        let outcome = match at_once {
            Some(outcome) => outcome,
            None => waited(timeout_ms, "no task has an outcome now", |limit| {
                distributor.outcome_blocking(limit)
            })?,
        };
        out.write(give(sealwire_work_outcome::new(outcome)?));
        Ok(())
    })
}

/// Takes the result of a task that is done, in the order in which they came, and leaves those that were set
/// aside. Free it with `sealwire_work_outcome_free`.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK` where there is none, as always without
/// `SEALWIRE_WORK_OPTION_KEEP_RESULTS`; `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_next_result(
    distributor: Option<&sealwire_work_distributor>,
    out: *mut *mut sealwire_work_outcome,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let out = output(out, "out")?;
        here(distributor.birth)?;
        let (number, result) = distributor
            .distributor
            .next_result()
            .ok_or_else(|| Failure::new(SEALWIRE_ERROR_WOULD_BLOCK, "there is no result now"))?;
        out.write(give(sealwire_work_outcome::done(number, result)));
        Ok(())
    })
}

/// The tasks that have failed as often as they may, which stay with the distributor. Free the list with
/// `sealwire_work_unfinished_list_free`.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_set_aside(
    distributor: Option<&sealwire_work_distributor>,
    out: *mut *mut sealwire_work_unfinished_list,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let out = output(out, "out")?;
        here(distributor.birth)?;
        let aside = distributor.distributor.set_aside();
        out.write(give(sealwire_work_unfinished_list::new(aside)));
        Ok(())
    })
}

fn numbered(number: *const u8) -> Result<TaskNumber, Failure> {
    Ok(TaskNumber::from_bytes(*array(number, "number")?))
}

fn not_aside(number: TaskNumber) -> Failure {
    let text = format!("no task {number} is set aside here");
    Failure::new(SEALWIRE_ERROR_WORK_NOT_SET_ASIDE, text)
}

/// Hands a task out again that was set aside, for as many attempts as it had.
///
/// Errors: `SEALWIRE_ERROR_WORK_NOT_SET_ASIDE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_put_back(
    distributor: Option<&sealwire_work_distributor>,
    number: *const u8,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let number = numbered(number)?;
        here(distributor.birth)?;
        match distributor.distributor.put_back(number) {
            true => Ok(()),
            false => Err(not_aside(number)),
        }
    })
}

/// Forgets a task that was set aside. Where `out` is not NULL it gets the task, to be freed with
/// `sealwire_work_unfinished_free`.
///
/// Errors: `SEALWIRE_ERROR_WORK_NOT_SET_ASIDE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_drop_aside(
    distributor: Option<&sealwire_work_distributor>,
    number: *const u8,
    out: *mut *mut sealwire_work_unfinished,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let number = numbered(number)?;
        let out = optional_output(out, "out")?;
        here(distributor.birth)?;
        let dropped = distributor.distributor.drop_aside(number);
        let dropped = dropped.ok_or_else(|| not_aside(number))?;
        if let Some(out) = out {
            out.write(give(sealwire_work_unfinished::new(dropped)));
        }
        Ok(())
    })
}

/// Waits until each task is done or set aside, up to `timeout_ms` milliseconds, `SEALWIRE_WAIT` (for ever) or
/// `SEALWIRE_NO_WAIT`.
///
/// Errors: `SEALWIRE_ERROR_WOULD_BLOCK`, `SEALWIRE_ERROR_TIMED_OUT`, `SEALWIRE_ERROR_WORK_SHUT_DOWN`,
/// `SEALWIRE_ERROR_ENGINE_FAILED`, `SEALWIRE_ERROR_RPC_WOULD_DEADLOCK`, `SEALWIRE_ERROR_FORKED`,
/// `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_finished(
    distributor: Option<&sealwire_work_distributor>,
    timeout_ms: i64,
) -> sealwire_status {
    guard(|| {
        let distributor = &required(distributor, "distributor")?.distributor;
        waited(timeout_ms, "some tasks have no outcome yet", |limit| {
            distributor.finished_blocking(limit)
        })
    })
}

/// Writes what the distributor has done, and what it has now.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_counters(
    distributor: Option<&sealwire_work_distributor>,
    counters: *mut sealwire_distributor_counters,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let out = output(counters, "counters")?;
        here(distributor.birth)?;
        out.write(distributor.distributor.counters().into());
        Ok(())
    })
}

/// Reads what happens to the connections: handshakes, failures.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_monitor(
    distributor: Option<&sealwire_work_distributor>,
    out: *mut *mut sealwire_monitor,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let out = output(out, "out")?;
        here(distributor.birth)?;
        let monitor = sealwire_monitor::new(distributor.distributor.monitor(), false);
        out.write(give(monitor));
        Ok(())
    })
}

/// Hands out no more tasks, waits up to `limit_ms` milliseconds for the outcomes of those that are with workers,
/// and ends the connections. Where `left` is not NULL it gets the tasks without an outcome, those that were
/// set aside among them, to be freed with `sealwire_work_unfinished_list_free`: after this they are nowhere else.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_shutdown(
    distributor: Option<&sealwire_work_distributor>,
    limit_ms: i64,
    left: *mut *mut sealwire_work_unfinished_list,
) -> sealwire_status {
    guard(|| {
        let distributor = required(distributor, "distributor")?;
        let limit = duration_ms(limit_ms, "limit_ms")?;
        let out = optional_output(left, "left")?;
        here(distributor.birth)?;
        let left = distributor.distributor.shutdown(limit);
        if let Some(out) = out {
            out.write(give(sealwire_work_unfinished_list::new(left)));
        }
        Ok(())
    })
}

/// Ends the distributor and frees it: tasks without an outcome are gone
/// (`sealwire_work_distributor_shutdown` gives them). NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_distributor_free(
    distributor: Option<Box<sealwire_work_distributor>>,
) {
    free(distributor);
}
