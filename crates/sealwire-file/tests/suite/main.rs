//! What sealing and opening files promise, a module for each behaviour.

mod tampering;
mod vectors;
