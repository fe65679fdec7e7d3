//! The events of sockets as a program reads them.

use std::sync::Arc;

use libc::{EADDRINUSE, EINPROGRESS, EPIPE};
use sealwire::{Generate, KeyPair, SocketType, keys};
use sealwire_policy::Policy;
use sealwire_zmtp::Frames;

use super::told::{
    ACCEPTED, BIND_FAILED, CLOSED, CONNECT_DELAYED, CONNECT_RETRIED, CONNECTED, DISCONNECTED,
    LISTENING, STOPPED, SUCCEEDED,
};
use crate::context::Context;
use crate::options::number;
use crate::policy::Governing;
use crate::socket::Socket;

const ALL: i32 = 0xffff;

/// Reads what a socket tells of at an endpoint.
struct Reader(Arc<Socket>);

impl Reader {
    fn of(context: &Arc<Context>, socket: &Socket, endpoint: &str) -> Self {
        socket.monitor(Some(endpoint), ALL).unwrap();
        let reader = context.open_briefly(SocketType::Pair);
        reader.connect(endpoint).unwrap();
        Reader(reader)
    }

    /// Number, value and address.
    fn next(&self) -> (u16, i32, String) {
        let head = self.0.receive(0).unwrap();
        let (number, value) = head.as_bytes().split_at(2);
        let address = self.0.receive(0).unwrap();
        let more = self.0.get(number::RCVMORE, 4).unwrap();
        assert_eq!(*more, 0_i32.to_ne_bytes(), "two parts");
        (
            u16::from_ne_bytes(number.try_into().unwrap()),
            i32::from_ne_bytes(value.try_into().unwrap()),
            String::from_utf8(address.as_bytes().to_vec()).unwrap(),
        )
    }

    fn expect(&self, number: u16, address: &str) -> i32 {
        let (told, value, at) = self.next();
        assert_eq!((told, at.as_str()), (number, address), "value {value}");
        value
    }
}

/// A socket that is bound, and what is told of it.
fn server(context: &Arc<Context>, name: &str) -> (Arc<Socket>, Reader, String, i32) {
    let server = context.open_briefly(SocketType::Dealer);
    let reader = Reader::of(context, &server, &format!("inproc://{name}"));
    server.bind("tcp://127.0.0.1:*").unwrap();
    let endpoint = server.last_endpoint();
    let listener = reader.expect(LISTENING, &endpoint);
    assert!(listener >= 0);
    (server, reader, endpoint, listener)
}

#[test]
fn a_connection_from_its_beginning_to_its_end() {
    let context = Context::without_rules();
    let (server, of_server, endpoint, listener) = server(&context, "server");
    let client = context.open_briefly(SocketType::Dealer);
    let interval = 60_000_i32;
    let interval_in_bytes = interval.to_ne_bytes();
    client
        .set(number::RECONNECT_IVL, Some(&interval_in_bytes))
        .unwrap();
    let of_client = Reader::of(&context, &client, "inproc://client");
    client.connect(&endpoint).unwrap();

    assert_eq!(of_client.expect(CONNECT_DELAYED, &endpoint), EINPROGRESS);
    let connected = of_client.expect(CONNECTED, &endpoint);
    assert_eq!(of_client.expect(SUCCEEDED, &endpoint), 0);
    let accepted = of_server.expect(ACCEPTED, &endpoint);
    assert_eq!(of_server.expect(SUCCEEDED, &endpoint), 0);
    let descriptors = [listener, connected, accepted];
    assert!(descriptors.iter().all(|descriptor| *descriptor >= 0));
    assert_ne!(connected, accepted);

    server.close();
    // Of what a program ends itself it is told nothing.
    assert_eq!(of_server.expect(CLOSED, &endpoint), listener);
    assert_eq!(of_server.expect(STOPPED, ""), 0);
    assert_eq!(of_client.expect(DISCONNECTED, &endpoint), connected);
    let delay = of_client.expect(CONNECT_RETRIED, &endpoint);
    assert!((interval / 2..=interval).contains(&delay), "{delay}");
    client.close();
    assert_eq!(of_client.expect(STOPPED, ""), 0);
}

#[test]
fn what_happened_before_a_monitor_is_stopped_is_told_and_what_follows_is_not() {
    let context = Context::without_rules();
    for round in 0..20 {
        let server = context.open_briefly(SocketType::Dealer);
        server.bind("tcp://127.0.0.1:*").unwrap();
        let name = format!("inproc://round-{round}");
        let reader = Reader::of(&context, &server, &name);
        server.bind("tcp://127.0.0.1:*").unwrap();
        let told = server.last_endpoint();
        server.monitor(None, 0).unwrap();
        server.bind("tcp://127.0.0.1:*").unwrap();
        reader.expect(LISTENING, &told);
        reader.expect(STOPPED, "");
        // Nor does the next one tell of what came between.
        let next = Reader::of(&context, &server, &format!("{name}-again"));
        server.bind("tcp://127.0.0.1:*").unwrap();
        next.expect(LISTENING, &server.last_endpoint());
    }
}

#[test]
fn an_address_in_use_is_told_without_its_transport() {
    let context = Context::without_rules();
    let (_server, _, endpoint, _) = server(&context, "server");
    let other = context.open_briefly(SocketType::Dealer);
    let reader = Reader::of(&context, &other, "inproc://other");
    other.bind(&endpoint).unwrap_err();
    let address = endpoint.strip_prefix("tcp://").unwrap();
    assert_eq!(reader.expect(BIND_FAILED, address), EADDRINUSE);
}

#[test]
fn a_unix_socket_that_nobody_listens_at_is_closed_and_tried_again() {
    let context = Context::without_rules();
    let client = context.open_briefly(SocketType::Dealer);
    let reader = Reader::of(&context, &client, "inproc://client");
    let path = std::env::temp_dir().join(format!("sealwire-nobody-{}", std::process::id()));
    let endpoint = format!("ipc://{}", path.display());
    client.connect(&endpoint).unwrap();
    reader.expect(CLOSED, &endpoint);
    reader.expect(CONNECT_RETRIED, &endpoint);
}

#[test]
fn a_server_that_listens_everywhere_names_the_address_that_was_met() {
    let context = Context::without_rules();
    let server = context.open_briefly(SocketType::Dealer);
    let reader = Reader::of(&context, &server, "inproc://server");
    server.bind("tcp://*:*").unwrap();
    let everywhere = server.last_endpoint();
    reader.expect(LISTENING, &everywhere);
    let met = everywhere.replace("0.0.0.0", "127.0.0.1");
    assert_ne!(met, everywhere);
    let client = context.open_briefly(SocketType::Dealer);
    client.connect(&met).unwrap();
    reader.expect(ACCEPTED, &met);
    reader.expect(SUCCEEDED, &met);
    client.close();
    reader.expect(DISCONNECTED, &met);
    server.unbind(&everywhere).unwrap();
    reader.expect(CLOSED, &everywhere);
}

#[test]
fn what_stays_in_the_process_is_not_told() {
    let context = Context::without_rules();
    let [server, client] = [(); 2].map(|()| context.open_briefly(SocketType::Dealer));
    let reader = Reader::of(&context, &server, "inproc://monitor");
    server.bind("inproc://within").unwrap();
    client.connect("inproc://within").unwrap();
    server.bind("tcp://127.0.0.1:*").unwrap();
    reader.expect(LISTENING, &server.last_endpoint());
}

#[test]
fn a_client_shows_the_public_key_that_it_was_given() {
    let context = Context::without_rules();
    let [ours, others, servers] = [(); 3].map(|()| KeyPair::generate());
    for (public, fits) in [(&ours, true), (&others, false)] {
        let server = context.open_briefly(SocketType::Dealer);
        let on = 1_i32.to_ne_bytes();
        server.set(number::CURVE_SERVER, Some(&on)).unwrap();
        let secret = servers.secret().as_bytes();
        server.set(number::CURVE_SECRETKEY, Some(secret)).unwrap();
        server.bind("tcp://127.0.0.1:*").unwrap();
        let endpoint = server.last_endpoint();
        let reader = Reader::of(&context, &server, &format!("inproc://fits-{fits}"));
        let client = context.open_briefly(SocketType::Dealer);
        for (option, key) in [
            (number::CURVE_SERVERKEY, servers.public().as_bytes()),
            (number::CURVE_PUBLICKEY, public.public().as_bytes()),
            (number::CURVE_SECRETKEY, ours.secret().as_bytes()),
        ] {
            client.set(option, Some(key)).unwrap();
        }
        client.connect(&endpoint).unwrap();
        reader.expect(ACCEPTED, &endpoint);
        let (told, value, _) = reader.next();
        let expected = match fits {
            true => (SUCCEEDED, 0),
            false => (0x2000, 0x1100_0001),
        };
        assert_eq!((told, value), expected);
    }
}

#[test]
fn a_client_that_was_turned_away_does_not_come_back() {
    let context = Context::without_rules();
    let (server, of_server, endpoint, _) = server(&context, "server");
    let client = context.open_briefly(SocketType::Dealer);
    client.set(number::PLAIN_USERNAME, Some(b"admin")).unwrap();
    client.set(number::PLAIN_PASSWORD, Some(b"secret")).unwrap();
    let of_client = Reader::of(&context, &client, "inproc://client");
    client.connect(&endpoint).unwrap();
    of_client.expect(CONNECT_DELAYED, &endpoint);
    let connected = of_client.expect(CONNECTED, &endpoint);
    let mismatch = 0x1100_0002;
    assert_eq!(of_client.expect(0x2000, &endpoint), mismatch);
    assert_eq!(of_client.expect(DISCONNECTED, &endpoint), connected);
    client.close();
    assert_eq!(
        of_client.expect(STOPPED, ""),
        0,
        "no other attempt was made"
    );
    of_server.expect(ACCEPTED, &endpoint);
    server.close();
}

#[test]
fn a_client_is_told_nothing_where_a_zap_handler_talks_nonsense() {
    let context = Context::without_rules();
    let handler = context.open_briefly(SocketType::Rep);
    handler.bind("inproc://zeromq.zap.01").unwrap();
    let server = context.open_briefly(SocketType::Dealer);
    server.set(number::ZAP_DOMAIN, Some(b"domain")).unwrap();
    server.bind("tcp://127.0.0.1:*").unwrap();
    let endpoint = server.last_endpoint();
    let of_server = Reader::of(&context, &server, "inproc://server");
    let client = context.open_briefly(SocketType::Dealer);
    let of_client = Reader::of(&context, &client, "inproc://client");
    client.connect(&endpoint).unwrap();
    handler.receive(0).unwrap();
    let more = || handler.get(number::RCVMORE, 4).unwrap()[0] == 1;
    while more() {
        handler.receive(0).unwrap();
    }
    let sent = handler.send(&mut Frames::single(&b"nonsense"[..]), 0);
    sent.unwrap();
    of_server.expect(ACCEPTED, &endpoint);
    let malformed_reply = 0x2000_0001;
    assert_eq!(of_server.expect(0x2000, &endpoint), malformed_reply);
    of_client.expect(CONNECT_DELAYED, &endpoint);
    of_client.expect(CONNECTED, &endpoint);
    // Not 500: the client comes back.
    assert_eq!(of_client.expect(0x0800, &endpoint), EPIPE);
    of_client.expect(DISCONNECTED, &endpoint);
    of_client.expect(CONNECT_RETRIED, &endpoint);
}

/// Events in the second form: both ends of a connection, as each side sees them.
#[cfg(draft)]
#[test]
fn the_second_form_names_both_ends() {
    let context = Context::without_rules();
    let [server, client] = [(); 2].map(|()| context.open_briefly(SocketType::Dealer));
    let of = |socket: &Socket, endpoint: &str| {
        socket
            .monitor_versioned(Some(endpoint), 0xffff, 2, 0)
            .unwrap();
        let reader = context.open_briefly(SocketType::Pair);
        reader.connect(endpoint).unwrap();
        Reader(reader)
    };
    let of_server = of(&server, "inproc://second-server");
    let of_client = of(&client, "inproc://second-client");
    server.bind("tcp://127.0.0.1:*").unwrap();
    let endpoint = server.last_endpoint();
    client.connect(&endpoint).unwrap();
    let next = |reader: &Reader| {
        let part = || reader.0.receive(0).unwrap().as_bytes().to_vec();
        let number = || u64::from_ne_bytes(part().try_into().unwrap());
        let text = || String::from_utf8(part()).unwrap();
        let (event, values) = (number(), number());
        assert_eq!(values, 1);
        number();
        let ends = (text(), text());
        let more = reader.0.get(number::RCVMORE, 4).unwrap();
        assert_eq!(*more, 0_i32.to_ne_bytes());
        (event as u16, ends)
    };
    let to = |remote: &str| (String::new(), remote.to_owned());
    assert_eq!(next(&of_client), (CONNECT_DELAYED, to(&endpoint)));
    let (event, (local, remote)) = next(&of_client);
    assert_eq!((event, &remote), (CONNECTED, &endpoint));
    assert!(local.starts_with("tcp://127.0.0.1:") && local != endpoint);
    let ends = (local.clone(), endpoint.clone());
    assert_eq!(next(&of_client), (SUCCEEDED, ends));
    let listening = (endpoint.clone(), String::new());
    assert_eq!(next(&of_server), (LISTENING, listening));
    for event in [ACCEPTED, SUCCEEDED] {
        let ends = (endpoint.clone(), local.clone());
        assert_eq!(next(&of_server), (event, ends));
    }
    client.close();
    let ends = (endpoint.clone(), local.clone());
    assert_eq!(next(&of_server), (DISCONNECTED, ends));
    server.monitor(None, 0).unwrap();
    let nothing = (String::new(), String::new());
    assert_eq!(next(&of_server), (STOPPED, nothing));
}

/// The mechanism and the keys are the rule's, and the program knows of neither.
#[test]
fn a_handshake_under_rules_is_told_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["server", "client"] {
        keys::write_key_pair(folder.path().join(name), &KeyPair::generate()).unwrap();
    }
    for (mechanism, number_of_it) in [("blake3", 100_i32), ("curve", 2)] {
        let text = format!(
            "version = 1\n\
             [[rule]]\nbind = \"tcp://127.0.0.1:*\"\nmechanism = \"{mechanism}\"\n\
             secret_key_file = \"server.key\"\nallow = \"client.pub\"\n\
             [[rule]]\nconnect = \"tcp://127.0.0.1:*\"\nmechanism = \"{mechanism}\"\n\
             server_key_file = \"server.pub\"\nsecret_key_file = \"client.key\"\n"
        );
        let policy = Policy::parse(&folder.path().join("rules"), &text, false).unwrap();
        let context = Arc::new(Context::new(Arc::new(Governing::new(Ok(Some(policy))))));
        let (server, of_server, endpoint, _) = server(&context, "server");
        let client = context.open_briefly(SocketType::Dealer);
        let of_client = Reader::of(&context, &client, "inproc://client");
        client.connect(&endpoint).unwrap();
        for socket in [&server, &client] {
            let answer = socket.get(number::MECHANISM, 4).unwrap();
            assert_eq!(*answer, number_of_it.to_ne_bytes());
        }
        of_client.expect(CONNECT_DELAYED, &endpoint);
        of_client.expect(CONNECTED, &endpoint);
        assert_eq!(of_client.expect(SUCCEEDED, &endpoint), 0);
        of_server.expect(ACCEPTED, &endpoint);
        assert_eq!(of_server.expect(SUCCEEDED, &endpoint), 0);
    }
}
