//! Faults on the way: each request ends exactly once, and nothing is left behind.

use std::collections::hash_map::RandomState;
use std::future::Future as _;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::network::Network;
use crate::support::{Scene, TIMEOUT, bind, echo, eventually, nothing_left, patient};
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{
    Body, CallOptions, Client, ClientBuilder, Code, Conn, Error, Handler, Request, Server, Status,
};

/// A server, a client, and a network between them.
fn relayed(
    handler: impl Handler,
    options: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> (Server, Network, Client) {
    let scene = Scene::new();
    let server = scene.server().build(handler).unwrap();
    let network = Network::before(&bind(&server));
    let client = options(scene.client()).build(network.endpoint()).unwrap();
    (server, network, client)
}

/// The same without a network.
fn pair(
    handler: impl Handler,
    options: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> (Server, Client) {
    let scene = Scene::new();
    let server = scene.server().build(handler).unwrap();
    let client = options(scene.client()).build(bind(&server)).unwrap();
    (server, client)
}

/// Answers with the request, and how often it did.
fn counted() -> (
    Arc<AtomicUsize>,
    impl Fn(&Request) -> Result<Body, Status> + Send + Sync,
) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = runs.clone();
    let handle = move |request: &Request| {
        counter.fetch_add(1, Ordering::SeqCst);
        echo(request)
    };
    (runs, handle)
}

/// A handler that says when it begins, and ends when it is told to.
fn held() -> (
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
    impl Fn(&Request) -> Result<Body, Status> + Send + Sync,
) {
    let (began, begins) = mpsc::channel();
    let (go, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let handle = move |request: &Request| {
        if request.body().starts_with(b"held") {
            began.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
        }
        echo(request)
    };
    (begins, go, handle)
}

/// A handler that says when it begins, waits to be cancelled, and says so.
fn until_cancelled() -> (
    mpsc::Receiver<&'static str>,
    impl Fn(&Request) -> Result<Body, Status> + Send + Sync,
) {
    let (told, tells) = mpsc::channel();
    let handle = move |request: &Request| {
        told.send("began").unwrap();
        eventually("cancelled", || request.is_cancelled());
        told.send("cancelled").unwrap();
        echo(request)
    };
    (tells, handle)
}

/// Runs requests of one client from this runtime's tasks; gives their outcomes.
async fn storm(
    client: &Client,
    requests: u32,
    options: CallOptions<'static>,
) -> Vec<Result<(), Error>> {
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_at_a_time_over_four_connections() {
    let (server, client) = pair(Inline::new(echo), |client| client.calls_per_connection(1));
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
    let (runs, handle) = counted();
    let (server, network, client) = relayed(Inline::new(handle), |client| {
        let client = client.calls_per_connection(16).dial_attempts(1_000);
        client.retries(0)
    });
    let (mut good, mut perhaps, mut not) = (0, 0, 0);
    for _ in 0..10 {
        network.cut_after(50_000);
        for outcome in storm(&client, 2_000, CallOptions::default()).await {
            match outcome {
                Ok(()) => good += 1,
                Err(error) if error.may_have_run() => perhaps += 1,
                Err(_) => not += 1,
            }
        }
        network.stop_cutting();
    }
    assert_eq!(good + perhaps + not, 20_000);
    assert!(perhaps + not > 0, "{good} {perhaps} {not}");
    // What certainly did not run did not run.
    assert!(runs.load(Ordering::SeqCst) <= good + perhaps);
    eventually("connected again", || client.blocking().request(b"").is_ok());
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
    let runs = Arc::new(Mutex::new(vec![0_u32; 10_000]));
    let counter = runs.clone();
    let handle = move |request: &Request| {
        // The request at the end has no number.
        if let Some(number) = request.body().first_chunk() {
            counter.lock().unwrap()[u32::from_be_bytes(*number) as usize] += 1;
        }
        echo(request)
    };
    let (server, network, client) = relayed(Inline::new(handle), |client| {
        client.calls_per_connection(1).dial_attempts(1_000)
    });
    network.cut_at_random(seed());
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..10_000_u32 {
        let client = client.clone();
        tasks.spawn(async move { (number, client.request(&number.to_be_bytes()).await) });
    }
    let outcomes = tasks.join_all().await;
    network.stop_cutting();
    assert!(network.cuts() > 0);
    eventually("connected again", || client.blocking().request(b"").is_ok());
    nothing_left(&server, &client);
    let runs = runs.lock().unwrap();
    for (number, outcome) in outcomes {
        let times = runs[number as usize];
        match outcome {
            Ok(reply) => assert_eq!((&reply[..], times), (&number.to_be_bytes()[..], 1)),
            Err(error) if error.may_have_run() => assert!(times <= 1, "{number}: {error}"),
            Err(error) => assert_eq!(times, 0, "{number}: {error}"),
        }
    }
}

#[test]
fn a_peer_that_stops_reading_holds_senders_back_with_typed_errors() {
    let received = Arc::new(AtomicUsize::new(0));
    let counter = received.clone();
    let handler = Inline::new(echo).on_message(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let mut limits = patient();
    limits.write = Duration::from_millis(20);
    let (server, network, client) =
        relayed(handler, |client| client.limits(limits).max_connections(1));
    let conn = client.blocking().conn().unwrap();
    conn.request(b"there").unwrap();
    network.hold();
    let (body, mut sent) = (vec![7; 32 << 10], 0);
    let error = loop {
        match conn.send(&body) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent <= limits.one_way_window as usize, "no end to it");
    };
    assert_eq!(error, Error::Congested(limits.write));
    // On a busy machine that may have been the connection's own thread, which was not there yet.
    let error = loop {
        match conn.send_no_wait(&body) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent <= limits.one_way_window as usize, "no end to it");
    };
    assert_eq!(error, Error::WouldBlock);
    let pending = || {
        client
            .connections()
            .iter()
            .map(Conn::pending_bytes)
            .sum::<usize>()
    };
    assert!(pending() >= body.len());
    let error = conn
        .request_timeout(&body, Duration::from_millis(20))
        .unwrap_err();
    assert!(
        matches!(error, Error::DeadlineExceeded { .. } | Error::Congested(_)),
        "{error}"
    );
    network.go_on();
    eventually("all that was taken arrives", || {
        received.load(Ordering::SeqCst) == sent
    });
    eventually("there is room again", || conn.send(&body).is_ok());
    eventually("and for calls", || {
        match conn.request_timeout(b"after", TIMEOUT) {
            Ok(answer) => answer[..] == *b"after",
            Err(error) => {
                assert_eq!(error, Error::Congested(limits.write));
                false
            }
        }
    });
    eventually("all is written", || pending() == 0);
    nothing_left(&server, &client);
}

#[test]
fn a_slow_handler_holds_up_nobody_else() {
    let (begins, go, handle) = held();
    let pool = Pool::new(2, 100, handle).unwrap();
    let (server, client) = pair(pool, |client| client.max_connections(1));
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b"held"));
    begins.recv_timeout(TIMEOUT).unwrap();
    for number in 0..1_000_u32 {
        let body = number.to_be_bytes();
        assert_eq!(client.blocking().request(&body).unwrap()[..], body);
    }
    go.send(()).unwrap();
    assert_eq!(&asker.join().unwrap().unwrap()[..], b"held");
    nothing_left(&server, &client);
}

/// Keeps what it is asked.
#[derive(Clone, Default)]
struct Keeping(Arc<Mutex<Vec<Request>>>);

impl Handler for Keeping {
    fn request(&self, request: Request) {
        self.0.lock().unwrap().push(request);
    }
}

/// A waker that says when it is dropped, and goes on when it is told to.
struct Slow {
    begins: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Wake for Slow {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Slow {
    fn drop(&mut self) {
        let _ = self.begins.send(());
        let _ = self.go.lock().unwrap().recv_timeout(2 * TIMEOUT);
    }
}

/// Wakers are code of the program's, and one is dropped while its connection's state is locked.
#[test]
fn a_waker_that_takes_its_time_holds_up_no_time_limit_of_other_connections() {
    let scene = Scene::new();
    let (server, kept) = (scene.server(), Keeping::default());
    let server = server.build(kept.clone()).unwrap();
    let client = scene
        .client()
        .max_connections(2)
        .calls_per_connection(1)
        .build(bind(&server))
        .unwrap();
    let conn = client.blocking().conn().unwrap();
    let mut call = Box::pin(conn.start(b"", CallOptions::default()).unwrap());
    eventually("two connections", || {
        client.blocking().conn().unwrap();
        client.connections().len() == 2
    });
    let (begins, began) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let go_on = Mutex::new(goes);
    let slow = Waker::from(Arc::new(Slow { begins, go: go_on }));
    assert!(
        call.as_mut()
            .poll(&mut Context::from_waker(&slow))
            .is_pending()
    );
    drop(slow);
    let holder = thread::spawn(move || {
        // Another waker takes the place of the slow one.
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        call
    });
    began.recv_timeout(TIMEOUT).unwrap();
    let is_free = |conn: &Conn| conn.calls_in_flight() == 0;
    let other = client.connections().into_iter().find(is_free).unwrap();
    let (tell, outcome) = mpsc::channel();
    thread::spawn(move || {
        tell.send(
            other
                .blocking()
                .request_timeout(b"", Duration::from_millis(20)),
        )
    });
    let outcome = outcome.recv_timeout(TIMEOUT).unwrap();
    assert!(matches!(outcome, Err(Error::DeadlineExceeded { .. })));
    drop(go);
    drop(holder.join().unwrap());
    drop(kept.0.lock().unwrap().drain(..));
    nothing_left(&server, &client);
}

/// More than the clock looks at in one go.
#[test]
fn time_limits_hold_on_each_of_many_connections() {
    const CLIENTS: usize = 150;
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let (endpoint, kept) = (bind(&server), Keeping::default());
    let connect = |_| {
        let client = scene.client().handler(kept.clone());
        let client = client.build(endpoint.clone()).unwrap();
        client.blocking().conn().unwrap();
        client
    };
    let clients: Vec<_> = (0..CLIENTS).map(connect).collect();
    eventually("all are there", || server.connections().len() == CLIENTS);
    let limit = CallOptions::within(Duration::from_millis(20));
    let calls: Vec<_> = server
        .connections()
        .iter()
        .map(|conn| conn.start(b"", limit).unwrap())
        .collect();
    let (tell, outcomes) = mpsc::channel();
    thread::spawn(move || {
        calls
            .into_iter()
            .try_for_each(|call| tell.send(call.wait()))
    });
    for _ in 0..CLIENTS {
        let outcome = outcomes.recv_timeout(TIMEOUT).unwrap();
        assert!(matches!(outcome, Err(Error::DeadlineExceeded { .. })));
    }
    drop(clients);
}

#[test]
fn a_server_that_falls_silent_is_given_up_after_the_read_limit() {
    let (tells, handle) = until_cancelled();
    let pool = Pool::new(1, 8, handle).unwrap();
    let mut limits = patient();
    limits.read = Duration::from_secs(2);
    let (_server, network, client) = relayed(pool, |client| client.limits(limits));
    let conn = client.blocking().conn().unwrap();
    let call = conn.start(b"", CallOptions::default()).unwrap();
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("began"));
    let silent_since = Instant::now();
    network.hold();
    let error = call.wait().unwrap_err();
    assert_eq!(error, Error::ConnectionLost { may_have_run: true });
    // Something may have been heard up to then. The server's own limit is longer than this.
    let silent_for = silent_since.elapsed();
    assert!((limits.read / 3..TIMEOUT / 2).contains(&silent_for));
    network.go_on();
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("cancelled"));
}

#[test]
fn a_client_whose_connection_breaks_cancels_its_requests() {
    let (tells, handle) = until_cancelled();
    let pool = Pool::new(1, 8, handle).unwrap();
    let (server, network, client) = relayed(pool, |client| client);
    let conn = client.blocking().conn().unwrap();
    let call = conn.start(b"", CallOptions::default()).unwrap();
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("began"));
    network.cut_after(0);
    // The next bytes, whatever they are, find the connection cut.
    let _ = conn.send_no_wait(b"");
    let error = call.wait().unwrap_err();
    assert_eq!(error, Error::ConnectionLost { may_have_run: true });
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("cancelled"));
    eventually("the connection is gone", || server.connections().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_shuts_down_under_load_finishes_what_it_began() {
    let (runs, handle) = counted();
    let pool = Pool::new(2, 100_000, handle).unwrap();
    let (server, client) = pair(pool, |client| client.max_connections(1).retries(0));
    client.request(b"0000").await.unwrap();
    let (stopping, counter) = (server.clone(), runs.clone());
    let stopped = tokio::task::spawn_blocking(move || {
        eventually("some have run", || counter.load(Ordering::SeqCst) > 100);
        stopping.shutdown_blocking(TIMEOUT)
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
    let open = Arc::new(AtomicBool::new(false));
    let gate = open.clone();
    let waits = move |request: &Request| {
        eventually("gate or cancelled", || {
            gate.load(Ordering::SeqCst) || request.is_cancelled()
        });
        echo(request)
    };
    let (server, client) = pair(Pool::new(1, 4, waits).unwrap(), |client| client.retries(0));
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
    eventually("the queue is empty", || {
        client.blocking().request(b"").is_ok()
    });
    nothing_left(&server, &client);
}

#[test]
fn a_client_that_vanishes_cancels_its_requests() {
    let (tells, handle) = until_cancelled();
    let (server, client) = pair(Pool::new(1, 8, handle).unwrap(), |client| client);
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b""));
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("began"));
    client.blocking().shutdown(Duration::ZERO);
    let error = asker.join().unwrap().unwrap_err();
    assert_eq!(error, Error::ConnectionLost { may_have_run: true });
    assert_eq!(tells.recv_timeout(TIMEOUT), Ok("cancelled"));
    eventually("the connection is gone", || server.connections().is_empty());
}

#[test]
fn a_client_that_shuts_down_waits_for_its_calls_and_takes_no_new_ones() {
    let (begins, go, handle) = held();
    let (_server, client) = pair(Pool::new(1, 8, handle).unwrap(), |client| client);
    let asking = client.blocking();
    let asker = thread::spawn(move || asking.request(b"held"));
    begins.recv_timeout(TIMEOUT).unwrap();
    let stopping = client.blocking();
    let stopper = thread::spawn(move || stopping.shutdown(TIMEOUT));
    eventually("no new calls", || {
        client.blocking().send_no_wait(b"") == Err(Error::ShuttingDown)
    });
    go.send(()).unwrap();
    assert_eq!(&asker.join().unwrap().unwrap()[..], b"held");
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
