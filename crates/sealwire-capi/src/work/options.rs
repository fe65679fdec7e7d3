//! Options of distributors and workers, by number.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use sealwire_rpc::work::{DistributorBuilder, WorkerBuilder};

use crate::panics::{free, guard};
use crate::pointers::{give, output, required};
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_OPTION, sealwire_status};

/// Distributor: how many tasks are held, those that wait, are with workers or set aside, and results that
/// were not read. 1 or more. Default 65,536.
pub const SEALWIRE_WORK_OPTION_MAX_TASKS: i32 = 1;
/// Distributor: how many bytes of them are held, each counted with 128 bytes more. A single task may always
/// be held. Default 256 MiB.
pub const SEALWIRE_WORK_OPTION_MAX_BYTES: i32 = 2;
/// Bytes of the largest task; a worker must take at least as many as its distributor. Default 4 MiB.
pub const SEALWIRE_WORK_OPTION_MAX_TASK: i32 = 3;
/// Distributor: bytes of the largest result or reason of a worker. Default 4 KiB.
pub const SEALWIRE_WORK_OPTION_MAX_RESULT: i32 = 4;
/// Distributor: how many attempts a task has before it is set aside. 1 or more. Default 5.
pub const SEALWIRE_WORK_OPTION_MAX_ATTEMPTS: i32 = 5;
/// Distributor: how long an attempt may take, from the time that the task is handed out, in milliseconds; -1,
/// the default, for no limit. A worker's credit counts: with 64 tasks of a second each, the last one is begun
/// after a minute.
pub const SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS: i32 = 6;
/// Distributor: time between an attempt that its worker says has failed and the next one, in milliseconds.
/// Default 1,000.
pub const SEALWIRE_WORK_OPTION_RETRY_DELAY_MS: i32 = 7;
/// Switch, distributor: keeps results until they are read. Default 0: they are dropped.
pub const SEALWIRE_WORK_OPTION_KEEP_RESULTS: i32 = 8;
/// Distributor: how many workers may be connected. 1 or more. Default 1,024.
pub const SEALWIRE_WORK_OPTION_MAX_WORKERS: i32 = 9;
/// After which time without a sign of life a connection is given up, in milliseconds. The other side is asked
/// for one after a third of that. 1 or more. Default 15,000.
pub const SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS: i32 = 10;
/// Worker: how many tasks are here before some of them have an outcome, 1 to 65,536. Default 64. With 1 the
/// next task comes only after the outcome of the last one has arrived.
pub const SEALWIRE_WORK_OPTION_CREDIT: i32 = 11;
/// Worker: how many bytes of tasks are here before some of them have an outcome, each counted with 128 bytes
/// more. A single task may always be here. Default 16 MiB.
pub const SEALWIRE_WORK_OPTION_CREDIT_BYTES: i32 = 12;

/// The most of anything that is counted.
const COUNT: i64 = i32::MAX as i64;
const BYTES: i64 = u32::MAX as i64;

fn range(option: i32) -> Option<RangeInclusive<i64>> {
    Some(match option {
        SEALWIRE_WORK_OPTION_MAX_TASKS
        | SEALWIRE_WORK_OPTION_MAX_ATTEMPTS
        | SEALWIRE_WORK_OPTION_MAX_WORKERS => 1..=COUNT,
        SEALWIRE_WORK_OPTION_MAX_TASK
        | SEALWIRE_WORK_OPTION_MAX_RESULT
        | SEALWIRE_WORK_OPTION_CREDIT_BYTES => 0..=BYTES,
        SEALWIRE_WORK_OPTION_MAX_BYTES | SEALWIRE_WORK_OPTION_RETRY_DELAY_MS => 0..=i64::MAX,
        SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS => -1..=i64::MAX,
        SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS => 1..=i64::MAX,
        SEALWIRE_WORK_OPTION_KEEP_RESULTS => 0..=1,
        SEALWIRE_WORK_OPTION_CREDIT => 1..=1 << 16,
        _ => return None,
    })
}

/// Options of distributors and workers: a list that may be used for any number of them and freed once they
/// are made. One that is not set has its default.
///
/// Threads: any number may use it at once, as long as none changes it.
#[derive(Default)]
pub struct sealwire_work_options {
    numbers: BTreeMap<i32, i64>,
}

impl sealwire_work_options {
    pub(super) fn of_distributor(
        &self,
        mut builder: DistributorBuilder,
    ) -> Result<DistributorBuilder, Failure> {
        for (&option, &value) in &self.numbers {
            builder = match option {
                SEALWIRE_WORK_OPTION_MAX_TASKS => builder.max_tasks(size(value)),
                SEALWIRE_WORK_OPTION_MAX_BYTES => builder.max_bytes(size(value)),
                SEALWIRE_WORK_OPTION_MAX_TASK => builder.max_task(number(value)),
                SEALWIRE_WORK_OPTION_MAX_RESULT => builder.max_result(number(value)),
                SEALWIRE_WORK_OPTION_MAX_ATTEMPTS => builder.max_attempts(number(value)),
                SEALWIRE_WORK_OPTION_ATTEMPT_LIMIT_MS => builder.attempt_limit(time(value)),
                SEALWIRE_WORK_OPTION_RETRY_DELAY_MS => {
                    builder.retry_delay(time(value).unwrap_or_default())
                }
                SEALWIRE_WORK_OPTION_KEEP_RESULTS => builder.keep_results(value == 1),
                SEALWIRE_WORK_OPTION_MAX_WORKERS => builder.max_workers(size(value)),
                SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS => {
                    builder.silence_limit(time(value).unwrap_or_default())
                }
                _ => return Err(of_the_other_side(option, "distributor")),
            };
        }
        Ok(builder)
    }

    pub(super) fn of_worker(&self, mut builder: WorkerBuilder) -> Result<WorkerBuilder, Failure> {
        for (&option, &value) in &self.numbers {
            builder = match option {
                SEALWIRE_WORK_OPTION_MAX_TASK => builder.max_task(number(value)),
                SEALWIRE_WORK_OPTION_SILENCE_LIMIT_MS => {
                    builder.silence_limit(time(value).unwrap_or_default())
                }
                SEALWIRE_WORK_OPTION_CREDIT => builder.credit(number(value)),
                SEALWIRE_WORK_OPTION_CREDIT_BYTES => builder.credit_bytes(number(value)),
                _ => return Err(of_the_other_side(option, "worker")),
            };
        }
        Ok(builder)
    }
}

fn of_the_other_side(option: i32, side: &str) -> Failure {
    let text = format!("a {side} does not have the option {option} of acknowledged work");
    Failure::new(SEALWIRE_ERROR_OPTION, text)
}

/// Within its range, which is checked as it is set.
fn size(value: i64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn number(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Nothing for -1.
fn time(value: i64) -> Option<Duration> {
    u64::try_from(value).ok().map(Duration::from_millis)
}

/// No options yet. Free them with `sealwire_work_options_free`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_options_new(
    out: *mut *mut sealwire_work_options,
) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(give(sealwire_work_options::default()));
        Ok(())
    })
}

/// Sets an option: one of `SEALWIRE_WORK_OPTION_...`. Whether a distributor or worker has it is told when one
/// is made.
///
/// Errors: `SEALWIRE_ERROR_OPTION` for an unknown option, `SEALWIRE_ERROR_ARGUMENT` for a value out of range,
/// `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_options_set(
    options: Option<&mut sealwire_work_options>,
    option: i32,
    value: i64,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let Some(range) = range(option) else {
            let text = format!("there is no option {option} of acknowledged work");
            return Err(Failure::new(SEALWIRE_ERROR_OPTION, text));
        };
        if !range.contains(&value) {
            let (low, high) = (range.start(), range.end());
            let text =
                format!("option {option} of acknowledged work can be {low} to {high}, not {value}");
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        options.numbers.insert(option, value);
        Ok(())
    })
}

/// Frees options. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_work_options_free(options: Option<Box<sealwire_work_options>>) {
    free(options);
}
