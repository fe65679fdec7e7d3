//! Encrypted ZeroMQ sockets.
//!
//! Processes exchange messages with the patterns of ZeroMQ (request and reply, publish and
//! subscribe, pipelines, routing). There is no broker, and the wire is that of libzmq (ZMTP 3.1).
//! With the mechanism BLAKE3ZMQ every byte after the handshake is encrypted and authenticated, and
//! both sides know each other by their public keys.
//!
//! ```
//! use sealwire::auth::AllowedKeys;
//! use sealwire::{Generate as _, KeyPair, Security, SocketType, blocking::Socket};
//!
//! let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
//! let allowed = AllowedKeys::new().allow_as(client_keys.public(), "alice");
//!
//! let server = Socket::builder(SocketType::Rep)
//!     .security(Security::blake3_server(server_keys.clone(), allowed))
//!     .build_blocking()?;
//! let endpoint = server.bind("tcp://127.0.0.1:0")?;
//!
//! let client = Socket::builder(SocketType::Req)
//!     .security(Security::blake3_client_with_keys(server_keys.public(), client_keys))
//!     .build_blocking()?;
//! client.connect(endpoint)?;
//!
//! client.send("hello")?;
//! let request = server.recv()?;
//! assert_eq!(request.peer().unwrap().user_id(), Some("alice"));
//! server.send("welcome")?;
//! assert_eq!(client.recv()?.as_bytes(), b"welcome");
//! # Ok::<(), sealwire::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | send and receive | [`Socket`] (async, any executor), [`blocking::Socket`] |
//! | choose a mechanism | [`Security`] |
//! | make, store and read keys | [`KeyPair`], [`keys`] |
//! | decide who may connect | [`auth`] |
//! | know who sent a message | [`Message::peer`], [`Peer`] |
//! | see what is held for a peer | [`Peer::account`], [`account`] |
//! | watch traffic, queues, drops, times | [`metrics`], [`Context::metrics`], [`Socket::metrics`] |
//! | print what a peer chose | [`text`] |
//! | see why a connection fails | [`Monitor`], [`Event`], [`Counters`]; a subscriber of `tracing` gets the log, without one standard error gets [the first failure](Monitor) |
//! | wait for sockets in an event loop | [`Readiness`] |
//! | run code that may panic | [`panics`] |
//! | connect two sockets | [`proxy`], [`Proxy`] with capture and control |
//!
//! Experimental and not audited: read `docs/security.md` before you rely on it.

#![forbid(unsafe_code)]

pub mod account;
pub mod auth;
mod context;
mod core;
mod counters;
mod endpoint;
mod engine;
mod entropy;
mod error;
mod failure;
mod guard;
mod inproc;
pub mod keys;
pub mod limits;
mod measures;
mod message;
pub mod metrics;
mod monitor;
pub mod options;
pub mod panics;
mod pattern;
mod peer;
mod primitives;
mod proxy;
mod reach;
mod routing_ids;
mod security;
pub mod signals;
#[cfg(test)]
mod simulated_tests;
#[cfg(any(test, feature = "simulation"))]
#[doc(hidden)]
pub mod simulation;
mod socket;
mod standard_error;
pub mod text;
mod transport;
mod waiting;
#[doc(hidden)]
pub mod waits;
mod zap;

pub use account::AddressLimit;
pub use context::{Context, ContextBuilder};
pub use endpoint::{Endpoint, EndpointError, MAX_INPROC_NAME, MAX_IPC_NAME, TcpSource};
pub use error::{Error, MessageError, Operation, Presence, SendError, StateError, Unusable};
pub use failure::{ConnectionFailure, DatagramDrop, FailureCause};
pub use keys::Generate;
pub use message::{AddressError, Message};
pub use monitor::{Counters, Event, MONITOR_CAPACITY, Monitor};
pub use peer::{Peer, PeerAddress, ProcessCredentials};
pub use primitives::fastest as default_provider;
pub use proxy::{Proxy, proxy};
/// NaCl's `box` and `secretbox`, byte-compatible with libsodium.
pub use sealwire_nacl as nacl;
pub use sealwire_zmtp::connection::Warning;
/// What [`ProtocolError`] is made of, for those who match on causes.
pub use sealwire_zmtp::error as protocol;
/// What a [`Provider`] of cryptographic primitives is made of.
pub use sealwire_zmtp::provider;
pub use sealwire_zmtp::{
    DefaultProvider, Error as ProtocolError, Frame, KeyPair, Mechanism, Provider, PublicKey,
    SecretKey, SocketType,
};
pub use security::{Blake3Client, Blake3Server, CurveServer, Security};
/// For the library that stands in for libzmq. It may change at any time.
#[cfg(unix)]
#[doc(hidden)]
pub use socket::embed;
pub use socket::{Incoming, Socket, SocketBuilder, blocking};
#[cfg(unix)]
pub use transport::Listener;
#[cfg(feature = "wss")]
pub use transport::TlsError;
#[cfg(feature = "ws")]
pub use transport::WebSocketError;
pub use transport::{DatagramError, ListenerError, MAX_DATAGRAM, SocksError, SocksRefusal};
#[cfg(unix)]
pub use waiting::{Readiness, Ready};

/// The examples of the READMEs, this crate's and the project's, are compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So are those of the guide for those who come from libzmq.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/migrating.md")]
struct Migrating;
