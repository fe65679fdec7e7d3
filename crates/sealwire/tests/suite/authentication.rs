//! Authenticators that are slow, panic or change their mind, beside others that are none of it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::support::{await_event, eventually, options};
use sealwire::auth::{Authenticator, Client, Decision, PlainClient, Status};
use sealwire::blocking::Socket;
use sealwire::{
    Context, Event, FailureCause, Generate as _, KeyPair, Monitor, PublicKey, Security, SocketType,
};

/// Shut until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }
}

/// Lets everybody in but those that it is told not to, and waits where it is told to.
#[derive(Default)]
struct Rules {
    revision: AtomicU64,
    denied: Mutex<HashSet<PublicKey>>,
    /// Decided about as things stand, and told when the gate is opened.
    held: Mutex<HashSet<PublicKey>>,
    gate: Gate,
    asked: AtomicUsize,
    holds_revision: AtomicBool,
    revision_is_held: AtomicBool,
}

#[derive(Clone, Default)]
struct Ruled(Arc<Rules>);

impl Ruled {
    fn deny(&self, key: PublicKey) {
        self.0.denied.lock().unwrap().insert(key);
    }

    fn hold(&self, key: PublicKey) {
        self.0.held.lock().unwrap().insert(key);
    }

    fn change(&self) {
        self.0.revision.fetch_add(1, Ordering::SeqCst);
    }

    fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }
}

impl Authenticator for Ruled {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        let allowed = !self.0.denied.lock().unwrap().contains(&client.public_key());
        let held = self.0.held.lock().unwrap().remove(&client.public_key());
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        if held {
            self.0.gate.pass();
        }
        allowed.into()
    }

    fn revision(&self) -> Option<u64> {
        if self.0.holds_revision.load(Ordering::SeqCst) {
            self.0.revision_is_held.store(true, Ordering::SeqCst);
            self.0.gate.pass();
        }
        Some(self.0.revision.load(Ordering::SeqCst))
    }
}

/// A server that nobody ends for being slow, in a context of its own or another's.
struct Server {
    socket: Socket,
    monitor: Monitor,
    keys: KeyPair,
    context: Context,
    endpoint: String,
}

impl Server {
    fn new(context: &Context, authenticator: impl Authenticator) -> Self {
        let keys = KeyPair::generate();
        let socket = options(SocketType::Pull)
            .context(context)
            .security(Security::blake3_server(keys.clone(), authenticator))
            .handshake_timeout(Duration::from_secs(3_600))
            .linger(Duration::ZERO)
            .build_blocking()
            .unwrap();
        let monitor = socket.monitor();
        let endpoint = socket.bind("tcp://127.0.0.1:0").unwrap().to_string();
        Server {
            socket,
            monitor,
            keys,
            context: context.clone(),
            endpoint,
        }
    }

    /// A client that connects once.
    fn client(&self, keys: &KeyPair) -> Socket {
        let client = options(SocketType::Push)
            .context(&self.context)
            .security(Security::blake3_client_with_keys(
                self.keys.public(),
                keys.clone(),
            ))
            .handshake_timeout(Duration::from_secs(3_600))
            .linger(Duration::ZERO)
            .build_blocking()
            .unwrap();
        client.connect(&*self.endpoint).unwrap();
        client
    }

    /// The same, let in.
    fn guest(&self, keys: &KeyPair) -> Socket {
        let client = self.client(keys);
        client.send("hello").unwrap();
        assert_eq!(self.socket.recv().unwrap().as_bytes(), b"hello");
        client
    }

    /// Waits until a client that was connected is not any more, for its key.
    fn cuts_one(&self) {
        await_event(&self.monitor, "no longer allowed", |event| match event {
            Event::Failed(failure) if failure.was_ready() => {
                let reason = "this key is no longer allowed here";
                assert!(matches!(failure.cause(), FailureCause::Rejected(told) if *told == reason));
                Some(())
            }
            _ => None,
        });
    }
}

/// More clients of a slow authenticator than it ever gets threads, with their questions under way.
fn crowd(server: &Server, rules: &Ruled) -> Vec<Socket> {
    let before = rules.asked();
    let crowd = (0..8).map(|_| {
        let keys = KeyPair::generate();
        rules.hold(keys.public());
        server.client(&keys)
    });
    let crowd = crowd.collect();
    eventually("all threads are taken", || rules.asked() == before + 4);
    crowd
}

#[test]
fn a_client_that_attaches_behind_a_revision_is_decided_about_again() {
    let rules = Ruled::default();
    let server = Server::new(&Context::new().unwrap(), rules.clone());
    let (early, late) = (KeyPair::generate(), KeyPair::generate());
    let _early = server.guest(&early);
    rules.hold(late.public());
    let asked = rules.asked();
    let _late = server.client(&late);
    eventually("the late one is asked about", || rules.asked() > asked);
    // It has been allowed, and nobody knows yet. Both are removed, which ends the early one.
    rules.deny(early.public());
    rules.deny(late.public());
    rules.change();
    server.cuts_one();
    rules.0.gate.open();
    server.cuts_one();
}

#[test]
fn a_removed_client_goes_though_questions_fill_every_thread() {
    let rules = Ruled::default();
    let server = Server::new(&Context::new().unwrap(), rules.clone());
    let keys = KeyPair::generate();
    let _guest = server.guest(&keys);
    let crowd = crowd(&server, &rules);
    rules.deny(keys.public());
    rules.change();
    server.cuts_one();
    rules.0.gate.open();
    drop(crowd);
}

#[test]
fn a_slow_authenticator_holds_up_no_revision_of_another_socket() {
    let context = Context::new().unwrap();
    let (slow, rules) = (Ruled::default(), Ruled::default());
    let _slow = [(); 6].map(|()| Server::new(&context, slow.clone()));
    let server = Server::new(&context, rules.clone());
    let keys = KeyPair::generate();
    let _guest = server.guest(&keys);
    slow.0.holds_revision.store(true, Ordering::SeqCst);
    eventually("a revision is under way", || {
        slow.0.revision_is_held.load(Ordering::SeqCst)
    });
    rules.deny(keys.public());
    rules.change();
    server.cuts_one();
    slow.0.gate.open();
}

#[test]
fn a_slow_authenticator_holds_up_no_decision_of_another_socket() {
    let context = Context::new().unwrap();
    let slow = Ruled::default();
    let slow_server = Server::new(&context, slow.clone());
    let crowd = crowd(&slow_server, &slow);
    for _ in 0..3 {
        let server = Server::new(&context, |_: &Client<'_>| true);
        server.guest(&KeyPair::generate());
    }
    slow.0.gate.open();
    drop(crowd);
}

/// What becomes of a client that nothing can be decided about.
struct Undecided {
    revision: AtomicU64,
    asked: AtomicUsize,
    answer: Mutex<fn() -> Decision>,
}

struct AsksUndecided(Arc<Undecided>);

impl Authenticator for AsksUndecided {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        let answer = *self.0.answer.lock().unwrap();
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        answer()
    }

    fn revision(&self) -> Option<u64> {
        Some(self.0.revision.load(Ordering::SeqCst))
    }
}

#[test]
fn a_decision_that_cannot_be_made_cuts_nobody_until_it_can() {
    let failures: [fn() -> Decision; 3] = [
        || panic!("no answer"),
        || Decision::refuse_as(Status::Temporary, "later"),
        || Decision::refuse_as(Status::Failed, "the database is away"),
    ];
    for failure in failures {
        let shared = Arc::new(Undecided {
            revision: AtomicU64::new(0),
            asked: AtomicUsize::new(0),
            answer: Mutex::new(|| true.into()),
        });
        let authenticator = AsksUndecided(shared.clone());
        let server = Server::new(&Context::new().unwrap(), authenticator);
        let guest = server.guest(&KeyPair::generate());
        *shared.answer.lock().unwrap() = failure;
        let asked = shared.asked.load(Ordering::SeqCst);
        shared.revision.store(1, Ordering::SeqCst);
        // It is asked about again and again, which one that is gone is not.
        eventually("it is asked about three times", || {
            shared.asked.load(Ordering::SeqCst) >= asked + 3
        });
        guest.send("still here").unwrap();
        assert_eq!(server.socket.recv().unwrap().as_bytes(), b"still here");
        *shared.answer.lock().unwrap() = || Decision::refuse("now it can");
        server.cuts_one();
    }
}

/// Panics whatever it is asked about strangers.
struct Fragile(PublicKey);

impl Authenticator for Fragile {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        assert_eq!(client.public_key(), self.0, "a stranger");
        true.into()
    }

    fn revision(&self) -> Option<u64> {
        panic!("no revision")
    }

    fn may_block(&self) -> bool {
        panic!("who knows")
    }
}

#[test]
fn panics_of_authenticators_end_no_thread() {
    let friend = KeyPair::generate();
    let context = Context::new().unwrap();
    let server = Server::new(&context, Fragile(friend.public()));
    let strangers = [(); 10].map(|()| server.client(&KeyPair::generate()));
    eventually("all were refused", || {
        server.socket.counters().handshakes_failed >= 10
    });
    server.guest(&friend);
    drop(strangers);

    // Likewise for passwords, and at the door.
    let plain = options(SocketType::Pull)
        .context(&context)
        .security(Security::plain_server(|client: &PlainClient<'_>| {
            assert_eq!(client.credentials().username(), b"friend");
            Decision::allow_as("friend")
        }));
    let pull = plain.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    let client = |name: &str| {
        let push = options(SocketType::Push)
            .context(&context)
            .security(Security::plain_client(name, "word"))
            .linger(Duration::ZERO);
        let push = push.build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push
    };
    let strangers = [(); 10].map(|()| client("stranger"));
    eventually("all were refused", || {
        pull.counters().handshakes_failed >= 10
    });
    let friend = client("friend");
    friend.send("hello").unwrap();
    drop(strangers);
    assert_eq!(
        pull.recv().unwrap().peer().unwrap().user_id(),
        Some("friend")
    );
}
