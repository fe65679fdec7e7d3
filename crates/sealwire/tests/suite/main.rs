//! The public behaviour of sockets, a module for each behaviour.
//!
//! They share one process: what one changes of it, all others would see. A test that changes the
//! process, or measures it, has a binary of its own beside this folder and says why.

#[path = "../support/mod.rs"]
mod support;

mod access;
mod accounting;
mod admission;
mod async_api;
mod async_limits;
mod authentication;
mod both_sides;
mod connecting;
mod dgram;
mod direct_reading;
mod disconnecting;
mod draft_types;
mod draining;
mod dropping;
mod ends_of_connections;
#[cfg(feature = "metrics")]
mod facade;
mod fan_out;
mod flow_control;
mod foreign_code;
mod handshake_failures;
mod identity;
mod incoming;
mod inproc;
#[cfg(target_os = "linux")]
mod interfaces;
mod io_threads;
#[cfg(unix)]
mod ipc_wildcard;
mod keys;
mod lifecycle;
#[cfg(unix)]
mod listeners;
mod metrics;
mod options;
mod orders;
mod patterns;
mod payload_owners;
mod plain;
mod plain_text;
mod presence;
mod proxy;
#[cfg(unix)]
mod readiness;
mod reconfiguring;
mod renewing;
mod sending_batches;
mod socks;
#[cfg(target_os = "linux")]
mod sources;
mod stream;
mod subscriptions;
#[cfg(unix)]
mod time_slices;
mod two_mechanisms;
mod udp;
mod unbinding;
#[cfg(feature = "ws")]
mod websocket;
#[cfg(feature = "wss")]
mod wss;
mod zap;
