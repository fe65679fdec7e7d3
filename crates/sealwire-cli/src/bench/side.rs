//! The two processes: how they are started, find each other, and end.
//!
//! Each side lives as long as its standard input is open, so none is left behind, however the
//! process that started them ends.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;
use std::{env, fs};

use clap::Args;
use sealwire::auth::{AllowAnyone, Decision, PlainClient};
use sealwire::blocking::Socket;
use sealwire::{
    Endpoint, Generate as _, KeyPair, Monitor, PublicKey, Security, SocketBuilder, SocketType,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::result::Measured;
use super::{BenchOptions, Kind, Pattern, TIMEOUT, cores, handshake, latency, throughput};
use crate::duration;
use crate::exit::{Code, Failure};
use crate::security_options::Mechanism;

/// Memory that queues may take, in bytes of payload: large messages get shorter queues.
const QUEUE_BYTES: usize = 64 << 20;

/// Options of one of the two processes.
#[derive(Debug, Args)]
pub(crate) struct SideOptions {
    #[arg(value_enum)]
    kind: Kind,
    #[arg(long, value_enum)]
    mechanism: Mechanism,
    #[arg(long, value_enum)]
    pub(super) pattern: Pattern,
    #[arg(long)]
    pub(super) size: usize,
    #[arg(long, value_parser = duration::parse)]
    pub(super) time: Duration,
    #[arg(long, value_parser = duration::parse)]
    pub(super) warm_up: Duration,
    #[arg(long)]
    core: Option<usize>,
    /// Client: the server's endpoint.
    #[arg(long)]
    connect: Option<Endpoint>,
    /// Client: the server's key.
    #[arg(long)]
    server_key: Option<PublicKey>,
}

/// What the server side says first.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    endpoint: String,
    public_key: String,
}

// ---- the process that starts them -----------------------------------------------------------------

/// Runs both sides and returns what the measuring one found.
pub(super) fn run_both(
    kind: Kind,
    pattern: Pattern,
    options: &BenchOptions,
    cores: Option<[usize; 2]>,
) -> Result<Measured, Failure> {
    let arguments = |core: Option<usize>| {
        let mut arguments = vec![
            kind.name().to_owned(),
            format!("--mechanism={}", options.mechanism.name()),
            format!("--pattern={}", pattern.name()),
            format!("--size={}", options.size),
            format!("--time={}us", options.seconds.as_micros()),
            format!("--warm-up={}us", options.warm_up().as_micros()),
        ];
        arguments.extend(core.map(|core| format!("--core={core}")));
        arguments
    };
    let mut server = Side::start(arguments(cores.map(|cores| cores[0])))?;
    let introduction: Introduction = server.read()?;
    let mut client_arguments = arguments(cores.map(|cores| cores[1]));
    client_arguments.push(format!("--connect={}", introduction.endpoint));
    client_arguments.push(format!("--server-key={}", introduction.public_key));
    let mut client = Side::start(client_arguments)?;
    match kind {
        Kind::Throughput => server.read(),
        Kind::Latency | Kind::Handshake => client.read(),
    }
}

/// A process that was started.
struct Side {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Side {
    fn start(arguments: Vec<String>) -> Result<Self, Failure> {
        let failed = |error| Failure::new(Code::Failed, format!("cannot start a process: {error}"));
        let mut child = Command::new(this_program().map_err(failed)?)
            .arg("bench-side")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Side {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }

    fn read<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let mut line = String::new();
        let read = self
            .stdout
            .read_line(&mut line)
            .map_err(|error| error.to_string());
        read.and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
            .map_err(|error| {
                Failure::new(
                    Code::Failed,
                    format!("one of the two processes failed: {error}"),
                )
            })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// On Linux this also works when the file was replaced since the start.
fn this_program() -> io::Result<std::path::PathBuf> {
    match fs::metadata("/proc/self/exe") {
        Ok(_) => Ok("/proc/self/exe".into()),
        Err(_) => env::current_exe(),
    }
}

// ---- one of the two processes ---------------------------------------------------------------------

/// Does what one side does, until it has measured or is told to end.
pub(crate) fn run_side(options: &SideOptions) -> Result<(), Failure> {
    if let Some(core) = options.core {
        cores::pin_to(core).map_err(|message| Failure::new(Code::Failed, message))?;
    }
    thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let measured = match &options.connect {
        Some(endpoint) => client_side(options, endpoint)?,
        None => server_side(options)?,
    };
    print_line(&measured)?;
    wait_for_the_end()
}

fn client_side(options: &SideOptions, endpoint: &Endpoint) -> Result<Measured, Failure> {
    let builder = options.builder(options.pattern.client_type(), options.client_security()?);
    let client = Client {
        builder,
        endpoint: endpoint.clone(),
    };
    match options.kind {
        Kind::Throughput => match throughput::send(&client, options)? {},
        Kind::Latency => latency::measure(&client, options),
        Kind::Handshake => handshake::measure(&client, options),
    }
}

fn server_side(options: &SideOptions) -> Result<Measured, Failure> {
    let keys = KeyPair::generate();
    let security = match options.mechanism {
        Mechanism::Null => Security::plain_text(),
        Mechanism::Blake3 => Security::blake3_server(keys.clone(), AllowAnyone).into(),
        Mechanism::Curve => Security::curve_server(keys.clone(), AllowAnyone),
        Mechanism::Plain => {
            Security::plain_server(|_: &PlainClient<'_>| Decision::Allow { user_id: None })
        }
    };
    let socket = options
        .builder(options.pattern.server_type(), security)
        .build_blocking()?;
    let endpoint = socket.bind("tcp://127.0.0.1:0")?.to_string();
    print_line(&Introduction {
        endpoint,
        public_key: keys.public().to_z85(),
    })?;
    match options.kind {
        Kind::Throughput => throughput::receive(&socket, options),
        Kind::Latency => match latency::answer(&socket)? {},
        Kind::Handshake => wait_for_the_end(),
    }
}

/// The thread that reads standard input ends the process.
fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}

fn print_line(line: &impl Serialize) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// Makes connected sockets.
pub(super) struct Client {
    builder: SocketBuilder,
    endpoint: Endpoint,
}

impl Client {
    pub(super) fn connect(&self) -> Result<(Socket, Monitor), Failure> {
        let socket = self.builder.clone().build_blocking()?;
        let events = socket.monitor();
        socket.connect(self.endpoint.clone())?;
        Ok((socket, events))
    }
}

impl SideOptions {
    fn builder(&self, socket_type: SocketType, security: impl Into<Security>) -> SocketBuilder {
        let defaults = sealwire::options::DEFAULT_HIGH_WATER_MARK;
        let queue = (QUEUE_BYTES / self.size.max(1)).clamp(4, defaults);
        Socket::builder(socket_type)
            .security(security)
            .send_high_water_mark(queue)
            .receive_high_water_mark(queue)
            .max_message_size(self.size.max(sealwire::options::DEFAULT_MAX_MESSAGE_SIZE))
            .send_timeout(TIMEOUT)
            .receive_timeout(TIMEOUT)
            .linger(Duration::ZERO)
    }

    fn client_security(&self) -> Result<Security, Failure> {
        match (self.mechanism, self.server_key) {
            (Mechanism::Null, _) => Ok(Security::plain_text()),
            (Mechanism::Blake3, Some(key)) => {
                Ok(Security::blake3_client_with_keys(key, KeyPair::generate()).into())
            }
            (Mechanism::Curve, Some(key)) => Ok(Security::curve_client(key, KeyPair::generate())),
            (Mechanism::Plain, _) => Ok(Security::plain_client("bench", "bench")),
            (Mechanism::Blake3 | Mechanism::Curve, None) => {
                Err(Failure::usage("a client needs --server-key"))
            }
        }
    }
}
