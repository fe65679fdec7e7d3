//! The functions of `zmq.h`. Pointers of programs are followed here and in [`message`](crate::message), in no other
//! place, and no panic leaves.

#![allow(
    unsafe_code,
    reason = "functions of C are given pointers, and their names are exported"
)]
#![allow(
    unreachable_pub,
    reason = "programs reach them by their names, not through the modules"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller has to keep to is the contract of zmq.h"
)]

mod capabilities;
mod clock;
mod counters;
mod error;
mod guard;
mod keys;
mod tagged;
mod threads;
mod timers;

#[cfg(test)]
mod tests;
