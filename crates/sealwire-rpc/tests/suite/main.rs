//! Calls between real clients and servers, a module for each behaviour.

#[path = "../support/attacker.rs"]
mod attacker;
mod network;
#[path = "../support/mod.rs"]
mod support;

mod attacks;
mod calls;
mod choices;
mod faults;
mod handover_orders;
mod inbox;
mod metadata;
mod panics;
mod streams;
mod tampering;
mod work;
mod work_keys;
