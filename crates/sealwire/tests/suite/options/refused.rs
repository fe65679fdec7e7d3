//! Options that a builder refuses, with a text that says which and what they may be.

use std::time::Duration;

use sealwire::options::{ConfigError, MAX_ROUTING_ID, OptionsError};
use sealwire::{Error, Security, SocketBuilder, SocketType};

use crate::support::options;

fn refusal(builder: SocketBuilder) -> OptionsError {
    match builder.build_blocking() {
        Err(Error::Options(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn pull() -> SocketBuilder {
    options(SocketType::Pull)
}

#[test]
fn zero_is_refused_by_the_name_of_its_option() {
    let (none, second) = (Duration::ZERO, Duration::from_secs(1));
    for (builder, name) in [
        (pull().max_message_size(0), "max_message_size"),
        (pull().handshake_timeout(none), "handshake_timeout"),
        (pull().reconnect(none, none), "reconnect"),
        (pull().connect_timeout(none), "connect_timeout"),
        (pull().zap_timeout(none), "zap_timeout"),
        (pull().backlog(0), "backlog"),
        (pull().max_handshakes(0), "max_handshakes"),
        (pull().max_connections(0), "max_connections"),
        (pull().max_connections_per_key(0), "max_connections_per_key"),
        (
            pull().max_connections_per_address(0),
            "max_connections_per_address",
        ),
        (
            pull().max_handshakes_per_address(0),
            "max_handshakes_per_address",
        ),
        (
            pull().connection_rate_per_address(0, second),
            "connection_rate_per_address",
        ),
        (
            pull().connection_rate_per_address(1, none),
            "connection_rate_per_address",
        ),
        (
            options(SocketType::Radio).multicast_hops(0),
            "multicast_hops",
        ),
    ] {
        let error = refusal(builder);
        assert_eq!(error, OptionsError::Zero(name));
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_routing_id_that_peers_would_refuse_is_refused() {
    assert!(
        pull()
            .routing_id([1; MAX_ROUTING_ID])
            .build_blocking()
            .is_ok()
    );
    let error = refusal(pull().routing_id([1; MAX_ROUTING_ID + 1]));
    let (size, leading_zero) = (MAX_ROUTING_ID + 1, false);
    assert_eq!(error, OptionsError::RoutingId { size, leading_zero });
    let text = error.to_string();
    assert!(text.contains("256 bytes") && text.contains("255"), "{text}");

    let error = refusal(pull().routing_id([0, 1]));
    assert!(error.to_string().contains("starts with a zero"), "{error}");
}

/// Each connection would fail before its handshake otherwise.
#[test]
fn options_that_no_handshake_can_carry_are_refused() {
    let size = ConfigError::MetadataTooLarge { size: 3_000 };
    for (builder, expected) in [
        (pull().metadata("", "x"), ConfigError::PropertyName),
        (pull().metadata("X Y", "x"), ConfigError::PropertyName),
        (
            pull().metadata("Identity", "x"),
            ConfigError::DuplicateProperty,
        ),
        (pull().metadata("X-Long", [0; 4_000]), size),
        (
            pull().heartbeat(Duration::ZERO),
            ConfigError::HeartbeatInterval,
        ),
        (
            pull().security(Security::plain_client("x".repeat(256), "")),
            ConfigError::CredentialTooLong,
        ),
    ] {
        let OptionsError::Protocol(error) = refusal(builder) else {
            panic!("not {expected:?}");
        };
        let same = std::mem::discriminant(&error) == std::mem::discriminant(&expected);
        assert!(same, "{error:?}");
    }
}
