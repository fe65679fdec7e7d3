//! rustls's advisories, over `wss`. Both were about how a server drives the library, so the version in
//! the lock file is one half of the answer, and this is the other.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use sealwire::SocketType;
use sealwire::blocking::Socket;
use sealwire::options::{TlsIdentity, TlsTrust};

use super::Server;
use crate::forger;
use crate::memory;
use crate::support::options;

/// Types of TLS records (RFC 8446, section 5.1).
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// A server over TLS, somebody honest who is connected, and the first flight of a client.
struct Scene {
    server: Server,
    honest: Socket,
    hello: Vec<u8>,
}

impl Scene {
    fn new() -> Scene {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let pem = made.cert.pem();
        let identity = TlsIdentity::from_pem(&pem, made.signing_key.serialize_pem()).unwrap();
        let server = Server::at(
            "wss://127.0.0.1:*",
            options(SocketType::Pull).tls_identity(identity),
        );
        let honest = options(SocketType::Push)
            .tls_trust(TlsTrust::from_pem(&pem).unwrap())
            .build_blocking()
            .unwrap();
        honest.connect(format!("wss://{}", server.address)).unwrap();

        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut hello = Vec::new();
        ClientConnection::new(Arc::new(config), name)
            .unwrap()
            .write_tls(&mut hello)
            .unwrap();
        assert_eq!(hello[0], HANDSHAKE);
        let scene = Scene {
            server,
            honest,
            hello,
        };
        scene.others_are_served();
        scene
    }

    /// One I/O thread serves all, so one that is lost or goes round in circles serves nobody.
    fn others_are_served(&self) {
        self.honest.send("still here").unwrap();
        assert_eq!(self.server.socket.recv().unwrap().as_bytes(), b"still here");
    }
}

fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16).to_be_bytes();
    [&[kind, 3, 3][..], &length, body].concat()
}

/// A close_notify during the handshake left a server in a loop that waited for nothing.
#[test]
fn rustsec_2024_0336_an_end_during_the_handshake() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let close_notify = record(ALERT, &[1, 0]);
    let ended = [&scene.hello[..], &close_notify].concat();
    let more = [&ended[..], &close_notify, &scene.hello].concat();
    let much_more = [&ended[..], &scene.hello.repeat(1_000)].concat();
    for said in [ended, more, much_more] {
        for piece in [1, said.len()] {
            let mut stream = forger::connect(scene.server.address);
            for piece in said.chunks(piece) {
                // The server is gone before all of it is written.
                if stream.write_all(piece).is_err() {
                    break;
                }
            }
            let cause = scene.server.cause_for(&stream).to_string();
            assert!(cause.contains("CloseNotify"), "{cause}");
            scene.others_are_served();
        }
    }
    // Where nothing can be told from it yet, the end of the connection counts.
    for said in [
        close_notify.clone(),
        [&scene.hello[..100], &close_notify].concat(),
    ] {
        let mut stream = forger::connect(scene.server.address);
        stream.write_all(&said).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        scene.server.cause_for(&stream);
        scene.others_are_served();
    }
}

/// A ClientHello in several records was a panic of the server.
#[test]
fn rustsec_2024_0399_a_first_flight_in_pieces() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let hello = &scene.hello[5..];
    for piece in [1, 2, 3, 4, 5, 40, hello.len() - 1] {
        let mut stream = forger::connect(scene.server.address);
        for piece in hello.chunks(piece) {
            stream.write_all(&record(HANDSHAKE, piece)).unwrap();
        }
        // ServerHello: it was put together.
        let mut answer = [0; 6];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((answer[0], answer[5]), (HANDSHAKE, 2), "pieces of {piece}");
        scene.others_are_served();
    }
}
