//! What the protocol promises, a module for each behaviour.

mod blocks;
mod handshakes;
mod link;
mod tampering;
mod vectors;
