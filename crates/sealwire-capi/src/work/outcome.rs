//! What became of tasks: results, and tasks without an outcome.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null;

use bytes::Bytes;
use sealwire_rpc::work::{Outcome, TaskNumber, UnfinishedTask};

use crate::panics::{free, guard};
use crate::pointers::{array_output, c_text, required};
use crate::status::{Failure, SEALWIRE_ERROR_OTHER, sealwire_status};

/// Bytes of the number of a task, which is the same at each attempt and in no other task.
pub const SEALWIRE_WORK_NUMBER_SIZE: usize = 16;

/// A task without an outcome: one that was set aside, or one that was left at the end.
///
/// Threads: never changes, so any number may use it at once, but for freeing it.
pub struct sealwire_work_unfinished {
    task: UnfinishedTask,
    reason: Option<CString>,
}

impl sealwire_work_unfinished {
    pub(super) fn new(task: UnfinishedTask) -> Self {
        sealwire_work_unfinished {
            reason: task.reason.as_deref().map(c_text),
            task,
        }
    }
}

/// Writes the number of the task.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_number(
    task: Option<&sealwire_work_unfinished>,
    number: *mut u8,
) -> sealwire_status {
    guard(|| {
        let task = required(task, "task")?;
        write_number(task.task.number, number)
    })
}

pub(super) fn write_number(number: TaskNumber, out: *mut u8) -> Result<(), Failure> {
    array_output::<SEALWIRE_WORK_NUMBER_SIZE>(out, "number")?.write(number.to_bytes());
    Ok(())
}

/// How many attempts were made and count; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_attempts(
    task: Option<&sealwire_work_unfinished>,
) -> u32 {
    task.map_or(0, |task| task.task.attempts)
}

/// Why the last attempt failed, up to 1,024 bytes. NULL where none has failed. Belongs to the task.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_reason(
    task: Option<&sealwire_work_unfinished>,
) -> *const c_char {
    let reason = task.and_then(|task| task.reason.as_ref());
    reason.map_or(null(), |reason| reason.as_ptr())
}

/// Whether the task was set aside: it has failed as often as it may. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_is_set_aside(
    task: Option<&sealwire_work_unfinished>,
) -> bool {
    task.is_some_and(|task| task.task.is_set_aside)
}

/// The bytes of the task, which belong to it. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_data(
    task: Option<&sealwire_work_unfinished>,
) -> *const c_void {
    task.map_or(null(), |task| task.task.body.as_ptr().cast())
}

/// How many bytes the task has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_size(task: Option<&sealwire_work_unfinished>) -> usize {
    task.map_or(0, |task| task.task.body.len())
}

/// Frees a task that `sealwire_work_distributor_drop_aside` gave. Those of lists and outcomes belong to them.
/// NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_free(task: Option<Box<sealwire_work_unfinished>>) {
    free(task);
}

/// Tasks without an outcome, in the order of their numbers. They belong to the list, which outlives the
/// distributor.
///
/// Threads: never changes, so any number may use it at once, but for freeing it.
pub struct sealwire_work_unfinished_list {
    tasks: Vec<sealwire_work_unfinished>,
}

impl sealwire_work_unfinished_list {
    pub(super) fn new(tasks: Vec<UnfinishedTask>) -> Self {
        sealwire_work_unfinished_list {
            tasks: (tasks.into_iter())
                .map(sealwire_work_unfinished::new)
                .collect(),
        }
    }
}

/// How many tasks the list has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_list_size(
    tasks: Option<&sealwire_work_unfinished_list>,
) -> usize {
    tasks.map_or(0, |list| list.tasks.len())
}

/// A task of the list, counted from 0; NULL where there is none. Belongs to the list.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_list_at(
    tasks: Option<&sealwire_work_unfinished_list>,
    index: usize,
) -> *const sealwire_work_unfinished {
    let task = tasks.and_then(|list| list.tasks.get(index));
    task.map_or(null(), std::ptr::from_ref)
}

/// Frees a list of tasks. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_unfinished_list_free(
    tasks: Option<Box<sealwire_work_unfinished_list>>,
) {
    free(tasks);
}

/// The outcome of a task, as its distributor tells it: it is done, or it has failed as often as it may and the
/// distributor no longer has it.
///
/// Threads: never changes, so any number may use it at once, but for freeing it.
pub struct sealwire_work_outcome {
    told: Told,
}

enum Told {
    Done { number: TaskNumber, result: Bytes },
    SetAside(sealwire_work_unfinished),
}

impl sealwire_work_outcome {
    pub(super) fn done(number: TaskNumber, result: Bytes) -> Self {
        sealwire_work_outcome {
            told: Told::Done { number, result },
        }
    }

    pub(super) fn new(outcome: Outcome) -> Result<Self, Failure> {
        match outcome {
            Outcome::Done { number, result } => Ok(Self::done(number, result)),
            Outcome::SetAside(task) => Ok(sealwire_work_outcome {
                told: Told::SetAside(sealwire_work_unfinished::new(task)),
            }),
            _ => {
                let text = "an outcome that has no form here yet";
                Err(Failure::new(SEALWIRE_ERROR_OTHER, text))
            }
        }
    }

    fn result(&self) -> &[u8] {
        match &self.told {
            Told::Done { result, .. } => result,
            Told::SetAside(_) => &[],
        }
    }
}

/// Writes the number of the task.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_number(
    outcome: Option<&sealwire_work_outcome>,
    number: *mut u8,
) -> sealwire_status {
    guard(|| {
        let outcome = required(outcome, "outcome")?;
        let told = match &outcome.told {
            Told::Done { number, .. } => *number,
            Told::SetAside(task) => task.task.number,
        };
        write_number(told, number)
    })
}

/// Whether the task is done. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_is_done(outcome: Option<&sealwire_work_outcome>) -> bool {
    outcome.is_some_and(|outcome| matches!(outcome.told, Told::Done { .. }))
}

/// The bytes of the result, which belong to the outcome; none where the worker gave none, or the task is not
/// done. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_data(
    outcome: Option<&sealwire_work_outcome>,
) -> *const c_void {
    outcome.map_or(null(), |outcome| outcome.result().as_ptr().cast())
}

/// How many bytes the result has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_size(outcome: Option<&sealwire_work_outcome>) -> usize {
    outcome.map_or(0, |outcome| outcome.result().len())
}

/// The task that has failed as often as it may. NULL where the task is done. Belongs to the outcome.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_set_aside(
    outcome: Option<&sealwire_work_outcome>,
) -> *const sealwire_work_unfinished {
    outcome.map_or(null(), |outcome| match &outcome.told {
        Told::Done { .. } => null(),
        Told::SetAside(task) => std::ptr::from_ref(task),
    })
}

/// Frees an outcome. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_outcome_free(outcome: Option<Box<sealwire_work_outcome>>) {
    free(outcome);
}
