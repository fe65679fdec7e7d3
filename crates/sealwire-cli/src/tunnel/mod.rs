//! `sealwire tunnel`: a TCP service behind a mutually authenticated Newplex channel.
//!
//! ```text
//! program ── plain TCP ── connector ══ handshake, then blocks ══ listener ── plain TCP ── service
//! ```
//!
//! The protocol on the wire is that of [`sealwire_tunnel`], bytes in and bytes out. [`connection`] and
//! [`relay`] move them through sockets that never block, [`server`] decides for all of them in one thread, and
//! [`world`] is what they have of the system: the tests have another one.

mod admission;
mod allow;
mod connection;
mod events;
mod failure;
mod numbers;
mod own_keys;
mod reading;
mod relay;
mod server;
#[cfg(test)]
mod simulated_tests;
mod world;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use sealwire::Endpoint;
use sealwire_tunnel::Identity;

use crate::duration;
use crate::exit::{Code, Failure};
use crate::interrupt::{self, Stop};
use crate::newplex::keys;
use crate::report::ReportOptions;
use crate::secret_source::SecretSource;
use crate::service::doors::ListeningOptions;
use crate::service::renewal::read_again;
use crate::service::{ServiceOptions, notify};
use admission::within_descriptors;
use allow::{AllowList, Snapshot};
use connection::{LEAVE_TIME, Target, TunnelSettings};
use events::Events;
use own_keys::{CurrentKeys, OwnKeys};
use reading::{ReadList, Reading};
use server::{Limits, Server};
use world::System;

pub(crate) const HELP: &str = "\
Examples:
  On both machines, once: a key pair each, and the public key to the other
    sealwire newplex keygen --out server
    sealwire newplex keygen --out alice

  Where the service is:
    sealwire tunnel listen --bind tcp://*:7000 --to tcp://127.0.0.1:5432 \\
      --secret-key-file server.key --allow alice.pub

  Where it is wanted:
    sealwire tunnel connect --bind tcp://127.0.0.1:5432 --to tcp://HOST:7000 \\
      --server-key server.pub --secret-key-file alice.key
    psql -h 127.0.0.1

Newplex is an experimental design by one author, not a standard and not audited.";

const LISTEN: &str = "\
Examples:
  sealwire tunnel listen --bind tcp://*:7000 --to tcp://127.0.0.1:5432 \\
    --secret-key-file server.key --allow alice.pub --allow clients/

What is allowed is read again all the time: a key that is taken off loses its connections about a second
later. At SIGHUP its secret key is read again, for connections that begin from then on; the others go on.
Told to stop, it takes no more connections and gives those under way --grace to finish.";

const CONNECT: &str = "\
Examples:
  sealwire tunnel connect --bind tcp://127.0.0.1:5432 --to tcp://HOST:7000 \\
    --server-key server.pub --secret-key-file alice.key

Anyone who can connect to --bind acts in the name of --secret-key-file: bind to this machine only. Our own
key is shown to nobody but the owner of --server-key. At SIGHUP both are read again, for connections that
begin from then on; the others go on.";

/// What to do
#[derive(Debug, Subcommand)]
pub(crate) enum TunnelCommand {
    /// Accept sealed connections, and connect those that are allowed to a service
    #[command(after_help = LISTEN)]
    Listen(ListenOptions),
    /// Accept plain connections, and pass them sealed to a listener
    #[command(after_help = CONNECT)]
    Connect(ConnectOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ListenOptions {
    #[command(flatten)]
    ends: EndOptions,

    /// Let in this key (64 hexadecimal digits), those of this file (one per line, such as a .pub
    /// file), or those of the .pub files of this directory (repeatable); changes take effect at once
    #[arg(
        long,
        value_name = "KEY_FILE_OR_DIR",
        required = true,
        help_heading = "Security"
    )]
    allow: Vec<String>,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    report: ReportOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectOptions {
    #[command(flatten)]
    ends: EndOptions,

    /// The listener's public key: 64 hexadecimal digits, or a file
    #[arg(long, value_name = "KEY", help_heading = "Security")]
    server_key: String,

    #[command(flatten)]
    limits: LimitOptions,

    #[command(flatten)]
    service: ServiceOptions,

    #[command(flatten)]
    report: ReportOptions,
}

/// Where, and who we are.
#[derive(Debug, Args)]
struct EndOptions {
    /// Listen here: tcp://HOST:PORT, tcp://*:PORT. Port 0 takes a free one; "listening on ENDPOINT" on
    /// standard error says which
    #[cfg_attr(unix, arg(required_unless_present = "listen_fds"))]
    #[cfg_attr(not(unix), arg(required = true))]
    #[arg(short, long, value_name = "ENDPOINT", help_heading = "Connections")]
    bind: Option<Endpoint>,

    #[command(flatten)]
    listening: ListeningOptions,

    /// Connect to this for each connection: tcp://HOST:PORT. A name is looked up once, at the start
    #[arg(long, value_name = "ENDPOINT", help_heading = "Connections")]
    to: Endpoint,

    #[command(flatten)]
    secret: SecretOptions,

    /// Let the plain end leave this machine: anyone on the path there can read and write
    #[arg(long, help_heading = "Security")]
    plain_text: bool,
}

/// Our key, and the purpose that it is for.
#[derive(Debug, Clone, Args)]
struct SecretOptions {
    /// Our secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Security",
        required_unless_present = "secret_key_command"
    )]
    secret_key_file: Option<PathBuf>,

    /// The same from a command of the shell that prints what the file would hold, within 60 s
    #[arg(
        long,
        value_name = "COMMAND",
        help_heading = "Security",
        conflicts_with = "secret_key_file"
    )]
    secret_key_command: Option<String>,

    /// Application and purpose; the same on both sides
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "sealwire.newplex.tunnel",
        help_heading = "Security"
    )]
    domain: String,
}

impl SecretOptions {
    /// Reads our key, and as connector that of the listener.
    fn read(&self, server_key: Option<&str>) -> Result<OwnKeys, Failure> {
        let source = SecretSource::of(
            self.secret_key_file.as_deref(),
            self.secret_key_command.as_deref(),
        );
        let source = source.ok_or_else(|| Failure::usage("the secret key is missing"))?;
        let server_key = server_key.map(keys::read_public_or_digits).transpose()?;
        Ok(OwnKeys {
            identity: Arc::new(Identity::new(&self.domain, keys::secret_of(source)?)),
            server_key,
        })
    }
}

/// How much, and how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Connections at a time. A listener refuses what is above, a connector lets it wait
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    max_connections: u16,

    /// Concurrent handshakes of a listener, a quarter of them from one address; the oldest gives way
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    max_handshakes: u16,

    /// Longest time for connecting, and for the handshake
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse_positive)]
    handshake_timeout: Duration,

    /// When one way was closed: longest time without anything coming the other way
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration::parse_positive)]
    half_closed_timeout: Duration,
}

impl TunnelCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            TunnelCommand::Listen(options) => {
                let list = AllowList::new(&options.allow, Instant::now())?;
                let (ends, limits) = (&options.ends, &options.limits);
                run(
                    ends,
                    limits,
                    &options.service,
                    options.report,
                    Some(list),
                    None,
                )
            }
            TunnelCommand::Connect(options) => {
                let (ends, limits) = (&options.ends, &options.limits);
                run(
                    ends,
                    limits,
                    &options.service,
                    options.report,
                    None,
                    Some(options.server_key.clone()),
                )
            }
        }
    }

    /// Whether a script reads what is said.
    pub(crate) fn json(&self) -> bool {
        match self {
            TunnelCommand::Listen(options) => options.report.json,
            TunnelCommand::Connect(options) => options.report.json,
        }
    }
}

fn run(
    ends: &EndOptions,
    limits: &LimitOptions,
    service: &ServiceOptions,
    report: ReportOptions,
    allowed: Option<(AllowList, Snapshot)>,
    server_key: Option<String>,
) -> Result<(), Failure> {
    let doors = ends.listening.doors(ends.bind.as_slice())?;
    let [bind] = doors.endpoints() else {
        return Err(Failure::usage(format!(
            "a tunnel listens at one endpoint, and {} are given: each takes a process of its own",
            doors.endpoints().len()
        )));
    };
    let plain_end = if allowed.is_some() { &ends.to } else { bind };
    if plain_end.leaves_the_machine() && !ends.plain_text {
        return Err(Failure::usage(format!(
            "{plain_end}, the plain end of the tunnel, leaves this machine: anyone on the path could \
             read and write there; give an address of this machine, or --plain-text if that is meant"
        )));
    }
    let events = Events::new(report);
    let numbers = events.numbers.clone();
    let command = match allowed {
        Some(_) => "tunnel listen",
        None => "tunnel connect",
    };
    service.serve_numbers(command, report, move || numbers.prometheus())?;
    let bind = resolved(bind)?;
    let read = {
        let secret = ends.secret.clone();
        move || secret.read(server_key.as_deref())
    };
    let keys = CurrentKeys::new(read()?);
    let renewed = keys.clone();
    read_again(report, move || {
        renewed.replace(read()?);
        Ok(())
    })?;
    let settings = TunnelSettings {
        keys,
        to: resolved(&ends.to)?,
        handshake_timeout: limits.handshake_timeout,
        half_closed_timeout: limits.half_closed_timeout,
    };
    let wanted = (
        usize::from(limits.max_connections),
        usize::from(limits.max_handshakes),
    );
    let (max_connections, max_handshakes) = within_descriptors(wanted.0, wanted.1);
    if (max_connections, max_handshakes) != wanted {
        report.warn(format!(
            "the limit of file descriptors (ulimit -n) is enough for {max_connections} connections and \
             {max_handshakes} handshakes"
        ));
    }
    let limits = Limits {
        max_connections,
        max_handshakes,
        grace: service.grace,
    };
    let cannot = |error| {
        Failure::new(
            Code::Failed,
            format!("cannot wait for connections: {error}"),
        )
    };
    let mut system = System::new().map_err(cannot)?;
    let allowed = match allowed {
        Some((list, snapshot)) => {
            let reading = Reading::start(list, system.waker().clone())?;
            Some((Box::new(reading) as Box<dyn ReadList>, snapshot))
        }
        None => None,
    };
    let stop = system.stop_handle();
    // A program that sees it listen may stop it at once.
    interrupt::finish_on_signal(Stop {
        grace: limits.grace,
        begin: Box::new(move || stop.request()),
        // The server breaks off what is left by itself, and tells the peers.
        break_off: Box::new(|| thread::sleep(2 * LEAVE_TIME)),
        json: report.json,
    })?;
    #[cfg(unix)]
    let bound = match doors.into_passed() {
        Some(listener) => system.take_over(listener),
        None => system.listen(&bind.addresses, ends.listening),
    };
    #[cfg(not(unix))]
    let bound = system.listen(&bind.addresses, ends.listening);
    let bound = bound.map_err(|error| {
        let problem = format!("cannot listen on {}: {error}", bind.name);
        Failure::new(Code::Failed, problem)
    })?;
    events.listening(&format!("tcp://{bound}"));
    notify::ready(&format!("listening on tcp://{bound}"));
    notify::watch(|| Ok(system.sign_of_life()))?;
    Server::new(system, settings, allowed, limits, events).run()
}

/// The addresses behind an endpoint.
fn resolved(endpoint: &Endpoint) -> Result<Target, Failure> {
    let name = endpoint.to_string();
    let Endpoint::Tcp { host, port } = endpoint else {
        return Err(Failure::usage(format!(
            "{name}: a tunnel takes endpoints of the form tcp://HOST:PORT"
        )));
    };
    let addresses = if host == "*" {
        // Both families where the system has IPv6, else IPv4 alone.
        let everywhere = [Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()];
        everywhere.map(|ip| SocketAddr::new(ip, *port)).into()
    } else {
        (host.as_str(), *port)
            .to_socket_addrs()
            .map_err(|error| unresolved(&name, &error.to_string()))?
            .collect()
    };
    Ok(Target { addresses, name })
}

fn unresolved(name: &str, problem: &str) -> Failure {
    Failure::new(
        Code::Unreachable,
        format!("{name} does not resolve: {problem}"),
    )
}
