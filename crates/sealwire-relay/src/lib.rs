//! Someone between two peers, for tests.
//!
//! ```text
//!   client ──▶ Relay ── Format cuts the bytes into units ── Script says what becomes of each ──▶ server
//! ```
//!
//! A [`Relay`] carries TCP connections; [`through`] treats bytes in memory the same way. A [`Script`] for each
//! direction is given every unit with its number. [`Manipulation`] has the scripts that all protocols are tested
//! with, [`Outcome`] what comes of them, [`Expected`] what has to; and [`page`] compares that with the table in `docs/threats.md`.
//!
//! It knows the framing of each protocol and none of the secrets: what it can do, anyone on the path can.

mod act;
mod buffer;
mod expected;
mod format;
mod manipulation;
mod outcome;
pub mod page;
mod recording;
mod tcp;
pub mod websocket;
pub mod zmtp;

use std::time::Duration;

pub use act::{Act, Script, counting, honest, recording, since};
pub use buffer::{Passed, through};
pub use expected::{Expected, SEALED, but};
pub use format::Format;
pub use manipulation::{Manipulation, Material};
pub use outcome::Outcome;
pub use recording::{Direction, Recording};
pub use tcp::{Carried, Relay};

/// The longest wait for a peer: nothing takes that long unless it is broken.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Flips bit `bit` of a unit, counted from the lowest bit of its first byte.
///
/// # Panics
///
/// If the unit is shorter.
pub fn flip(unit: &mut [u8], bit: usize) {
    unit[bit / 8] ^= 1 << (bit % 8);
}
