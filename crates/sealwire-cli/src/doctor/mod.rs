//! `doctor`: one connection, step by step, and what to mend where it ends.
//!
//! | file | has |
//! |---|---|
//! | `mod` | the options, and the connection |
//! | `diagnosis` | from a cause to the step that failed, an exit code and a sentence |
//! | `greeting` | what mechanism a peer has that closed before it said so |
//! | `steps` | what is printed of each step |

mod diagnosis;
mod greeting;
mod steps;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Event, Mechanism, Monitor, Peer, SocketType};

use self::diagnosis::Diagnosis;
use self::steps::{Step, Steps};
use crate::duration;
use crate::exit::{Code, Failure};
use crate::report::ReportOptions;
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::sockets::options::parse_endpoint;
use crate::tls_options::TlsOptions;

pub(crate) const HELP: &str = "\
Examples:
  sealwire doctor tcp://db.example:5555 --server-key server.pub --secret-key-file alice.key
  sealwire doctor tcp://127.0.0.1:5555 --as sub       as the program that does not get through
  sealwire doctor wss://db.example/in --server-key server.pub --tls-ca ca.pem --json

It connects once, as a socket of the type that --as names, sends no message, and leaves. A REQ gets none
either. As pull, dealer, pair and other types it may be handed messages while it is there: they are lost.

Exit codes:
  0    connected, and all is well
  10   the name has no address
  11   no route, or this machine does not let us connect
  12   nothing listens there
  13   nothing answers there: a firewall, or a machine that is down
  14   TLS or WebSocket was not agreed upon
  15   the other end does not speak ZMTP 3, or said nothing
  16   another mechanism, or both sides are servers or clients of it
  17   the server has another key
  18   not let in
  19   the socket types do not fit
  20   left after the handshake
  1, 2, 130, 143  as of the other commands";

/// How often the peer is asked for a sign of life.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// Options of doctor.
#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Where to connect: tcp://HOST:PORT, ipc://PATH, ipc://@NAME, ws://HOST:PORT/PATH, wss://HOST:PORT/PATH
    #[arg(value_name = "ENDPOINT", value_parser = parse_endpoint)]
    endpoint: Endpoint,

    /// The socket type of the program that is to connect
    #[arg(long = "as", value_name = "TYPE", default_value = "req", value_parser = parse_type)]
    socket_type: SocketType,

    /// How long each step may take
    #[arg(short, long, value_name = "TIME", default_value = "5s", value_parser = duration::parse_positive)]
    timeout: Duration,

    #[command(flatten)]
    security: SecurityOptions,

    #[command(flatten)]
    tls: TlsOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

fn parse_type(name: &str) -> Result<SocketType, String> {
    match name.parse() {
        Ok(SocketType::Stream | SocketType::Dgram) => {
            Err("STREAM and DGRAM do without a handshake, so nothing of it could fail".to_owned())
        }
        Ok(socket_type) => Ok(socket_type),
        Err(_) => Err("not a socket type: give one such as 'req' or 'sub'".to_owned()),
    }
}

pub(crate) fn run(options: &DoctorOptions) -> Result<(), Failure> {
    let endpoint = &options.endpoint;
    if matches!(endpoint, Endpoint::Udp { .. }) {
        return Err(Failure::usage(
            "over udp there is no connection, and nobody answers: doctor is for other endpoints",
        ));
    }
    let security = options.security.choice().security([endpoint])?;
    let mechanisms: Vec<Mechanism> = security.mechanisms().collect();
    let has_keys = mechanisms.iter().all(|one| one.encrypts());
    let mut steps = Steps::new(options.report, has_keys);
    warn_of_plain_text(options.report, &security, [endpoint]);
    // The name may take as long as the connection.
    let twice = options.timeout.saturating_mul(2);
    let builder = Socket::builder(options.socket_type)
        .security(security)
        .connect_timeout(options.timeout)
        .handshake_timeout(options.timeout)
        .heartbeat(HEARTBEAT.min(options.timeout))
        .heartbeat_timeout(twice);
    let endpoints = std::slice::from_ref(endpoint);
    let socket = options
        .tls
        .apply(builder, &[], endpoints)?
        .build_blocking()?;
    let events = socket.monitor();
    socket.connect(endpoint.clone())?;
    let peer = handshake(&events, options, &mechanisms, &mut steps)?;
    steps.ready(options.socket_type, &peer, endpoint)?;
    let outcome = sign_of_life(&socket, &events, &peer, options, &mut steps);
    let _ = socket.close_with_linger(Duration::ZERO);
    outcome
}

/// Follows the connection until the peer is there.
fn handshake(
    events: &Monitor,
    options: &DoctorOptions,
    mechanisms: &[Mechanism],
    steps: &mut Steps,
) -> Result<Arc<Peer>, Failure> {
    // A name may have many addresses, each of which may take its time.
    while let Some(event) = events.wait_next() {
        match event {
            Event::Connecting { address, .. } => steps.trying(&options.endpoint, &address)?,
            Event::Connected {
                address,
                local_address,
                ..
            } => steps.connected(&address, local_address.as_ref())?,
            Event::Ready { peer } => return Ok(peer),
            Event::Failed(failure) => {
                let mut diagnosis = Diagnosis::of(&failure, options.socket_type);
                if diagnosis.step == Step::Greeting
                    && let Some(theirs) = greeting::mechanism_of(failure.address(), options.timeout)
                {
                    diagnosis = diagnosis.knowing(&theirs, mechanisms, failure.address());
                }
                return Err(steps.failed(&diagnosis, &failure)?);
            }
            _ => {}
        }
    }
    Err(Failure::new(Code::Failed, "the socket was closed"))
}

/// Waits until a PING was answered: then the peer has let us in for good.
fn sign_of_life(
    socket: &Socket,
    events: &Monitor,
    peer: &Peer,
    options: &DoctorOptions,
    steps: &mut Steps,
) -> Result<(), Failure> {
    // A WebSocket has pings of its own, whose answers are not told; a peer that leaves does so at once.
    let is_web = matches!(options.endpoint, Endpoint::Ws { .. } | Endpoint::Wss { .. });
    let limit = match is_web {
        true => options.timeout.min(4 * HEARTBEAT),
        false => options.timeout,
    };
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match events.wait_next_timeout(HEARTBEAT) {
            Some(Event::Failed(failure)) => {
                let diagnosis = Diagnosis::of(&failure, options.socket_type);
                return Err(steps.failed(&diagnosis, &failure)?);
            }
            Some(Event::Disconnected { .. }) => return Err(steps.left(peer)?),
            _ => {}
        }
        let metrics = socket.metrics()?;
        if let Some(round_trip) = metrics
            .peers
            .iter()
            .find_map(|peer| peer.numbers.round_trip)
        {
            return steps.done(Step::Answer, &answered(round_trip.min));
        }
    }
    let message = match is_web {
        true => "the connection stays",
        false => "no PING was answered, as is so with ZMTP 3.0; else the peer hangs",
    };
    steps.done(Step::Answer, message)
}

fn answered(time: Duration) -> String {
    format!("a PING was answered within {time:.1?}")
}

/// A mechanism for people, with what it does for them.
fn protection(mechanism: Option<Mechanism>) -> String {
    match mechanism {
        Some(mechanism) if mechanism.encrypts() => mechanism.name().to_owned(),
        Some(mechanism) => format!("{}, which encrypts nothing", mechanism.name()),
        None => "none".to_owned(),
    }
}
