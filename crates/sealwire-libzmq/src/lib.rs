//! `libzmq.so.5` on Sealwire: programs written for libzmq run unchanged.
//!
//! ```text
//!   program ──▶ abi: the functions of zmq.h ──▶ context, socket, options, polling ──▶ sealwire
//!               pointers, errno, panics         in libzmq's units, without pointers
//! ```
//!
//! `abi` follows the pointers of programs and lets no panic out; `message` owns what is in a `zmq_msg_t`. Everything
//! else is safe Rust. What a function means is said where it is declared, in `include/zmq.h`.

#![cfg(unix)]
#![deny(unsafe_code)]

pub mod abi;
mod context;
mod errno;
mod log;
pub mod message;
mod monitor;
mod options;
mod policy;
#[cfg(draft)]
mod poller;
mod polling;
mod proxy;
mod socket;
mod standalone;

/// Messages are allocated by one thread and freed by another: with the allocator of glibc the two wait for each other.
#[cfg(not(miri))]
#[global_allocator]
static ALLOCATOR: message::Allocator = message::Allocator::new();
