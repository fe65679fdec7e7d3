//! What goes wrong on the way: each request ends exactly once, and nothing is left behind.

mod relay;
mod support;

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use relay::Relay;
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{CallOptions, Client, Code, Error, Limits, Request, Status};
use support::{PATIENCE, Scene, bind, echo, eventually, nothing_left};

/// Runs requests of one client from this runtime's tasks; gives their outcomes.
async fn storm(client: &Client, requests: u32, options: CallOptions) -> Vec<Result<(), Error>> {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..requests {
        let client = client.clone();
        tasks.spawn(async move {
            let body = number.to_be_bytes();
            let reply = client.request_with(&body, options).await?;
            assert_eq!(reply[..], body, "an answer to another question");
            Ok(())
        });
    }
    tasks.join_all().await
}

fn generous() -> Limits {
    let mut limits = Limits::default();
    limits.write = PATIENCE;
    limits
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_at_a_time_over_four_connections() {
    let scene = Scene::new();
    let server = scene
        .server()
        .limits(generous())
        .build(Inline::new(echo))
        .unwrap();
    let client = scene
        .client()
        .limits(generous())
        .calls_per_connection(1)
        .build(bind(&server))
        .unwrap();
    let outcomes = storm(&client, 10_000, CallOptions::default()).await;
    assert_eq!(outcomes.len(), 10_000);
    for outcome in outcomes {
        outcome.unwrap();
    }
    assert!(client.connections().len() <= 4);
    assert_eq!(server.counters().requests, 10_000);
    nothing_left(&server, &client);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_end_their_requests_with_an_error_that_says_what_is_known() {
    let scene = Scene::new();
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let counted = move |request: &Request| {
        counter.fetch_add(1, Ordering::SeqCst);
        echo(request)
    };
    let server = scene
        .server()
        .limits(generous())
        .build(Inline::new(counted))
        .unwrap();
    let relay = Relay::new(bind(&server));
    let client = scene
        .client()
        .limits(generous())
        .calls_per_connection(16)
        .dial_attempts(10)
        .retries(0)
        .build(relay.endpoint())
        .unwrap();
    let (mut good, mut perhaps, mut not) = (0, 0, 0);
    for _ in 0..10 {
        relay.cut_after(50_000);
        for outcome in storm(&client, 2_000, CallOptions::default()).await {
            match outcome {
                Ok(()) => good += 1,
                Err(error) if error.may_have_run() => perhaps += 1,
                Err(_) => not += 1,
            }
        }
        relay.stop_cutting();
    }
    assert_eq!(good + perhaps + not, 20_000);
    assert!(good > 0 && perhaps + not > 0, "{good} {perhaps} {not}");
    // What certainly did not run did not run.
    assert!(runs.load(Ordering::SeqCst) <= good + perhaps);
    nothing_left(&server, &client);
}

/// `SEALWIRE_SEED` repeats a run.
fn seed() -> u64 {
    let seed = match std::env::var("SEALWIRE_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => RandomState::new().hash_one("seed"),
    };
    println!("SEALWIRE_SEED={seed}");
    seed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_over_connections_that_are_cut_at_random_end_once_each() {
    let scene = Scene::new();
    let runs = Arc::new(Mutex::new(vec![0_u32; 10_000]));
    let counter = runs.clone();
    let counted = move |request: &Request| {
        let number = u32::from_be_bytes(request.body()[..].try_into().unwrap());
        counter.lock().unwrap()[number as usize] += 1;
        echo(request)
    };
    let server = scene
        .server()
        .limits(generous())
        .build(Inline::new(counted))
        .unwrap();
    let relay = Relay::new(bind(&server));
    let client = scene
        .client()
        .limits(generous())
        .calls_per_connection(1)
        .dial_attempts(1_000)
        .build(relay.endpoint())
        .unwrap();
    relay.cut_at_random(seed());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..10_000_u32 {
        let client = client.clone();
        tasks.spawn(async move { (number, client.request(&number.to_be_bytes()).await) });
    }
    let outcomes = tasks.join_all().await;
    relay.stop_cutting();
    assert!(relay.cuts() > 0);
    eventually("connected again", || {
        client.blocking().request(&[0; 4]).is_ok()
    });
    nothing_left(&server, &client);
    let runs = runs.lock().unwrap();
    for (number, outcome) in outcomes {
        // The first one was asked again above.
        let times = runs[number as usize];
        match outcome {
            _ if number == 0 => {}
            Ok(reply) => assert_eq!((&reply[..], times), (&number.to_be_bytes()[..], 1)),
            Err(error) if error.may_have_run() => assert!(times <= 1, "{number}: {error}"),
            Err(error) => assert_eq!(times, 0, "{number}: {error}"),
        }
    }
}

#[test]
fn a_peer_that_stops_reading_holds_senders_back_with_typed_errors() {
    let scene = Scene::new();
    let received = Arc::new(AtomicUsize::new(0));
    let counter = received.clone();
    let handler = Inline::new(echo).on_message(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let mut limits = generous();
    // Silence is no fault here.
    limits.read = 10 * PATIENCE;
    let server = scene.server().limits(limits).build(handler).unwrap();
    let relay = Relay::new(bind(&server));
    limits.write = Duration::from_millis(20);
    let client = scene
        .client()
        .limits(limits)
        .max_connections(1)
        .build(relay.endpoint())
        .unwrap();
    let conn = client.blocking().conn().unwrap();
    conn.request(b"there").unwrap();
    relay.hold();
    let (body, mut sent) = (vec![7; 32 << 10], 0);
    let error = loop {
        match conn.send(&body) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent <= limits.one_way_window as usize, "no end to it");
    };
    assert_eq!(error, Error::Congested(limits.write));
    assert_eq!(conn.send_no_wait(&body), Err(Error::WouldBlock));
    let error = conn
        .request_for(&body, Duration::from_millis(20))
        .unwrap_err();
    assert!(
        matches!(error, Error::DeadlineExceeded { .. } | Error::Congested(_)),
        "{error}"
    );
    relay.go_on();
    eventually("all that was taken arrives", || {
        received.load(Ordering::SeqCst) == sent
    });
    eventually("there is room again", || conn.send(&body).is_ok());
    assert_eq!(&conn.request_for(b"after", PATIENCE).unwrap()[..], b"after");
    nothing_left(&server, &client);
}

#[test]
fn a_slow_handler_holds_up_nobody_else() {
    let scene = Scene::new();
    let (began, begins) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let handle = move |request: &Request| {
        if request.body()[..] == *b"slow" {
            began.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
        }
        echo(request)
    };
    let pool = Pool::new(2, 100, handle).unwrap();
    let server = scene.server().limits(generous()).build(pool).unwrap();
    let client = scene
        .client()
        .limits(generous())
        .max_connections(1)
        .build(bind(&server))
        .unwrap();
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b"slow"));
    begins.recv_timeout(PATIENCE).unwrap();
    for number in 0..1_000_u32 {
        let body = number.to_be_bytes();
        assert_eq!(client.blocking().request(&body).unwrap()[..], body);
    }
    go.send(()).unwrap();
    assert_eq!(&asker.join().unwrap().unwrap()[..], b"slow");
    nothing_left(&server, &client);
}

#[test]
fn a_client_whose_connection_breaks_cancels_its_requests() {
    let scene = Scene::new();
    let (told, tells) = mpsc::channel();
    let waits = move |request: &Request| -> Result<Vec<u8>, Status> {
        told.send("began").unwrap();
        eventually("cancelled", || request.is_cancelled());
        told.send("cancelled").unwrap();
        Ok(Vec::new())
    };
    let pool = Pool::new(1, 8, waits).unwrap();
    let server = scene.server().limits(generous()).build(pool).unwrap();
    let relay = Relay::new(bind(&server));
    let client = scene
        .client()
        .limits(generous())
        .build(relay.endpoint())
        .unwrap();
    let conn = client.blocking().conn().unwrap();
    let call = conn.start(b"", CallOptions::within(10 * PATIENCE)).unwrap();
    assert_eq!(tells.recv_timeout(PATIENCE), Ok("began"));
    relay.cut_after(0);
    // The next bytes, whatever they are, find the connection cut.
    let _ = conn.send_no_wait(b"");
    let error = call.wait().unwrap_err();
    assert_eq!(error, Error::ConnectionLost { may_have_run: true });
    assert_eq!(tells.recv_timeout(PATIENCE), Ok("cancelled"));
    eventually("the connection is gone", || server.connections().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_shuts_down_under_load_finishes_what_it_began() {
    let scene = Scene::new();
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let work = move |request: &Request| {
        counter.fetch_add(1, Ordering::SeqCst);
        echo(request)
    };
    let pool = Pool::new(2, 100_000, work).unwrap();
    let server = scene.server().limits(generous()).build(pool).unwrap();
    let client = scene
        .client()
        .limits(generous())
        .max_connections(1)
        .retries(0)
        .build(bind(&server))
        .unwrap();
    client.request(b"0000").await.unwrap();
    let (stopping, counter) = (server.clone(), runs.clone());
    let stopped = tokio::task::spawn_blocking(move || {
        eventually("some have run", || counter.load(Ordering::SeqCst) > 100);
        stopping.shutdown_blocking(PATIENCE)
    });
    let mut good = 1;
    loop {
        let outcomes = storm(&client, 500, CallOptions::default()).await;
        let before = good;
        for outcome in outcomes {
            match outcome {
                Ok(()) => good += 1,
                Err(error) => assert!(!error.may_have_run(), "{error}"),
            }
        }
        if good == before {
            break;
        }
    }
    assert!(stopped.await.unwrap(), "not all was finished");
    assert_eq!(runs.load(Ordering::SeqCst), good);
    nothing_left(&server, &client);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_deadlines_leaves_nothing_behind() {
    let scene = Scene::new();
    let open = Arc::new(AtomicBool::new(false));
    let gate = open.clone();
    let waits = move |request: &Request| {
        eventually("gate or cancelled", || {
            gate.load(Ordering::SeqCst) || request.is_cancelled()
        });
        echo(request)
    };
    let pool = Pool::new(1, 4, waits).unwrap();
    let server = scene.server().limits(generous()).build(pool).unwrap();
    let client = scene
        .client()
        .limits(generous())
        .retries(0)
        .build(bind(&server))
        .unwrap();
    let limit = CallOptions::within(Duration::from_millis(20));
    for _ in 0..5 {
        for outcome in storm(&client, 1_000, limit).await {
            match outcome {
                // The handler looked at the time a little earlier than the caller.
                Ok(()) | Err(Error::DeadlineExceeded { .. }) => {}
                Err(Error::Remote(status)) => assert!(
                    status.code == Code::RESOURCE_EXHAUSTED
                        || status.code == Code::DEADLINE_EXCEEDED,
                    "{status}"
                ),
                Err(error) => panic!("{error}"),
            }
        }
    }
    open.store(true, Ordering::SeqCst);
    assert_eq!(storm(&client, 1, CallOptions::default()).await.len(), 1);
    nothing_left(&server, &client);
}

#[test]
fn a_client_that_vanishes_cancels_its_requests() {
    let scene = Scene::new();
    let (told, tells) = mpsc::channel();
    let waits = move |request: &Request| -> Result<Vec<u8>, Status> {
        told.send(()).unwrap();
        eventually("cancelled", || request.is_cancelled());
        told.send(()).unwrap();
        Ok(Vec::new())
    };
    let server = scene
        .server()
        .build(Pool::new(1, 8, waits).unwrap())
        .unwrap();
    let client = scene.client().build(bind(&server)).unwrap();
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b""));
    tells.recv_timeout(PATIENCE).unwrap();
    client.blocking().shutdown(Duration::ZERO);
    let error = asker.join().unwrap().unwrap_err();
    assert_eq!(error, Error::ConnectionLost { may_have_run: true });
    tells.recv_timeout(PATIENCE).unwrap();
    eventually("the connection is gone", || server.connections().is_empty());
}

#[test]
fn a_client_that_shuts_down_waits_for_its_calls_and_takes_no_new_ones() {
    let scene = Scene::new();
    let (began, begins) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let waits = move |request: &Request| {
        began.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        echo(request)
    };
    let server = scene
        .server()
        .build(Pool::new(1, 8, waits).unwrap())
        .unwrap();
    let client = scene.client().build(bind(&server)).unwrap();
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b"last"));
    begins.recv_timeout(PATIENCE).unwrap();
    let stopping = client.blocking();
    let stopper = thread::spawn(move || stopping.shutdown(PATIENCE));
    eventually("no new calls", || {
        client.blocking().send_no_wait(b"") == Err(Error::ShuttingDown)
    });
    go.send(()).unwrap();
    assert_eq!(&asker.join().unwrap().unwrap()[..], b"last");
    assert!(stopper.join().unwrap());
}

#[test]
fn a_peer_that_speaks_something_else_is_disconnected() {
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let endpoint = bind(&server);
    let security = sealwire::Security::blake3_client(scene.keys.public());
    let socket = sealwire::Socket::builder(sealwire::SocketType::Peer)
        .security(security)
        .hello_message("what is this")
        .build()
        .unwrap();
    socket.connect(endpoint).unwrap();
    eventually("counted", || server.counters().violations > 0);
    assert!(server.connections().is_empty());
}
