//! `work take`: a program for each task, or tasks on standard output.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use clap::Args;
use sealwire::Endpoint;
use sealwire_rpc::work::{Error, Task, Worker};
use serde::Serialize;

use super::{SizeOptions, failed, numbers};
use crate::duration;
use crate::exit::{Code, Failure, eprint_json_quietly, eprintln_quietly};
use crate::interrupt::{self, Stop};
use crate::line_quota::{LineQuota, with_left_out};
use crate::output::{FrameRecord, Printer};
use crate::programs::{Programs, TimeLimit, Trouble, exchange};
use crate::report::{ReportOptions, Reporter};
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::service::given_up::{self, Kind};
use crate::service::renewal::RenewalOptions;
use crate::service::{ServiceOptions, alive, notify};
use crate::sockets::options::OutputOptions;
use crate::threads;

/// Tasks that are printed before they are done together.
const BATCH: usize = 256;

/// Tasks here at most, where they are printed.
const CREDIT: u32 = 64;

/// Options of work take.
#[derive(Debug, Args)]
pub(crate) struct TakeOptions {
    /// The distributor, which is connected to again and again until it is there
    #[arg(short, long, value_name = "ENDPOINT", value_parser = super::parse_endpoint)]
    connect: Endpoint,

    #[command(flatten)]
    security: SecurityOptions,

    /// Run this program for each task: the task is its standard input, its standard output the result. The task is
    /// done if it ends with 0; else it has failed, and its standard error says why. Without it tasks are printed, and
    /// done once they are
    #[arg(long, value_name = "PROGRAM")]
    exec: Option<String>,

    /// Arguments of the program
    #[arg(value_name = "ARGUMENT", last = true, requires = "exec")]
    arguments: Vec<String>,

    /// Programs at a time
    #[arg(long, value_name = "N", default_value_t = 1, requires = "exec", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    concurrency: u32,

    /// End a program that takes longer: its task has failed [default: for ever]
    #[arg(long, value_name = "TIME", requires = "exec", value_parser = duration::parse_positive)]
    time_limit: Option<Duration>,

    /// Tasks here at most, those under way among them [default: 64; with --exec twice --concurrency]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    credit: Option<u32>,

    /// End after this many tasks [default: when interrupted]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// Longest wait for a task: then it ends [default: for ever]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse_positive)]
    timeout: Option<Duration>,

    #[command(flatten)]
    size: SizeOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    renewal: RenewalOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,
}

impl TakeOptions {
    fn credit(&self) -> u32 {
        let usual = match self.exec {
            Some(_) => 2 * self.concurrency,
            None => CREDIT,
        };
        self.credit.unwrap_or(usual)
    }
}

pub(super) fn run(options: &TakeOptions) -> Result<(), Failure> {
    let security = options.security.choice().security([&options.connect])?;
    warn_of_plain_text(options.report, &security, [&options.connect]);
    let (worker, monitor) = Worker::builder(security)
        .credit(options.credit())
        .max_task(options.size.max_size)
        .build_monitored(options.connect.clone())
        .map_err(failed)?;
    let counted = worker.clone();
    (options.service).serve_sockets_and("work take", options.report, move || {
        numbers::of_worker(&counted.counters())
    })?;
    let (renewed, chosen, endpoint) = (
        worker.clone(),
        options.security.clone(),
        options.connect.clone(),
    );
    options.renewal.renew(options.report, move |withdrawn| {
        let security = chosen.choice().security([&endpoint])?;
        renewed.renew_security(security, withdrawn).map_err(failed)
    })?;
    let programs = Arc::new(Programs::new());
    let (of_stop, leaving, (done, is_done)) =
        (programs.clone(), worker.clone(), mpsc::channel::<()>());
    interrupt::finish_on_signal(Stop {
        grace: options.service.grace,
        begin: Box::new(move || {
            let left = leaving.leave_blocking(Some(interrupt::left()));
            let ended = of_stop.end();
            if matches!(left, Err(Error::TimedOut)) {
                // One that was being printed has no program.
                given_up::count(Kind::Tasks, ended.max(1) as u64);
            }
            drop(done);
        }),
        break_off: Box::new(|| {}),
        json: options.report.json,
    })?;
    // Last: a program that reads of the connection may send signals from then on.
    let reporter = Reporter::read(monitor, options.report, None)?;
    notify::awaiting_connection(&format!("connecting to {}", options.connect));
    notify::watch(alive::engine)?;
    let taking = Taking {
        worker: &worker,
        programs: &programs,
        options,
        begun: AtomicU64::new(0),
        taken: AtomicU64::new(0),
        has_waited: AtomicBool::new(false),
        lines: LineQuota::default(),
    };
    let taken = taking.all();
    if interrupt::requested() {
        // Nothing is ever sent: the channel ends when the worker has left.
        let _ = is_done.recv();
        reporter.finish_stopped();
        return taken.and(Err(Failure::stopped()));
    }
    let left = worker.leave_blocking(Some(options.service.grace));
    let last_failure = reporter.finish();
    taken?;
    let (count, wanted) = (taking.taken.load(Ordering::SeqCst), options.count);
    if taking.has_waited.load(Ordering::SeqCst) && count < wanted.unwrap_or(1) {
        let message = "no task came within --timeout";
        return Err(Failure::wait_failed(
            Code::TimedOut,
            message,
            last_failure.as_ref(),
        ));
    }
    match left {
        Err(Error::TimedOut) => Err(Failure::new(
            Code::Lost,
            "the distributor did not hear within --grace what was done: it hands that out again",
        )),
        _ => Ok(()),
    }
}

/// The taking of tasks, which several threads do.
struct Taking<'a> {
    worker: &'a Worker,
    programs: &'a Programs,
    options: &'a TakeOptions,
    /// Tasks that may have been taken, for --count.
    begun: AtomicU64,
    taken: AtomicU64,
    /// No task came within --timeout.
    has_waited: AtomicBool,
    lines: LineQuota,
}

impl Taking<'_> {
    fn all(&self) -> Result<(), Failure> {
        let Some(program) = &self.options.exec else {
            return self.print();
        };
        let others = 1..self.options.concurrency;
        thread::scope(|scope| {
            let mut running = Vec::new();
            let mut outcome = Ok(());
            for _ in others {
                match threads::spawn_within(scope, || self.run(program)) {
                    Ok(thread) => running.push(thread),
                    Err(error) => {
                        let message = format!("the system refused a thread: {error}");
                        outcome = Err(Failure::new(Code::Failed, message));
                        break;
                    }
                }
            }
            outcome = outcome.and_then(|()| self.run(program));
            if outcome.is_err() {
                self.end();
            }
            for thread in running {
                let ended = thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = outcome.and(ended);
            }
            outcome
        })
    }

    /// Has the other threads take no more, and lets them finish what they have.
    fn end(&self) {
        let _ = self.worker.leave_blocking(Some(self.options.service.grace));
    }

    /// The next task; `None` once there are to be no more.
    fn next(&self) -> Result<Option<Task>, Failure> {
        let begun = self.begun.fetch_add(1, Ordering::SeqCst);
        if begun >= self.options.count.unwrap_or(u64::MAX) {
            return Ok(None);
        }
        match self.worker.take_blocking(self.options.timeout) {
            Ok(task) => {
                self.taken.fetch_add(1, Ordering::SeqCst);
                Ok(Some(task))
            }
            Err(Error::ShutDown) => Ok(None),
            Err(Error::TimedOut) => {
                self.has_waited.store(true, Ordering::SeqCst);
                Ok(None)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Another task where one is here.
    fn another(&self) -> Option<Task> {
        let begun = self.begun.load(Ordering::SeqCst);
        if begun >= self.options.count.unwrap_or(u64::MAX) {
            return None;
        }
        let task = self.worker.try_take().ok()?;
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.taken.fetch_add(1, Ordering::SeqCst);
        Some(task)
    }

    /// Prints tasks. Each is done once it has left this process.
    fn print(&self) -> Result<(), Failure> {
        let mut printer = Printer::new(self.options.output.format(self.options.report));
        let mut printed = Vec::with_capacity(BATCH);
        while let Some(first) = self.next()? {
            let mut next = Some(first);
            while let Some(task) = next.take() {
                let outcome = print(&mut printer, &task);
                printed.push(task);
                if outcome.is_err() {
                    return self.unprinted(printed, outcome);
                }
                if printed.len() < BATCH {
                    next = self.another();
                }
            }
            let flushed = printer.flush();
            if flushed.is_err() {
                return self.unprinted(printed, flushed);
            }
            printed.drain(..).for_each(Task::done);
        }
        Ok(())
    }

    /// Gives tasks back that may not have been printed.
    fn unprinted(&self, tasks: Vec<Task>, outcome: Result<(), Failure>) -> Result<(), Failure> {
        // The last one first: each goes before all others again.
        tasks.into_iter().rev().for_each(Task::give_back);
        outcome
    }

    /// Runs the program for one task after the other.
    fn run(&self, program: &str) -> Result<(), Failure> {
        while let Some(task) = self.next()? {
            let mut command = Command::new(program);
            command.args(&self.options.arguments);
            let time = TimeLimit::within(self.options.time_limit);
            let most = task.max_result() as u64;
            let ended = exchange(self.programs, &mut command, task.body(), most, &time);
            let why = match ended {
                Err(trouble @ Trouble::Start(_)) => {
                    // Another worker may have the program: this one would have all tasks fail.
                    task.give_back();
                    self.end();
                    return Err(Failure::new(Code::Failed, format!("{program}: {trouble}")));
                }
                Err(trouble) => trouble.to_string(),
                Ok(None) => format!("{program}: ended after --time-limit"),
                Ok(Some(answer)) => match (answer.failure(program), answer.output) {
                    (Some(failure), _) => failure,
                    (None, Err(error)) => format!("{program}: cannot read from it: {error}"),
                    (None, Ok(result)) => {
                        let shown = Shown::of(&task);
                        if let Err(error) = task.done_with(result) {
                            self.tell(&shown, &error.to_string());
                        }
                        continue;
                    }
                },
            };
            self.tell(&Shown::of(&task), &why);
            task.fail(&why);
        }
        Ok(())
    }

    /// Says on standard error that an attempt has failed.
    fn tell(&self, task: &Shown, why: &str) {
        let report = self.options.report;
        let left_out = match report.verbose {
            true => Some(0),
            false => self.lines.pass("task_failed"),
        };
        let Some(left_out) = left_out else {
            return;
        };
        let Shown { number, attempt } = task;
        let line = format!("attempt {attempt} of task {number} failed: {why}");
        let message = with_left_out(line, left_out);
        if report.json {
            eprint_json_quietly(&FailedRecord {
                event: "task_failed",
                number,
                attempt: *attempt,
                message,
            });
        } else {
            eprintln_quietly(&message);
        }
    }
}

/// What names an attempt.
struct Shown {
    number: String,
    attempt: u32,
}

impl Shown {
    fn of(task: &Task) -> Self {
        Shown {
            number: task.number().to_string(),
            attempt: task.attempt(),
        }
    }
}

#[derive(Serialize)]
struct FailedRecord<'a> {
    event: &'static str,
    number: &'a str,
    attempt: u32,
    message: String,
}

/// A task that is printed as JSON.
#[derive(Serialize)]
struct TaskRecord<'a> {
    task: FrameRecord<'a>,
    bytes: usize,
    number: &'a str,
    attempt: u32,
}

fn print(printer: &mut Printer, task: &Task) -> Result<(), Failure> {
    if !printer.is_json() {
        return printer.print(&task.body().clone().into());
    }
    printer.print_record(&TaskRecord {
        task: task.body()[..].into(),
        bytes: task.body().len(),
        number: &task.number().to_string(),
        attempt: task.attempt(),
    })
}
