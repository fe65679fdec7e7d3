//! What events and peers tell of a connection's two ends: addresses, endpoints, descriptors, and who ended it.

use std::time::Duration;

use crate::support::{Path, await_event};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Event, Monitor, Peer, PeerAddress, Security, SocketType};

fn socket(socket_type: SocketType) -> Socket {
    let socket = Socket::builder(socket_type).security(Security::plain_text());
    socket.linger(Duration::ZERO).build_blocking().unwrap()
}

fn ready(monitor: &Monitor) -> std::sync::Arc<Peer> {
    await_event(monitor, "ready", |event| match event {
        Event::Ready { peer } => Some(peer.clone()),
        _ => None,
    })
}

/// Whether the peer ended the connection.
fn ended(monitor: &Monitor) -> bool {
    await_event(monitor, "disconnected", |event| match event {
        Event::Disconnected { by_peer, .. } => Some(*by_peer),
        _ => None,
    })
}

fn tcp(endpoint: &Endpoint) -> Option<PeerAddress> {
    let text = endpoint.to_string();
    let address = text.strip_prefix("tcp://")?;
    Some(PeerAddress::Tcp(address.parse().unwrap()))
}

#[test]
fn both_ends_of_a_tcp_connection_tell_the_same_two_addresses() {
    let (pull, push) = (socket(SocketType::Pull), socket(SocketType::Push));
    let (of_pull, of_push) = (pull.monitor(), push.monitor());
    let given: Endpoint = "tcp://127.0.0.1:0".parse().unwrap();
    let bound = pull.bind(given.clone()).unwrap();
    push.connect(&bound).unwrap();

    let listens = await_event(&of_pull, "listening", |event| match event {
        Event::Listening {
            endpoint, given, ..
        } => Some((
            endpoint.clone(),
            given.clone(),
            event.local_address().cloned(),
        )),
        _ => None,
    });
    assert_eq!(listens, (bound.clone(), given, tcp(&bound)));

    let connecting = await_event(&of_push, "connecting", |event| match event {
        Event::Connecting { address, .. } => Some((address.clone(), event.descriptor())),
        _ => None,
    });
    let connected = await_event(&of_push, "connected", |event| match event {
        Event::Connected { address, .. } => Some((
            address.clone(),
            event.local_address().cloned(),
            event.descriptor(),
        )),
        _ => None,
    });
    let accepted = await_event(&of_pull, "accepted", |event| match event {
        Event::Accepted {
            endpoint, address, ..
        } => {
            assert_eq!(*endpoint, bound);
            Some((
                address.clone(),
                event.local_address().cloned(),
                event.descriptor(),
            ))
        }
        _ => None,
    });
    assert_eq!(Some(&connecting.0), tcp(&bound).as_ref());
    assert_eq!((&connecting.0, connecting.1), (&connected.0, connected.2));
    assert_eq!(Some(&connected.0), accepted.1.as_ref());
    assert_eq!(connected.1.as_ref(), Some(&accepted.0));
    assert_eq!(connected.2.is_some(), cfg!(unix));

    for (monitor, was_accepted, ends) in [(&of_pull, true, accepted), (&of_push, false, connected)]
    {
        let peer = ready(monitor);
        assert_eq!(peer.is_accepted(), was_accepted);
        assert_eq!(*peer.endpoint(), bound);
        let told = (peer.address().clone(), peer.local_address().cloned());
        assert_eq!(told, (ends.0, ends.1));
        assert_eq!(peer.descriptor(), ends.2);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_descriptors_of_a_process_are_sockets_of_the_system() {
    let (pull, push) = (socket(SocketType::Pull), socket(SocketType::Push));
    let monitors = [pull.monitor(), push.monitor()];
    let bound = pull.bind("tcp://127.0.0.1:0").unwrap();
    push.connect(&bound).unwrap();
    let links = monitors.map(|monitor| {
        let descriptor = ready(&monitor).descriptor().unwrap();
        std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap()
    });
    assert!(
        links
            .iter()
            .all(|link| link.to_string_lossy().starts_with("socket:"))
    );
    assert_ne!(links[0], links[1]);
}

#[cfg(unix)]
#[test]
fn a_unix_socket_has_a_name_at_the_end_that_listens() {
    let names = ["ipc", "abstract"].into_iter();
    for transport in names.filter(|it| *it == "ipc" || cfg!(target_os = "linux")) {
        let keys = None;
        let path = Path { transport, keys };
        let (pull, push) = (socket(SocketType::Pull), socket(SocketType::Push));
        let (of_pull, of_push) = (pull.monitor(), push.monitor());
        let bound = pull.bind(path.endpoint()).unwrap();
        push.connect(&bound).unwrap();
        let (of_listener, of_connector) = (ready(&of_pull), ready(&of_push));
        let name = of_listener.local_address().unwrap().to_string();
        assert_eq!(name, bound.to_string());
        assert_eq!(of_connector.local_address(), None);
        assert!(of_listener.is_accepted() && !of_connector.is_accepted());
    }
}

#[test]
fn an_attempt_begins_before_it_fails() {
    let push = socket(SocketType::Push);
    let monitor = push.monitor();
    push.connect("tcp://127.0.0.1:1").unwrap();
    let began = await_event(&monitor, "connecting", |event| match event {
        Event::Connecting { endpoint, .. } => Some((endpoint.to_string(), event.descriptor())),
        Event::Failed(failure) => panic!("{failure}"),
        _ => None,
    });
    let failed = await_event(&monitor, "failed", |event| match event {
        Event::Failed(failure) => {
            assert!(!failure.is_accepted() && failure.local_address().is_none());
            Some((failure.endpoint().to_string(), failure.descriptor()))
        }
        _ => None,
    });
    assert_eq!(began, failed);
}

#[test]
fn the_side_that_ends_a_connection_is_told_from_the_other() {
    for endpoint in ["tcp://127.0.0.1:0", "inproc://ended"] {
        for by_disconnecting in [true, false] {
            let (pull, push) = (socket(SocketType::Pull), socket(SocketType::Push));
            let (of_pull, of_push) = (pull.monitor(), push.monitor());
            let bound = pull.bind(endpoint).unwrap();
            push.connect(&bound).unwrap();
            ready(&of_pull);
            ready(&of_push);
            match by_disconnecting {
                true => push.disconnect(&bound).unwrap(),
                false => push.close().unwrap(),
            }
            assert!(!ended(&of_push), "{endpoint}: it had asked");
            assert!(ended(&of_pull), "{endpoint}: it had not");
        }
    }
}

#[test]
fn a_socket_that_closes_is_no_longer_bound() {
    let pull = socket(SocketType::Pull);
    let monitor = pull.monitor();
    let [first, second] =
        ["tcp://127.0.0.1:0", "tcp://127.0.0.1:0"].map(|it| pull.bind(it).unwrap());
    let listening = |event: &Event| match event {
        Event::Listening { .. } => Some(event.descriptor()),
        _ => None,
    };
    let descriptors = [(); 2].map(|()| await_event(&monitor, "listening", listening));
    pull.unbind(&first).unwrap();
    pull.close().unwrap();
    let unbound = |event: &Event| match event {
        Event::Unbound { endpoint, .. } => {
            assert_eq!(event.local_address().cloned(), tcp(endpoint));
            Some((endpoint.clone(), event.descriptor()))
        }
        _ => None,
    };
    let told = [(); 2].map(|()| await_event(&monitor, "unbound", unbound));
    assert_eq!(told, [(first, descriptors[0]), (second, descriptors[1])]);
    assert!(monitor.wait_next().is_none(), "each once");
}
