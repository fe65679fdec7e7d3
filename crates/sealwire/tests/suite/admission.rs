//! Whom a server admits: what it is told before it decides, under every mechanism, and whose routing id is
//! whose.

use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{self, await_event, options};
use sealwire::auth::{AllowAnyone, AllowedKeys, Decision, Guest, Status};
#[cfg(target_os = "linux")]
use sealwire::auth::{Client, PlainClient};
use sealwire::{Event, FailureCause, Generate as _, KeyPair, Security, SocketType};

/// An endpoint of a Unix socket that nobody else has.
#[cfg(target_os = "linux")]
fn ipc(name: &str) -> String {
    format!("ipc://@sealwire-admission-{}-{name}", std::process::id())
}

#[cfg(target_os = "linux")]
#[test]
fn authenticators_are_told_the_process_under_every_mechanism() {
    let me = (
        std::process::id() as i32,
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |seen: &Mutex<Vec<_>>, process: Option<sealwire::ProcessCredentials>| {
        let process = process.map(|process| (process.process, process.user, process.group));
        seen.lock().unwrap().push(process);
    };
    let groups = sorted(rustix::process::getgroups().unwrap().into_iter());
    let (of_keys, of_passwords, at_the_door) = (seen.clone(), seen.clone(), seen.clone());
    let keys = KeyPair::generate();
    let of_keys = move |client: &Client<'_>| {
        note(&of_keys, client.process());
        true
    };
    let of_passwords = move |client: &PlainClient<'_>| {
        note(&of_passwords, client.process());
        Decision::allow_as("user")
    };
    let known = keys.public();
    for (name, server, client, questions) in [
        (
            "blake3",
            Security::from(Security::blake3_server(keys.clone(), of_keys.clone())),
            Security::from(Security::blake3_client(known)),
            2,
        ),
        (
            "curve",
            Security::curve_server(keys, of_keys),
            Security::curve_client(known, KeyPair::generate()),
            2,
        ),
        (
            "plain",
            Security::plain_server(of_passwords),
            Security::plain_client("user", "word"),
            2,
        ),
        ("null", Security::plain_text(), Security::plain_text(), 1),
    ] {
        seen.lock().unwrap().clear();
        let (at_the_door, groups) = (at_the_door.clone(), groups.clone());
        let server = options(SocketType::Pull)
            .security(server)
            .admit(move |guest: &Guest<'_>| {
                note(&at_the_door, guest.process());
                let of_guest = guest.groups().iter().copied();
                sorted(of_guest.map(rustix::process::Gid::from_raw)) == groups
            });
        let client = options(SocketType::Push).security(client);
        let (pull, push) = support::link(&ipc(name), server, client);
        push.send("hello").unwrap();
        pull.recv().unwrap();
        assert_eq!(
            *seen.lock().unwrap(),
            vec![Some(me); questions],
            "under {name}"
        );
    }
}

#[cfg(target_os = "linux")]
fn sorted(groups: impl Iterator<Item = rustix::process::Gid>) -> Vec<u32> {
    let mut numbers: Vec<_> = groups.map(|group| group.as_raw()).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn who_is_not_admitted_gets_in_under_no_mechanism() {
    for (mechanism, server, client) in support::every_mechanism() {
        let allowed = Arc::new(AtomicBool::new(false));
        let open = allowed.clone();
        let admit = move |guest: &Guest<'_>| {
            assert!(guest.address().to_string().starts_with("tcp://127.0.0.1:"));
            if open.load(Ordering::SeqCst) {
                Decision::allow_as("counts for nothing")
            } else {
                Decision::refuse_as(Status::Temporary, "not this user")
            }
        };
        let pull = options(SocketType::Pull).security(server).admit(admit);
        let pull = pull.build_blocking().unwrap();
        let monitor = pull.monitor();
        let push = options(SocketType::Push).security(client);
        let push = push.build_blocking().unwrap();
        push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
            .unwrap();
        let reason = await_event(&monitor, mechanism, |event| match event {
            Event::Failed(failure) => Some(failure.to_string()),
            _ => None,
        });
        assert!(reason.contains("not this user"), "{mechanism}: {reason}");
        assert!(pull.peers().is_empty());
        allowed.store(true, Ordering::SeqCst);
        push.send("hello").unwrap();
        let message = pull.recv().unwrap();
        let user_id = message.peer().unwrap().user_id();
        assert_ne!(user_id, Some("counts for nothing"));
    }
    // Where nobody could be asked it is refused, not forgotten.
    let dish = options(SocketType::Dish).admit(|_: &Guest<'_>| false);
    let dish = dish.build_blocking().unwrap();
    assert!(dish.bind("udp://127.0.0.1:0").is_err());
    let stream = options(SocketType::Stream).admit(|_: &Guest<'_>| false);
    assert!(stream.build_blocking().is_err());
}

#[test]
fn a_routing_id_belongs_to_its_user_before_it_comes() {
    let (server, alice, mallory) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let allowed = AllowedKeys::new()
        .allow_as(alice.public(), "alice")
        .allow_as(mallory.public(), "mallory");
    let router = options(SocketType::Router)
        .security(Security::blake3_server(server.clone(), allowed))
        .routing_id_is_user_id(true)
        .router_mandatory(true);
    let router = router.build_blocking().unwrap();
    let monitor = router.monitor();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let dealer = |keys: &KeyPair, routing_id: &str| {
        let security = Security::blake3_client_with_keys(server.public(), keys.clone());
        let mut dealer = options(SocketType::Dealer)
            .security(security)
            .linger(Duration::ZERO);
        if !routing_id.is_empty() {
            dealer = dealer.routing_id(routing_id);
        }
        let dealer = dealer.build_blocking().unwrap();
        dealer.connect(&endpoint).unwrap();
        dealer
    };
    let _thief = dealer(&mallory, "alice");
    await_event(&monitor, "the thief is refused", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Rejected("the routing id is another than the user id") => Some(()),
            _ => None,
        },
        _ => None,
    });
    // A client that claims its own id gets it, and so does one that claims none.
    for claimed in ["alice", ""] {
        let owner = dealer(&alice, claimed);
        owner.send("hello").unwrap();
        let message = router.recv().unwrap();
        assert_eq!(message.frames()[0].as_slice(), b"alice");
        router
            .send(sealwire::Message::multipart(["alice", "welcome"]))
            .unwrap();
        assert_eq!(owner.recv().unwrap().as_bytes(), b"welcome");
    }
    // A peer without a user id does not have a name either.
    let nameless = options(SocketType::Router)
        .security(Security::blake3_server(server.clone(), AllowAnyone))
        .routing_id_is_user_id(true);
    let nameless = nameless.build_blocking().unwrap();
    let monitor = nameless.monitor();
    let dealer = options(SocketType::Dealer)
        .security(Security::blake3_client(server.public()))
        .linger(Duration::ZERO);
    let dealer = dealer.build_blocking().unwrap();
    dealer
        .connect(nameless.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    await_event(&monitor, "refused", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Rejected("a peer without a user id has no routing id") => Some(()),
            _ => None,
        },
        _ => None,
    });
    let dealer = options(SocketType::Dealer).routing_id_is_user_id(true);
    assert!(dealer.build_blocking().is_err());
}
