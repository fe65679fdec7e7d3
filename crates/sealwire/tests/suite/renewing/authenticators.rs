//! Authenticators and lists that take each other's place.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{change, exchange, peer, protect, withdrawn_of};
use crate::support::{await_event, eventually, options};
use sealwire::auth::{
    AllowAnyone, AllowedKeys, AllowedKeysFile, Authenticator, Client, Decision, PasswordTable,
    Status,
};
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{
    CurveServer, Endpoint, Event, FailureCause, Generate as _, KeyPair, Monitor, Security,
    SocketType,
};

/// A ROUTER with a client of each of these keys, in their order.
fn scene(
    server: impl Into<Security>,
    clients: &[Security],
) -> (Socket, Monitor, Endpoint, Vec<Socket>) {
    let server = options(SocketType::Router).security(server);
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let clients = clients.iter().map(|security| {
        let client = options(SocketType::Dealer).security(security.clone());
        let client = client.build_blocking().unwrap();
        client.connect(&endpoint).unwrap();
        exchange(&server, &client, "before");
        client
    });
    let clients = clients.collect();
    (server, monitor, endpoint, clients)
}

/// Which peer's connection was ended by the authenticator.
fn disallowed(event: &Event) -> Option<String> {
    match event {
        Event::Failed(failure) if failure.was_ready() => match failure.cause() {
            FailureCause::Rejected(reason) => Some((*reason).to_owned()),
            other => panic!("{other}"),
        },
        _ => None,
    }
}

#[test]
fn a_new_list_counts_for_those_who_come_and_if_wanted_for_those_who_are_there() {
    let [keys, stays, goes] = [(); 3].map(|()| KeyPair::generate());
    let both = || {
        AllowedKeys::new()
            .allow(stays.public())
            .allow(goes.public())
    };
    let servers: [&dyn Fn(AllowedKeys) -> Security; 2] = [
        &|allowed| Security::blake3_server(keys.clone(), allowed).into(),
        &|allowed| CurveServer::new(keys.clone(), allowed).into(),
    ];
    for (at, server) in servers.into_iter().enumerate() {
        let client = |own: &KeyPair| match at {
            0 => Security::blake3_client_with_keys(keys.public(), own.clone()).into(),
            _ => Security::curve_client(keys.public(), own.clone()),
        };
        let clients = [client(&stays), client(&goes)];
        let (server_socket, monitor, endpoint, clients) = scene(server(both()), &clients);
        let connection = peer(&server_socket, stays.public()).unwrap();
        let only = || server(AllowedKeys::new().allow(stays.public()));

        protect(&server_socket, &endpoint, Withdrawn::Stay, only());
        let late = options(SocketType::Dealer).security(client(&goes));
        let late = late.build_blocking().unwrap();
        let refused = late.monitor();
        late.connect(&endpoint).unwrap();
        super::await_refusal(&refused);
        exchange(&server_socket, &clients[1], "still there");

        protect(&server_socket, &endpoint, Withdrawn::End, only());
        let reason = await_event(&monitor, "the end", disallowed);
        assert_eq!(reason, "this key is no longer allowed here");
        eventually("it is gone", || {
            peer(&server_socket, goes.public()).is_none()
        });
        exchange(&server_socket, &clients[0], "on");
        assert_eq!(peer(&server_socket, stays.public()), Some(connection));
    }
}

/// Counts what it is asked.
struct Listed {
    list: AllowedKeysFile,
    asked: Arc<AtomicUsize>,
}

impl Authenticator for Listed {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.list.authenticate(client)
    }

    fn revision(&self) -> Option<u64> {
        self.list.revision()
    }
}

/// The list that the endpoint has now is asked about those whom another one let in, also later, and also when the
/// endpoint has a third one by then.
#[test]
fn those_who_stay_are_the_clients_of_the_new_list() {
    for replaced_once_more in [false, true] {
        let [keys, me] = [(); 2].map(|()| KeyPair::generate());
        let client = Security::blake3_client_with_keys(keys.public(), me.clone());
        let server = Security::blake3_server(keys.clone(), AllowAnyone);
        let (server, monitor, endpoint, clients) = scene(server, &[client.into()]);
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("me");
        fs::write(&list, me.public().to_string()).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let listed = Listed {
            list: AllowedKeysFile::open(folder.path()).unwrap(),
            asked: asked.clone(),
        };
        let listed = Security::blake3_server(keys.clone(), listed);
        protect(&server, &endpoint, Withdrawn::End, listed);
        eventually("the list is asked", || asked.load(Ordering::SeqCst) == 1);
        if replaced_once_more {
            let anyone = Security::blake3_server(keys.clone(), AllowAnyone);
            protect(&server, &endpoint, Withdrawn::Stay, anyone);
        }
        exchange(&server, &clients[0], "listed");
        fs::remove_file(list).unwrap();
        await_event(&monitor, "the end", disallowed);
    }
}

/// Says nothing the first times.
struct Hesitant(Arc<AtomicUsize>);

impl Authenticator for Hesitant {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Decision::refuse_as(Status::Temporary, "not now"),
            2 => Decision::refuse("no"),
            _ => Decision::from(true),
        }
    }
}

#[test]
fn an_authenticator_that_cannot_decide_is_asked_until_it_does() {
    let keys = KeyPair::generate();
    let client = Security::blake3_client(keys.public());
    let server = Security::blake3_server(keys.clone(), AllowAnyone);
    let (server, monitor, endpoint, clients) = scene(server, &[client.into()]);
    let asked = Arc::new(AtomicUsize::new(0));
    let hesitant = Security::blake3_server(keys, Hesitant(asked.clone()));
    protect(&server, &endpoint, Withdrawn::End, hesitant);
    await_event(&monitor, "the end", disallowed);
    // It comes again, and is let in.
    eventually("it is there again", || {
        server.counters().handshakes_completed == 2
    });
    exchange(&server, &clients[0], "again");
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

/// One client of two is decided about, the other cannot be.
#[test]
fn who_was_decided_about_is_not_asked_about_again() {
    let [keys, known, unknown] = [(); 3].map(|()| KeyPair::generate());
    let clients = [&known, &unknown]
        .map(|own| Security::blake3_client_with_keys(keys.public(), own.clone()).into());
    let server = Security::blake3_server(keys.clone(), AllowAnyone);
    let (server, _, endpoint, clients) = scene(server, &clients);
    let asked = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let (counts, key) = (asked.clone(), known.public());
    let half = move |client: &Client<'_>| -> Decision {
        let is_known = client.public_key() == key;
        counts[usize::from(!is_known)].fetch_add(1, Ordering::SeqCst);
        match is_known {
            true => true.into(),
            false => Decision::refuse_as(Status::Temporary, "not now"),
        }
    };
    let security = Security::blake3_server(keys, half);
    protect(&server, &endpoint, Withdrawn::End, security);
    eventually("the other is asked about again and again", || {
        asked[1].load(Ordering::SeqCst) >= 3
    });
    assert_eq!(asked[0].load(Ordering::SeqCst), 1);
    for client in &clients {
        exchange(&server, client, "both are there");
    }
}

#[test]
fn nobody_is_asked_again_where_the_authenticator_is_the_same() {
    let keys = KeyPair::generate();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let authenticator = move |_: &Client<'_>| counted.fetch_add(1, Ordering::SeqCst) == 0;
    let client = Security::blake3_client(keys.public());
    let server = Security::blake3_server(keys.clone(), authenticator);
    let with_more = server.clone().with_additional_keys(KeyPair::generate());
    let (server, _, endpoint, clients) = scene(server, &[client.into()]);
    protect(&server, &endpoint, Withdrawn::End, with_more);
    change(&server, &endpoint, Withdrawn::End, |it| {
        it.max_connections(1_000)
    });
    exchange(&server, &clients[0], "on");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(server.counters().disconnects, 0);
}

/// A password is not kept where nobody may change his mind, so all show it again.
#[test]
fn clients_of_plain_show_their_passwords_to_the_new_table() {
    let table = |users: &[&str]| {
        let mut table = PasswordTable::new();
        for user in users {
            table.insert(*user, "password");
        }
        table
    };
    let clients = ["stays", "goes"].map(|user| Security::plain_client(user, "password"));
    let server = Security::plain_server(table(&["stays", "goes"]));
    let (server, monitor, endpoint, clients) = scene(server, &clients);
    let same = server.endpoint_options(&endpoint).unwrap();
    server
        .reconfigure_endpoint(&endpoint, same, Withdrawn::End)
        .unwrap();
    for client in &clients {
        exchange(&server, client, "the table is the same");
    }
    assert_eq!(server.counters().disconnects, 0);
    let refused = clients[1].monitor();
    let security = Security::plain_server(table(&["stays"]));
    protect(&server, &endpoint, Withdrawn::End, security);
    for _ in &clients {
        await_event(&monitor, "the end", withdrawn_of);
    }
    exchange(&server, &clients[0], "again");
    super::await_refusal(&refused);
}
