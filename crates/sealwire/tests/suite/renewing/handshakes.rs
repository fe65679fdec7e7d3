//! Handshakes that are under way while the endpoint gets other options.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use super::{exchange, protect, withdrawn_of};
use crate::support::{TIMEOUT, await_event, options};
use sealwire::auth::{AllowAnyone, AllowedKeys, Authenticator, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{
    CurveServer, Endpoint, Event, FailureCause, Generate as _, KeyPair, Monitor, Security,
    SocketType,
};

/// Tells that it is asked, and answers when it may.
struct Asked {
    asked: Mutex<Sender<()>>,
    answer: Mutex<Receiver<()>>,
}

impl Authenticator for Asked {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        self.asked.lock().unwrap().send(()).unwrap();
        let answered = self.answer.lock().unwrap().recv_timeout(TIMEOUT);
        answered.is_ok().into()
    }
}

struct Scene {
    server: Socket,
    monitor: Monitor,
    endpoint: Endpoint,
    client: Socket,
    answer: Sender<()>,
}

/// A client whose handshake waits for the authenticator.
fn scene(server: impl Fn(Asked) -> Security, client: Security) -> Scene {
    let ((asked, is_asked), (answer, answered)) = (mpsc::channel(), mpsc::channel());
    let security = server(Asked {
        asked: Mutex::new(asked),
        answer: Mutex::new(answered),
    });
    let server = options(SocketType::Router).security(security);
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let client = options(SocketType::Dealer).security(client);
    let client = client.build_blocking().unwrap();
    client.connect(&endpoint).unwrap();
    is_asked.recv_timeout(TIMEOUT).unwrap();
    Scene {
        server,
        monitor,
        endpoint,
        client,
        answer,
    }
}

fn scenes(keys: &KeyPair) -> [Scene; 2] {
    let own = KeyPair::generate();
    let blake3 = scene(
        |asked| Security::blake3_server(keys.clone(), asked).into(),
        Security::blake3_client(keys.public()).into(),
    );
    let curve = scene(
        |asked| CurveServer::new(keys.clone(), asked).into(),
        Security::curve_client(keys.public(), own),
    );
    [blake3, curve]
}

#[test]
fn a_handshake_goes_on_under_what_it_began_with() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    for scene in scenes(&old) {
        let security = Security::blake3_server(new.clone(), AllowAnyone);
        protect(&scene.server, &scene.endpoint, Withdrawn::Stay, security);
        scene.answer.send(()).unwrap();
        exchange(&scene.server, &scene.client, "in time");
        assert_eq!(scene.server.counters().handshakes_failed, 0);
    }
}

/// What the client sends as soon as it is in arrives.
#[test]
fn one_under_a_key_that_is_withdrawn_is_finished_and_its_connection_ends_in_good_order() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    for scene in scenes(&old) {
        let security = Security::blake3_server(new.clone(), AllowAnyone);
        protect(&scene.server, &scene.endpoint, Withdrawn::End, security);
        // Nothing that comes later makes it good again.
        let third = Security::blake3_server(KeyPair::generate(), AllowAnyone);
        protect(&scene.server, &scene.endpoint, Withdrawn::Stay, third);
        scene.answer.send(()).unwrap();
        await_event(&scene.monitor, "the end", withdrawn_of);
        assert_eq!(scene.server.counters().handshakes_failed, 0);
        assert_eq!(scene.server.counters().handshakes_completed, 1);
    }
}

/// The authenticator that let it in has been replaced while it decided.
#[test]
fn one_that_another_authenticator_let_in_is_decided_about_by_the_new_one() {
    let (keys, me) = (KeyPair::generate(), KeyPair::generate());
    for allowed in [true, false] {
        let scene = scene(
            |asked| Security::blake3_server(keys.clone(), asked).into(),
            Security::blake3_client_with_keys(keys.public(), me.clone()).into(),
        );
        let who = match allowed {
            true => me.public(),
            false => KeyPair::generate().public(),
        };
        let list = Arc::new(AllowedKeys::new().allow(who));
        let decides = list.clone();
        let by_list = move |client: &Client<'_>| decides.authenticate(client);
        let security = Security::blake3_server(keys.clone(), by_list);
        protect(&scene.server, &scene.endpoint, Withdrawn::End, security);
        scene.answer.send(()).unwrap();
        scene.server.wait_connected(1).unwrap();
        if allowed {
            exchange(&scene.server, &scene.client, "in");
            assert_eq!(scene.server.counters().disconnects, 0);
            continue;
        }
        await_event(&scene.monitor, "the end", |event| match event {
            Event::Failed(failure) if failure.was_ready() => {
                assert!(matches!(failure.cause(), FailureCause::Rejected(_)));
                Some(())
            }
            _ => None,
        });
    }
}
