//! Other options for an endpoint that is bound or connected.

mod authenticators;
mod ending;
mod handshakes;
mod limits;
mod rotation;
#[cfg(feature = "wss")]
mod tls;

use std::time::Duration;

use crate::support::{TIMEOUT, await_event, eventually, options};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::options::{OptionsError, Withdrawn};
use sealwire::{
    Context, CurveServer, Endpoint, Error, Event, FailureCause, Frame, Generate as _, KeyPair,
    Message, Monitor, PublicKey, Security, SocketBuilder, SocketType, Unusable,
};

/// The mechanisms with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum With {
    Blake3,
    Curve,
}

impl With {
    const BOTH: [With; 2] = [With::Blake3, With::Curve];

    /// A server that clients know by any of these keys.
    fn server(self, keys: &[&KeyPair]) -> Security {
        let (first, others) = keys.split_first().unwrap();
        let (first, others) = ((*first).clone(), others.iter().map(|keys| (*keys).clone()));
        match self {
            With::Blake3 => {
                let server = Security::blake3_server(first, AllowAnyone);
                let server = others.fold(server, |it, keys| it.with_additional_keys(keys));
                server.into()
            }
            With::Curve => {
                let server = CurveServer::new(first, AllowAnyone);
                let server = others.fold(server, |it, keys| it.with_additional_key(keys));
                server.into()
            }
        }
    }

    fn client(self, server: &KeyPair, own: &KeyPair) -> Security {
        match self {
            With::Blake3 => Security::blake3_client_with_keys(server.public(), own.clone()).into(),
            With::Curve => Security::curve_client(server.public(), own.clone()),
        }
    }
}

fn change(
    socket: &Socket,
    endpoint: &Endpoint,
    withdrawn: Withdrawn,
    with: impl FnOnce(SocketBuilder) -> SocketBuilder,
) {
    let options = with(socket.endpoint_options(endpoint).unwrap());
    socket
        .reconfigure_endpoint(endpoint, options, withdrawn)
        .unwrap();
}

/// Gives an endpoint other keys.
fn protect(
    socket: &Socket,
    endpoint: &Endpoint,
    withdrawn: Withdrawn,
    security: impl Into<Security>,
) {
    change(socket, endpoint, withdrawn, |it| it.security(security));
}

/// A client with a key of its own, which is connected.
fn client(with: With, endpoint: &Endpoint, server: &KeyPair) -> (Socket, PublicKey) {
    let (socket, key, _) = connecting(with, endpoint, server);
    socket.wait_connected(1).unwrap();
    (socket, key)
}

/// The same before it is connected.
fn connecting(with: With, endpoint: &Endpoint, server: &KeyPair) -> (Socket, PublicKey, Monitor) {
    let own = KeyPair::generate();
    let socket = options(SocketType::Dealer).security(with.client(server, &own));
    let socket = socket.build_blocking().unwrap();
    let monitor = socket.monitor();
    socket.connect(endpoint).unwrap();
    (socket, own.public(), monitor)
}

fn await_refusal(monitor: &Monitor) {
    await_event(monitor, "a failed handshake", |event| match event {
        Event::Failed(failure) if failure.is_handshake_failure() => Some(()),
        _ => None,
    });
}

/// Which peer's connection was ended for its key.
fn withdrawn_of(event: &Event) -> Option<u64> {
    match event {
        Event::Failed(failure) if matches!(failure.cause(), FailureCause::KeyWithdrawn) => {
            assert!(failure.was_ready());
            failure.connection()
        }
        _ => None,
    }
}

/// The connection and the server's key of the client with this key.
fn peer(server: &Socket, client: PublicKey) -> Option<(u64, PublicKey)> {
    let peers = server.peers();
    let mut peers = peers.iter();
    let peer = peers.find(|peer| peer.public_key() == Some(client))?;
    Some((peer.connection(), peer.local_key()?))
}

fn exchange(server: &Socket, client: &Socket, text: &str) {
    client.send(text).unwrap();
    let request = server.recv().unwrap();
    assert_eq!(request.frames()[1], text);
    server.send(request).unwrap();
    assert_eq!(client.recv().unwrap().as_bytes(), text.as_bytes());
}

/// Transports with keys of ZMTP.
fn endpoints() -> Vec<String> {
    let ipc = std::env::temp_dir().join(format!("sealwire-renewing-{}", std::process::id()));
    let mut all = vec![
        "tcp://127.0.0.1:*".into(),
        format!("ipc://{}", ipc.display()),
    ];
    if cfg!(feature = "ws") {
        all.push("ws://127.0.0.1:*/keys".into());
    }
    all
}

#[test]
fn who_comes_later_meets_the_new_key_and_who_is_there_stays() {
    for (endpoint, with) in endpoints()
        .iter()
        .flat_map(|it| With::BOTH.map(|with| (it, with)))
    {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let server = options(SocketType::Router).security(with.server(&[&old]));
        let server = server.build_blocking().unwrap();
        let endpoint = server.bind(endpoint.as_str()).unwrap();
        let (before, key) = client(with, &endpoint, &old);
        exchange(&server, &before, "before");
        let (connection, _) = peer(&server, key).unwrap();

        protect(&server, &endpoint, Withdrawn::Stay, with.server(&[&new]));
        let (after, _) = client(with, &endpoint, &new);
        let (_late, _, monitor) = connecting(with, &endpoint, &old);
        await_refusal(&monitor);
        exchange(&server, &after, "after");
        exchange(&server, &before, "still");
        assert_eq!(peer(&server, key), Some((connection, old.public())));
    }
}

#[test]
fn during_the_overlap_both_keys_are_good_and_then_those_under_the_old_one_end_alone() {
    for with in With::BOTH {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let server = options(SocketType::Router).security(with.server(&[&old]));
        let server = server.build_blocking().unwrap();
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
        let (early, early_key) = client(with, &endpoint, &old);

        let both = with.server(&[&new, &old]);
        protect(&server, &endpoint, Withdrawn::End, both);
        let (old_one, old_key) = client(with, &endpoint, &old);
        let (new_one, new_key) = client(with, &endpoint, &new);
        for (client, text) in [(&early, "early"), (&old_one, "old"), (&new_one, "new")] {
            exchange(&server, client, text);
        }
        let of = |key| peer(&server, key).unwrap();
        let (stays, under) = of(new_key);
        assert_eq!(under, new.public());
        let mut ends = [early_key, old_key].map(|key| {
            let (connection, under) = of(key);
            assert_eq!(under, old.public());
            connection
        });

        protect(&server, &endpoint, Withdrawn::End, with.server(&[&new]));
        let mut ended = [(); 2].map(|()| await_event(&monitor, "the end", withdrawn_of));
        ends.sort_unstable();
        ended.sort_unstable();
        assert_eq!(ended, ends);
        // They come again once they know the new key, without a call to connect.
        for client in [&early, &old_one] {
            let own = KeyPair::generate();
            let security = with.client(&new, &own);
            protect(client, &endpoint, Withdrawn::Stay, security);
            exchange(&server, client, "again");
            assert_eq!(peer(&server, own.public()).unwrap().1, new.public());
        }
        exchange(&server, &new_one, "on");
        assert_eq!(of(new_key).0, stays);
    }
}

#[test]
fn a_client_ends_its_connection_and_comes_again_with_what_it_has_now() {
    for with in With::BOTH {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let both = with.server(&[&old, &new]);
        let server = options(SocketType::Router).security(both);
        let server = server.build_blocking().unwrap();
        let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
        let (client, first) = client(with, &endpoint, &old);
        exchange(&server, &client, "first");
        let monitor = client.monitor();
        let own = KeyPair::generate();
        // Another key of its own, then of the server, then none: the anonymous may be anybody.
        for security in [with.client(&old, &own), with.client(&new, &own)] {
            protect(&client, &endpoint, Withdrawn::End, security.clone());
            await_event(&monitor, "the end", withdrawn_of);
            exchange(&server, &client, "again");
            assert!(peer(&server, own.public()).is_some());
            assert!(peer(&server, first).is_none());
            // What it has stays with what it is.
            protect(&client, &endpoint, Withdrawn::End, security);
        }
        if with == With::Blake3 {
            let anonymous = Security::blake3_client(new.public());
            protect(&client, &endpoint, Withdrawn::End, anonymous);
        }
        exchange(&server, &client, "as before");
        let connected = peer(&server, own.public()).unwrap();
        assert_eq!(connected.1, new.public());
        assert_eq!(server.counters().disconnects, 2);
    }
}

#[test]
fn connections_on_every_io_thread_end() {
    const CLIENTS: usize = 12;
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let context = Context::builder().io_threads(4).build().unwrap();
    let server = options(SocketType::Router)
        .context(&context)
        .security(With::Blake3.server(&[&old]));
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| client(With::Blake3, &endpoint, &old))
        .collect();
    server.wait_connected(CLIENTS).unwrap();
    protect(
        &server,
        &endpoint,
        Withdrawn::End,
        With::Blake3.server(&[&new]),
    );
    for _ in 0..CLIENTS {
        await_event(&monitor, "the end", withdrawn_of);
    }
    for (client, _) in &clients {
        let security = Security::blake3_client(new.public());
        protect(client, &endpoint, Withdrawn::Stay, security);
        exchange(&server, client, "again");
    }
}

#[test]
fn a_mechanism_that_is_not_there_any_more_is_withdrawn() {
    let keys = KeyPair::generate();
    for (before, after) in [
        (With::Curve, Some(With::Blake3)),
        (With::Blake3, Some(With::Curve)),
        (With::Blake3, None),
    ] {
        let server = options(SocketType::Router).security(before.server(&[&keys]));
        let server = server.build_blocking().unwrap();
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
        let (client, _) = client(before, &endpoint, &keys);
        exchange(&server, &client, "before");
        let (ours, theirs) = match after {
            Some(with) => (
                with.server(&[&keys]),
                with.client(&keys, &KeyPair::generate()),
            ),
            None => (Security::plain_text(), Security::plain_text()),
        };
        protect(&client, &endpoint, Withdrawn::Stay, theirs);
        protect(&server, &endpoint, Withdrawn::End, ours);
        await_event(&monitor, "the end", withdrawn_of);
        exchange(&server, &client, "after");
    }
}

/// The first call ends those under another key, the second one lets those of the first stay.
#[test]
fn those_who_were_let_stay_end_with_the_next_call_that_ends() {
    let [first, second, third] = [(); 3].map(|()| KeyPair::generate());
    let with = With::Blake3;
    let server = options(SocketType::Router).security(with.server(&[&first]));
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let (_one, one) = client(with, &endpoint, &first);
    server.wait_connected(1).unwrap();
    let (one, _) = peer(&server, one).unwrap();
    protect(&server, &endpoint, Withdrawn::Stay, with.server(&[&second]));
    let (_two, two) = client(with, &endpoint, &second);
    server.wait_connected(2).unwrap();
    let (two, _) = peer(&server, two).unwrap();
    protect(&server, &endpoint, Withdrawn::End, with.server(&[&second]));
    assert_eq!(await_event(&monitor, "the end", withdrawn_of), one);
    protect(&server, &endpoint, Withdrawn::Stay, with.server(&[&third]));
    let (three, key) = client(with, &endpoint, &third);
    exchange(&server, &three, "third");
    assert_eq!(peer(&server, key).unwrap().1, third.public());
    assert!(server.peers().iter().any(|it| it.connection() == two));
    protect(&server, &endpoint, Withdrawn::End, with.server(&[&third]));
    assert_eq!(await_event(&monitor, "the end", withdrawn_of), two);
    exchange(&server, &three, "on");
}

#[test]
fn other_endpoints_and_those_of_later_keep_what_they_have() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let with = With::Curve;
    let server = options(SocketType::Router).security(with.server(&[&old]));
    let server = server.build_blocking().unwrap();
    let [changed, other] = [(); 2].map(|()| server.bind("tcp://127.0.0.1:*").unwrap());
    let (at_other, key) = client(with, &other, &old);
    exchange(&server, &at_other, "before");
    let (connection, _) = peer(&server, key).unwrap();
    protect(&server, &changed, Withdrawn::End, with.server(&[&new]));
    let later = server.bind("tcp://127.0.0.1:*").unwrap();
    for (endpoint, keys) in [(&changed, &new), (&other, &old), (&later, &old)] {
        let (client, _) = client(with, endpoint, keys);
        exchange(&server, &client, "there");
    }
    exchange(&server, &at_other, "on");
    assert_eq!(peer(&server, key).unwrap().0, connection);
}

/// Also where it is bound a second time after that.
#[test]
fn unbinding_and_binding_again_begins_with_the_options_of_the_socket() {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let with = With::Blake3;
    let server = options(SocketType::Router).security(with.server(&[&old]));
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    protect(&server, &endpoint, Withdrawn::End, with.server(&[&new]));
    server.unbind(&endpoint).unwrap();
    let unknown = server.endpoint_options(&endpoint);
    assert!(matches!(unknown, Err(Error::UnknownEndpoint(_))));
    eventually("the port is free", || server.bind(&endpoint).is_ok());
    let (client, _) = client(with, &endpoint, &old);
    exchange(&server, &client, "there");
}

#[test]
fn what_cannot_be_is_refused_by_its_kind_and_changes_nothing() {
    let keys = KeyPair::generate();
    let with = With::Blake3;
    let server = options(SocketType::Router).security(with.server(&[&keys]));
    let server = server.build_blocking().unwrap();
    let try_with = |endpoint: &str, options: SocketBuilder| {
        let endpoint: Endpoint = endpoint.parse().unwrap();
        server.reconfigure_endpoint(&endpoint, options, Withdrawn::End)
    };
    let same = || server.options().unwrap();
    let nowhere = "tcp://127.0.0.1:9";
    let unknown = try_with(nowhere, same());
    assert!(matches!(unknown, Err(Error::UnknownEndpoint(_))));
    let malformed = server.reconfigure_endpoint("tcp://", same(), Withdrawn::Stay);
    assert!(matches!(malformed, Err(Error::Endpoint(_))));

    let name = "inproc://renewing-what-cannot-be";
    server.bind(name).unwrap();
    for fixed in [
        server.endpoint_options(name).map(drop),
        try_with(name, same()),
    ] {
        let Err(Error::UnusableEndpoint { reason, .. }) = fixed else {
            panic!("{fixed:?}");
        };
        assert_eq!(reason, Unusable::FixedOptions);
    }

    let bound = server.bind("tcp://127.0.0.1:*").unwrap().to_string();
    let (client, key) = client(with, &bound.parse().unwrap(), &keys);
    exchange(&server, &client, "before");
    let more = (0..4).map(|_| KeyPair::generate()).collect::<Vec<_>>();
    let all: Vec<_> = more.iter().chain([&keys]).collect();
    let too_many = try_with(&bound, same().security(with.server(&all)));
    let Err(Error::Options(OptionsError::ServerKeys)) = too_many else {
        panic!("{too_many:?}");
    };
    let spins = try_with(&bound, same().spin(Duration::from_micros(5)));
    assert!(matches!(
        spins,
        Err(Error::Options(OptionsError::Fixed("spin")))
    ));
    let elsewhere = try_with(&bound, same().context(&Context::new().unwrap()));
    assert!(matches!(
        elsewhere,
        Err(Error::Options(OptionsError::Fixed("context")))
    ));
    exchange(&server, &client, "after");
    assert_eq!(peer(&server, key).unwrap().1, keys.public());

    #[cfg(feature = "ws")]
    {
        let bound = server.bind("ws://127.0.0.1:*").unwrap().to_string();
        let two = Security::blake3_server(keys.clone(), AllowAnyone)
            .or_curve_server(keys.clone(), AllowAnyone);
        let Err(Error::UnusableEndpoint { reason, .. }) = try_with(&bound, same().security(two))
        else {
            panic!("a peer over WebSocket cannot choose");
        };
        assert_eq!(reason, Unusable::SeveralMechanisms);
    }

    let everywhere = server.bind("tcp://0.0.0.0:*").unwrap().to_string();
    let silent = Socket::builder(SocketType::Router);
    let plain = try_with(&everywhere, silent);
    let Err(Error::UnusableEndpoint { reason, .. }) = plain else {
        panic!("{plain:?}");
    };
    assert_eq!(reason, Unusable::NoSecurity);

    let handle = server.clone();
    server.close().unwrap();
    let closed = handle.reconfigure_endpoint(
        bound.as_str(),
        Socket::builder(SocketType::Router),
        Withdrawn::End,
    );
    assert!(matches!(closed, Err(Error::Closed)), "{closed:?}");
}
