//! The async API: any executor, and calls that may be dropped at any point.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::support::{Path, block_on};
use sealwire::{Message, Socket, SocketType};

fn pair(path: &Path, server: SocketType, client: SocketType) -> (Socket, Socket) {
    let server = path.server(server).build().unwrap();
    let client = path.client(client).build().unwrap();
    client
        .connect(server.bind(path.endpoint()).unwrap())
        .unwrap();
    (server, client)
}

async fn ping_pong(path: Path) {
    let (rep, req) = pair(&path, SocketType::Rep, SocketType::Req);
    for _ in 0..100 {
        req.send("ping").await.unwrap();
        assert_eq!(rep.recv().await.unwrap().as_bytes(), b"ping");
        rep.send("pong").await.unwrap();
        assert_eq!(req.recv().await.unwrap().as_bytes(), b"pong");
    }
    req.close().await.unwrap();
    rep.close().await.unwrap();
}

#[test]
fn no_executor_is_needed() {
    Path::all()
        .into_iter()
        .for_each(|path| block_on(ping_pong(path)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_works() {
    for path in Path::all() {
        tokio::spawn(ping_pong(path)).await.unwrap();
    }
}

/// A receive that is dropped over and over, at whatever point it has reached, loses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_receive_takes_nothing() {
    const COUNT: usize = 5_000;
    let (pull, push) = pair(&Path::encrypted(), SocketType::Pull, SocketType::Push);
    let sender = tokio::spawn(async move {
        for number in 0..COUNT {
            push.send(number.to_string()).await.unwrap();
            if number % 50 == 0 {
                tokio::task::yield_now().await;
            }
        }
        push
    });
    let (mut next, mut dropped) = (0, 0);
    while next < COUNT {
        tokio::select! {
            biased;
            message = pull.recv() => {
                assert_eq!(message.unwrap().as_str(), Ok(&*next.to_string()));
                next += 1;
            }
            () = tokio::task::yield_now() => dropped += 1,
        }
    }
    assert!(dropped > 0, "the test dropped some");
    drop(sender.await.unwrap());
}

/// A send that is dropped was not sent, and one that completed was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_send_sends_nothing() {
    let path = Path::encrypted();
    let pull = path
        .server(SocketType::Pull)
        .receive_high_water_mark(5)
        .build()
        .unwrap();
    let push = path
        .client(SocketType::Push)
        .send_high_water_mark(5)
        .build()
        .unwrap();
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    let mut completed = Vec::new();
    let mut dropped = 0;
    for number in 0_u32.. {
        let mut body = vec![0; 100_000];
        body[..4].copy_from_slice(&number.to_be_bytes());
        match tokio::time::timeout(Duration::from_millis(20), push.send(body)).await {
            Ok(sent) => {
                sent.unwrap();
                completed.push(number);
            }
            Err(_) => dropped += 1,
        }
        if dropped == 10 {
            break;
        }
    }
    for number in completed {
        assert_eq!(
            pull.recv().await.unwrap().as_bytes()[..4],
            number.to_be_bytes()
        );
    }
    push.send("next").await.unwrap();
    let next = pull.recv().await.unwrap();
    assert!(next.as_bytes() == b"next", "a dropped send arrived");
}

/// The wake-up of a receive that was dropped after it was woken goes on to the next one waiting.
#[test]
fn a_wake_up_is_handed_on() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let path = Path {
        transport: "inproc",
        keys: None,
    };
    let (pull, push) = pair(&path, SocketType::Pull, SocketType::Push);
    let counts = [(); 2].map(|()| Arc::new(Count(AtomicUsize::new(0))));
    let wakers = counts.clone().map(Waker::from);
    let mut first = Box::pin(pull.recv());
    let mut second = Box::pin(pull.recv());
    assert!(
        first
            .as_mut()
            .poll(&mut Context::from_waker(&wakers[0]))
            .is_pending()
    );
    assert!(
        second
            .as_mut()
            .poll(&mut Context::from_waker(&wakers[1]))
            .is_pending()
    );
    push.try_send("one").unwrap();
    assert_eq!(counts[0].0.load(Ordering::SeqCst), 1, "the first was woken");
    drop(first);
    assert_eq!(counts[1].0.load(Ordering::SeqCst), 1, "and handed it on");
    let Poll::Ready(message) = second.as_mut().poll(&mut Context::from_waker(&wakers[1])) else {
        panic!("the message is there")
    };
    assert_eq!(message.unwrap().as_bytes(), b"one");
}

#[tokio::test]
async fn messages_come_in_batches() {
    let (pull, push) = pair(&Path::encrypted(), SocketType::Pull, SocketType::Push);
    for number in 0..300 {
        push.send(number.to_string()).await.unwrap();
    }
    let mut messages: Vec<Message> = Vec::new();
    while messages.len() < 300 {
        let before = messages.len();
        let taken = pull.recv_many(&mut messages, 64).await.unwrap();
        assert!((1..=64).contains(&taken));
        assert_eq!(messages.len(), before + taken);
    }
    for (number, message) in messages.iter().enumerate() {
        assert_eq!(message.as_str(), Ok(&*number.to_string()));
    }
}
