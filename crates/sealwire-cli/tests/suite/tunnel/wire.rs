//! The bytes on the wire: against the schemes of `sealwire-newplex` put together as the specification
//! says, and against the demonstration programs of the reference.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::aestream::{Reader, Writer};
use sealwire_newplex::schemes::handshake::{Established, Initiator, Responder};
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};

use super::ends::{ANY, Keys, content, dial, echo, exchange, service, with_timeouts};
use crate::support::start;

const DOMAIN: &str = "sealwire.newplex.tunnel";

fn digits(keys: &Keys, file: &str) -> Vec<u8> {
    let text = fs::read_to_string(keys.path(file)).expect("a key");
    let digits = text.trim().rsplit(':').next().expect("digits").as_bytes();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    digits.chunks(2).map(byte).collect()
}

fn secret(keys: &Keys, name: &str) -> SecretKey {
    SecretKey::from_bytes(&digits(keys, &format!("{name}.key"))).expect("a key")
}

fn public(keys: &Keys, name: &str) -> PublicKey {
    PublicKey::from_bytes(&digits(keys, &format!("{name}.pub"))).expect("a key")
}

/// The handshake as a connector.
fn initiate(socket: &mut TcpStream, own: SecretKey) -> Established {
    let (initiator, request) = Initiator::new(DOMAIN, own).expect("randomness");
    socket.write_all(&request).expect("it reads");
    let mut response = [0; 80];
    socket.read_exact(&mut response).expect("a response");
    let (session, confirmation) = initiator.finish(&response).expect("authentic");
    socket.write_all(&confirmation).expect("it reads");
    session
}

#[test]
fn a_listener_speaks_as_specified() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &[]);
    let mut socket = dial(&listener.endpoint());
    let session = initiate(&mut socket, secret(&keys, "alice"));
    assert_eq!(session.peer, public(&keys, "server"));
    let text = content(200_000);
    let mut writer = Writer::new(session.sender, socket.try_clone().expect("a socket"));
    writer.write_all(&text).expect("it reads");
    writer.finish().expect("it reads");
    let mut received = Vec::new();
    let mut reader = Reader::new(session.receiver, socket);
    reader.read_to_end(&mut received).expect("an end");
    assert!(received == text);
}

#[test]
fn a_connector_speaks_as_specified() {
    let keys = Keys::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut connector = keys.connect("alice", &format!("tcp://{address}"), &[]);
    let client = dial(&connector.endpoint());
    let text = content(200_000);
    let sent = text.clone();
    let exchanging = std::thread::spawn(move || exchange(client, sent));

    let mut socket = with_timeouts(listener.accept().expect("it comes").0);
    let mut request = [0; 32];
    socket.read_exact(&mut request).expect("a request");
    let own = secret(&keys, "server");
    let (responder, response) = Responder::new(DOMAIN, own, &request).expect("a request");
    socket.write_all(&response).expect("it reads");
    let mut confirmation = [0; 48];
    socket
        .read_exact(&mut confirmation)
        .expect("a confirmation");
    let session = responder.finish(&confirmation).expect("authentic");
    assert_eq!(session.peer, public(&keys, "alice"));
    let mut received = Vec::new();
    let mut reader = Reader::new(session.receiver, socket.try_clone().expect("a socket"));
    reader.read_to_end(&mut received).expect("an end");
    assert!(received == text);
    let mut writer = Writer::new(session.sender, socket);
    writer.write_all(b"answer").expect("it reads");
    writer.finish().expect("it reads");
    let (answer, ended) = exchanging.join().expect("no panic");
    assert!(ended.is_ok() && answer == b"answer");
}

#[test]
fn a_refusal_is_an_empty_block_under_its_own_label() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &[]);
    let mut socket = dial(&listener.endpoint());
    let Established { mut receiver, .. } = initiate(&mut socket, secret(&keys, "mallory"));
    socket.shutdown(Shutdown::Write).expect("a socket");
    let mut block = Vec::new();
    socket.read_to_end(&mut block).expect("nothing but a block");
    assert_eq!(block.len(), 18);
    let mut as_an_end: Protocol = receiver.clone();
    for (protocol, label, is_right) in [
        (&mut as_an_end, "block", false),
        (&mut receiver, "refused", true),
    ] {
        let mut length = [block[0], block[1]];
        protocol.unmask("header", &mut length);
        assert_eq!(length, [0, 0]);
        assert_eq!(protocol.open(label, &block[2..]).is_ok(), is_right);
    }
}

/// A program of the reference, ended when dropped.
struct Reference(Child);

impl Reference {
    /// The folder of its programs, where there is one; says so where there is none.
    fn folder() -> Option<String> {
        let folder = std::env::var("NEWPLEX_REFERENCE").ok();
        if folder.is_none() {
            // The test harness hides what passing tests print by the usual macros.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED a test with the reference of Newplex: NEWPLEX_REFERENCE names no folder of its programs"
            );
        }
        folder
    }

    /// Starts it; gives the key and the address that it tells.
    fn start(folder: &str, program: &str, connect: &str) -> (Self, String, String) {
        let mut child = Command::new(format!("{folder}/{program}"))
            .args(["-listen", "127.0.0.1:0", "-connect"])
            .arg(connect.trim_start_matches("tcp://"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut value = |name: &str| {
            let line = lines.next().expect("a line").expect("text");
            let start = line.find(name).expect("what it tells") + name.len();
            line[start..].trim().to_owned()
        };
        let (key, address) = (value("pk="), value("addr="));
        std::thread::spawn(move || lines.for_each(drop));
        (Reference(child), key, format!("tcp://{address}"))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the reference does not carry through is the end of one way: it ends both then. So the client
/// has its answer before it ends.
fn ask(entry: &str) {
    let mut socket = dial(entry);
    for size in [1, 1_000, 100_000] {
        let text = content(size);
        let mut back = vec![0; size];
        let mut writing = socket.try_clone().expect("a socket");
        let sent = text.clone();
        let sending = std::thread::spawn(move || writing.write_all(&sent).expect("it reads"));
        socket.read_exact(&mut back).expect("an answer");
        sending.join().expect("no panic");
        assert!(back == text);
    }
    socket.shutdown(Shutdown::Write).expect("a socket");
    assert_eq!(socket.read(&mut [0]).expect("a clean end"), 0);
}

#[test]
fn a_listener_serves_the_connector_of_the_reference() {
    let Some(folder) = Reference::folder() else {
        return;
    };
    let keys = Keys::new();
    // Its key is fresh at each start, and it wants to know where to connect first.
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("tcp://{}", holder.local_addr().expect("an address"));
    drop(holder);
    let (_reference, key, entry) = Reference::start(&folder, "ae_proxy", &endpoint);
    let (service, own) = (service(echo), keys.path("server.key"));
    let mut listener = start(&[
        "tunnel",
        "listen",
        "--bind",
        &endpoint,
        "--to",
        &service,
        "--allow",
        &key,
        "--secret-key-file",
        &own,
        "--domain",
        "newplex.ae_proxy",
    ]);
    listener.endpoint();
    ask(&entry);
}

#[test]
fn a_connector_is_served_by_the_listener_of_the_reference() {
    let Some(folder) = Reference::folder() else {
        return;
    };
    let keys = Keys::new();
    let (_reference, key, endpoint) = Reference::start(&folder, "ae_reverse_proxy", &service(echo));
    let own = keys.path("alice.key");
    let mut connector = start(&[
        "tunnel",
        "connect",
        "--bind",
        ANY,
        "--to",
        &endpoint,
        "--server-key",
        &key,
        "--secret-key-file",
        &own,
        "--domain",
        "newplex.ae_proxy",
    ]);
    ask(&connector.endpoint());
}
