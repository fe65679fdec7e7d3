//! `sealwire proxy`: everything that arrives on one side goes out on the other, both ways.

pub(crate) mod control;
mod stopping;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{Args, ValueEnum};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Proxy, SocketType};

use crate::exit::Failure;
use crate::interrupt::{self, Stop};
use crate::ipc_options::IpcOptions;
use crate::report::{ReportOptions, Reporter};
use crate::security_options::{
    BackendSecurityOptions, CaptureSecurityOptions, ControlSecurityOptions,
    FrontendSecurityOptions, SecurityChoice, warn_of_plain_text,
};
use crate::service::doors::{Doors, ListeningOptions};
use crate::service::renewal::{RenewalOptions, Renewed};
use crate::service::{ServiceOptions, alive, notify};
use crate::sockets::opened::listening;
use crate::sockets::options::parse_endpoint;
use crate::tls_options::TlsOptions;
use crate::web_options::WebOptions;

/// Socket types that a proxy can have on a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Router,
    Dealer,
    Xsub,
    Xpub,
    Pull,
    Push,
    Pair,
}

impl Side {
    fn socket_type(self) -> SocketType {
        match self {
            Side::Router => SocketType::Router,
            Side::Dealer => SocketType::Dealer,
            Side::Xsub => SocketType::XSub,
            Side::Xpub => SocketType::XPub,
            Side::Pull => SocketType::Pull,
            Side::Push => SocketType::Push,
            Side::Pair => SocketType::Pair,
        }
    }

    /// Whether messages can pass between the two sides.
    fn fits(self, other: Side) -> bool {
        use Side::*;
        let talks = |side| matches!(side, Router | Dealer | Pair);
        match (self, other) {
            (Xsub, Xpub) | (Xpub, Xsub) | (Pull, Push) | (Push, Pull) => true,
            // Between two routers no first frame would name a peer of the other side.
            (Router, Router) => false,
            (one, another) => talks(one) && talks(another),
        }
    }
}

/// Connect two sockets: a queue (router and dealer), a forwarder (xsub and xpub), a streamer
/// (pull and push)
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProxyOptions {
    #[command(flatten)]
    frontend: Frontend,
    #[command(flatten)]
    frontend_security: FrontendSecurityOptions,
    #[command(flatten)]
    backend: Backend,
    #[command(flatten)]
    backend_security: BackendSecurityOptions,
    #[command(flatten)]
    steering: SteeringOptions,
    #[command(flatten)]
    capture_security: CaptureSecurityOptions,
    #[command(flatten)]
    control_security: ControlSecurityOptions,
    /// Of all its sockets.
    #[command(flatten)]
    tls: TlsOptions,
    /// Of all its sockets.
    #[command(flatten)]
    web: WebOptions,
    /// Of all its sockets.
    #[command(flatten)]
    ipc: IpcOptions,
    #[command(flatten)]
    listening: ListeningOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    renewal: RenewalOptions,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Capture and control")]
struct SteeringOptions {
    /// Publish a copy of every message here (PUB; repeatable)
    #[arg(long, value_name = "ENDPOINT")]
    capture: Vec<Endpoint>,

    /// Handle PAUSE, RESUME, TERMINATE and STATISTICS from here (REP; repeatable): see proxy-control
    #[arg(long, value_name = "ENDPOINT")]
    control: Vec<Endpoint>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Frontend")]
struct Frontend {
    /// Socket type of the side that clients see
    #[arg(long, value_name = "TYPE", value_enum)]
    frontend_type: Side,

    /// Listen on an endpoint (repeatable)
    #[arg(
        long,
        value_name = "ENDPOINT",
        required_unless_present_any = OTHERS_OF_FRONTEND
    )]
    frontend_bind: Vec<Endpoint>,

    /// Connect to an endpoint (repeatable)
    #[arg(long, value_name = "ENDPOINT", value_parser = parse_endpoint)]
    frontend_connect: Vec<Endpoint>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Backend")]
struct Backend {
    /// Socket type of the other side
    #[arg(long, value_name = "TYPE", value_enum)]
    backend_type: Side,

    /// Listen on an endpoint (repeatable)
    #[arg(
        long,
        value_name = "ENDPOINT",
        required_unless_present_any = OTHERS_OF_BACKEND
    )]
    backend_bind: Vec<Endpoint>,

    /// Connect to an endpoint (repeatable)
    #[arg(long, value_name = "ENDPOINT", value_parser = parse_endpoint)]
    backend_connect: Vec<Endpoint>,
}

/// What a side may have in place of an endpoint that it binds.
#[cfg(unix)]
const OTHERS_OF_FRONTEND: [&str; 2] = ["frontend_connect", "listen_fds"];
#[cfg(unix)]
const OTHERS_OF_BACKEND: [&str; 2] = ["backend_connect", "listen_fds"];
#[cfg(not(unix))]
const OTHERS_OF_FRONTEND: [&str; 1] = ["frontend_connect"];
#[cfg(not(unix))]
const OTHERS_OF_BACKEND: [&str; 1] = ["backend_connect"];

const EXAMPLES: &str = "\
Examples:
  Requests from anywhere, workers on this machine, encryption up to here:
    sealwire proxy --frontend-type router --frontend-bind tcp://*:5555 \\
      --frontend-server --frontend-secret-key-file server.key --frontend-allow clients/ \\
      --backend-type dealer --backend-bind ipc:///run/workers.sock

  Many publishers, many subscribers, one address for each:
    sealwire proxy --frontend-type xsub --frontend-bind tcp://127.0.0.1:5556 \\
      --backend-type xpub --backend-bind tcp://127.0.0.1:5557

  See what passes through, and how much:
    sealwire proxy --frontend-type pull --frontend-bind tcp://127.0.0.1:5558 \\
      --backend-type push --backend-bind tcp://127.0.0.1:5559 \\
      --capture ipc:///run/capture.sock --control ipc:///run/control.sock
    sealwire sub -c ipc:///run/capture.sock
    sealwire proxy-control ipc:///run/control.sock statistics

  The same from another machine, for operators with a key:
    sealwire proxy --frontend-type pull --frontend-bind tcp://127.0.0.1:5558 \\
      --backend-type push --backend-bind tcp://127.0.0.1:5559 \\
      --control tcp://*:5560 --control-server --control-secret-key-file proxy.key \\
      --control-allow operators/

It runs until it is interrupted or terminated. What passes through is decrypted here and encrypted anew: the far
sides see this proxy's key, not each other's.";

pub(crate) fn run(options: &ProxyOptions) -> Result<(), Failure> {
    let (front, back) = (options.frontend.frontend_type, options.backend.backend_type);
    if !front.fits(back) {
        return Err(Failure::usage(format!(
            "no message can pass between {} and {}: use router and dealer, xsub and xpub, or pull \
             and push",
            front.socket_type(),
            back.socket_type(),
        )));
    }
    (options.service).serve_sockets("proxy", options.report)?;
    let steering = &options.steering;
    let [of_front, of_back, of_capture, of_control] = options.listening.doors_by_name([
        ("frontend", &options.frontend.frontend_bind),
        ("backend", &options.backend.backend_bind),
        ("capture", &steering.capture),
        ("control", &steering.control),
    ])?;
    let mut frontend = open(
        front.socket_type(),
        &options.frontend_security.choice(),
        of_front,
        &options.frontend.frontend_connect,
        options,
    )?;
    let mut backend = open(
        back.socket_type(),
        &options.backend_security.choice(),
        of_back,
        &options.backend.backend_connect,
        options,
    )?;
    for (side, name) in [(&frontend, "frontend"), (&backend, "backend")] {
        if side.doors.is_empty() && side.connect.is_empty() {
            return Err(Failure::usage(format!(
                "--listen-fds: no socket of the name {name} was passed (FileDescriptorName=), and there is no --{name}-bind"
            )));
        }
    }
    let capture_security = options.capture_security.choice();
    let mut capture = beside(SocketType::Pub, of_capture, &capture_security, options)?;
    let control_security = options.control_security.choice();
    let mut control = beside(SocketType::Rep, of_control, &control_security, options)?;
    let mut reporters = vec![
        Reporter::watch(&frontend.socket, options.report, Some("frontend"))?,
        Reporter::watch(&backend.socket, options.report, Some("backend"))?,
    ];
    let of_frontend = options.frontend_security.clone();
    let of_backend = options.backend_security.clone();
    let mut renewed = vec![
        frontend.renewed(of_frontend, FrontendSecurityOptions::choice, options),
        backend.renewed(of_backend, BackendSecurityOptions::choice, options),
    ];
    renewed.extend(capture.as_ref().map(|capture| {
        let security = options.capture_security.clone();
        capture.renewed(security, CaptureSecurityOptions::choice, options)
    }));
    renewed.extend(control.as_ref().map(|control| {
        let security = options.control_security.clone();
        control.renewed(security, ControlSecurityOptions::choice, options)
    }));
    options.renewal.renew_sockets(renewed, options.report)?;
    let before = Arc::<OnceLock<stopping::Before>>::default();
    let beside = capture.iter().chain(&control);
    let all = [&frontend, &backend].into_iter().chain(beside);
    let all: Vec<_> = all.map(|opened| opened.socket.clone()).collect();
    let (of_begin, begins, ends) = (before.clone(), all.clone(), all.clone());
    // A program that sees it listen may stop it at once.
    interrupt::finish_on_signal(Stop {
        grace: options.service.grace,
        begin: Box::new(move || {
            of_begin.get_or_init(|| stopping::Before::of(&begins));
            stopping::pass_on_what_came(&begins[..2]);
        }),
        break_off: Box::new(move || {
            for socket in ends {
                let _ = socket.close_with_linger(Duration::ZERO);
            }
        }),
        json: options.report.json,
    })?;
    for (extra, name) in [(&mut capture, "capture"), (&mut control, "control")] {
        if let Some(extra) = extra {
            reporters.push(Reporter::watch(&extra.socket, options.report, Some(name))?);
            extra.begin()?;
        }
    }
    let binds = [&frontend, &backend]
        .iter()
        .any(|side| !side.doors.is_empty());
    if !binds {
        notify::awaiting_connection("connecting");
    }
    let bound = [frontend.begin()?, backend.begin()?].concat();
    if binds {
        notify::ready(&listening(&bound));
    }
    notify::watch(alive::engine)?;
    let (frontend, backend) = (frontend.socket, backend.socket);
    let [capture, control] = [capture, control].map(|extra| extra.map(|extra| extra.socket));
    let mut device = Proxy::new(&frontend, &backend);
    if let Some(capture) = &capture {
        device = device.capture(capture);
    }
    if let Some(control) = &control {
        device = device.control(control);
    }
    let outcome = device.run();
    if interrupt::requested() {
        let before = before.get_or_init(|| stopping::Before::of(&all));
        stopping::close([frontend, backend], [capture, control], before, &outcome);
        reporters.into_iter().for_each(Reporter::finish_stopped);
        return match outcome {
            Ok(()) | Err(Error::Closed | Error::Drained { .. }) => Err(Failure::stopped()),
            Err(error) => Err(error.into()),
        };
    }
    let outcome = outcome.map_err(Failure::from);
    for socket in [Some(frontend), Some(backend), capture, control]
        .into_iter()
        .flatten()
    {
        socket.close()?;
    }
    for reporter in reporters {
        reporter.finish();
    }
    outcome
}

/// A socket that has yet to bind and connect.
struct Opened<'a> {
    socket: Socket,
    doors: Doors,
    connect: &'a [Endpoint],
}

impl Opened<'_> {
    /// How its keys are read again.
    fn renewed<S: Send + 'static>(
        &self,
        security: S,
        choice: fn(&S) -> SecurityChoice<'_>,
        options: &ProxyOptions,
    ) -> Renewed {
        let endpoints = [self.doors.endpoints(), self.connect].concat();
        Renewed {
            socket: self.socket.clone(),
            security: Box::new(move || choice(&security).security(&endpoints)),
            tls: options.tls.clone(),
        }
    }
}

/// A socket beside the two sides, if it has an endpoint.
fn beside<'a>(
    socket_type: SocketType,
    doors: Doors,
    choice: &SecurityChoice<'_>,
    options: &'a ProxyOptions,
) -> Result<Option<Opened<'a>>, Failure> {
    match doors.is_empty() {
        true => choice.must_be_empty().map(|()| None),
        false => open(socket_type, choice, doors, &[], options).map(Some),
    }
}

fn open<'a>(
    socket_type: SocketType,
    choice: &SecurityChoice<'_>,
    doors: Doors,
    connect: &'a [Endpoint],
    options: &ProxyOptions,
) -> Result<Opened<'a>, Failure> {
    let everywhere = doors.endpoints().iter().chain(connect);
    let security = choice.security(everywhere.clone())?;
    warn_of_plain_text(options.report, &security, everywhere);
    let builder = options
        .web
        .apply(Socket::builder(socket_type).security(security));
    let builder = options.listening.apply(options.ipc.apply(builder));
    let socket = options
        .tls
        .apply(builder, doors.endpoints(), connect)?
        .build_blocking()?;
    Ok(Opened {
        socket,
        doors,
        connect,
    })
}

impl Opened<'_> {
    /// Returns where it listens.
    fn begin(&mut self) -> Result<Vec<Endpoint>, Failure> {
        let bound = std::mem::take(&mut self.doors).open(&self.socket)?;
        for endpoint in self.connect {
            self.socket.connect(endpoint.clone())?;
        }
        Ok(bound)
    }
}
