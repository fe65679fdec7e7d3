//! What the protocol promises, a module for each behaviour.

mod async_streams;
mod blocks;
mod handshakes;
mod link;
mod streams;
mod tampering;
mod vectors;
