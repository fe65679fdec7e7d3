//! What an attacker can try, each attempt over a real TCP connection.
//!
//! Someone on the path sits in a [`Relay`](sealwire_relay::Relay) between a real client and a real server and follows a
//! script; someone with a program of their own is a [`forger`], who speaks the mechanism by hand.
//! A [`scene`] has a server and a bystander whose messages must keep flowing, whatever happens.
//!
//! | module | who attacks | how |
//! |---|---|---|
//! | [`handshake_bits`] | on the path | every bit of every handshake message |
//! | [`data_frames`] | on the path | flip, drop, repeat, reorder, truncate, splice, reflect |
//! | [`tampering`] | on the path | eleven manipulations of each protocol, by table |
//! | [`curve_frames`] | on the path | the same with CURVE's frames |
//! | [`injected_errors`] | on the path | ERROR in the clear |
//! | [`replay`] | has recorded | HELLO, INITIATE, whole streams, old and forged cookies |
//! | [`weak_keys`] | own program | keys of low order, second encodings, keys of others |
//! | [`garbage`] | anyone | other protocols, versions, sizes, metadata |
//! | [`floods`] | authenticated | commands and frames without end |
//! | [`exhaustion`] | anyone | slow, silent and half-open connections, HELLOs without end |
//! | [`regressions`] | anyone | what others had advisories for, by their numbers |
//!
//! A binary of its own: it measures the memory of the process, and raises its limit of descriptors.

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

mod forger;
mod memory;
mod scene;

mod curve_frames;
mod data_frames;
mod exhaustion;
mod floods;
mod garbage;
mod handshake_bits;
mod injected_errors;
mod regressions;
mod replay;
mod tampering;
mod weak_keys;
