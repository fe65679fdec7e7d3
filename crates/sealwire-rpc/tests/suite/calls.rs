//! Requests, messages and streams between a client and a server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::network::Network;
use crate::support::{Scene, TIMEOUT, bind, echo, eventually, nobody, nothing_left, patient};
use sealwire::{Event, Monitor};
use sealwire_rpc::handler::{Inline, Pool, Spawn};
use sealwire_rpc::{CallOptions, Code, Conn, ConnState, Error, Limits, OneWay, Request, Status};

#[test]
fn requests_of_every_size_are_answered() {
    let (server, client) = Scene::new().pair(Inline::new(echo));
    let client = client.blocking();
    for size in [0, 1, 63, 64, 65, 1_400, 70_000, 4 << 20] {
        let body: Vec<u8> = (0..size).map(|i| i as u8).collect();
        assert_eq!(
            &client.request(&body).unwrap()[..],
            &body[..],
            "{size} bytes"
        );
    }
    let error = client.request(&vec![0; (4 << 20) + 1]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }) && !error.may_have_run());
    assert_eq!(server.counters().requests, 8);
}

#[test]
fn errors_of_the_handler_arrive_with_code_message_and_details() {
    let refuse = |_: &Request| -> Result<Vec<u8>, Status> {
        Err(Status::new(Code::NOT_FOUND, "no such key").with_details(*b"\x01\x02"))
    };
    let (_server, client) = Scene::new().pair(Inline::new(refuse));
    let error = client.blocking().request(b"").unwrap_err();
    let status = error.status().unwrap();
    assert_eq!(
        (status.code, &*status.message),
        (Code::NOT_FOUND, "no such key")
    );
    assert_eq!(status.details, [1, 2]);
    assert!(error.may_have_run());
}

#[test]
fn a_panic_in_a_handler_is_an_internal_error() {
    let panics = |_: &Request| -> Result<Vec<u8>, Status> { panic!("on purpose") };
    let (_server, client) = Scene::new().pair(Pool::new(1, 8, panics).unwrap());
    for _ in 0..2 {
        let error = client.blocking().request(b"").unwrap_err();
        assert_eq!(error.status().unwrap().code, Code::INTERNAL);
    }
}

#[test]
fn one_way_messages_arrive_in_order_and_are_held_back_by_a_slow_reader() {
    let scene = Scene::new();
    let (seen, messages) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let pool = Pool::with_messages(1, 8, echo, move |message: &OneWay| {
        let _ = wait.lock().unwrap().recv();
        seen.send(message.body().to_vec()).unwrap();
    });
    let (_server, client) = scene.pair(pool.unwrap());
    let conn = client.blocking().conn().unwrap();
    let mut sent = 0_u32;
    loop {
        match conn.send_no_wait(&sent.to_be_bytes()) {
            Ok(()) => sent += 1,
            Err(error) => {
                assert_eq!(error, Error::WouldBlock);
                break;
            }
        }
    }
    assert_eq!(sent, Limits::default().one_way_window);
    drop(go);
    for _ in 0..5_000 {
        conn.send(&sent.to_be_bytes()).unwrap();
        sent += 1;
    }
    for number in 0..sent {
        assert_eq!(
            messages.recv_timeout(TIMEOUT).unwrap(),
            number.to_be_bytes()
        );
    }
}

#[test]
fn messages_with_a_time_limit_reach_a_server_that_reads() {
    let (seen, messages) = mpsc::channel();
    let tell = move |message: &OneWay| seen.send(message.body().to_vec()).unwrap();
    let (_server, client) = Scene::new().pair(Pool::with_messages(1, 8, echo, tell).unwrap());
    let blocking = client.blocking();
    // More than there is room for until the server has read some.
    let count = 3 * Limits::default().one_way_window;
    for number in 0..count {
        blocking
            .send_timeout(&number.to_be_bytes(), TIMEOUT)
            .unwrap();
    }
    for number in 0..count {
        let body = messages.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(body, number.to_be_bytes());
    }
    let connections = client.connections();
    assert!(blocking.shutdown(TIMEOUT));
    assert!(!connections.is_empty() && connections.iter().all(Conn::has_read_all));
}

#[test]
fn the_time_limit_of_a_message_holds_where_the_server_does_not_read() {
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let network = Network::before(&bind(&server));
    let mut limits = patient();
    // Ends nothing before the test does.
    limits.write = 10 * TIMEOUT;
    // Nobody reads what is left.
    limits.linger = Duration::ZERO;
    let client = scene.client().limits(limits);
    let client = client.build(network.endpoint()).unwrap();
    let conn = client.blocking().conn().unwrap();
    network.hold();
    for _ in 0..Limits::default().one_way_window {
        conn.send_no_wait(b"").unwrap();
    }
    let limit = Duration::from_millis(50);
    let (tell, told) = mpsc::channel();
    let blocking = client.blocking();
    // On a thread that may outlive the test: without a limit it would wait for the other one.
    thread::spawn(move || tell.send(blocking.send_timeout(b"", limit)));
    let outcome = told.recv_timeout(TIMEOUT).expect("the limit ends it");
    assert_eq!(outcome, Err(Error::Congested(limit)));
    let connections = client.connections();
    assert!(!client.blocking().shutdown(limit));
    assert!(!connections.is_empty() && !connections.iter().any(Conn::has_read_all));
}

#[test]
fn a_server_calls_its_clients() {
    let scene = Scene::new();
    let (came, conns) = mpsc::channel();
    let came = Mutex::new(came);
    let server = scene
        .server()
        .on_state(move |conn, state| {
            if state == ConnState::New {
                came.lock().unwrap().send(conn.clone()).unwrap();
            }
        })
        .build(Inline::new(echo))
        .unwrap();
    let doubles = |request: &Request| Ok::<_, Status>([&request.body()[..]; 2].concat());
    let client = scene
        .client()
        .handler(Inline::new(doubles))
        .build(bind(&server))
        .unwrap();
    assert_eq!(&client.blocking().request(b"a").unwrap()[..], b"a");
    let conn = conns.recv_timeout(TIMEOUT).unwrap().blocking();
    for _ in 0..100 {
        assert_eq!(&conn.request(b"ab").unwrap()[..], b"abab");
    }
    nothing_left(&server, &client);
}

#[test]
fn a_handler_calls_back_through_the_connection_of_its_request() {
    let scene = Scene::new();
    let asks_back = |request: &Request| {
        let answer = request.conn().blocking().request(b"who?");
        answer.map_err(|error| Status::new(Code::ABORTED, error.to_string()))
    };
    let server = scene
        .server()
        .build(Pool::new(2, 16, asks_back).unwrap())
        .unwrap();
    let me = |_: &Request| Ok::<_, Status>("me");
    let client = scene
        .client()
        .handler(Inline::new(me))
        .build(bind(&server))
        .unwrap();
    assert_eq!(&client.blocking().request(b"hello").unwrap()[..], b"me");
}

#[test]
fn waiting_where_the_connection_is_read_is_refused() {
    let asks_back = |request: &Request| {
        let answer = request.conn().blocking().request(b"who?");
        assert_eq!(answer, Err(Error::WouldDeadlock));
        Ok::<_, Status>("refused")
    };
    let (_server, client) = Scene::new().pair(Inline::new(asks_back));
    assert_eq!(&client.blocking().request(b"").unwrap()[..], b"refused");
}

/// Hands requests on to a thread each: none is dropped for being late.
struct Threads<F>(F);

impl<F: Fn(Request) + Clone + Send + Sync + 'static> sealwire_rpc::Handler for Threads<F> {
    fn request(&self, request: Request) {
        let handle = self.0.clone();
        thread::spawn(move || handle(request));
    }
}

#[test]
fn deadlines_reach_the_handler_and_end_the_wait() {
    let (saw, left) = mpsc::channel();
    let slow = move |request: Request| {
        saw.send(request.time_left().unwrap()).unwrap();
        eventually("cancelled", || request.is_cancelled());
        request.reply(b"late").unwrap();
    };
    let (server, client) = Scene::new().pair(Threads(slow));
    let conn = client.blocking().conn().unwrap();
    let limit = Duration::from_secs(1);
    let error = conn.request_timeout(b"", limit).unwrap_err();
    assert_eq!(error, Error::DeadlineExceeded { may_have_run: true });
    assert!(left.recv_timeout(TIMEOUT).unwrap() <= limit.mul_f64(1.13));
    eventually("counted", || server.counters().answers_too_late == 1);
    nothing_left(&server, &client);
}

#[tokio::test]
async fn dropping_a_request_cancels_it_at_the_other_side() {
    let (began, begins) = mpsc::channel();
    let (ended, ends) = mpsc::channel();
    let out = Arc::new(Mutex::new((began, ended)));
    let spawner = |task| drop(tokio::spawn(task));
    let handler = Spawn::new(spawner, 8, move |request: Request| {
        let out = out.clone();
        async move {
            out.lock().unwrap().0.send(()).unwrap();
            request.cancelled().await;
            out.lock().unwrap().1.send(()).unwrap();
        }
    });
    let runtime = tokio::runtime::Handle::current();
    let handler = WithRuntime(runtime, handler);
    let (server, client) = Scene::new().pair(handler);
    let call = client
        .conn()
        .await
        .unwrap()
        .start(b"", CallOptions::default())
        .unwrap();
    tokio::task::spawn_blocking(move || {
        begins.recv_timeout(TIMEOUT).unwrap();
        drop(call);
        ends.recv_timeout(TIMEOUT).unwrap();
        nothing_left(&server, &client);
    })
    .await
    .unwrap();
}

/// Runs a handler inside a runtime, for `tokio::spawn`.
struct WithRuntime<H>(tokio::runtime::Handle, H);

impl<H: sealwire_rpc::Handler> sealwire_rpc::Handler for WithRuntime<H> {
    fn request(&self, request: Request) {
        let _entered = self.0.enter();
        self.1.request(request);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_carry_items_both_ways_and_then_an_answer() {
    let runtime = tokio::runtime::Handle::current();
    let spawner = |task| drop(tokio::spawn(task));
    let sums = Spawn::new(spawner, 8, |request: Request| async move {
        assert!(request.has_streams());
        let mut sum = 0_u64;
        while let Some(item) = request.next().await {
            sum += u64::from(u32::from_be_bytes(item[..].try_into().unwrap()));
            request.send(&sum.to_be_bytes()).await.unwrap();
        }
        request.reply(&sum.to_be_bytes()).unwrap();
    });
    let (server, client) = Scene::new().pair(WithRuntime(runtime, sums));
    let conn = client.conn().await.unwrap();
    let stream = conn.open(b"sums", CallOptions::default()).await.unwrap();
    let numbers = 1_000_u32;
    let writes = async {
        for number in 0..numbers {
            stream.send(&number.to_be_bytes()).await.unwrap();
        }
        stream.finish();
    };
    let reads = async {
        let mut last = 0;
        for number in 0..numbers {
            last += u64::from(number);
            assert_eq!(&stream.next().await.unwrap()[..], last.to_be_bytes());
        }
        assert!(stream.next().await.is_none());
        last
    };
    let ((), last) = tokio::join!(writes, reads);
    assert_eq!(&stream.answer().await.unwrap()[..], last.to_be_bytes());
    nothing_left(&server, &client);
}

#[test]
fn streams_without_an_executor_block_the_threads_at_both_ends() {
    let sums = |request: &Request| {
        let items = request.blocking();
        let failed = |error: Error| Status::new(Code::ABORTED, error.to_string());
        let mut sum = 0_u64;
        while let Some(item) = items.next().map_err(failed)? {
            sum += u64::from(item[0]);
            items.send(&sum.to_be_bytes()).map_err(failed)?;
        }
        Ok::<_, Status>(sum.to_be_bytes())
    };
    let (server, client) = Scene::new().pair(Pool::new(1, 8, sums).unwrap());
    let conn = client.blocking().conn().unwrap();
    let stream = conn.open(b"sums", CallOptions::default()).unwrap();
    let mut sum = 0_u64;
    // More than either side has credit for at first.
    for number in 0..200_u8 {
        stream.send(&[number]).unwrap();
        sum += u64::from(number);
        assert_eq!(stream.next().unwrap().unwrap()[..], sum.to_be_bytes());
    }
    stream.finish();
    assert_eq!(stream.next().unwrap(), None);
    assert_eq!(stream.answer().unwrap()[..], sum.to_be_bytes());
    nothing_left(&server, &client);
}

#[test]
fn either_side_can_end_a_connection() {
    let never = |request: Request| eventually("cancelled", || request.is_cancelled());
    let (server, client) = Scene::new().pair(Threads(never));
    for server_ends in [true, false] {
        let conn = client.blocking().conn().unwrap();
        let call = conn.start(b"", CallOptions::default()).unwrap();
        eventually("served", || !server.connections().is_empty());
        let of = |conns: Vec<Conn>| conns.into_iter().next().unwrap();
        if server_ends {
            of(server.connections()).close();
        } else {
            of(client.connections()).close();
        }
        let lost = call.wait().unwrap_err();
        assert!(matches!(lost, Error::ConnectionLost { .. }), "{lost}");
        eventually("gone", || server.connections().is_empty());
        eventually("gone here", || client.connections().is_empty());
    }
    // The client opens another one when it needs one.
    client.blocking().conn().unwrap();
}

/// It was opened all the same: the next call gets another one, not the reason why this one ended.
#[test]
fn a_connection_that_ends_as_soon_as_it_is_there_is_no_failed_attempt() {
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let monitor = Arc::new(OnceLock::<Monitor>::new());
    let (seen, ended) = (monitor.clone(), AtomicBool::new(false));
    let client = scene.client().on_state(move |conn, state| {
        if state == ConnState::New && !ended.swap(true, Ordering::SeqCst) {
            conn.close();
            // The thread that dialed hears of the end first, then that the connection was taken.
            let is_end =
                |event: Event| matches!(event, Event::Failed(failure) if failure.was_ready());
            while !is_end(seen.get().unwrap().wait_next().unwrap()) {}
        }
    });
    let client = client.build(bind(&server)).unwrap();
    let _ = monitor.set(client.monitor());
    client.blocking().conn().unwrap();
}

#[test]
fn interceptors_come_before_the_handler() {
    let scene = Scene::new();
    let server = scene
        .server()
        .intercept(|request| match &request.body()[..] {
            b"forbidden" => Err(Code::PERMISSION_DENIED.into()),
            _ => Ok(()),
        })
        .build(Inline::new(echo))
        .unwrap();
    let client = scene.client().build(bind(&server)).unwrap().blocking();
    assert_eq!(&client.request(b"allowed").unwrap()[..], b"allowed");
    let error = client.request(b"forbidden").unwrap_err();
    assert_eq!(error.status().unwrap().code, Code::PERMISSION_DENIED);
}

#[test]
fn the_handshake_hooks_of_both_sides_see_each_other() {
    let scene = Scene::new();
    let server = scene
        .server()
        .greet(|_, hello| match hello {
            b"token" => Ok(b"welcome".to_vec()),
            _ => Err("no token".into()),
        })
        .build(Inline::new(echo))
        .unwrap();
    let endpoint = bind(&server);
    let (heard, hears) = mpsc::channel();
    let heard = Mutex::new(heard);
    let client = scene
        .client()
        .hello("token")
        .greet(move |_, answer| {
            heard.lock().unwrap().send(answer.to_vec()).unwrap();
            Ok(())
        })
        .build(endpoint.clone())
        .unwrap();
    assert!(client.blocking().request(b"").is_ok());
    assert_eq!(hears.recv_timeout(TIMEOUT).unwrap(), b"welcome");
    let stranger = scene.client().build(endpoint).unwrap();
    let error = stranger.blocking().request(b"").unwrap_err();
    assert!(matches!(error, Error::Connect(_)), "{error:?}");
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place_or_are_turned_away() {
    let scene = Scene::new();
    let server = scene
        .server()
        .max_connections(1)
        .connection_wait(Duration::from_millis(300))
        .build(Inline::new(echo))
        .unwrap();
    let endpoint = bind(&server);
    let first = scene.client().build(endpoint.clone()).unwrap();
    first.blocking().request(b"").unwrap();
    let second = scene.client().build(endpoint.clone()).unwrap().blocking();
    let refused = second.request(b"").unwrap_err();
    assert!(matches!(refused, Error::Connect(_)), "{refused:?}");
    assert_eq!(server.counters().connections_refused, 1);
    drop(first);
    eventually("there is a place again", || second.request(b"").is_ok());
}

#[test]
fn nobody_there_is_a_clear_error() {
    let scene = Scene::new();
    let (endpoint, _taken) = nobody();
    let client = scene.client().dial_attempts(2).build(endpoint).unwrap();
    let error = client.blocking().request(b"").unwrap_err();
    assert!(
        matches!(&error, Error::Connect(reason) if reason.contains("refused")),
        "{error}"
    );
    assert!(!error.may_have_run());
}

#[test]
fn the_time_limit_of_a_request_or_message_holds_while_connecting() {
    let scene = Scene::new();
    // Accepts, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp://{}", silent.local_addr().unwrap());
    let client = scene.client().build(endpoint).unwrap().blocking();
    let began = Instant::now();
    let limit = Duration::from_millis(50);
    let expected = Error::DeadlineExceeded {
        may_have_run: false,
    };
    let error = client.request_with(b"", CallOptions::within(limit));
    assert_eq!(error.unwrap_err(), expected);
    assert_eq!(client.send_timeout(b"", limit), Err(expected));
    // The limit of the handshake is that long.
    assert!(began.elapsed() < TIMEOUT);
}
