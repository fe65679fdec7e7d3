//! What the system has for sockets and the standard library does not, where it takes `unsafe` code: descriptors that are
//! known by their numbers, and an option of sockets.

#![cfg(unix)]

pub mod activation;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod peer_groups;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub use peer_groups::peer_groups;
