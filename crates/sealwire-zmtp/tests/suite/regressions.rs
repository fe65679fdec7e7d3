//! What others were hit by while they read what a peer had sent, tried on the protocol alone.
//! `crates/sealwire/tests/attacks/regressions.rs` has the others, over real connections.

use sealwire_zmtp::error::{Error, WireError};
use sealwire_zmtp::wire::frame::{COMMAND, Header, LONG};
use sealwire_zmtp::{Config, Mechanism, SocketType};

use crate::support::{
    Cookies, Pair, Side, curve_client, curve_server, frame, null, plain_client, plain_server,
    protections, provider,
};

/// A server of CURVE had room for metadata of 256 bytes, and took more (CVE-2019-13132 of libzmq). Here
/// what is good arrives whole, as long as it may be.
#[test]
fn cve_2019_13132_metadata_of_any_size_arrive_whole() {
    for size in [0, 1, 200, 234, 235, 256, 400, 512, 1_000, 3_000, 3_500] {
        let value: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
        let mut config = curve_client(SocketType::Dealer);
        config.metadata = vec![("X-Large".into(), value.clone())];
        let server = curve_server(SocketType::Router, Cookies::new(1));
        let mut pair = Pair::new(config, server, &provider());
        pair.settle();
        assert_eq!(
            (&pair.a.error, &pair.b.error),
            (&None, &None),
            "{size} bytes"
        );
        let told = pair.b.connection.peer().expect("the handshake is done");
        assert_eq!(told.mechanism, Mechanism::Curve);
        assert_eq!(told.metadata.get("X-Large"), Some(&value[..]));
    }
}

/// A length near 2^64 wrapped around when it was added to a position (CVE-2019-6250 of libzmq). With
/// every protection, which adds its own bytes to it, and without a limit that would come first.
#[test]
fn cve_2019_6250_lengths_that_wrap_around() {
    let largest = i64::MAX as u64;
    for (mut a, mut b) in protections() {
        for config in [&mut a, &mut b] {
            config.limits.max_message_size = usize::MAX;
            config.limits.max_command_size = usize::MAX;
        }
        for claimed in (0..70).flat_map(|less| [u64::MAX - less, largest + 1 - less]) {
            for flags in [LONG, LONG | COMMAND] {
                let mut pair = Pair::ready(a.clone(), b.clone(), &provider());
                // Something before it, so that the frame does not begin with the buffer.
                pair.a.send("before");
                let before = pair.a.output();
                let header = [&[flags], &claimed.to_be_bytes()[..]].concat();
                pair.b.feed(&[before, header].concat());
                pair.b.feed(&[0x41; 70]);
                assert_eq!(pair.b.messages().len(), 1, "what came before it alone");
                let limit = largest;
                let too_large = Error::Wire(WireError::FrameTooLarge { claimed, limit });
                match claimed > largest {
                    true => assert_eq!(pair.b.error, Some(too_large)),
                    // Nobody has forbidden it, so it is waited for, and nothing reserved.
                    false => assert_eq!(pair.b.error, None, "{claimed}"),
                }
                assert!(pair.b.connection.wanted() <= 1 << 20);
                assert!(pair.b.input.capacity() < 1 << 20);
            }
        }
    }
}

/// What a client says in its handshake.
fn said_by(client: Config, server: Config) -> Vec<Vec<u8>> {
    let mut pair = Pair::new(client, server, &provider());
    let mut said = Vec::new();
    loop {
        let (from_a, from_b) = (pair.a.output(), pair.b.output());
        if from_a.is_empty() && from_b.is_empty() {
            return said;
        }
        pair.a.feed(&from_b);
        pair.b.feed(&from_a);
        said.push(from_a);
    }
}

/// Feeds this to a server that nobody has talked to, and gives whether it is ready. A panic of it would
/// be the test's.
fn outcome(server: &Config, said: &[Vec<u8>]) -> Result<bool, Error> {
    let mut side = Side::new(server.clone(), provider(), 3);
    for bytes in said {
        side.feed(bytes);
        side.output();
    }
    match side.error {
        Some(error) => Err(error),
        None => Ok(side.connection.is_ready()),
    }
}

/// Parameters of a handshake were unwrapped, so values that made no sense were a panic
/// (RUSTSEC-2026-0037 of quinn-proto). Here every octet of a handshake in the clear takes every value,
/// and every frame every length.
#[test]
fn rustsec_2026_0037_every_value_of_every_octet() {
    let sides: [(Config, Config); 2] = [
        (null(SocketType::Dealer), null(SocketType::Router)),
        (
            plain_client(SocketType::Dealer),
            plain_server(SocketType::Router),
        ),
    ];
    for (mut client, server) in sides {
        client.routing_id = b"me".to_vec();
        client.metadata = vec![("X-Zone".into(), b"7".to_vec())];
        let said = said_by(client, server.clone());
        assert_eq!(outcome(&server, &said), Ok(true));
        let (mut refused, mut taken) = (0, 0);
        for part in 0..said.len() {
            let octets =
                (0..said[part].len()).flat_map(|at| (0..=255).map(move |value| (at, value)));
            for (position, value) in octets {
                let mut said = said.clone();
                said[part][position] = value;
                match outcome(&server, &said) {
                    Ok(_) => taken += 1,
                    Err(error) => {
                        assert!(
                            blames_the_peer(&error),
                            "{part}, {position}, {value}: {error}"
                        );
                        refused += 1;
                    }
                }
            }
            // Cut short, as a frame of its own; the greeting is none.
            let Ok(Some(header)) = Header::parse(&said[part]) else {
                continue;
            };
            let body = &said[part][header.size()..];
            for end in 0..body.len() {
                let mut said = said.clone();
                said[part] = frame(header.flags, &body[..end]);
                if let Err(error) = outcome(&server, &said) {
                    assert!(blames_the_peer(&error), "{part}, cut at {end}: {error}");
                }
            }
        }
        // Names and values of properties may be many things; most of the rest may not.
        assert!(refused > 1_000 && taken > 1_000, "{refused} and {taken}");
    }
}

fn blames_the_peer(error: &Error) -> bool {
    matches!(
        error,
        Error::Wire(_) | Error::Handshake(_) | Error::Incompatible(_) | Error::PeerRefused { .. }
    )
}
