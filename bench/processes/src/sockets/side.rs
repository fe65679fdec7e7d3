//! The two processes: how they are started, find each other, and end.
//!
//! Each side lives as long as its standard input is open, so none is left behind, however the
//! process that started them ends.

use std::convert::Infallible;
use std::io::{self, Read as _};
use std::process::{Command, exit};
use std::time::Duration;
use std::{fmt, thread};

use sealwire::auth::{AllowAnyone, Decision, PlainClient};
use sealwire::blocking::Socket;
use sealwire::{
    Endpoint, Generate as _, KeyPair, Monitor, PublicKey, Security, SocketBuilder, SocketType,
};
use sealwire_bench_measure::cores;
use serde::{Deserialize, Serialize};

use super::record::Measured;
use super::{Kind, Load, Mechanism, Server, Side, TIMEOUT, handshake, latency, throughput};
use crate::Error;
use crate::process::{self, Process};

/// Memory that queues may take, in bytes of payload: large messages get shorter queues.
const QUEUE_BYTES: usize = 64 << 20;

/// What the server side says first.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    endpoint: String,
    public_key: String,
}

// ---- the process that starts them -----------------------------------------------------------------

/// Runs both sides and returns what the measuring one found.
pub(super) fn run_both(
    load: &Load,
    cores: Option<[usize; 2]>,
    command: impl Fn(&Side) -> io::Result<Command>,
) -> Result<Measured, Error> {
    let mut side = Side {
        load: load.clone(),
        core: cores.map(|cores| cores[0]),
        server: None,
    };
    let mut server = Process::start(command(&side))?;
    side.server = Some(server.read::<Introduction>()?.server()?);
    side.core = cores.map(|cores| cores[1]);
    let mut client = Process::start(command(&side))?;
    match load.kind {
        Kind::Throughput => server.read(),
        Kind::Latency | Kind::Handshake => client.read(),
    }
}

impl Introduction {
    fn server(&self) -> Result<Server, Error> {
        let failed = |error: &dyn fmt::Display| {
            Error::Failed(format!("one of the two processes failed: {error}"))
        };
        Ok(Server {
            endpoint: self
                .endpoint
                .parse::<Endpoint>()
                .map_err(|error| failed(&error))?,
            key: self
                .public_key
                .parse::<PublicKey>()
                .map_err(|error| failed(&error))?,
        })
    }
}

// ---- one of the two processes ---------------------------------------------------------------------

/// Does what one side does, until it has measured or is told to end.
///
/// # Errors
///
/// A socket failed, or nothing came of the other side in time.
pub fn run_side(side: &Side) -> Result<Infallible, Error> {
    if let Some(core) = side.core {
        cores::pin_to(core).map_err(Error::Failed)?;
    }
    thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        exit(0);
    });
    let measured = match &side.server {
        Some(server) => client_side(&side.load, server)?,
        None => server_side(&side.load)?,
    };
    process::print(&measured)?;
    wait_for_the_end()
}

fn client_side(load: &Load, server: &Server) -> Result<Measured, Error> {
    let security = load.client_security(server.key);
    let client = Client {
        builder: load.builder(load.pattern.client_type(), security),
        endpoint: server.endpoint.clone(),
    };
    match load.kind {
        Kind::Throughput => match throughput::send(&client, load)? {},
        Kind::Latency => latency::measure(&client, load),
        Kind::Handshake => handshake::measure(&client, load),
    }
}

fn server_side(load: &Load) -> Result<Measured, Error> {
    let keys = KeyPair::generate();
    let security = match load.mechanism {
        Mechanism::Null => Security::plain_text(),
        Mechanism::Blake3 => Security::blake3_server(keys.clone(), AllowAnyone).into(),
        Mechanism::Curve => Security::curve_server(keys.clone(), AllowAnyone),
        Mechanism::Plain => {
            Security::plain_server(|_: &PlainClient<'_>| Decision::Allow { user_id: None })
        }
    };
    let socket = load
        .builder(load.pattern.server_type(), security)
        .build_blocking()?;
    let endpoint = socket.bind("tcp://127.0.0.1:0")?.to_string();
    process::print(&Introduction {
        endpoint,
        public_key: keys.public().to_z85(),
    })?;
    match load.kind {
        Kind::Throughput => throughput::receive(&socket, load),
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

/// Makes connected sockets.
pub(super) struct Client {
    builder: SocketBuilder,
    endpoint: Endpoint,
}

impl Client {
    pub(super) fn connect(&self) -> Result<(Socket, Monitor), Error> {
        let socket = self.builder.clone().build_blocking()?;
        let events = socket.monitor();
        socket.connect(self.endpoint.clone())?;
        Ok((socket, events))
    }
}

impl Load {
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

    fn client_security(&self, server: PublicKey) -> Security {
        match self.mechanism {
            Mechanism::Null => Security::plain_text(),
            Mechanism::Blake3 => {
                Security::blake3_client_with_keys(server, KeyPair::generate()).into()
            }
            Mechanism::Curve => Security::curve_client(server, KeyPair::generate()),
            Mechanism::Plain => Security::plain_client("bench", "bench"),
        }
    }
}
