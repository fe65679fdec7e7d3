//! The protocol configuration that the connections of one socket share.

use std::sync::Arc;

use sealwire_zmtp::limits::Limits;
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CurveClient, CurveServer, EncryptedServer as ProtocolServer,
    PlainClient,
};
use sealwire_zmtp::{Config, MechanismConfig};

use super::context::Engine;
use super::cookies::{ServerCookies, new_cookies};
use crate::options::SocketOptions;
use crate::peer::may_miss;
use crate::security::{EncryptedServer, Kind};

/// Cookie keys for a server, put on the list of those to rotate.
fn cookies(engine: &dyn Engine) -> Arc<ServerCookies> {
    let cookies = Arc::new(new_cookies(|key| engine.fill_random(key)));
    engine.rotate_cookies(Arc::downgrade(&cookies));
    cookies
}

/// The configuration of the protocol state machine for all connections of a socket.
pub(super) fn protocol_config(engine: &dyn Engine, options: &SocketOptions) -> Config {
    Config {
        routing_id: options.routing_id.clone(),
        announces_empty_routing_id: options.as_libzmq,
        heartbeats_to_zmtp_3_0: options.as_libzmq,
        cuts_heartbeat_contexts: options.as_libzmq,
        asks_for_missed: !options.as_libzmq && may_miss(options.socket_type),
        mechanism: mechanism(engine, options),
        metadata: options.metadata.clone(),
        limits: match options.as_libzmq {
            // libzmq bounds each part.
            true => Limits {
                max_message_size: usize::MAX,
                max_frame_size: options.max_message_size,
                ..Limits::default()
            },
            false => Limits {
                max_message_size: options.max_message_size,
                ..Limits::default()
            },
        },
        handshake_timeout: options.handshake_timeout,
        heartbeat: options.heartbeat.heartbeat(),
        ..Config::new(options.socket_type)
    }
}

fn mechanism(engine: &dyn Engine, options: &SocketOptions) -> MechanismConfig {
    match &options.security.0 {
        // A handler is asked about NULL only where it is told which domain.
        Kind::Unspecified | Kind::PlainText
            if options.admission.is_some()
                || options
                    .zap_domain
                    .as_deref()
                    .is_some_and(|domain| !domain.is_empty()) =>
        {
            MechanismConfig::null_authorized()
        }
        Kind::Unspecified | Kind::PlainText => MechanismConfig::null(),
        Kind::Servers(servers) => MechanismConfig::any_of(
            server(engine, &servers.first),
            servers.others.iter().map(|other| server(engine, other)),
        ),
        Kind::Blake3Client(client) => MechanismConfig::from(Blake3Client {
            server_key: client.server_key,
            keys: client.keys.clone(),
            data_phase: client.data_phase,
        }),
        Kind::CurveClient {
            server_key,
            keys,
            frame_order,
        } => MechanismConfig::from(CurveClient {
            server_key: *server_key,
            keys: Some(keys.clone()),
            frame_order: *frame_order,
        }),
        Kind::PlainClient { credentials } => MechanismConfig::from(PlainClient {
            credentials: credentials.clone(),
        }),
        Kind::PlainServer { .. } => MechanismConfig::plain_server(),
    }
}

/// A server with cookie keys of its own.
fn server(engine: &dyn Engine, server: &EncryptedServer) -> ProtocolServer {
    match server {
        EncryptedServer::Blake3(server) => Blake3Server {
            keys: server.keys.clone(),
            additional_keys: server.additional_keys.clone(),
            cookies: cookies(engine),
            data_phase: server.data_phase,
        }
        .into(),
        EncryptedServer::Curve(server) => CurveServer {
            keys: server.keys.clone(),
            additional_key: server.additional_key.clone(),
            cookies: cookies(engine),
            frame_order: server.frame_order,
        }
        .into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use sealwire_zmtp::mechanism::CookieStore as _;

    use super::*;
    use crate::context::Context;
    use crate::core::cookies::{ROTATION_PERIOD, rotate_cookies};

    fn bytes(cookies: &ServerCookies) -> Vec<[u8; 32]> {
        cookies
            .candidates()
            .into_iter()
            .flatten()
            .map(|key| *key.as_bytes())
            .collect()
    }

    /// Takes one period of the real clock.
    #[test]
    fn keys_are_replaced_by_the_clock_though_nobody_connects() {
        let context = Context::new().unwrap();
        let cookies = cookies(context.core().engine());
        let first = bytes(&cookies);
        assert_eq!(first.len(), 1);
        let begun = Instant::now();
        while bytes(&cookies).len() == 1 {
            assert!(
                begun.elapsed() < 10 * ROTATION_PERIOD,
                "the clock does not rotate the keys"
            );
            std::thread::sleep(ROTATION_PERIOD / 100);
        }
        assert_eq!(
            bytes(&cookies)[1],
            first[0],
            "the old key is good for one more period"
        );
        rotate_cookies(&cookies, crate::entropy::fill);
        assert!(!bytes(&cookies).contains(&first[0]), "and no longer");
    }
}
