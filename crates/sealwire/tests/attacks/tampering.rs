//! Manipulations of one unit of each protocol, in each pattern and direction, and how that ends.
//!
//! Two messages arrive untouched. Then someone does something to the third, and others follow it where the pattern
//! sends them. The receiver, or the sender where its own unit comes back, must end the connection with the
//! outcome of the table, and name the frame; what was delivered is what was sent before; and another client is served.
//!
//! NULL and PLAIN protect nothing on the way: there it is delivered, which shows that the relay does what it says.
//!
//! The tables are those of `docs/threats.md`.

mod attempt;
mod conversation;
mod handshake;
mod protocol;
mod seen;

use sealwire::auth::{AllowedKeys, PasswordTable};
use sealwire::{Generate as _, KeyPair, Security};
#[cfg(feature = "ws")]
use sealwire_relay::but;
use sealwire_relay::{Expected, Format, Manipulation, Outcome, SEALED, page};

use self::conversation::Flow;
use self::protocol::Protocol;
#[cfg(feature = "wss")]
use crate::support::authority::Authority;

/// Nothing is protected on the way. What peers are held to is framing.
const IN_THE_CLEAR: Expected = [
    (Manipulation::Drop, Outcome::Delivered),
    (Manipulation::Repeat, Outcome::Delivered),
    (Manipulation::Reorder, Outcome::Delivered),
    (Manipulation::Shorten, Outcome::Delivered),
    (Manipulation::Cut, Outcome::CutShort),
    (Manipulation::End, Outcome::LikeAnEnd),
    (Manipulation::Splice, Outcome::Delivered),
    (Manipulation::Reflect, Outcome::Delivered),
    (Manipulation::Inject, Outcome::Delivered),
    (Manipulation::Flip, Outcome::Delivered),
    (Manipulation::Replay, Outcome::Delivered),
];

#[test]
fn every_unit_of_blake3() {
    let (server, client) = blake3();
    let protocol = Protocol::new("BLAKE3", "tcp", Format::Zmtp, server, client);
    protocol.attack(&Flow::ALL, &SEALED);
    page::agrees("BLAKE3", &SEALED, "tampering::every_unit_of_blake3");
}

#[test]
fn every_unit_of_curve() {
    let (server, client) = curve();
    let protocol = Protocol::new("CURVE", "tcp", Format::Zmtp, server, client);
    protocol.attack(&Flow::ALL, &SEALED);
    page::agrees("CURVE", &SEALED, "tampering::every_unit_of_curve");
}

/// Without subscriptions, which are not messages: XPUB tells of a repeated one once.
#[test]
fn every_unit_in_the_clear() {
    let mut users = PasswordTable::new();
    users.insert("user", "password");
    let plain = [
        Security::plain_server(users),
        Security::plain_client("user", "password"),
    ];
    let null = [(); 2].map(|()| Security::plain_text());
    let mut flows = Flow::ALL.to_vec();
    flows.retain(|flow| *flow != Flow::Subscribe);
    for (name, [server, client]) in [("PLAIN", plain), ("NULL", null)] {
        let protocol = Protocol::new(name, "tcp", Format::Zmtp, server, client);
        protocol.attack(&flows, &IN_THE_CLEAR);
    }
    let test = "tampering::every_unit_in_the_clear";
    page::agrees("PLAIN, NULL", &IN_THE_CLEAR, test);
}

/// Where a frame of WebSocket is a byte shorter, the next header is found at the wrong place; and only a client masks.
#[cfg(feature = "ws")]
#[test]
fn every_unit_of_ws() {
    let (server, client) = blake3();
    let protocol = Protocol::new("ws", "ws", Format::WebSocket, server, client);
    let expected = but(
        SEALED,
        [
            (Manipulation::Shorten, Outcome::Garbled),
            (Manipulation::Reflect, Outcome::Malformed),
        ],
    );
    protocol.attack(&Flow::ALL, &expected);
    page::agrees("ws", &expected, "tampering::every_unit_of_ws");
}

/// Records of TLS, with BLAKE3 inside: it is TLS that notices. Nothing of an incomplete record reaches ZMTP, and an
/// end without `close_notify` counts as one.
#[cfg(feature = "wss")]
#[test]
fn every_unit_of_wss() {
    let (server, client) = blake3();
    let mut protocol = Protocol::new("wss", "wss", Format::Tls, server, client);
    protocol.authority = Some(Authority::new());
    let expected = but(SEALED, [(Manipulation::Cut, Outcome::LikeAnEnd)]);
    protocol.attack(&Flow::ALL, &expected);
    page::agrees("wss", &expected, "tampering::every_unit_of_wss");
}

#[test]
fn every_command_of_a_handshake() {
    let (server, client) = blake3();
    let over_tcp = Protocol::new("BLAKE3", "tcp", Format::Zmtp, server, client);
    over_tcp.attack_handshakes();
    let (server, client) = curve();
    let with_curve = Protocol::new("CURVE", "tcp", Format::Zmtp, server, client);
    with_curve.attack_handshakes();
    #[cfg(feature = "ws")]
    {
        let (server, client) = blake3();
        let over_ws = Protocol::new("ws", "ws", Format::WebSocket, server, client);
        over_ws.attack_handshakes();
    }
}

fn blake3() -> (Security, Security) {
    let [server, client] = [(); 2].map(|()| KeyPair::generate());
    let allowed = AllowedKeys::new().allow(client.public());
    let known = server.public();
    (
        Security::blake3_server(server, allowed).into(),
        Security::blake3_client_with_keys(known, client).into(),
    )
}

fn curve() -> (Security, Security) {
    let [server, client] = [(); 2].map(|()| KeyPair::generate());
    let allowed = AllowedKeys::new().allow(client.public());
    let known = server.public();
    (
        Security::curve_server(server, allowed),
        Security::curve_client(known, client),
    )
}
