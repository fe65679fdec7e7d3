//! Messages one after the other, taken in batches: nothing is lost, doubled or out of order, though others
//! receive too.

use std::collections::BTreeSet;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::support::{Path, eventually};
use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

fn inproc() -> Path {
    Path {
        transport: "inproc",
        keys: None,
    }
}

fn number(message: &sealwire::Message) -> u32 {
    u32::from_be_bytes(message.as_bytes().try_into().unwrap())
}

fn send_all(sender: &Socket, numbers: std::ops::Range<u32>) {
    for number in numbers {
        sender.send(&number.to_be_bytes()).unwrap();
    }
}

#[test]
fn every_message_comes_once_and_in_order() {
    const COUNT: u32 = 20_000;
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        let sender = thread::spawn(move || send_all(&push, 0..COUNT));
        let incoming = pull.incoming().take(COUNT as usize);
        for (expected, message) in (0..).zip(incoming) {
            assert_eq!(number(&message.unwrap()), expected, "{}", path.name());
        }
        sender.join().unwrap();
    }
}

#[test]
fn what_was_not_handed_out_stays_in_front_for_every_way_to_receive() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        #[cfg(unix)]
        let readiness = pull.readiness().unwrap();
        send_all(&push, 0..200);
        eventually("all are there", || pull.counters().messages_received == 200);
        let mut next = 0;
        let mut expect = |message: sealwire::Message| {
            assert_eq!(number(&message), next, "{}", path.name());
            next += 1;
        };
        for _ in 0..10 {
            expect(pull.incoming().next().unwrap().unwrap());
            #[cfg(unix)]
            assert!(readiness.take().receive);
            expect(pull.recv().unwrap());
            expect(pull.try_recv().unwrap());
            expect(pull.incoming().next().unwrap().unwrap());
            let mut some = Vec::new();
            assert_eq!(pull.recv_many(&mut some, 3).unwrap(), 3);
            some.into_iter().for_each(&mut expect);
            let mut incoming = pull.incoming();
            (0..3).for_each(|_| expect(incoming.next().unwrap().unwrap()));
        }
        let mut rest = Vec::new();
        while rest.len() < 100 {
            pull.recv_many(&mut rest, 1_000).unwrap();
        }
        rest.into_iter().for_each(&mut expect);
        assert_eq!(next, 200);
    }
}

#[test]
fn a_batch_goes_back_to_the_thread_that_waits() {
    let (pull, push) = inproc().pair(SocketType::Pull, SocketType::Push);
    send_all(&push, 0..10);
    let mut incoming = pull.incoming();
    assert_eq!(number(&incoming.next().unwrap().unwrap()), 0);
    let waiting = thread::spawn({
        let pull = pull.clone();
        move || -> BTreeSet<_> { (1..10).map(|_| number(&pull.recv().unwrap())).collect() }
    });
    drop(incoming);
    assert_eq!(waiting.join().unwrap(), (1..10).collect());
}

#[test]
fn threads_that_share_a_socket_get_every_message_once() {
    const COUNT: u32 = 30_000;
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        let (found, numbers) = mpsc::channel();
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let (pull, found) = (pull.clone(), found.clone());
                thread::spawn(move || {
                    // A new batch now and then, so that some are given back.
                    loop {
                        let mut incoming = pull.incoming().take(100).peekable();
                        if incoming.peek().is_none() {
                            return;
                        }
                        incoming.for_each(|message| found.send(number(&message.unwrap())).unwrap());
                    }
                })
            })
            .collect();
        drop(found);
        let sender = thread::spawn(move || send_all(&push, 0..COUNT));
        let mut seen = BTreeSet::new();
        let limit = Duration::from_secs(60);
        while seen.len() < COUNT as usize {
            assert!(seen.insert(numbers.recv_timeout(limit).unwrap()), "once");
        }
        sender.join().unwrap();
        pull.close().unwrap();
        receivers
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn a_reply_goes_to_the_request_that_was_handed_out() {
    let (rep, first) = inproc().pair(SocketType::Rep, SocketType::Req);
    let second = inproc().client(SocketType::Req).build_blocking().unwrap();
    second.connect(rep.bound_endpoints()[0].clone()).unwrap();
    first.send("first").unwrap();
    second.send("second").unwrap();
    for request in rep.incoming().take(2) {
        rep.send(request.unwrap().into_frames().frames()[0].as_slice())
            .unwrap();
    }
    assert_eq!(first.recv().unwrap().as_bytes(), b"first");
    assert_eq!(second.recv().unwrap().as_bytes(), b"second");
}

#[test]
fn it_ends_with_the_socket_and_tells_errors_on_the_way() {
    let pull = inproc()
        .server(SocketType::Pull)
        .receive_timeout(Duration::from_millis(10))
        .build_blocking()
        .unwrap();
    let mut incoming = pull.incoming();
    for _ in 0..2 {
        let next = incoming.next().unwrap();
        assert!(matches!(next, Err(Error::TimedOut { .. })), "{next:?}");
    }
    pull.clone().close().unwrap();
    assert!(incoming.next().is_none());
    assert!(incoming.next().is_none());
}

#[test]
fn the_stream_gives_the_same() {
    const COUNT: u32 = 20_000;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        let pull = sealwire::Socket::from(pull);
        let sender = thread::spawn(move || send_all(&push, 0..COUNT));
        runtime.block_on(async {
            let mut incoming = pull.incoming();
            for expected in 0..COUNT / 2 {
                let message = incoming.next().await.unwrap().unwrap();
                assert_eq!(number(&message), expected, "{}", path.name());
            }
            drop(incoming);
            for expected in COUNT / 2..COUNT - 10 {
                let message = pull.recv().await.unwrap();
                assert_eq!(number(&message), expected, "{}", path.name());
            }
            sender.join().unwrap();
            let mut incoming = pin!(pull.incoming());
            for expected in COUNT - 10..COUNT {
                let next = std::future::poll_fn(|context| next(incoming.as_mut(), context)).await;
                assert_eq!(number(&next.unwrap().unwrap()), expected);
            }
            // Nothing is there: dropped while it waits, it has taken nothing.
            let mut context = Context::from_waker(Waker::noop());
            assert!(next(incoming.as_mut(), &mut context).is_pending());
            pull.clone().close().await.unwrap();
            assert!(incoming.next().await.is_none());
        });
    }
}

fn next<S: futures_core::Stream>(
    stream: Pin<&mut S>,
    context: &mut Context<'_>,
) -> Poll<Option<S::Item>> {
    stream.poll_next(context)
}
