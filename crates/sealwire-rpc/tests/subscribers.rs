//! A subscriber of `tracing` that panics at whatever it hears of calls loses lines, and nobody notices.
//!
//! A binary of its own: its subscriber hears the whole process.

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{CallOptions, Client, Code, OneWay, Request, Status};
use support::{Scene, bind, eventually};
use tracing::span;

/// What it is told, in the order of [`NAMES`].
#[derive(Clone, Default)]
struct Panicking(Arc<[AtomicUsize; 6]>);

const NAMES: [&str; 6] = ["new span", "record", "enter", "exit", "close", "event"];

impl Panicking {
    fn panic(&self, what: usize) {
        self.0[what].fetch_add(1, Ordering::SeqCst);
        panic!("a subscriber");
    }

    fn panic_now_and_then(&self, what: usize) {
        let calls = self.0[what].fetch_add(1, Ordering::SeqCst);
        assert!(calls.is_multiple_of(2), "a subscriber");
    }
}

impl tracing::Subscriber for Panicking {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "sealwire::rpc"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        // Every other one comes about, or the rest would never be heard of.
        self.panic_now_and_then(0);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {
        self.panic(1);
    }

    fn enter(&self, _: &span::Id) {
        self.panic_now_and_then(2);
    }

    fn exit(&self, _: &span::Id) {
        // In the middle of another panic it would end the process.
        self.0[3].fetch_add(1, Ordering::SeqCst);
        assert!(std::thread::panicking(), "a subscriber");
    }

    fn try_close(&self, _: span::Id) -> bool {
        self.panic(4);
        true
    }

    fn event(&self, _: &tracing::Event<'_>) {
        self.panic(5);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
}

fn handle(request: &Request) -> Result<Vec<u8>, Status> {
    match &request.body()[..] {
        b"refused" => Err(Code::NOT_FOUND.into()),
        b"trouble" => panic!("asked for"),
        body => Ok(body.to_vec()),
    }
}

fn calls(client: &Client) {
    let conn = client.blocking().conn().unwrap();
    for _ in 0..20 {
        assert_eq!(&conn.request(b"hello").unwrap()[..], b"hello");
        let refused = conn.request(b"refused").unwrap_err();
        assert_eq!(refused.status().unwrap().code, Code::NOT_FOUND);
        let trouble = conn.request(b"trouble").unwrap_err();
        assert_eq!(trouble.status().unwrap().code, Code::INTERNAL);
        let call = conn.start(b"hello", CallOptions::default()).unwrap();
        assert_eq!(&call.wait().unwrap()[..], b"hello");
        drop(conn.start(b"dropped", CallOptions::default()).unwrap());
        conn.send(b"a message").unwrap();
    }
}

#[test]
fn a_subscriber_that_panics_loses_lines_and_nothing_else() {
    let subscriber = Panicking::default();
    let heard = subscriber.0.clone();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let scene = Scene::new();
    let taken = Arc::new(AtomicUsize::new(0));
    let take = {
        let taken = taken.clone();
        move |_: &OneWay| {
            taken.fetch_add(1, Ordering::SeqCst);
        }
    };
    let inline = Inline::new(handle).on_message(take.clone());
    let pool = Pool::with_messages(1, 64, handle, take).unwrap();
    let (inline, pool) = (scene.pair(inline), scene.pair(pool));
    // What panics is contained where it happens: nothing comes through to the caller either.
    for (server, client) in [&inline, &pool] {
        catch_unwind(AssertUnwindSafe(|| calls(client))).expect("calls are answered");
        // The handler's own, and none of the subscriber's.
        eventually("they are counted", || server.counters().panics == 20);
        support::nothing_left(server, client);
    }
    eventually("all messages are taken", || {
        taken.load(Ordering::SeqCst) == 40
    });
    // Connections come and go, and some are refused.
    let refusing = scene.server().greet(|_, _| Err("no".into()));
    let refusing = refusing.build(Inline::new(handle)).unwrap();
    let refused = scene.client().build(bind(&refusing)).unwrap();
    assert!(refused.blocking().request(b"").is_err());
    for (server, client) in [inline, pool] {
        client.blocking().shutdown(Duration::ZERO);
        eventually("it is gone", || server.connections().is_empty());
        server.shutdown_blocking(Duration::ZERO);
    }
    for (name, count) in NAMES.iter().zip(&*heard) {
        assert!(count.load(Ordering::SeqCst) > 0, "{name} was never heard");
    }
}
