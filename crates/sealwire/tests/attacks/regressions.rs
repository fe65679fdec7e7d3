//! What others were hit by, tried on these sockets: their advisories by number.
//!
//! | advisory | what went wrong there | here |
//! |---|---|---|
//! | CVE-2019-13132, libzmq | INITIATE of any size was copied to the stack | [`libzmq`] |
//! | CVE-2019-6250, libzmq | a length was added to a pointer, which wrapped around | [`libzmq`] |
//! | CVE-2020-15166, libzmq | a connection had a pipe before its handshake was done | [`libzmq`] |
//! | CVE-2021-20234, libzmq | a message that was never finished stayed when its connection ended | [`libzmq`] |
//! | CVE-2021-20235, CVE-2014-9721, libzmq | old versions were spoken, by an old decoder and without security | [`libzmq`] |
//! | CVE-2021-20236, libzmq | cancelling a topic recursed for each of its bytes | [`libzmq`] |
//! | CVE-2021-20237, libzmq | a PUB kept what subscribers sent it | [`libzmq`] |
//! | RUSTSEC-2024-0373, quinn-proto | state of a refused handshake was looked up by another's number | [`handshakes`] |
//! | RUSTSEC-2024-0011, snow | what did not verify counted as a message | [`handshakes`] |
//! | CVE-2026-58250, NATS | a step of the handshake that came twice | [`handshakes`] |
//! | RUSTSEC-2026-0185, quinn-proto | overhead of small fragments was not counted | [`websocket`] |
//! | CVE-2026-27889, CVE-2026-27571, CVE-2026-33219, NATS | lengths, compression, memory of WebSocket before authentication | [`websocket`] |
//! | CVE-2026-58210, NATS | what was announced was kept until it was whole | [`websocket`] |
//! | RUSTSEC-2024-0336, RUSTSEC-2024-0399, rustls | a handshake that was ended, or came in pieces | [`tls`] |
//!
//! Those whose idea belongs to the parsers are in `crates/sealwire-zmtp/tests/suite/regressions.rs`;
//! docs/evidence.md has all of them, and what cannot occur here.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[cfg(feature = "ws")]
use sealwire::FailureCause;
use sealwire::blocking::Socket;
use sealwire::{ProtocolError, SocketBuilder};

use crate::forger;
use crate::scene::{Chronicle, End, fault};
use sealwire_relay::zmtp::{self, COMMAND};

mod handshakes;
mod libzmq;
#[cfg(feature = "wss")]
mod tls;
#[cfg(feature = "ws")]
mod websocket;

/// A socket that is bound, and how its connections end.
struct Server {
    socket: Socket,
    address: SocketAddr,
    chronicle: Arc<Chronicle>,
}

impl Server {
    fn bound(builder: SocketBuilder) -> Server {
        Server::at("tcp://127.0.0.1:0", builder)
    }

    fn at(endpoint: &str, builder: SocketBuilder) -> Server {
        let socket = builder.linger(Duration::ZERO).build_blocking().unwrap();
        let monitor = socket.monitor();
        let bound = socket.bind(endpoint).unwrap();
        let chronicle = Arc::<Chronicle>::default();
        thread::spawn({
            let chronicle = chronicle.clone();
            move || chronicle.write(&monitor)
        });
        Server {
            socket,
            address: address_of(&bound.to_string()),
            chronicle,
        }
    }

    fn endpoint(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// Why this connection has failed.
    #[cfg(feature = "ws")]
    fn cause_for(&self, stream: &TcpStream) -> FailureCause {
        match self.chronicle.end_of(stream.local_addr().unwrap()) {
            End::Failed(failure) => failure.cause().clone(),
            End::Clean => panic!("a clean end"),
        }
    }

    fn fault_of(&self, stream: &TcpStream) -> ProtocolError {
        match self.chronicle.end_of(stream.local_addr().unwrap()) {
            End::Failed(failure) => fault(&failure),
            End::Clean => panic!("a clean end"),
        }
    }
}

/// Host and port of an endpoint of any transport that has both.
fn address_of(endpoint: &str) -> SocketAddr {
    let (_, rest) = endpoint.split_once("://").unwrap();
    let address = rest.split('/').next().unwrap();
    address.parse().unwrap()
}

/// Speaks ZMTP 3 without security by hand, as a socket of this type, until the other side is ready.
fn speaking_null(mut stream: TcpStream, minor: u8, socket_type: &str) -> TcpStream {
    let mut greeting = zmtp::greeting("NULL", false);
    greeting[11] = minor;
    let ready = zmtp::command("READY", &forger::metadata(socket_type));
    let said = [&greeting[..], &zmtp::frame(COMMAND, &ready)].concat();
    stream.write_all(&said).unwrap();
    stream.read_exact(&mut [0; zmtp::GREETING_SIZE]).unwrap();
    zmtp::read_frame(&mut stream).unwrap().expect("READY");
    stream
}
