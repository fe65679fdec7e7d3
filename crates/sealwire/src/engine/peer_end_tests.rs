//! The end of a peer's connection that nobody was told of, as a thread of the application reads it.

use std::thread;
use std::time::Duration;

use sealwire_zmtp::SocketType;

use super::held_thread::Held;
use crate::blocking::Socket;
use crate::{Context, Endpoint};

const LONG: Duration = Duration::from_secs(60);
/// For a socket that sends the rest to a peer that reads nothing.
const LINGER: Duration = Duration::from_secs(1);

fn socket(context: &Context) -> Socket {
    let socket = Socket::builder(SocketType::Dealer).context(context);
    let socket = socket.linger(LINGER).receive_high_water_mark(10);
    let socket = socket.reconnect(Duration::from_millis(10), LONG);
    socket.receive_timeout(LONG).build_blocking().unwrap()
}

/// A socket, and a server that it is connected to, each in a context of its own.
struct Connected {
    context: Context,
    other: Context,
    ours: Socket,
    endpoint: Endpoint,
}

impl Connected {
    fn new() -> (Self, Socket) {
        let [context, other] = [(), ()].map(|()| Context::new().unwrap());
        let theirs = socket(&other);
        let endpoint = theirs.bind("tcp://127.0.0.1:0").unwrap();
        let ours = socket(&context);
        ours.connect(endpoint.clone()).unwrap();
        let connected = Connected {
            context,
            other,
            ours,
            endpoint,
        };
        (connected, theirs)
    }

    /// Has a thread of the application read the connection to the server.
    fn lease(&self, theirs: &Socket) {
        self.ours.send("first").unwrap();
        assert_eq!(theirs.recv().unwrap().as_bytes(), b"first");
        read_directly(&self.ours, theirs);
    }

    /// The server comes back, and receives this first.
    fn server_receives(&self, expected: &str) -> Socket {
        let theirs = socket(&self.other);
        theirs.bind(self.endpoint.clone()).unwrap();
        assert_eq!(theirs.recv().unwrap().as_bytes(), expected.as_bytes());
        theirs
    }
}

/// Receives with a thread that begins to wait before the message comes, mostly.
fn read_directly(ours: &Socket, theirs: &Socket) {
    thread::scope(|scope| {
        let received = scope.spawn(|| ours.recv().unwrap());
        thread::sleep(Duration::from_millis(5));
        theirs.send("read directly").unwrap();
        assert_eq!(received.join().unwrap().as_bytes(), b"read directly");
    });
}

/// Sends until a message waits for the I/O thread, as one behind another does, and returns how many did not.
fn send_until_one_waits(ours: &Socket) -> usize {
    let sent = (0..).take_while(|_| {
        ours.send("one of many").unwrap();
        ours.peers()[0].numbers().outbound.messages == 0
    });
    sent.count()
}

/// Closes a socket, whose connection has ended then.
fn end(socket: Socket) {
    let monitor = socket.monitor();
    socket.close().unwrap();
    while monitor.wait_next().is_some() {}
    // Right behind a read nobody looks for the end.
    thread::sleep(Duration::from_millis(1));
}

#[test]
fn the_io_thread_gives_nothing_to_a_peer_that_has_gone() {
    let (connected, mut theirs) = Connected::new();
    for _ in 0..5 {
        connected.lease(&theirs);
        let held = Held::begin(&connected.context);
        for _ in 0..send_until_one_waits(&connected.ours) {
            assert_eq!(theirs.recv().unwrap().as_bytes(), b"one of many");
        }
        end(theirs);
        drop(held);
        theirs = connected.server_receives("one of many");
    }
}

#[test]
fn a_peer_that_has_gone_is_given_nothing_though_what_it_sent_is_not_read() {
    const UNREAD: usize = 50;
    let (connected, mut theirs) = Connected::new();
    let ours = &connected.ours;
    for _ in 0..2 {
        connected.lease(&theirs);
        for _ in 0..UNREAD {
            theirs.send("unread").unwrap();
        }
        // One read has more than there is room for, and the end is behind that.
        assert_eq!(ours.recv().unwrap().as_bytes(), b"unread");
        end(theirs);
        // The I/O thread knows of the end by now, if it was to be told.
        drop(Held::begin(&connected.context));
        ours.send("to the next").unwrap();
        for _ in 1..UNREAD {
            assert_eq!(ours.recv().unwrap().as_bytes(), b"unread");
        }
        theirs = connected.server_receives("to the next");
    }
}
