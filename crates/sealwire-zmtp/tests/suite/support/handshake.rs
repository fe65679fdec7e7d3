//! A BLAKE3 handshake with someone on the wire.

use super::Side;

/// The commands on the wire until both sides are ready, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    ClientGreeting,
    ServerGreeting,
    Hello,
    Welcome,
    Initiate,
    Ready,
}

/// Runs a handshake and lets `tamper` change everything on its way.
pub(crate) fn handshake(
    client: &mut Side,
    server: &mut Side,
    mut tamper: impl FnMut(Leg, &mut Vec<u8>),
) {
    let (mut from_client, mut from_server) = (client.output(), server.output());
    tamper(Leg::ClientGreeting, &mut from_client);
    tamper(Leg::ServerGreeting, &mut from_server);
    server.feed(&from_client);
    client.feed(&from_server);
    for (leg, to_server) in [
        (Leg::Hello, true),
        (Leg::Welcome, false),
        (Leg::Initiate, true),
        (Leg::Ready, false),
    ] {
        let (from, to) = if to_server {
            (&mut *client, &mut *server)
        } else {
            (&mut *server, &mut *client)
        };
        let mut bytes = from.output();
        if bytes.is_empty() {
            return;
        }
        tamper(leg, &mut bytes);
        to.feed(&bytes);
    }
}

/// Runs a handshake untouched and gives what went over the wire, in the order of [`Leg`].
pub(crate) fn recorded(client: &mut Side, server: &mut Side) -> [Vec<u8>; 6] {
    let mut legs = Vec::new();
    handshake(client, server, |_, bytes| legs.push(bytes.clone()));
    assert!(client.connection.is_ready() && server.connection.is_ready());
    legs.try_into().unwrap()
}
