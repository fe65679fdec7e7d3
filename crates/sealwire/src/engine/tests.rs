//! Waiting calls when the I/O thread fails.

use std::cell::RefCell;
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sealwire_zmtp::SocketType;

use super::mailbox::{Command, Fault};
use crate::blocking::Socket;
use crate::{Context, Error, Event, FailureCause};

/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);
/// Where nobody listens: port 1 is never given out.
const NOBODY: &str = "tcp://127.0.0.1:1";

fn failed<T: std::fmt::Debug>(outcome: Result<T, impl Into<Error>>) {
    match outcome.map_err(Into::into) {
        Err(Error::EngineFailed) => {}
        other => panic!("not what it should be: {other:?}"),
    }
}

/// What it comes to: threads may be told before tasks.
fn over<T>(what: &str, mut poll: impl FnMut() -> Poll<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        match poll() {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => assert!(Instant::now() < deadline, "it still waits: {what}"),
        }
        thread::yield_now();
    }
}

/// A call on a thread of its own, which may outlive the test: one that is never told would hold up
/// the thread that joins it.
struct Waiting {
    what: &'static str,
    thread: JoinHandle<()>,
}

impl Waiting {
    fn begin(what: &'static str, call: impl FnOnce() + Send + 'static) -> Self {
        let thread = thread::spawn(call);
        Waiting { what, thread }
    }

    fn end(self) {
        over(self.what, || match self.thread.is_finished() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        });
        self.thread.join().unwrap();
    }
}

fn socket(context: &Context, socket_type: SocketType) -> Socket {
    let builder = Socket::builder(socket_type).context(context);
    let builder = builder.send_high_water_mark(1).linger(Duration::ZERO);
    builder.build_blocking().unwrap()
}

fn everybody_is_told_of(fault: Fault) {
    let context = Context::new().unwrap();
    // Dropped last. Dropping the last handle of a blocking socket waits for its end, which never comes where
    // nobody is told: a test that fails would hang.
    let handles = RefCell::new(Vec::new());
    let kept = |socket: Socket| {
        let handle = crate::Socket::from(socket.clone());
        handles.borrow_mut().push(handle);
        socket
    };
    let make = |socket_type| kept(socket(&context, socket_type));
    let (pull, push) = (make(SocketType::Pull), make(SocketType::Push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    push.send("work").unwrap();
    assert_eq!(pull.recv_timeout(LONG).unwrap().as_bytes(), b"work");
    // Sockets without a peer, whose messages have nowhere to go.
    let caller = make(SocketType::Peer);
    let lingering = Socket::builder(SocketType::Push).context(&context);
    let lingering = kept(lingering.linger(LONG).build_blocking().unwrap());
    lingering.connect(NOBODY).unwrap();
    lingering.send("work").unwrap();
    let (lonely, idle) = (make(SocketType::Push), make(SocketType::Pull));
    let (monitor, other_monitor) = (idle.monitor(), idle.monitor());
    let shared = crate::Socket::from(idle.clone());
    let mut task = TaskContext::from_waker(Waker::noop());
    let mut receiving = Box::pin(shared.recv());
    assert!(receiving.as_mut().poll(&mut task).is_pending());
    let full = crate::Socket::from(lonely.clone());
    let mut sending = Box::pin(full.send("work"));
    assert!(sending.as_mut().poll(&mut task).is_pending());
    let mut ending = Box::pin(crate::Socket::from(lingering.clone()).close());
    assert!(ending.as_mut().poll(&mut task).is_pending());
    let peer = crate::Socket::from(caller.clone());
    let mut connecting = Box::pin(peer.connect_peer(NOBODY));
    assert!(connecting.as_mut().poll(&mut task).is_pending());
    let mut incoming = shared.incoming();
    let mut next = Box::pin(incoming.next());
    assert!(next.as_mut().poll(&mut task).is_pending());
    let mut observing = Box::pin(other_monitor.next());
    assert!(observing.as_mut().poll(&mut task).is_pending());

    let of = |socket: &Socket, call: fn(Socket)| {
        let socket = socket.clone();
        move || call(socket)
    };
    let waiting = [
        Waiting::begin("recv", of(&pull, |pull| failed(pull.recv()))),
        Waiting::begin("recv without a peer", of(&idle, |idle| failed(idle.recv()))),
        Waiting::begin("send", of(&lonely, |lonely| failed(lonely.send("work")))),
        Waiting::begin(
            "incoming",
            of(&idle, |idle| failed(idle.incoming().next().unwrap())),
        ),
        Waiting::begin(
            "send_many",
            of(&lonely, |lonely| {
                failed(lonely.send_many_timeout(&mut ["work".into()].into(), LONG))
            }),
        ),
        Waiting::begin(
            "connect_peer",
            of(&caller, |caller| failed(caller.connect_peer(NOBODY))),
        ),
        Waiting::begin(
            "close",
            of(&lingering, |lingering| failed(lingering.close())),
        ),
        Waiting::begin("a monitor", move || assert!(monitor.wait_next().is_none())),
    ];
    context.mailbox().post(Command::Fault(fault));
    for call in waiting {
        call.end();
    }
    assert!(context.mailbox().is_closed());
    failed(over("recv", || receiving.as_mut().poll(&mut task)));
    failed(over("send", || sending.as_mut().poll(&mut task)));
    failed(over("connect_peer", || connecting.as_mut().poll(&mut task)));
    failed(over("close", || ending.as_mut().poll(&mut task)));
    failed(over("incoming", || next.as_mut().poll(&mut task)).unwrap());
    assert!(over("a monitor", || observing.as_mut().poll(&mut task)).is_none());
    drop((receiving, sending, connecting, ending, next, observing));
    drop(incoming);
    failed(push.send_timeout("work", LONG));
    failed(
        push.try_recv()
            .or_else(|_| push.try_send("work").map(|()| "sent".into())),
    );
    failed(pull.bind("tcp://127.0.0.1:0"));
    failed(pull.connect("tcp://127.0.0.1:1"));
    failed(pull.connect("inproc://somebody"));
    // Made afterwards.
    failed(make(SocketType::Pull).recv_timeout(LONG));
    drop(handles);
    let end = move || {
        for socket in [pull, push, lonely] {
            failed(socket.close());
        }
        // The blocking one last: it waits.
        drop((shared, idle));
    };
    Waiting::begin("close or drop", end).end();

    let (pull, push) = (SocketType::Pull, SocketType::Push);
    let other = Context::new().unwrap();
    let (pull, push) = (socket(&other, pull), socket(&other, push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    push.send("another context").unwrap();
    assert_eq!(
        pull.recv_timeout(LONG).unwrap().as_bytes(),
        b"another context"
    );
}

#[test]
fn a_panic_of_the_thread_ends_all_sockets_with_an_error() {
    everybody_is_told_of(Fault::Panic { again: false });
}

#[test]
fn a_source_that_panics_as_it_is_ended_keeps_nobody_waiting() {
    everybody_is_told_of(Fault::Panic { again: true });
}

#[test]
fn a_poll_that_fails_ends_all_sockets_with_an_error() {
    everybody_is_told_of(Fault::Poll);
}

#[test]
fn a_socket_that_a_fault_ended_gives_its_inproc_name_back() {
    let context = Context::new().unwrap();
    let pull = socket(&context, SocketType::Pull);
    pull.bind("inproc://name").unwrap();
    context.mailbox().post(Command::Fault(Fault::Poll));
    failed(pull.recv());
    assert!(context.inproc().is_bound("name"));
    drop(pull);
    assert!(!context.inproc().is_bound("name"));
}

/// A source that panics ends, and says so; the others of the context go on. It may panic once more as it
/// is removed.
fn ends_alone(socket_type: SocketType, open: impl Fn(&Socket) -> String) {
    for again in [false, true] {
        ends_alone_after(socket_type, &open, again);
    }
}

fn ends_alone_after(socket_type: SocketType, open: impl Fn(&Socket) -> String, again: bool) {
    let context = Context::new().unwrap();
    let make = |socket_type| socket(&context, socket_type);
    let (pull, push) = (make(SocketType::Pull), make(SocketType::Push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    let broken = make(socket_type);
    let endpoint = open(&broken);
    let monitor = broken.monitor();
    let fault = Fault::PanicIn {
        endpoint: endpoint.clone(),
        again,
    };
    context.mailbox().post(Command::Fault(fault));
    loop {
        let event = monitor.wait_next_timeout(LONG).expect("an event says it");
        let internal = FailureCause::Internal;
        match event {
            Event::AcceptFailed { reason, .. } if reason == internal.to_string() => break,
            Event::Failed(failure) if matches!(failure.cause(), FailureCause::Internal) => break,
            _ => {}
        }
    }
    assert!(broken.bound_endpoints().is_empty() && broken.connected_endpoints().is_empty());
    push.send("work").unwrap();
    assert_eq!(pull.recv_timeout(LONG).unwrap().as_bytes(), b"work");
    // The socket is as good as new.
    assert_eq!(open(&broken).split(':').next(), endpoint.split(':').next());
    assert!(!context.mailbox().is_closed());
    broken.close().unwrap();
}

/// What the other threads do for a socket of the one that ended is over as well: its peers there see that.
#[test]
fn a_thread_that_ends_takes_its_sockets_with_it_and_no_others() {
    let context = Context::builder().io_threads(2).build().unwrap();
    let bound = |affinity| {
        let builder = Socket::builder(SocketType::Pull).context(&context);
        let socket = builder.io_affinity(affinity).build_blocking().unwrap();
        let endpoint = socket.bind("tcp://127.0.0.1:0").unwrap();
        (socket, endpoint)
    };
    let (alone, at_alone) = bound(0b01);
    let (both, at_first) = bound(0b01);
    let made = Socket::builder(SocketType::Pull).context(&context);
    both.reconfigure(made.io_affinity(0b10)).unwrap();
    both.bind("tcp://127.0.0.1:0").unwrap();
    let push = |endpoint| {
        let push = Socket::builder(SocketType::Push).send_timeout(LONG);
        let push = push.build_blocking().unwrap();
        push.connect(endpoint).unwrap();
        push.wait_connected(1).unwrap();
        push
    };
    let (to_alone, to_both) = (push(at_alone), push(at_first));
    let monitor = to_both.monitor();
    let fault = Command::Fault(Fault::Panic { again: false });
    context.threads().of(1).post(fault);
    assert!(matches!(both.recv(), Err(Error::EngineFailed)));
    loop {
        let event = monitor
            .wait_next_timeout(LONG)
            .expect("its connection ends");
        if matches!(event, Event::Disconnected { .. } | Event::Failed(_)) {
            break;
        }
    }
    to_alone.send("work").unwrap();
    assert_eq!(alone.recv_timeout(LONG).unwrap().as_bytes(), b"work");
    assert!(context.threads().any_has_failed());
}

#[test]
fn a_listener_that_panics_ends_alone() {
    ends_alone(SocketType::Pull, |socket| {
        let endpoint = socket.bind("tcp://127.0.0.1:0").unwrap();
        endpoint.to_string()
    });
}

#[test]
fn a_connector_that_panics_ends_alone() {
    ends_alone(SocketType::Pull, |socket| {
        socket.connect(NOBODY).unwrap();
        NOBODY.into()
    });
}

#[test]
fn a_datagram_source_that_panics_ends_alone() {
    ends_alone(SocketType::Dish, |socket| {
        let endpoint = socket.bind("udp://127.0.0.1:0").unwrap();
        endpoint.to_string()
    });
}
