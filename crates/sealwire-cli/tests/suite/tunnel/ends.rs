//! Both ends of a tunnel, a service behind it, and clients.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{Running, run, start};

/// No read or write takes longer; one that does hangs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
pub(crate) const ANY: &str = "tcp://127.0.0.1:0";

/// Key pairs of the server, of alice, who is allowed, and of mallory, who is not.
pub(crate) struct Keys(TempDir);

impl Keys {
    pub(crate) fn new() -> Self {
        let keys = Keys(tempfile::tempdir().expect("a folder"));
        for name in ["server", "alice", "mallory"] {
            run(&["newplex", "keygen", "--out", &keys.path(name)]).expect_code(0);
        }
        keys
    }

    pub(crate) fn path(&self, name: &str) -> String {
        let path = self.0.path().join(name);
        path.to_str().expect("text").to_owned()
    }

    /// A listener that allows these keys.
    pub(crate) fn listen_for(&self, allowed: &str, to: &str) -> Running {
        start(&as_str(&self.listening_for(allowed, to, &[])))
    }

    pub(crate) fn listen(&self, to: &str, options: &[&str]) -> Running {
        start(&as_str(&self.listening(to, options)))
    }

    /// The arguments of a listener that allows alice.
    pub(crate) fn listening(&self, to: &str, options: &[&str]) -> Vec<String> {
        self.listening_for(&self.path("alice.pub"), to, options)
    }

    fn listening_for(&self, allowed: &str, to: &str, options: &[&str]) -> Vec<String> {
        let secret = self.path("server.key");
        let security = ["--secret-key-file", &secret, "--allow", allowed];
        let ends = ["tunnel", "listen", "--bind", ANY, "--to", to];
        owned(&[&ends[..], &security, options].concat())
    }

    pub(crate) fn connect(&self, name: &str, to: &str, options: &[&str]) -> Running {
        start(&as_str(&self.connecting(name, to, options)))
    }

    /// The arguments of a connector with this key.
    pub(crate) fn connecting(&self, name: &str, to: &str, options: &[&str]) -> Vec<String> {
        let (secret, server) = (self.path(&format!("{name}.key")), self.path("server.pub"));
        let security = ["--secret-key-file", &secret, "--server-key", &server];
        let ends = ["tunnel", "connect", "--bind", ANY, "--to", to];
        owned(&[&ends[..], &security, options].concat())
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().copied().map(str::to_owned).collect()
}

pub(crate) fn as_str(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// A tunnel to a service, and where it begins.
pub(crate) struct Tunnel {
    pub(crate) listener: Running,
    pub(crate) connector: Running,
    pub(crate) entry: String,
    _keys: Keys,
}

impl Tunnel {
    /// To `service`, with alice's key.
    pub(crate) fn to(service: &str) -> Self {
        Self::with(service, &[], &[])
    }

    pub(crate) fn with(service: &str, listen: &[&str], connect: &[&str]) -> Self {
        let keys = Keys::new();
        let mut listener = keys.listen(service, listen);
        let mut connector = keys.connect("alice", &listener.endpoint(), connect);
        let entry = connector.endpoint();
        Tunnel {
            listener,
            connector,
            entry,
            _keys: keys,
        }
    }
}

pub(crate) fn dial(endpoint: &str) -> TcpStream {
    let address = endpoint.trim_start_matches("tcp://");
    with_timeouts(TcpStream::connect(address).expect("it listens"))
}

pub(crate) fn with_timeouts(socket: TcpStream) -> TcpStream {
    socket.set_read_timeout(Some(TIMEOUT)).expect("a socket");
    socket.set_write_timeout(Some(TIMEOUT)).expect("a socket");
    socket
}

/// Whether the other side ended the connection, cleanly or not, without having sent anything more.
/// Waits for that.
pub(crate) fn is_over(mut socket: &TcpStream) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    match socket.read(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => !matches!(error.kind(), TimedOut | WouldBlock),
    }
}

/// A service that does `answer` with each connection, in a thread of its own. Where it is.
pub(crate) fn service(answer: impl Fn(TcpStream) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let (socket, answer) = (with_timeouts(socket), answer.clone());
            thread::spawn(move || answer(socket));
        }
    });
    format!("tcp://{address}")
}

/// Sends everything back, then ends.
pub(crate) fn echo(mut socket: TcpStream) {
    let mut back = socket.try_clone().expect("a socket");
    // A client that breaks off is none of the service's business.
    if io::copy(&mut socket, &mut back).is_ok() {
        let _ = back.shutdown(Shutdown::Write);
    }
}

/// Sends `text` and then the end, while everything that comes is read to its end.
pub(crate) fn exchange(mut socket: TcpStream, text: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
    let mut back = socket.try_clone().expect("a socket");
    let sending = thread::spawn(move || {
        let sent = socket.write_all(&text);
        // After a reset there is nothing to be ended.
        let _ = socket.shutdown(Shutdown::Write);
        sent
    });
    let mut received = Vec::new();
    let read = back.read_to_end(&mut received).map(drop);
    // A reset is told once, to the first call on the socket.
    let reset = match sending.join().expect("no panic") {
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(error),
        _ => Ok(()),
    };
    (received, read.and(reset))
}

/// Bytes that differ from place to place.
pub(crate) fn content(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}
