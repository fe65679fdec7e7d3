//! Remote procedure calls over Sealwire's encrypted connections.
//!
//! Requests with answers, one-way messages and streams, in both directions over one connection:
//! a server can call its clients. Handshake, keys, batching, heartbeats and limits are those of the
//! sockets ([`sealwire`]); what goes over the wire is specified in `docs/spec/rpc.md`.
//!
//! ```
//! use sealwire::auth::AllowedKeys;
//! use sealwire::{Generate as _, KeyPair, Security};
//! use sealwire_rpc::handler::Inline;
//! use sealwire_rpc::{Client, Code, Request, Server, Status};
//!
//! let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
//! let allowed = AllowedKeys::new().allow_as(client_keys.public(), "alice");
//! let server = Server::builder(Security::blake3_server(server_keys.clone(), allowed))
//!     .build(Inline::new(|request: &Request| match &request.body()[..] {
//!         b"" => Err(Status::new(Code::INVALID_ARGUMENT, "ask something")),
//!         question => Ok([b"you said ", question].concat()),
//!     }))?;
//! let endpoint = server.bind("tcp://127.0.0.1:0")?;
//!
//! let security = Security::blake3_client_with_keys(server_keys.public(), client_keys);
//! let client = Client::builder(security).build(endpoint)?.blocking();
//! assert_eq!(&client.request(b"hello")?[..], b"you said hello");
//! assert_eq!(client.request(b"").unwrap_err().status().unwrap().code, Code::INVALID_ARGUMENT);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | call | [`Client`], [`blocking::Client`], [`Conn`] |
//! | answer | [`Server`], [`handler`] |
//! | know whether a failed request may have run | [`Error::may_have_run`] |
//! | send many items in one call | [`Conn::open`], [`CallStream`], [`Request::next`], [`Request::blocking`] |
//! | look at each call, or change it | [`ClientBuilder::intercept`], [`ServerBuilder::intercept`] |
//! | send identifiers beside the body, continue a trace | [`CallOptions::with_metadata`], [`Request::metadata`], [`trace`] |
//! | bound memory and time | [`Limits`] |
//!
//! Experimental and not audited, like everything in Sealwire.

#![forbid(unsafe_code)]

pub mod blocking;
mod call;
mod client;
mod conn;
mod counters;
mod guard;
pub mod handler;
mod hub;
mod limits;
mod link;
mod lock;
#[cfg(feature = "monte-compat")]
pub mod monte;
mod outgoing;
mod proto;
mod seat;
mod server;
#[cfg(test)]
mod simulated_tests;
mod sockets;
mod status;
mod stream;
mod threads;
pub mod trace;
#[cfg(feature = "serde")]
pub mod typed;
pub mod work;

pub use call::Call;
pub use client::{Client, ClientBuilder};
pub use conn::{Conn, ConnState};
pub use counters::Counters;
pub use handler::{Handler, OneWay, Request};
pub use limits::Limits;
pub use outgoing::{CallOptions, Outgoing};
pub use proto::{Body, Metadata, MetadataError};
pub use server::{Server, ServerBuilder};
pub use status::{Code, Error, Status};
pub use stream::CallStream;

/// The README's example is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
