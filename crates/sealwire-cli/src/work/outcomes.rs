//! What became of tasks: results on standard output, tasks that were not done on standard error and in a file.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sealwire_rpc::work::{DistributorCounters, Outcome, TaskNumber, UnfinishedTask};
use serde::Serialize;

use crate::exit::{Code, Failure, eprint_json_quietly, eprintln_quietly};
use crate::output::{Format, FrameRecord, Printer};

/// Most of a task that a line on standard error shows, in bytes.
const MAX_SHOWN: usize = 200;

/// A task that is not done.
pub(super) struct NotDone {
    /// Nothing for one that was never added.
    number: Option<TaskNumber>,
    attempts: u32,
    reason: Option<String>,
    is_set_aside: bool,
    body: Bytes,
}

impl NotDone {
    /// Whether it has failed as often as it may, in place of having had no end.
    pub(super) fn is_set_aside(&self) -> bool {
        self.is_set_aside
    }

    /// One for which there was no room before the end.
    pub(super) fn never_added(body: Bytes) -> Self {
        NotDone {
            number: None,
            attempts: 0,
            reason: None,
            is_set_aside: false,
            body,
        }
    }
}

impl From<UnfinishedTask> for NotDone {
    fn from(task: UnfinishedTask) -> Self {
        NotDone {
            number: Some(task.number),
            attempts: task.attempts,
            reason: task.reason,
            is_set_aside: task.is_set_aside,
            body: task.body,
        }
    }
}

/// The file of tasks that were not done, a line each.
pub(super) struct Left {
    path: PathBuf,
    file: File,
}

impl Left {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        match OpenOptions::new().append(true).create(true).open(path) {
            Ok(file) => Ok(Left {
                path: path.to_owned(),
                file,
            }),
            Err(error) => {
                let message = format!("cannot open --left {}: {error}", path.display());
                Err(Failure::new(Code::Failed, message))
            }
        }
    }

    fn write(&mut self, task: &[u8]) -> Result<(), Failure> {
        let line = [task, b"\n"].concat();
        self.file.write_all(&line).map_err(|error| {
            let message = format!("cannot write to --left {}: {error}", self.path.display());
            Failure::new(Code::Failed, message)
        })
    }
}

/// A line of JSON on standard output.
#[derive(Serialize)]
struct Record<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<FrameRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<FrameRecord<'a>>,
}

/// Tells outcomes as they come. A failed write keeps no task from being done: it is told at the end.
pub(super) struct Teller {
    /// Nothing once standard output takes no more.
    printer: Option<Printer>,
    left: Option<Left>,
    set_aside: u64,
    failure: Option<Failure>,
}

impl Teller {
    pub(super) fn new(format: Format, left: Option<Left>) -> Self {
        Teller {
            printer: Some(Printer::new(format)),
            left,
            set_aside: 0,
            failure: None,
        }
    }

    pub(super) fn tell(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Done { number, result } => self.done(number, &result),
            Outcome::SetAside(task) => self.not_done(&task.into()),
            _ => {}
        }
    }

    fn done(&mut self, number: TaskNumber, result: &[u8]) {
        self.print(|printer| match (printer.is_json(), result) {
            (true, result) => printer.print_record(&Record {
                outcome: "done",
                number: Some(number.to_string()),
                attempts: None,
                reason: None,
                result: Some(result.into()),
                task: None,
            }),
            (false, []) => Ok(()),
            (false, result) => {
                let line = result.strip_suffix(b"\n").unwrap_or(result);
                printer.print(&line.to_vec().into())
            }
        });
    }

    /// Tells of a task that was set aside, or is left at the end.
    pub(super) fn not_done(&mut self, task: &NotDone) {
        let outcome = match task.is_set_aside {
            true => "set_aside",
            false => "left",
        };
        self.set_aside += u64::from(task.is_set_aside);
        let is_json = self.printer.as_ref().is_some_and(Printer::is_json);
        self.print(|printer| match printer.is_json() {
            false => Ok(()),
            true => printer.print_record(&Record {
                outcome,
                number: task.number.map(|number| number.to_string()),
                attempts: Some(task.attempts),
                reason: task.reason.as_deref(),
                result: None,
                task: Some(task.body[..].into()),
            }),
        });
        if task.is_set_aside && !is_json {
            eprintln_quietly(&in_words(task));
        }
        if let Some(left) = &mut self.left
            && let Err(failure) = left.write(&task.body)
        {
            self.failure.get_or_insert(failure);
        }
    }

    fn print(&mut self, print: impl FnOnce(&mut Printer) -> Result<(), Failure>) {
        if let Some(printer) = &mut self.printer
            && let Err(failure) = print(printer)
        {
            self.printer = None;
            if !failure.message().is_empty() {
                self.failure.get_or_insert(failure);
            }
        }
    }

    pub(super) fn flush(&mut self) {
        self.print(Printer::flush);
    }

    /// How many were set aside, and what could not be written.
    pub(super) fn finish(mut self) -> (u64, Option<Failure>) {
        self.flush();
        (self.set_aside, self.failure)
    }
}

fn in_words(task: &NotDone) -> String {
    let shown = task.body.get(..MAX_SHOWN).unwrap_or(&task.body);
    let more = if shown.len() < task.body.len() {
        "..."
    } else {
        ""
    };
    let attempts = task.attempts;
    let plural = if attempts == 1 { "" } else { "s" };
    let task_text = String::from_utf8_lossy(shown);
    let reason = task.reason.as_deref().unwrap_or("no reason was given");
    format!("set aside after {attempts} attempt{plural}: {task_text}{more}: {reason}")
}

/// The numbers at the end.
#[derive(Serialize)]
struct Summary {
    event: &'static str,
    done: u64,
    set_aside: u64,
    left: u64,
    handed_out: u64,
    handed_out_again: u64,
    failed: u64,
    lost: u64,
    overdue: u64,
    returned: u64,
    repeated: u64,
    message: String,
}

/// Tells what was done and what was repeated.
pub(super) fn sum_up(counters: &DistributorCounters, set_aside: u64, left: u64, json: bool) {
    let DistributorCounters {
        done,
        handed_out,
        handed_out_again,
        failed,
        lost,
        overdue,
        returned,
        repeated,
        ..
    } = *counters;
    let message = format!(
        "{done} done, {set_aside} set aside, {left} left; handed out again: {handed_out_again} (attempts failed: \
         {failed}, lost with their worker: {lost}, overdue: {overdue}); done twice: {repeated}"
    );
    if json {
        eprint_json_quietly(&Summary {
            event: "finished",
            done,
            set_aside,
            left,
            handed_out,
            handed_out_again,
            failed,
            lost,
            overdue,
            returned,
            repeated,
            message,
        });
    } else {
        eprintln_quietly(&message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_the_beginning_of_a_task_and_why_it_failed() {
        let task = |size: usize| NotDone {
            attempts: 1,
            reason: Some("no".into()),
            ..NotDone::never_added(vec![b'a'; size].into())
        };
        assert_eq!(in_words(&task(3)), "set aside after 1 attempt: aaa: no");
        let long = in_words(&task(MAX_SHOWN + 1));
        assert!(
            long.ends_with(&format!("{}...: no", "a".repeat(MAX_SHOWN))),
            "{long}"
        );
    }
}
