//! What a peer claims is compared with the limits before a byte of it is waited for.

use sealwire_zmtp::error::{Error, WireError};
use sealwire_zmtp::limits::Limits;
use sealwire_zmtp::wire::frame::{COMMAND, LONG, MORE};
use sealwire_zmtp::{Config, Frames, SocketType};

use crate::support::{Pair, Side, client, frame, null, protections, provider, told};

fn small() -> Config {
    let mut config = null(SocketType::Pull);
    config.limits = Limits {
        max_message_size: 1000,
        max_frames: 3,
        max_command_size: 100,
        ..Limits::default()
    };
    config
}

fn ready() -> Pair {
    Pair::ready(null(SocketType::Push), small(), &provider())
}

/// The header alone of a long frame.
fn claim(flags: u8, len: u64) -> Vec<u8> {
    [&[flags | LONG][..], &len.to_be_bytes()].concat()
}

#[test]
fn one_frame_at_the_limit_and_one_beyond() {
    let mut pair = ready();
    pair.b.feed(&frame(0, &[7; 1000]));
    assert_eq!(pair.b.messages().len(), 1);
    pair.b.feed(&claim(0, 1001));
    assert_eq!(pair.b.error, Some(Error::MessageTooLarge { limit: 1000 }));
    // The peer is told.
    pair.a.feed(&pair.b.output());
    assert_eq!(
        pair.a.error,
        told("message larger than the receiver's limit")
    );
}

#[test]
fn frames_of_one_message_count_together_and_messages_do_not() {
    let mut pair = ready();
    for _ in 0..3 {
        pair.b
            .feed(&[frame(MORE, &[1; 600]), frame(0, &[2; 400])].concat());
    }
    assert_eq!(pair.b.messages().len(), 3);
    pair.b
        .feed(&[frame(MORE, &[1; 600]), claim(0, 401)].concat());
    assert_eq!(pair.b.error, Some(Error::MessageTooLarge { limit: 1000 }));
    assert_eq!(pair.b.messages(), []);
}

#[test]
fn the_number_of_frames_is_limited() {
    let mut pair = ready();
    pair.b
        .feed(&[frame(MORE, b""), frame(MORE, b""), frame(0, b"")].concat());
    assert_eq!(pair.b.messages().len(), 1);
    pair.b.feed(&frame(MORE, b"").repeat(3));
    assert_eq!(pair.b.error, None);
    pair.b.feed(&frame(0, b""));
    assert_eq!(pair.b.error, Some(Error::TooManyFrames { limit: 3 }));
}

#[test]
fn commands_have_a_limit_of_their_own() {
    let mut pair = ready();
    pair.b.feed(&frame(COMMAND, &[0; 100]));
    assert_eq!(pair.b.error, None);
    pair.b.feed(&frame(COMMAND, &[0; 101]));
    let expected = WireError::FrameTooLarge {
        claimed: 101,
        limit: 100,
    };
    assert_eq!(pair.b.error, Some(Error::Wire(expected)));
}

#[test]
fn absurd_claims_end_the_connection_at_once_and_reserve_nothing() {
    for (a, b) in protections() {
        for len in [1 << 40, i64::MAX as u64, 1 << 63, u64::MAX] {
            let mut pair = Pair::ready(a.clone(), b.clone(), &provider());
            pair.b.feed(&claim(0, len));
            assert!(
                matches!(
                    pair.b.error,
                    Some(
                        Error::MessageTooLarge { .. }
                            | Error::Wire(WireError::FrameTooLarge { .. })
                    )
                ),
                "{:?}",
                pair.b.error
            );
            assert!(pair.b.connection.wanted() <= 1 << 20);
            assert!(pair.b.input.capacity() < 1 << 20);
        }
    }
}

#[test]
fn four_kilobytes_until_the_peer_is_known() {
    for config in [
        null(SocketType::Pull),
        client(SocketType::Pull, Default::default()),
    ] {
        let mut side = Side::new(config.clone(), provider(), 1);
        let mut greeting = Side::new(config.clone(), provider(), 1).output();
        greeting[32] = u8::from(greeting[12] == b'B');
        side.feed(&greeting);
        side.feed(&claim(COMMAND, 4096));
        assert_eq!(side.error, None);
        let mut side = Side::new(config, provider(), 1);
        side.feed(&greeting);
        side.feed(&claim(COMMAND, 4097));
        let expected = WireError::FrameTooLarge {
            claimed: 4097,
            limit: 4096,
        };
        assert_eq!(side.error, Some(Error::Wire(expected)));
    }
}

#[test]
fn wanted_tells_what_the_frame_in_progress_lacks() {
    let mut pair = ready();
    assert_eq!(pair.b.connection.wanted(), 0);
    let bytes = frame(0, &[3; 500]);
    pair.b.feed(&bytes[..1]);
    assert!((1..=8).contains(&pair.b.connection.wanted()));
    pair.b.feed(&bytes[1..100]);
    assert_eq!(pair.b.connection.wanted(), bytes.len() - 100);
    pair.b.feed(&bytes[100..]);
    assert_eq!(pair.b.connection.wanted(), 0);
    assert_eq!(pair.b.messages(), [Frames::from(vec![3; 500])]);

    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    pair.b.feed(&claim(0, 50 << 20));
    assert_eq!(pair.b.connection.wanted(), 1 << 20);
    // As much again as is there, and no more than is missing.
    pair.b.feed(&vec![3; 4 << 20]);
    assert_eq!(pair.b.connection.wanted(), (4 << 20) + 9);
    pair.b.feed(&vec![3; 40 << 20]);
    assert_eq!(pair.b.connection.wanted(), 6 << 20);
}

#[test]
fn a_configuration_that_cannot_work_says_so_before_the_first_byte() {
    use sealwire_zmtp::connection::Heartbeat;
    use sealwire_zmtp::error::ConfigError;
    let mut config = null(SocketType::Dealer);
    config.routing_id = vec![1; 256];
    assert_eq!(
        config.validate(),
        Err(ConfigError::RoutingIdTooLong { size: 256 })
    );
    let mut side = Side::new(config, provider(), 1);
    assert!(side.output().is_empty());
    side.feed(b"\xff");
    assert_eq!(
        side.error,
        Some(Error::Config(ConfigError::RoutingIdTooLong { size: 256 }))
    );

    let with = |name: &str, size: usize| {
        let mut config = null(SocketType::Dealer);
        config.metadata = vec![(name.into(), vec![0; size])];
        config.validate()
    };
    assert_eq!(with("X", 3000), Ok(()));
    assert!(matches!(
        with("X", 4000),
        Err(ConfigError::MetadataTooLarge { .. })
    ));
    assert_eq!(with("socket-type", 1), Err(ConfigError::DuplicateProperty));
    assert_eq!(with("identity", 1), Err(ConfigError::DuplicateProperty));
    assert_eq!(with("a b", 1), Err(ConfigError::PropertyName));

    let mut config = null(SocketType::Dealer);
    let second = std::time::Duration::from_secs(1);
    config.heartbeat = Some(Heartbeat {
        interval: Default::default(),
        timeout: second,
        ttl: second,
    });
    assert_eq!(config.validate(), Err(ConfigError::HeartbeatInterval));
}
