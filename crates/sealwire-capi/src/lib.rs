//! Sealwire for C and for every language that calls C. The header `include/sealwire.h` is made from
//! this crate, comments and all, and `include/sealwire_nacl.h` from `nacl/names.rs`; `docs/c.md` tells how to build and use it.
//!
//! ```text
//!   C ──▶ extern "C" functions ──▶ pointers (checked) ──▶ sealwire, -rpc, -aead, -nacl, -newplex
//!         a file per noun          panics (stopped)       status (numbers, text)
//! ```
//!
//! Nothing here decides anything: a function checks its arguments, calls the Rust API and turns what
//! comes back into a number. All pointers are followed in `pointers.rs`, in no other place.

// Waiting is done on file descriptors; without them there is nothing to build.
#![cfg(unix)]
#![allow(
    non_camel_case_types,
    reason = "types have the names that the header gives them"
)]

pub mod account;
pub mod aead;
pub mod auth;
pub mod callback;
pub mod context;
pub mod guest;
pub mod keys;
pub mod listener;
pub mod log;
pub mod message;
pub mod monitor;
pub mod nacl;
pub mod newplex;
pub mod options;
mod panics;
pub mod peer;
pub mod peers;
mod pointers;
pub mod poll;
pub mod proxy;
pub mod rpc;
pub mod security;
pub mod session;
pub mod socket;
pub mod status;
mod time;
pub mod tls;
pub mod work;
