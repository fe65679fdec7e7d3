//! Encryption by configuration: rules in a file that give endpoints their mechanism and keys.
//!
//! ```text
//!   file (TOML) ─▶ document: typed keys with their lines ─▶ rule: pattern + protection ─▶ Policy::decide
//!   environment ─▶ sources: which file counts, or rules made of three variables        ─▶ Ruling or Refusal
//! ```
//!
//! A policy is read whole or not at all: any fault in it is a [`Fault`], and no part of a faulty file counts. Nothing
//! here opens a socket or prints; programs that apply a policy do.

#![cfg(unix)]
#![forbid(unsafe_code)]

mod document;
mod fault;
mod host;
mod pattern;
mod policy;
mod protection;
mod rule;
mod socket_file;
mod sources;
mod wildcard;

pub use fault::Fault;
pub use policy::{Own, Policy, Refusal, Ruling};
pub use rule::{Role, Rule};
pub use sources::{SYSTEM_FILE, Sources};
