//! Limits of a listener that is used.

use super::{With, change, connecting, exchange};
use crate::support::{await_event, options};
use sealwire::options::Withdrawn;
use sealwire::{Event, FailureCause, Generate as _, KeyPair, ProtocolError, SocketType};

#[test]
fn limits_of_connections_count_for_those_who_come() {
    let keys = KeyPair::generate();
    let server = options(SocketType::Router)
        .security(With::Blake3.server(&[&keys]))
        .max_connections(1);
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let (first, ..) = connecting(With::Blake3, &endpoint, &keys);
    exchange(&server, &first, "first");
    let (second, ..) = connecting(With::Blake3, &endpoint, &keys);
    let full = |event: &Event| match event {
        Event::Failed(failure) => {
            matches!(failure.cause(), FailureCause::TooManyConnections).then_some(())
        }
        _ => None,
    };
    await_event(&monitor, "it is full", full);
    change(&server, &endpoint, Withdrawn::Stay, |it| {
        it.max_connections(2)
    });
    exchange(&server, &second, "second");
    let (_third, ..) = connecting(With::Blake3, &endpoint, &keys);
    await_event(&monitor, "it is full again", full);

    change(&server, &endpoint, Withdrawn::Stay, |it| {
        it.max_connections(3).max_connections_per_address(2)
    });
    await_event(&monitor, "the address has enough", |event| match event {
        Event::Failed(failure) => {
            matches!(failure.cause(), FailureCause::AddressLimit(_)).then_some(())
        }
        _ => None,
    });
    exchange(&server, &first, "on");
}

#[test]
fn the_limit_of_messages_counts_for_connections_of_later() {
    let keys = KeyPair::generate();
    let server = options(SocketType::Router).security(With::Curve.server(&[&keys]));
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let (before, ..) = connecting(With::Curve, &endpoint, &keys);
    exchange(&server, &before, "before");
    change(&server, &endpoint, Withdrawn::End, |it| {
        it.max_message_size(10)
    });
    let (after, ..) = connecting(With::Curve, &endpoint, &keys);
    exchange(&server, &after, "ten octets");
    exchange(&server, &before, "more than ten octets");
    after.send("more than ten octets").unwrap();
    await_event(&monitor, "it is too large", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Protocol(ProtocolError::MessageTooLarge { limit: 10 }) => Some(()),
            other => panic!("{other}"),
        },
        _ => None,
    });
}
