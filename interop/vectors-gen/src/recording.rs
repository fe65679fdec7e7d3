//! Two codecs of one published crate, driven against each other in memory.
//!
//! Every byte either of them sends is kept. The two recorded versions have the same interface in
//! types of their own, so one body is written out for each.

/// Routing id of the client, so that one side's metadata has a second property.
pub(crate) const CLIENT_IDENTITY: &[u8] = b"vector client";

/// The long-term secret keys the codecs are given.
#[derive(Clone, Copy)]
pub(crate) struct LongTermKeys {
    pub(crate) client: [u8; 32],
    pub(crate) server: [u8; 32],
}

/// One frame of the data phase as its sender was asked for it.
#[derive(Clone)]
pub(crate) struct Sent {
    /// More frames of the same message follow.
    pub(crate) more: bool,
    /// A command, not a part of a message.
    pub(crate) command: bool,
    /// The body before sealing.
    pub(crate) body: Vec<u8>,
}

/// One direction of the data phase: what was asked for, and the frames that came out.
pub(crate) struct Direction {
    pub(crate) sent: Vec<Sent>,
    pub(crate) wire: Vec<Vec<u8>>,
}

/// Everything that crossed between the two codecs, and the cookie secret of the server.
pub(crate) struct Recording {
    pub(crate) client_greeting: Vec<u8>,
    pub(crate) server_greeting: Vec<u8>,
    pub(crate) hello: Vec<u8>,
    pub(crate) welcome: Vec<u8>,
    pub(crate) initiate: Vec<u8>,
    pub(crate) ready: Vec<u8>,
    pub(crate) cookie_secret: [u8; 32],
    pub(crate) client_to_server: Direction,
    pub(crate) server_to_client: Direction,
}

/// What an XSUB client sends: a subscription long enough for a long frame, then messages around
/// the sizes where the length field grows, then a heartbeat and the answer to the server's.
pub(crate) fn client_script() -> Vec<Sent> {
    vec![
        command("SUBSCRIBE", &pattern(250)),
        last(0),
        last(1),
        last(64),
        part(255),
        last(300),
        last(223),
        last(224),
        ping(b"client"),
        command("PONG", b"server"),
    ]
}

/// What an XPUB server sends; the answer to the client's heartbeat comes first because the codec
/// gives it while it reads.
pub(crate) fn server_script() -> Vec<Sent> {
    vec![
        command("PONG", b"client"),
        ping(b"server"),
        last(0),
        last(1),
        last(64),
        part(0),
        part(255),
        last(300),
        last(223),
        last(224),
    ]
}

/// Octets that differ from their neighbours, so that a shifted or repeated block shows.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + len) as u8).collect()
}

fn part(len: usize) -> Sent {
    Sent {
        more: true,
        command: false,
        body: pattern(len),
    }
}

fn last(len: usize) -> Sent {
    Sent {
        more: false,
        command: false,
        body: pattern(len),
    }
}

fn command(name: &str, body: &[u8]) -> Sent {
    let mut framed = vec![u8::try_from(name.len()).unwrap()];
    framed.extend_from_slice(name.as_bytes());
    framed.extend_from_slice(body);
    Sent {
        more: false,
        command: true,
        body: framed,
    }
}

/// A heartbeat that announces a time to live of 30 s.
fn ping(context: &[u8]) -> Sent {
    let mut body = 300u16.to_be_bytes().to_vec();
    body.extend_from_slice(context);
    command("PING", &body)
}

/// Cuts a stream of ZMTP frames into whole frames, header included.
pub(crate) fn split_frames(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while !stream.is_empty() {
        let end = if stream[0] & 0x02 == 0 {
            2 + usize::from(stream[1])
        } else {
            9 + usize::try_from(u64::from_be_bytes(stream[1..9].try_into().unwrap())).unwrap()
        };
        let (frame, rest) = stream.split_at(end);
        frames.push(frame.to_vec());
        stream = rest;
    }
    frames
}

macro_rules! record_with {
    ($module:ident, $peer:ident, $server_keypair:ident) => {
        /// Recording with the crate version the module is named after.
        pub(crate) mod $module {
            use std::sync::Arc;

            use bytes::Bytes;
            use $peer::Message;
            use $peer::proto::mechanism::blake3zmq::CookieKeyring;
            use $peer::proto::mechanism::{
                Blake3ZmqKeypair, Blake3ZmqPublicKey, Blake3ZmqSecretKey, MechanismSetup,
            };
            use $peer::proto::{Command, Connection, ConnectionConfig, Event, Role, SocketType};

            use super::*;
            use crate::primitives;

            /// Runs a whole connection.
            ///
            /// # Panics
            ///
            /// The codecs refuse each other or send something that was not asked for.
            pub(crate) fn record(keys: LongTermKeys) -> Recording {
                let keyring = Arc::new(CookieKeyring::new());
                let cookie_secret = *keyring.current_key();
                let server_keypair = keypair(keys.server);
                let mut client = Connection::new(
                    ConnectionConfig::new(Role::Client, SocketType::XSub)
                        .identity(Bytes::from_static(CLIENT_IDENTITY))
                        .mechanism(MechanismSetup::Blake3ZmqClient {
                            server_public: server_keypair.public,
                            $server_keypair: keypair(keys.client),
                        }),
                );
                let mut server = Connection::new(
                    ConnectionConfig::new(Role::Server, SocketType::XPub).mechanism(
                        MechanismSetup::Blake3ZmqServer {
                            $server_keypair: server_keypair,
                            cookie_keyring: keyring,
                            authenticator: None,
                        },
                    ),
                );

                let client_greeting = drain(&mut client);
                let server_greeting = drain(&mut server);
                let hello = answer(&mut client, &server_greeting);
                assert!(answer(&mut server, &client_greeting).is_empty());
                let welcome = answer(&mut server, &hello);
                let initiate = answer(&mut client, &welcome);
                let ready = answer(&mut server, &initiate);
                assert!(answer(&mut client, &ready).is_empty());
                for side in [&mut client, &mut server] {
                    assert!(matches!(
                        side.poll_event(),
                        Some(Event::HandshakeSucceeded { .. })
                    ));
                }

                // The last frame of the client answers the server's PING, and the first one of the
                // server answers the client's: neither is asked for.
                let client_script = client_script();
                let server_script = server_script();
                send(&mut client, &client_script[..client_script.len() - 1]);
                let mut from_client = drain(&mut client);
                let mut from_server = answer(&mut server, &from_client);
                send(&mut server, &server_script[1..]);
                from_server.extend(drain(&mut server));
                let pong = answer(&mut client, &from_server);
                assert!(answer(&mut server, &pong).is_empty());
                from_client.extend(pong);

                assert_received(&mut server, &client_script);
                assert_received(&mut client, &server_script);
                Recording {
                    client_greeting,
                    server_greeting,
                    hello,
                    welcome,
                    initiate,
                    ready,
                    cookie_secret,
                    client_to_server: Direction {
                        sent: client_script,
                        wire: split_frames(&from_client),
                    },
                    server_to_client: Direction {
                        sent: server_script,
                        wire: split_frames(&from_server),
                    },
                }
            }

            fn keypair(secret: [u8; 32]) -> Blake3ZmqKeypair {
                Blake3ZmqKeypair {
                    public: Blake3ZmqPublicKey(primitives::public_key(&secret)),
                    secret: Blake3ZmqSecretKey(secret),
                }
            }

            /// Takes everything the codec wants to write.
            fn drain(side: &mut Connection) -> Vec<u8> {
                let bytes = side.poll_transmit().to_vec();
                side.advance_transmit(bytes.len());
                bytes
            }

            /// Hands `input` to the codec and takes what it writes in return.
            fn answer(side: &mut Connection, input: &[u8]) -> Vec<u8> {
                side.handle_input(Bytes::copy_from_slice(input))
                    .expect("the peer accepts its own");
                drain(side)
            }

            /// Asks for the frames of `script`, whole messages and commands at a time.
            fn send(side: &mut Connection, script: &[Sent]) {
                let mut parts: Vec<Bytes> = Vec::new();
                for frame in script {
                    let body = Bytes::copy_from_slice(&frame.body);
                    if frame.command {
                        let command = $peer::proto::command::decode(body).unwrap();
                        side.send_command(&command).unwrap();
                        continue;
                    }
                    parts.push(body);
                    if !frame.more {
                        side.send_message(&Message::multipart(parts.drain(..)))
                            .unwrap();
                    }
                }
            }

            /// Checks that the codec delivered the messages of `script` and its subscriptions.
            fn assert_received(side: &mut Connection, script: &[Sent]) {
                let mut parts: Vec<Vec<u8>> = Vec::new();
                for frame in script.iter().filter(|frame| !frame.command) {
                    parts.push(frame.body.clone());
                    if !frame.more {
                        let message = side.poll_message().expect("a message");
                        let received: Vec<_> = message.iter().map(|part| part.to_vec()).collect();
                        assert_eq!(received, parts);
                        parts.clear();
                    }
                }
                assert!(side.poll_message().is_none());
                for frame in script
                    .iter()
                    .filter(|frame| frame.body.starts_with(b"\x09SUBSCRIBE"))
                {
                    match side.poll_event() {
                        Some(Event::Command(Command::Subscribe(topic))) => {
                            assert_eq!(topic[..], frame.body[10..]);
                        }
                        other => panic!("a subscription was sent, {other:?} arrived"),
                    }
                }
                assert!(side.poll_event().is_none());
            }
        }
    };
}

record_with!(omq_0_15, omq_proto_0_15, keypair);
record_with!(omq_0_22, omq_proto_0_22, our_keypair);
