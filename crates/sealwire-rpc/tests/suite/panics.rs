//! Code of others that panics on threads of a client or server: it ends its own call or event, is
//! counted, and nobody else notices.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::support::{self, Scene, bind, echo, eventually};
use sealwire_rpc::handler::{Inline, Pool, Spawn, Task};
use sealwire_rpc::{
    CallOptions, Client, Code, Error, Handler, OneWay, Request, Server, ServerBuilder, Status,
};

/// A server with a client that asks for trouble, and a bystander.
struct Trouble {
    scene: Scene,
    server: Server,
    client: Client,
    bystander: Client,
}

impl Trouble {
    fn new(handler: impl Handler) -> Self {
        Self::with(|server| server, handler)
    }

    fn with(options: impl FnOnce(ServerBuilder) -> ServerBuilder, handler: impl Handler) -> Self {
        let scene = Scene::new();
        let server = options(scene.server()).build(handler).unwrap();
        let endpoint = bind(&server);
        let client = scene.client().build(endpoint.clone()).unwrap();
        let bystander = scene.client().build(endpoint).unwrap();
        let trouble = Trouble {
            scene,
            server,
            client,
            bystander,
        };
        trouble.goes_on();
        trouble
    }

    /// Calls of both are answered.
    fn goes_on(&self) {
        for client in [&self.client, &self.bystander] {
            assert_eq!(&client.blocking().request(b"good").unwrap()[..], b"good");
        }
    }

    /// A request for trouble is answered with an internal error which says that, as often as it is made.
    fn is_an_internal_error(&self, message: &str) {
        for times in 1..=3 {
            let error = self.client.blocking().request(b"trouble").unwrap_err();
            let status = error.status().unwrap_or_else(|| panic!("{error:?}"));
            assert_eq!((status.code, &*status.message), (Code::INTERNAL, message));
            self.goes_on();
            eventually("it is counted", || self.server.counters().panics == times);
        }
        assert_eq!(self.server.connections().len(), 2);
    }
}

/// What a caller is told where the library ran the function that panicked, and where the application did.
const PANICKED: &str = "the handler panicked";
const NO_ANSWER: &str = "the handler gave no answer";

fn trouble(body: &[u8]) {
    if body.starts_with(b"trouble") {
        panic!("asked for");
    }
}

fn handle(request: &Request) -> Result<Vec<u8>, Status> {
    trouble(request.body());
    Ok(request.body().to_vec())
}

struct Custom;

impl Handler for Custom {
    fn request(&self, request: Request) {
        trouble(request.body());
        let body = request.body().clone();
        request.answer(Ok::<_, Status>(body));
    }

    fn message(&self, message: OneWay) {
        trouble(message.body());
    }
}

/// A reply that panics when it is looked at.
struct Reply(Vec<u8>);

impl AsRef<[u8]> for Reply {
    fn as_ref(&self) -> &[u8] {
        trouble(&self.0);
        &self.0
    }
}

#[test]
fn in_handlers_where_the_connection_is_read() {
    Trouble::new(Inline::new(handle)).is_an_internal_error(PANICKED);
}

#[test]
fn in_handlers_on_threads_of_a_pool() {
    Trouble::new(Pool::new(1, 8, handle).unwrap()).is_an_internal_error(PANICKED);
    Trouble::new(Pool::around(1, 8, Custom).unwrap()).is_an_internal_error(NO_ANSWER);
}

#[test]
fn in_handlers_of_the_application() {
    Trouble::new(Custom).is_an_internal_error(NO_ANSWER);
}

#[test]
fn in_what_makes_futures_and_what_runs_them() {
    let make = |request: Request| {
        trouble(request.body());
        async move {
            let body = request.body().clone();
            request.answer(Ok::<_, Status>(body));
        }
    };
    let run = |task: Task| {
        let mut task = pin!(task);
        assert!(
            task.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
        );
    };
    Trouble::new(Spawn::new(run, 8, make)).is_an_internal_error(NO_ANSWER);
    let spawned = Arc::new(AtomicUsize::new(0));
    let broken = move |task: Task| {
        // The third request, after one of each client.
        if spawned.fetch_add(1, Ordering::SeqCst) == 2 {
            panic!("asked for");
        }
        run(task);
    };
    let answer = |request: Request| async move {
        let body = request.body().clone();
        request.answer(Ok::<_, Status>(body));
    };
    let trouble = Trouble::new(Spawn::new(broken, 8, answer));
    let error = trouble.client.blocking().request(b"").unwrap_err();
    assert_eq!(error.status().unwrap().code, Code::INTERNAL);
    trouble.goes_on();
    assert_eq!(trouble.server.counters().panics, 1);
}

#[test]
fn in_replies() {
    let reply = |request: &Request| Ok::<_, Status>(Reply(request.body().to_vec()));
    Trouble::new(Inline::new(reply)).is_an_internal_error(NO_ANSWER);
    Trouble::new(Pool::new(1, 8, reply).unwrap()).is_an_internal_error(NO_ANSWER);
}

#[test]
fn in_interceptors_of_a_server() {
    let intercept = |request: &Request| {
        trouble(request.body());
        Ok(())
    };
    Trouble::with(|server| server.intercept(intercept), Inline::new(echo))
        .is_an_internal_error("an interceptor panicked");
}

#[test]
fn in_handlers_of_one_way_messages() {
    let take = |message: &OneWay| trouble(message.body());
    let handlers: [Box<dyn Fn() -> Trouble>; 4] = [
        Box::new(|| Trouble::new(Custom)),
        Box::new(|| Trouble::new(Pool::around(1, 8, Custom).unwrap())),
        Box::new(move || Trouble::new(Inline::new(echo).on_message(take))),
        Box::new(move || Trouble::new(Pool::with_messages(1, 8, echo, take).unwrap())),
    ];
    for make in handlers {
        let trouble = make();
        // More than the window: each is handled.
        for _ in 0..3_000 {
            trouble.client.blocking().send(b"trouble").unwrap();
        }
        eventually("all are counted", || {
            trouble.server.counters().panics == 3_000
        });
        trouble.goes_on();
    }
}

#[test]
fn in_interceptors_of_a_client() {
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let client = scene.client().intercept(|call| {
        trouble(&call.body);
        Ok(())
    });
    let client = client.build(bind(&server)).unwrap();
    let error = client.blocking().request(b"trouble").unwrap_err();
    assert!(
        matches!(&error, Error::Intercepted(status) if status.code == Code::INTERNAL),
        "{error:?}"
    );
    assert_eq!(client.counters().panics, 1);
    assert_eq!(&client.blocking().request(b"good").unwrap()[..], b"good");
}

#[test]
fn in_greeters_and_functions_for_changes_of_state() {
    let options = |server: ServerBuilder| {
        let server = server.greet(|_, hello| {
            trouble(hello);
            Ok(Vec::new())
        });
        server.on_state(|_, _| panic!("asked for"))
    };
    let trouble = Trouble::with(options, Inline::new(echo));
    eventually("they are counted", || trouble.server.counters().panics == 2);
    let refused = trouble.scene.client().hello("trouble").dial_attempts(1);
    let refused = refused.build(bind(&trouble.server)).unwrap().blocking();
    let error = refused.request(b"").unwrap_err();
    assert!(matches!(error, Error::Connect(_)), "{error:?}");
    trouble.goes_on();
    trouble.client.blocking().shutdown(Duration::ZERO);
    eventually("its end is told of", || {
        trouble.server.counters().panics == 4
    });
    assert_eq!(
        &trouble.bystander.blocking().request(b"good").unwrap()[..],
        b"good"
    );
}

struct Panicking;

impl Wake for Panicking {
    fn wake(self: Arc<Self>) {
        panic!("asked for");
    }
}

/// Panics as it is dropped.
struct Parting;

impl Wake for Parting {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Parting {
    fn drop(&mut self) {
        panic!("asked for");
    }
}

/// Polls once with a waker that panics.
fn poll_and_leave<F: Future>(future: std::pin::Pin<&mut F>) {
    poll_with(future, Arc::new(Panicking).into());
}

fn poll_with<F: Future>(future: std::pin::Pin<&mut F>, waker: Waker) {
    assert!(future.poll(&mut Context::from_waker(&waker)).is_pending());
}

#[test]
fn in_wakers_of_those_who_wait_for_an_answer() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let keep = held.clone();
    let trouble = Trouble::new(Keeping { keep });
    let conn = trouble.client.blocking().conn().unwrap();
    let call = conn.start(b"keep", CallOptions::default()).unwrap();
    let mut call = pin!(call);
    poll_and_leave(call.as_mut());
    eventually("it is there", || held.lock().unwrap().len() == 1);
    drop(held.lock().unwrap().pop());
    eventually("it is counted", || trouble.client.counters().panics == 1);
    trouble.goes_on();
}

/// Keeps requests that say so.
struct Keeping {
    keep: Arc<Mutex<Vec<Request>>>,
}

impl Handler for Keeping {
    fn request(&self, request: Request) {
        if &request.body()[..] == b"keep" {
            return self.keep.lock().unwrap().push(request);
        }
        let body = request.body().clone();
        request.answer(Ok::<_, Status>(body));
    }
}

#[test]
fn in_wakers_of_those_who_wait_for_room_or_a_connection() {
    let trouble = Trouble::new(Inline::new(echo));
    // A server that lets nobody in is waited for.
    let (waits, _listener) = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("tcp://{}", listener.local_addr().unwrap());
        (trouble.scene.client().build(&*endpoint).unwrap(), listener)
    };
    {
        let mut asking = pin!(waits.request(b""));
        poll_and_leave(asking.as_mut());
        waits.blocking().shutdown(Duration::ZERO);
        eventually("it is counted", || waits.counters().panics >= 1);
    }
    // Each of a server's calls has to be answered before the next.
    let mut limits = support::patient();
    limits.max_calls = 1;
    let held = Arc::new(Mutex::new(Vec::new()));
    let keep = held.clone();
    let handler = Keeping { keep };
    let trouble = Trouble::with(|server| server.limits(limits), handler);
    let conn = trouble.client.connections().remove(0);
    let first = conn.start(b"keep", CallOptions::default()).unwrap();
    {
        let mut second = pin!(conn.request(b"second"));
        poll_and_leave(second.as_mut());
        let mut third = pin!(conn.request(b"third"));
        let woken = Arc::new(Counting(AtomicUsize::new(0)));
        let waker = woken.clone().into();
        let mut context = Context::from_waker(&waker);
        assert!(third.as_mut().poll(&mut context).is_pending());
        eventually("it is there", || held.lock().unwrap().len() == 1);
        drop(held.lock().unwrap().pop());
        eventually("the other one is woken", || {
            woken.0.load(Ordering::SeqCst) > 0
        });
    }
    assert!(first.wait().is_err());
    assert_eq!(trouble.client.counters().panics, 1);
    trouble.goes_on();
}

#[test]
fn in_wakers_that_are_dropped() {
    let trouble = Trouble::new(Inline::new(echo));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp://{}", listener.local_addr().unwrap());
    let waits = trouble.scene.client().build(&*endpoint).unwrap();
    let mut asking = Box::pin(waits.request(b""));
    poll_with(asking.as_mut(), Arc::new(Parting).into());
    // The last one to have the waker is the list of those that wait.
    drop(asking);
    assert_eq!(waits.counters().panics, 1);
    trouble.goes_on();
}

struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(feature = "serde")]
mod typed {
    use serde::{Deserialize, Deserializer, Serialize};

    use super::*;
    use sealwire_rpc::service;

    /// An argument or reply whose decoder panics at what it does not like.
    #[derive(Serialize, Debug, PartialEq)]
    struct Fragile(u8);

    impl<'de> Deserialize<'de> for Fragile {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = u8::deserialize(deserializer)?;
            assert_ne!(value, 13, "asked for");
            Ok(Fragile(value))
        }
    }

    service!(trait Adder { take(value: Fragile) -> u8; give(value: u8) -> Fragile; });

    struct Plain;

    impl Adder for Plain {
        fn take(&self, value: Fragile) -> Result<u8, Status> {
            Ok(value.0)
        }

        fn give(&self, value: u8) -> Result<Fragile, Status> {
            Ok(Fragile(value))
        }
    }

    #[test]
    fn in_decoders_of_arguments_and_replies() {
        let scene = Scene::new();
        let server = scene.server().build(Plain.inline()).unwrap();
        let client = scene.client().build(bind(&server)).unwrap();
        let adder = AdderClient::new(client.blocking());
        assert_eq!(adder.take(Fragile(1)).unwrap(), 1);
        let error = adder.take(Fragile(13)).unwrap_err();
        assert_eq!(error.status().unwrap().code, Code::INTERNAL);
        assert_eq!(server.counters().panics, 1);
        let error = adder.give(13).unwrap_err();
        assert!(matches!(error, Error::Malformed(_)), "{error:?}");
        assert_eq!(client.counters().panics, 1);
        assert_eq!(adder.give(7).unwrap(), Fragile(7));
    }
}
