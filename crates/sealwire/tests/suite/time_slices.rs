//! A connection that can always write must leave the I/O thread to others now and then.
#![cfg(unix)]

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::{self, TIMEOUT};
use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Context, Frame, Message, SocketType};

/// A peer that has read everything whenever it is looked at, and a sender that has more to send
/// whenever something was written.
struct Endless {
    /// Closed before the sender, which waits for that.
    peer: UnixStream,
    sender: Socket,
    id: Vec<u8>,
    written: AtomicUsize,
    over: AtomicBool,
}

/// Dropped by the I/O thread once it was written.
struct Payload(Arc<Endless>);

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        &[7; 4_096]
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.0.written.fetch_add(1, Ordering::SeqCst);
        let mut buffer = vec![0; 1 << 16];
        while matches!((&self.0.peer).read(&mut buffer), Ok(length) if length > 0) {}
        self.0.send();
    }
}

impl Endless {
    fn send(self: &Arc<Self>) {
        if !self.over.load(Ordering::SeqCst) {
            let payload = Frame::from(Bytes::from_owner(Payload(self.clone())));
            let message = Message::from_iter([Frame::from(self.id.clone()), payload]);
            let _ = self.sender.try_send(message);
        }
    }
}

/// Ends it, however the test does.
struct End(Arc<Endless>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_connection_that_can_always_write_lets_others_have_the_thread() {
    let context = Context::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless");
    let sender = Socket::builder(SocketType::Stream)
        .context(&context)
        .build_blocking()
        .unwrap();
    sender.bind(format!("ipc://{}", path.display())).unwrap();
    let peer = UnixStream::connect(&path).unwrap();
    peer.set_nonblocking(true).unwrap();
    let greeting = sender.recv_timeout(TIMEOUT).unwrap();
    let endless = Arc::new(Endless {
        id: greeting.frames()[0].to_vec(),
        sender,
        peer,
        written: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    });
    (0..64).for_each(|_| endless.send());

    // Accepting, connecting and both handshakes are the I/O thread's.
    let sockets = [SocketType::Rep, SocketType::Req];
    let [rep, req] = sockets.map(|socket_type| {
        let builder = Socket::builder(socket_type).context(&context);
        builder.build_blocking().unwrap()
    });
    // Dropped before the sockets, which would wait for the I/O thread.
    let _end = End(endless.clone());
    req.connect(rep.bind("tcp://127.0.0.1:0").unwrap()).unwrap();
    for _ in 0..10 {
        req.send_timeout("question", TIMEOUT).unwrap();
        rep.recv_timeout(TIMEOUT).unwrap();
        rep.send_timeout("answer", TIMEOUT).unwrap();
        req.recv_timeout(TIMEOUT).unwrap();
    }
    let before = endless.written.load(Ordering::SeqCst);
    support::eventually("it still writes", || {
        endless.written.load(Ordering::SeqCst) > before
    });
}

/// Written messages are not reported as unsent, however many writes they took.
#[test]
fn a_socket_that_closes_has_sent_what_its_last_write_carried() {
    for count in 1..=60 {
        let socket = |socket_type| {
            let builder = Socket::builder(socket_type).linger(TIMEOUT);
            builder.build_blocking().unwrap()
        };
        let (push, pull) = (socket(SocketType::Push), socket(SocketType::Pull));
        push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
            .unwrap();
        let messages = (0..count).map(|_| Message::from(vec![7_u8; 64 << 10]));
        for message in messages {
            push.send(message).unwrap();
        }
        let reader = std::thread::spawn(move || {
            for _ in 0..count {
                pull.recv().unwrap();
            }
        });
        let closed = push.close();
        reader.join().unwrap();
        assert!(closed.is_ok(), "{count} messages: {closed:?}");
    }
}
