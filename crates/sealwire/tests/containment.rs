//! What a socket is given to call may panic: that ends one connection at most.
//!
//! A binary of its own: its subscriber of `tracing` panics, and hears the whole process.

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Wake, Waker};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use sealwire::auth::{AllowAnyone, Authenticator, Client, Decision, Guest};
use sealwire::blocking::Socket;
use sealwire::panics::contain;
use sealwire::{
    Context, Event, FailureCause, Frame, Generate as _, KeyPair, Message, Security, SocketType,
};
use support::primitives::{Hook, Hooked, Primitive};
use support::{Path, TIMEOUT, await_event, eventually, options};

/// Panics once, at the call with this number.
#[derive(Debug)]
struct Fuse(Arc<AtomicI64>);

impl Hook for Fuse {
    fn called(&self, _: Primitive) {
        assert!(
            self.0.fetch_sub(1, Ordering::SeqCst) != 0,
            "a provider that panics"
        );
    }
}

/// Sends until something arrives: a connection that ends takes messages with it.
fn gets_through(pull: &Socket, push: &Socket) {
    eventually("a message arrives", || {
        let _ = push.try_send("work");
        pull.try_recv().is_ok()
    });
}

#[test]
fn a_provider_may_panic_at_any_call_of_either_side() {
    let mut calls = 0;
    for panics_at in 0..28 {
        for at_server in [false, true] {
            let context = Context::new().unwrap();
            let path = Path::encrypted();
            // Below zero: never.
            let fuse = Arc::new(AtomicI64::new(i64::MIN / 2));
            let [mut server, mut client] =
                [path.server(SocketType::Pull), path.client(SocketType::Push)]
                    .map(|builder| builder.context(&context).linger(Duration::ZERO));
            if at_server {
                server = server.provider(Hooked::new(Fuse(fuse.clone())));
            } else {
                client = client.provider(Hooked::new(Fuse(fuse.clone())));
            }
            let (pull, push) = (
                server.build_blocking().unwrap(),
                client.build_blocking().unwrap(),
            );
            let (other_pull, other_push) = support::link(
                "tcp://127.0.0.1:0",
                options(SocketType::Pull).context(&context),
                options(SocketType::Push).context(&context),
            );
            let monitor = if at_server {
                pull.monitor()
            } else {
                push.monitor()
            };
            fuse.store(panics_at, Ordering::SeqCst);
            push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
                .unwrap();
            gets_through(&pull, &push);
            let burnt = fuse.load(Ordering::SeqCst) < 0;
            if burnt {
                calls += 1;
                await_event(&monitor, "an internal error", |event| match event {
                    Event::Failed(failure) => {
                        matches!(failure.cause(), FailureCause::Internal).then_some(())
                    }
                    _ => None,
                });
                gets_through(&pull, &push);
            }
            // The bystander has noticed nothing.
            other_push.send("bystander").unwrap();
            assert_eq!(other_pull.recv().unwrap().as_bytes(), b"bystander");
            for socket in [push, pull, other_push, other_pull] {
                let _ = socket.close();
            }
        }
    }
    assert!(calls > 20, "{calls} calls of the provider");
}

/// Panics as it is dropped, where the library is done with it.
struct Payload {
    dropped: Arc<AtomicUsize>,
    /// How many panic.
    panics: usize,
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        &[7; 4_096]
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        if self.dropped.fetch_add(1, Ordering::SeqCst) < self.panics {
            panic!("a payload that panics");
        }
    }
}

#[test]
fn the_owner_of_a_payload_may_panic_as_it_is_dropped() {
    for path in Path::all()
        .into_iter()
        .filter(|path| path.transport != "inproc")
    {
        // While the client is away its queue fills to what the server takes unread: no end would wait for that.
        let (pull, push) = path.link(
            path.server(SocketType::Pull),
            path.client(SocketType::Push).linger(Duration::ZERO),
        );
        gets_through(&pull, &push);
        let dropped = Arc::new(AtomicUsize::new(0));
        let owner = Bytes::from_owner(Payload {
            dropped: dropped.clone(),
            panics: 1,
        });
        push.send(Message::multipart([Frame::from(owner)])).unwrap();
        eventually("dropped", || dropped.load(Ordering::SeqCst) > 0);
        gets_through(&pull, &push);
        let _ = push.close();
    }
}

/// The first cipher of a connection that is dropped while it is armed panics.
#[derive(Debug)]
struct PartingCiphers(Arc<AtomicBool>);

impl Hook for PartingCiphers {
    fn cipher_dropped(&self) {
        // Two panics at once would end the process: a connection has two ciphers, and may be armed again meanwhile.
        let panics = !thread::panicking() && self.0.swap(false, Ordering::SeqCst);
        assert!(!panics, "a cipher's end");
    }
}

#[test]
fn what_a_connection_has_may_panic_as_it_ends() {
    let path = Path::encrypted();
    let (cut, armed) = (
        Arc::new(AtomicI64::new(i64::MIN / 2)),
        Arc::new(AtomicBool::new(false)),
    );
    let server = path.server(SocketType::Pull);
    let client = path.client(SocketType::Push).linger(Duration::ZERO);
    let pull = server.provider(Hooked::new(Fuse(cut.clone())));
    let push = client.provider(Hooked::new(PartingCiphers(armed.clone())));
    let (pull, push) = (
        pull.build_blocking().unwrap(),
        push.build_blocking().unwrap(),
    );
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    for _ in 0..3 {
        gets_through(&pull, &push);
        armed.store(true, Ordering::SeqCst);
        // The server ends the connection, and the client connects again.
        cut.store(0, Ordering::SeqCst);
        eventually("its cipher is dropped", || {
            let _ = push.try_send("more");
            !armed.load(Ordering::SeqCst)
        });
    }
    gets_through(&pull, &push);
}

/// Some of them at once, of which none may keep the others.
#[test]
fn the_owners_of_queued_payloads_may_panic_as_a_connection_ends() {
    let context = Context::new().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    let pull = options(SocketType::Pull).receive_high_water_mark(100);
    let push = options(SocketType::Push).linger(Duration::ZERO);
    let (pull, push) = support::link(
        "inproc://queued",
        pull.context(&context),
        push.context(&context),
    );
    const PAYLOADS: usize = 10;
    for _ in 0..PAYLOADS {
        let owner = Bytes::from_owner(Payload {
            dropped: dropped.clone(),
            panics: PAYLOADS,
        });
        push.send(Message::multipart([Frame::from(owner)])).unwrap();
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "they wait");
    drop((pull, push));
    eventually("all are dropped", || {
        dropped.load(Ordering::SeqCst) == PAYLOADS
    });
    let (pull, push) = support::link(
        "inproc://queued",
        options(SocketType::Pull).context(&context),
        options(SocketType::Push).context(&context),
    );
    gets_through(&pull, &push);
}

/// The same where a network is between them, and the peer has taken nothing for a while.
#[test]
fn the_owners_of_payloads_for_a_peer_that_ends_may_panic() {
    const PAYLOADS: usize = 10;
    let context = Context::new().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    let router = options(SocketType::Router).context(&context);
    let router = router.build_blocking().unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let dealer = || {
        let dealer = options(SocketType::Dealer).receive_high_water_mark(1);
        let dealer = dealer.linger(Duration::ZERO).build_blocking().unwrap();
        dealer.connect(endpoint.clone()).unwrap();
        dealer.send("hello").unwrap();
        (dealer, router.recv().unwrap().frames()[0].clone())
    };
    let (peer, routing_id) = dealer();
    // More than the connection holds on the way.
    for _ in 0..32 {
        let message = [routing_id.clone(), Frame::from(vec![7; 1 << 20])];
        router.send(Message::multipart(message)).unwrap();
    }
    for _ in 0..PAYLOADS {
        let owner = Bytes::from_owner(Payload {
            dropped: dropped.clone(),
            panics: PAYLOADS,
        });
        let message = [routing_id.clone(), Frame::from(owner)];
        router.send(Message::multipart(message)).unwrap();
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "they wait");
    let monitor = router.monitor();
    drop(peer);
    await_event(&monitor, "its end", |event| match event {
        Event::Disconnected { .. } | Event::Failed(_) => Some(()),
        _ => None,
    });
    assert_eq!(dropped.load(Ordering::SeqCst), PAYLOADS);
    let (next, routing_id) = dealer();
    router
        .send(Message::multipart([routing_id, Frame::from("welcome")]))
        .unwrap();
    assert_eq!(next.recv().unwrap().as_bytes(), b"welcome");
}

/// Lets everybody in, and panics as it is dropped.
struct Parting(Arc<AtomicUsize>);

impl Authenticator for Parting {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        true.into()
    }
}

impl Drop for Parting {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("an authenticator's end");
    }
}

/// The thread that does the I/O may be the last one to have the socket.
#[test]
fn what_a_socket_was_given_may_panic_as_it_is_dropped() {
    let context = Context::new().unwrap();
    let dropped = Arc::new(AtomicUsize::new(0));
    let (pull, push) = support::link(
        "tcp://127.0.0.1:0",
        options(SocketType::Pull).context(&context),
        options(SocketType::Push).context(&context),
    );
    const SOCKETS: usize = 20;
    for number in 0..SOCKETS {
        let parting = Parting(dropped.clone());
        let server = options(SocketType::Pull).context(&context);
        let server = if number % 2 == 0 {
            server.security(Security::blake3_server(KeyPair::generate(), parting))
        } else {
            server.admit(move |_: &Guest<'_>| parting.0.load(Ordering::SeqCst) == 0)
        };
        let server = server.build().unwrap();
        server.bind("tcp://127.0.0.1:0").unwrap();
        // Where this thread is the last one, the panic is its own.
        let _ = contain(|| drop(server));
    }
    eventually("all are gone", || dropped.load(Ordering::SeqCst) == SOCKETS);
    gets_through(&pull, &push);
}

/// The thread that does the I/O is the last one to have the options of an endpoint which its socket has no more.
#[test]
fn what_an_endpoint_was_given_may_panic_as_it_is_dropped() {
    let context = Context::new().unwrap();
    let (pull, push) = support::link(
        "tcp://127.0.0.1:0",
        options(SocketType::Pull).context(&context),
        options(SocketType::Push).context(&context),
    );
    let dropped = Arc::new(AtomicUsize::new(0));
    for unbinds in [true, false] {
        let security = |authenticator| Security::blake3_server(KeyPair::generate(), authenticator);
        let server = options(SocketType::Pull).context(&context);
        let server = server.security(security(Parting(dropped.clone())));
        let server = server.build_blocking().unwrap();
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let anyone = Security::blake3_server(KeyPair::generate(), AllowAnyone);
        let anyone = server.options().unwrap().security(anyone);
        server.reconfigure(anyone).unwrap();
        let before = dropped.load(Ordering::SeqCst);
        assert_eq!(before, usize::from(!unbinds), "the listener has it");
        if unbinds {
            server.unbind(endpoint).unwrap();
        }
        let _ = server.close();
        eventually("it is gone", || dropped.load(Ordering::SeqCst) > before);
    }
    gets_through(&pull, &push);
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("an executor that panics");
    }
}

#[test]
fn a_waker_may_panic_and_the_others_are_woken() {
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    let shared = sealwire::Socket::from(pull.clone());
    let waker = Waker::from(Arc::new(Panics));
    for _ in 0..3 {
        let mut receiving = Box::pin(shared.recv());
        let mut task = TaskContext::from_waker(&waker);
        assert!(receiving.as_mut().poll(&mut task).is_pending());
        thread::scope(|scope| {
            let other = scope.spawn(|| pull.recv_timeout(TIMEOUT).unwrap());
            // The first is for the task, which is not woken.
            push.send("first").unwrap();
            push.send("second").unwrap();
            other.join().unwrap();
        });
        drop(receiving);
        pull.recv_timeout(TIMEOUT).unwrap();
    }
}

struct Subscriber;

impl tracing::Subscriber for Subscriber {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "sealwire"
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        panic!("a subscriber that panics");
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// For all tests of this file, as they share it.
#[test]
fn a_subscriber_of_the_log_may_panic() {
    tracing::subscriber::set_global_default(Subscriber).unwrap();
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    gets_through(&pull, &push);
    push.close().unwrap();
}
