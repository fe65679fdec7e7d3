//! What becomes of those who wait when the I/O thread ends by a fault.

use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use std::time::Duration;

use sealwire_zmtp::SocketType;

use super::mailbox::{Command, Fault};
use crate::blocking::Socket;
use crate::{Context, Error};

/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);

fn failed<T: std::fmt::Debug>(outcome: Result<T, impl Into<Error>>) {
    match outcome.map_err(Into::into) {
        Err(Error::EngineFailed) => {}
        other => panic!("not what it should be: {other:?}"),
    }
}

fn socket(context: &Context, socket_type: SocketType) -> Socket {
    let builder = Socket::builder(socket_type).context(context);
    let builder = builder.send_high_water_mark(1).linger(Duration::ZERO);
    builder.build_blocking().unwrap()
}

fn everybody_is_told_of(fault: Fault) {
    let context = Context::new().unwrap();
    let make = |socket_type| socket(&context, socket_type);
    let (pull, push) = (make(SocketType::Pull), make(SocketType::Push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    push.send("work").unwrap();
    assert_eq!(pull.recv_for(LONG).unwrap().as_bytes(), b"work");
    // One without a peer, whose messages have nowhere to go.
    let (lonely, idle) = (make(SocketType::Push), make(SocketType::Pull));
    let monitor = idle.monitor();
    let shared = crate::Socket::from(idle.clone());
    let mut task = TaskContext::from_waker(Waker::noop());
    let mut receiving = Box::pin(shared.recv());
    assert!(receiving.as_mut().poll(&mut task).is_pending());

    thread::scope(|scope| {
        let waiting = [
            scope.spawn(|| failed(pull.recv_for(LONG))),
            scope.spawn(|| failed(idle.recv_for(LONG))),
            scope.spawn(|| failed(lonely.send_for("work", LONG))),
            scope.spawn(|| assert!(monitor.wait_next_for(LONG).is_none())),
        ];
        context.mailbox().post(Command::Fault(fault));
        for thread in waiting {
            thread.join().unwrap();
        }
    });
    assert!(context.mailbox().is_closed());
    match receiving.as_mut().poll(&mut task) {
        Poll::Ready(outcome) => failed(outcome),
        Poll::Pending => panic!("it still waits"),
    }
    drop(receiving);
    failed(push.send_for("work", LONG));
    failed(
        push.try_recv()
            .or_else(|_| push.try_send("work").map(|()| "sent".into())),
    );
    failed(pull.bind("tcp://127.0.0.1:0"));
    failed(pull.connect("tcp://127.0.0.1:1"));
    failed(pull.connect("inproc://somebody"));
    // Made afterwards.
    failed(make(SocketType::Pull).recv_for(LONG));
    for socket in [pull, push, lonely] {
        failed(socket.close());
    }
    drop((idle, shared));

    let (pull, push) = (SocketType::Pull, SocketType::Push);
    let other = Context::new().unwrap();
    let (pull, push) = (socket(&other, pull), socket(&other, push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    push.send("another context").unwrap();
    assert_eq!(pull.recv_for(LONG).unwrap().as_bytes(), b"another context");
}

#[test]
fn a_panic_of_the_thread_ends_all_sockets_with_an_error() {
    everybody_is_told_of(Fault::Panic);
}

#[test]
fn a_poll_that_fails_ends_all_sockets_with_an_error() {
    everybody_is_told_of(Fault::Poll);
}
