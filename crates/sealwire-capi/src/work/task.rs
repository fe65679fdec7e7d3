//! A task that a worker has taken.

use std::ffi::{c_char, c_void};
use std::ptr::null;

use sealwire_fork::Birth;
use sealwire_rpc::work::Task;

use super::outcome::write_number;
use crate::panics::{free, guard};
use crate::pointers::{bytes, required, text};
use crate::status::{here, sealwire_status};

/// A task that a worker has taken, to be ended with `sealwire_work_task_done`, `sealwire_work_task_fail` or
/// `sealwire_work_task_give_back`, on any thread. It may outlive the worker's object.
///
/// Threads: one at a time.
pub struct sealwire_work_task {
    task: Task,
    birth: Birth,
}

impl sealwire_work_task {
    pub(super) fn new(task: Task) -> Self {
        sealwire_work_task {
            task,
            birth: Birth::now(),
        }
    }
}

/// Writes the number of the task, `SEALWIRE_WORK_NUMBER_SIZE` bytes, which is the same at each attempt: what was
/// done under it need not be done again.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_number(
    task: Option<&sealwire_work_task>,
    number: *mut u8,
) -> sealwire_status {
    guard(|| {
        let task = required(task, "task")?;
        write_number(task.task.number(), number)
    })
}

/// Which attempt this is: 1 for the first; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_attempt(task: Option<&sealwire_work_task>) -> u32 {
    task.map_or(0, |task| task.task.attempt())
}

/// The bytes of the task, which belong to it. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_data(task: Option<&sealwire_work_task>) -> *const c_void {
    task.map_or(null(), |task| task.task.body().as_ptr().cast())
}

/// How many bytes the task has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_size(task: Option<&sealwire_work_task>) -> usize {
    task.map_or(0, |task| task.task.body().len())
}

/// Bytes of the largest result that the distributor takes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_max_result(task: Option<&sealwire_work_task>) -> usize {
    task.map_or(0, |task| task.task.max_result())
}

/// Says that the work is done, with a copy of the `size` bytes of a result, which may be NULL with 0. The
/// outcome leaves at once, or within 500 us if others left just before. Frees the task in any case: after an
/// error the attempt has failed.
///
/// Errors: `SEALWIRE_ERROR_WORK_RESULT_TOO_LARGE`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_done(
    task: Option<Box<sealwire_work_task>>,
    result: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let sealwire_work_task { task, birth } = *required(task, "task")?;
        here(birth)?;
        let result = bytes(result.cast(), size, "result")?;
        Ok(task.done_with(result.to_vec())?)
    })
}

/// Says that the attempt has failed, and why, up to 1,024 bytes or as many as the distributor takes. Frees the
/// task in any case: after an error the attempt has failed too.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_fail(
    task: Option<Box<sealwire_work_task>>,
    reason: *const c_char,
) -> sealwire_status {
    guard(|| {
        let sealwire_work_task { task, birth } = *required(task, "task")?;
        here(birth)?;
        task.fail(text(reason, "reason")?);
        Ok(())
    })
}

/// Gives the task back as if it had not been taken, and frees it: no attempt counts, and it may come again.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_give_back(
    task: Option<Box<sealwire_work_task>>,
) -> sealwire_status {
    guard(|| {
        let sealwire_work_task { task, birth } = *required(task, "task")?;
        here(birth)?;
        task.give_back();
        Ok(())
    })
}

/// Frees a task without an outcome: the attempt has failed. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_task_free(task: Option<Box<sealwire_work_task>>) {
    free(task);
}
