//! `rpc serve`: a process per call.

use std::process::Command;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use clap::Args;
use sealwire::Endpoint;
use sealwire_rpc::handler::Pool;
use sealwire_rpc::{Code as StatusCode, Limits, Request, Server, Status};

use super::SizeOptions;
use crate::exit::{Code, Failure};
use crate::interrupt::{self, Stop};
use crate::programs::{Programs, Trouble, Wanted, exchange};
use crate::report::{ReportOptions, Reporter};
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::service::doors::{Doors, ListeningOptions};
use crate::service::given_up::{self, Kind};
use crate::service::renewal::RenewalOptions;
use crate::service::{ServiceOptions, alive, notify};
use crate::sockets::opened::listening;

/// Options of rpc serve.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Listen on an endpoint (repeatable): tcp://HOST:PORT, ipc://PATH. Port 0 takes a free one
    #[cfg_attr(unix, arg(required_unless_present = "listen_fds"))]
    #[cfg_attr(not(unix), arg(required = true))]
    #[arg(short, long, value_name = "ENDPOINT", value_parser = super::parse_endpoint)]
    bind: Vec<Endpoint>,

    #[command(flatten)]
    security: SecurityOptions,

    /// Run this program for each call: the call is its standard input, its standard output the
    /// answer. When it fails, the caller gets an error with its standard error
    #[arg(long, value_name = "PROGRAM")]
    exec: String,

    /// Arguments of the program
    #[arg(value_name = "ARGUMENT", last = true)]
    arguments: Vec<String>,

    /// Programs at a time; as many calls again may wait, further ones are turned away
    #[arg(long, value_name = "N", default_value_t = 16)]
    concurrency: usize,

    #[command(flatten)]
    size: SizeOptions,

    #[command(flatten)]
    listening: ListeningOptions,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    renewal: RenewalOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,
}

pub(super) fn run(options: &ServeOptions) -> Result<(), Failure> {
    (options.service).serve_sockets("rpc serve", options.report)?;
    let doors = options.listening.doors(&options.bind)?;
    let security = options.security.choice().security(doors.endpoints())?;
    warn_of_plain_text(options.report, &security, doors.endpoints());
    let mut limits = Limits::default();
    limits.max_body = options.size.max_size;
    let (program, arguments) = (options.exec.clone(), options.arguments.clone());
    let max_answer = u64::from(options.size.max_size);
    let concurrency = options.concurrency.max(1);
    let programs = Arc::new(Programs::new());
    let of_calls = programs.clone();
    let pool = Pool::new(concurrency, concurrency, move |request: &Request| {
        answer(request, &of_calls, &program, &arguments, max_answer)
    })
    .map_err(|error| Failure::new(Code::Failed, format!("cannot start threads: {error}")))?;
    let builder = Server::builder(security).limits(limits);
    let builder = builder.socket(|socket| options.listening.apply(socket));
    let server = builder.build(pool)?;
    let reporter = Reporter::read(server.monitor(), options.report, None)?;
    let serving = server.clone();
    let (renewed, chosen, endpoints) = (
        server.clone(),
        options.security.clone(),
        doors.endpoints().to_vec(),
    );
    options.renewal.renew(options.report, move |withdrawn| {
        let security = chosen.choice().security(&endpoints)?;
        Ok(renewed.renew_security(security, withdrawn)?)
    })?;
    let (of_stop, (done, is_done)) = (programs.clone(), mpsc::channel::<()>());
    // A program that sees it listen may stop it at once.
    interrupt::finish_on_signal(Stop {
        grace: options.service.grace,
        begin: Box::new(move || {
            let finished = server.shutdown_blocking(interrupt::left());
            let ended = of_stop.end();
            if !finished {
                // Those that waited for a place have no program yet.
                given_up::count(Kind::Calls, ended.max(1) as u64);
            }
            drop(done);
        }),
        break_off: Box::new(|| {}),
        json: options.report.json,
    })?;
    let served = serve(&serving, doors);
    if interrupt::requested() {
        // Nothing is ever sent: the channel ends when the server is shut down.
        let _ = is_done.recv();
        reporter.finish_stopped();
        return Err(Failure::stopped());
    }
    programs.end();
    served
}

/// Serves until the server has ended.
fn serve(server: &Server, doors: Doors) -> Result<(), Failure> {
    notify::ready(&listening(&doors.open(server)?));
    notify::watch(alive::engine)?;
    Ok(server.closed_blocking()?)
}

fn answer(
    request: &Request,
    programs: &Programs,
    program: &str,
    arguments: &[String],
    max_answer: u64,
) -> Result<Vec<u8>, Status> {
    let mut command = Command::new(program);
    command.args(arguments);
    let ended = exchange(programs, &mut command, request.body(), max_answer, request);
    let answer = ended.map_err(|trouble| {
        let status = Status::new(StatusCode::INTERNAL, trouble.to_string());
        match trouble {
            Trouble::Start(_) => status.not_started(),
            _ => status,
        }
    })?;
    let Some(answer) = answer else {
        return Err(StatusCode::CANCELLED.into());
    };
    if let Some(failure) = answer.failure(program) {
        return Err(Status::new(StatusCode::ABORTED, failure));
    }
    answer.output.map_err(|error| {
        let message = format!("cannot read from the program: {error}");
        Status::new(StatusCode::INTERNAL, message)
    })
}

impl Wanted for Request {
    fn withdrawn(&self) -> impl Future<Output = ()> {
        self.cancelled()
    }

    fn is_withdrawn(&self) -> bool {
        self.is_cancelled()
    }

    fn time_left(&self) -> Option<Duration> {
        Request::time_left(self)
    }
}
