//! Time limits of tasks: what they give back, and what they say.

use std::collections::VecDeque;
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::{
    Error, Generate as _, KeyPair, Message, Operation, Presence, Security, Socket, SocketType,
};

use crate::support::{block_on, eventually, options};

/// Runs out.
const SHORT: Duration = Duration::from_millis(20);

fn socket(socket_type: SocketType) -> Socket {
    let builder = options(socket_type).security(Security::plain_text());
    let builder = builder.send_high_water_mark(1).receive_high_water_mark(1);
    builder.linger(Duration::ZERO).build().unwrap()
}

#[test]
fn a_message_comes_within_the_longest_limit() {
    let (pull, push) = (socket(SocketType::Pull), socket(SocketType::Push));
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    block_on(async {
        push.wait_connected_timeout(1, Duration::MAX).await.unwrap();
        push.send_timeout("one", Duration::MAX).await.unwrap();
        let message = pull.recv_timeout(Duration::MAX).await.unwrap();
        assert_eq!(message.as_bytes(), b"one");
        let mut queue = VecDeque::from(["two", "three", "four"].map(Message::from));
        let mut received = Vec::new();
        let sending = push.send_many_timeout(&mut queue, Duration::MAX);
        let receiving = async {
            while received.len() < 3 {
                pull.recv_many_timeout(&mut received, 2, Duration::MAX)
                    .await
                    .unwrap();
            }
        };
        let (sent, ()) = tokio::join!(sending, receiving);
        assert_eq!(sent.unwrap(), 3);
    });
}

#[test]
fn a_limit_says_why_it_ran_out() {
    let keys = [(); 2].map(|()| KeyPair::generate());
    let server = Security::blake3_server(keys[0].clone(), AllowAnyone);
    let pull = options(SocketType::Pull).security(server).build().unwrap();
    let wrong = Security::blake3_client(keys[1].public());
    let push = options(SocketType::Push).security(wrong).build().unwrap();
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    let failed = |socket: &Socket| socket.last_failure().is_some();
    eventually("both know", || failed(&pull) && failed(&push));
    let errors = block_on(async {
        [
            pull.recv_timeout(SHORT).await.unwrap_err(),
            push.wait_connected_timeout(1, SHORT).await.unwrap_err(),
        ]
    });
    for (error, waited) in errors.iter().zip([Operation::Receive, Operation::Connect]) {
        let Error::TimedOut {
            operation,
            last_failure: Some(failure),
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(*operation, waited);
        assert!(failure.is_handshake_failure(), "{error}");
    }
}

#[test]
fn what_is_not_sent_within_the_limit_comes_back() {
    let push = socket(SocketType::Push);
    let publisher = socket(SocketType::Pub);
    block_on(async {
        let error = push.send_timeout("first", SHORT).await.unwrap_err();
        assert!(matches!(
            error.error(),
            Error::TimedOut {
                operation: Operation::Send,
                presence: Presence::Nobody,
                ..
            }
        ));
        assert_eq!(error.into_message().as_bytes(), b"first");
        // Tried once, with no time to wait.
        let error = push.send_timeout("first", Duration::ZERO).await;
        assert!(matches!(error.unwrap_err().error(), Error::TimedOut { .. }));
        let mut queue = VecDeque::from([Message::from("second")]);
        let error = push.send_many_timeout(&mut queue, SHORT).await;
        assert!(matches!(error, Err(Error::TimedOut { .. })));
        assert_eq!(queue.len(), 1);
        let nobody = publisher.wait_subscribed_timeout("", 1, SHORT).await;
        assert!(matches!(
            nobody,
            Err(Error::TimedOut {
                operation: Operation::AwaitSubscribers,
                ..
            })
        ));
    });
}
