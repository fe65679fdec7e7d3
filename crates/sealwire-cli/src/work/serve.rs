//! `work serve`: lines of standard input are tasks, which are handed out until each has an outcome.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
#[cfg(unix)]
use sealwire::Listener;
use sealwire::{Endpoint, Message};
use sealwire_rpc::work::{Distributor, Error};

use super::outcomes::{Left, NotDone, Teller, sum_up};
use super::{SizeOptions, failed, numbers};
use crate::duration;
use crate::exit::{Code, Failure};
use crate::interrupt::{self, Stop};
use crate::output::Format;
use crate::report::{ReportOptions, Reporter};
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::service::doors::{Doors, ListeningOptions, Listens};
use crate::service::given_up::{self, Kind};
use crate::service::renewal::RenewalOptions;
use crate::service::{ServiceOptions, alive, notify};
use crate::sockets::input::Input;
use crate::sockets::opened::listening;
use crate::sockets::options::OutputOptions;
use crate::threads;

/// Options of work serve.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Listen on an endpoint (repeatable): tcp://HOST:PORT, ipc://PATH. Port 0 takes a free one
    #[cfg_attr(unix, arg(required_unless_present = "listen_fds"))]
    #[cfg_attr(not(unix), arg(required = true))]
    #[arg(short, long, value_name = "ENDPOINT", value_parser = super::parse_endpoint)]
    bind: Vec<Endpoint>,

    #[command(flatten)]
    security: SecurityOptions,

    /// Attempts of a task before it is set aside
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    attempts: u32,

    /// Longest time of an attempt, from handing the task out: then it goes to another worker. Those that wait at a
    /// worker count, so lower --credit there for tasks that take long [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive)]
    attempt_limit: Option<Duration>,

    /// Time between an attempt that failed and the next one
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration::parse)]
    retry_delay: Duration,

    /// Add the tasks that are set aside, and those that are left when told to stop, to this file, a line each
    #[arg(long, value_name = "FILE")]
    left: Option<PathBuf>,

    /// Most tasks held: more are read once some of these are done
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = parse_count)]
    max_tasks: usize,

    #[command(flatten)]
    size: SizeOptions,

    /// Largest result of a task, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4_096)]
    max_result: u32,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    listening: ListeningOptions,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    renewal: RenewalOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("write a number of tasks".to_owned()),
    }
}

impl Listens for Distributor {
    fn bind(&self, endpoint: Endpoint) -> Result<Endpoint, Failure> {
        Distributor::bind(self, endpoint).map_err(failed)
    }

    #[cfg(unix)]
    fn bind_listener(&self, listener: Listener) -> Result<Endpoint, Failure> {
        Distributor::bind_listener(self, listener).map_err(failed)
    }
}

/// The tasks that are left at the end, however it comes.
#[derive(Clone, Default)]
struct Rest(Arc<Mutex<Vec<NotDone>>>);

impl Rest {
    fn lock(&self) -> MutexGuard<'_, Vec<NotDone>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the distributor, and takes the tasks that it had. Under the lock, so that who calls it second has all.
    fn end(&self, distributor: &Distributor) {
        let mut rest = self.lock();
        let held = distributor.shutdown(Duration::ZERO);
        // Those that it did not take any more came after them.
        rest.splice(0..0, held.into_iter().map(NotDone::from));
    }
}

pub(super) fn run(options: &ServeOptions) -> Result<(), Failure> {
    let left = options.left.as_deref().map(Left::open).transpose()?;
    let doors = options.listening.doors(&options.bind)?;
    let security = options.security.choice().security(doors.endpoints())?;
    warn_of_plain_text(options.report, &security, doors.endpoints());
    let distributor = Distributor::builder(security)
        .socket(|socket| options.listening.apply(socket))
        .max_attempts(options.attempts)
        .attempt_limit(options.attempt_limit)
        .retry_delay(options.retry_delay)
        .max_tasks(options.max_tasks)
        .max_task(options.size.max_size)
        .max_result(options.max_result)
        .keep_results(true)
        .build()
        .map_err(failed)?;
    let counted = distributor.clone();
    (options.service).serve_sockets_and("work serve", options.report, move || {
        numbers::of_distributor(&counted.counters())
    })?;
    let reporter = Reporter::read(distributor.monitor(), options.report, None)?;
    let (renewed, chosen, endpoints) = (
        distributor.clone(),
        options.security.clone(),
        doors.endpoints().to_vec(),
    );
    options.renewal.renew(options.report, move |withdrawn| {
        let security = chosen.choice().security(&endpoints)?;
        renewed.renew_security(security, withdrawn).map_err(failed)
    })?;
    let rest = Rest::default();
    let (of_stop, stopped) = (rest.clone(), distributor.clone());
    interrupt::finish_on_signal(Stop {
        grace: options.service.grace,
        // No more lines are read. Those that were read are handed out.
        begin: Box::new(|| {}),
        break_off: Box::new(move || of_stop.end(&stopped)),
        json: options.report.json,
    })?;
    let (tell_rest, told_rest) = mpsc::channel();
    let (told, format) = (distributor.clone(), options.output.format(options.report));
    let telling = threads::spawn(move || tell(&told, format, left, &told_rest))?;
    let served = serve(&distributor, doors, &rest);
    rest.end(&distributor);
    let not_done = std::mem::take(&mut *rest.lock());
    // Some may have been set aside a moment ago.
    let left = not_done.iter().filter(|task| !task.is_set_aside()).count() as u64;
    let _ = tell_rest.send(not_done);
    let (set_aside, unwritten) = telling
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    if interrupt::requested() {
        given_up::count(Kind::Tasks, left);
        reporter.finish_stopped();
    } else {
        reporter.finish();
    }
    let counters = distributor.counters();
    if counters.added > 0 {
        sum_up(&counters, set_aside, left, options.report.json);
    }
    match (served, unwritten) {
        (Err(failure), _) if !failure.is_stop() => Err(failure),
        (_, Some(failure)) => Err(failure),
        _ if left > 0 => Err(Failure::stopped()),
        _ if set_aside > 0 => {
            let plural = if set_aside == 1 { "" } else { "s" };
            let message = format!("{set_aside} task{plural} failed as often as they may");
            Err(Failure::new(Code::SetAside, message))
        }
        (served, None) => served,
    }
}

/// Serves until all is read and each task has an outcome, or the distributor is ended.
fn serve(distributor: &Distributor, doors: Doors, rest: &Rest) -> Result<(), Failure> {
    notify::ready(&listening(&doors.open(distributor)?));
    notify::watch(alive::engine)?;
    // Tasks that were added before a failure are finished all the same.
    let read = read(distributor, rest);
    match distributor.finished_blocking(None) {
        Ok(()) => read,
        Err(error) => read.and(Err(failed(error))),
    }
}

/// Adds a task for each line.
fn read(distributor: &Distributor, rest: &Rest) -> Result<(), Failure> {
    let mut input = Input::lines();
    let mut line = 0_u64;
    while let Some(message) = input.next()? {
        line += 1;
        let task = body(message);
        match distributor.add_blocking(task.clone(), None) {
            Ok(_) => {}
            // It was read, and can be put in again.
            Err(Error::ShutDown) => rest.lock().push(NotDone::never_added(task)),
            Err(error) => {
                let message =
                    format!("line {line} of standard input, and no more is read: {error}");
                return Err(Failure::new(Code::Failed, message));
            }
        }
    }
    Ok(())
}

fn body(mut message: Message) -> Bytes {
    message
        .pop_front()
        .map_or_else(Bytes::new, |frame| frame.into_bytes())
}

/// Tells of each outcome, then of what is left.
fn tell(
    distributor: &Distributor,
    format: Format,
    left: Option<Left>,
    rest: &Receiver<Vec<NotDone>>,
) -> (u64, Option<Failure>) {
    let mut teller = Teller::new(format, left);
    while let Ok(outcome) = distributor.outcome_blocking(None) {
        teller.tell(outcome);
        while let Some(outcome) = distributor.try_outcome() {
            teller.tell(outcome);
        }
        teller.flush();
    }
    while let Some(outcome) = distributor.try_outcome() {
        teller.tell(outcome);
    }
    for task in rest.recv().unwrap_or_default() {
        teller.not_done(&task);
    }
    teller.finish()
}
