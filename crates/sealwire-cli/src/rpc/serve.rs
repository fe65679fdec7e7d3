//! `rpc serve`: a process per call.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;

use clap::Args;
use sealwire::Endpoint;
use sealwire_rpc::handler::Pool;
use sealwire_rpc::{Code as StatusCode, Limits, Request, Server, Status};

use super::SizeOptions;
use super::program::{Open, Programs};
use crate::exit::{Code, Failure};
use crate::interrupt::{self, Stop};
use crate::report::{ReportOptions, Reporter};
use crate::security_options::{SecurityOptions, exposed};
use crate::service::given_up::{self, Kind};
use crate::service::{ServiceOptions, alive, notify};
use crate::threads;

/// Most of what a program says on standard error that its caller gets to read, in bytes.
const MAX_COMPLAINT: u64 = 4_096;

/// Options of rpc serve.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Listen on an endpoint (repeatable): tcp://HOST:PORT, ipc://PATH. Port 0 takes a free one
    #[arg(short, long, value_name = "ENDPOINT", required = true, value_parser = super::parse_endpoint)]
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
    service: ServiceOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,
}

pub(super) fn run(options: &ServeOptions) -> Result<(), Failure> {
    options.service.metrics.serve_sockets(options.report)?;
    let security = options.security.choice().security(&options.bind)?;
    for endpoint in exposed(&security, &options.bind) {
        options.report.warn(format!(
            "{endpoint} without encryption: anyone on the path can read and write"
        ));
    }
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
    let server = Server::builder(security).limits(limits).build(pool)?;
    let reporter = Reporter::read(server.monitor(), options.report, None)?;
    let serving = server.clone();
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
    let served = serve(&serving, &options.bind);
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
fn serve(server: &Server, endpoints: &[Endpoint]) -> Result<(), Failure> {
    let mut listening = Vec::new();
    for endpoint in endpoints {
        let bound = interrupt::binding(|| server.bind(endpoint.clone()))??;
        listening.push(bound.to_string());
    }
    notify::ready(&format!("listening on {}", listening.join(", ")));
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
    let failed = |what: &str, error: &std::io::Error| {
        Status::new(StatusCode::INTERNAL, format!("{what}: {error}"))
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in notify::VARIABLES {
        command.env_remove(variable);
    }
    let mut started = programs
        .start(&mut command)
        .map_err(|error| failed("cannot start the program", &error).not_started())?;
    let (stdin, stdout, stderr) = started.pipes();
    // The program and its pipes.
    let open = Open::new(4);
    let body = request.body().clone();
    thread::scope(|scope| {
        let no_thread = |error| failed("the system refused a thread", &error);
        // A program may read nothing of it.
        let writing = threads::spawn_within(scope, || {
            let written = stdin.map(|mut stdin| stdin.write_all(&body));
            open.close();
            written
        });
        let answer = threads::spawn_within(scope, || {
            let mut answer = Vec::new();
            let read = stdout.map(|stdout| stdout.take(max_answer + 1).read_to_end(&mut answer));
            open.close();
            (read, answer)
        });
        let complaint = threads::spawn_within(scope, || {
            let mut complaint = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = (&mut stderr)
                    .take(MAX_COMPLAINT)
                    .read_to_end(&mut complaint);
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            }
            open.close();
            String::from_utf8_lossy(&complaint).trim_end().to_owned()
        });
        let (answer, complaint) = match (writing, answer, complaint) {
            (Ok(_), Ok(answer), Ok(complaint)) => (answer, complaint),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                started.end();
                return Err(no_thread(error));
            }
        };
        let status = started.wait(request, &open).map_err(|error| {
            started.end();
            failed("cannot wait", &error)
        })?;
        let complaint = complaint.join().unwrap_or_default();
        let (read, answer) = answer.join().unwrap_or_default();
        match status {
            None => Err(StatusCode::CANCELLED.into()),
            Some(status) if !status.success() => {
                let message = format!("{program}: {status}: {complaint}");
                Err(Status::new(
                    StatusCode::ABORTED,
                    message.trim_end_matches(": "),
                ))
            }
            Some(_) => match read {
                Some(Err(error)) => Err(failed("cannot read from the program", &error)),
                _ => Ok(answer),
            },
        }
    })
}
