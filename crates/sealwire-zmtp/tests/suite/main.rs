//! The public behaviour of a connection, one file per behaviour, with both providers.

extern crate alloc;

mod support;

mod attacks_on_frames;
mod attacks_on_handshake;
mod blake3_handshake;
mod block_orders;
mod curve;
mod greeting;
mod heartbeat;
mod limits;
mod missed;
mod null;
mod output;
mod plain;
mod properties;
mod regressions;
mod server_keys;
mod several_mechanisms;
mod short_commands;
mod subscriptions;
mod vectors;
