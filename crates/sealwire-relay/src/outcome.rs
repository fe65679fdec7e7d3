//! The outcome of a manipulation.

use std::fmt;

/// How a connection, or a file, ends that somebody tampered with.
///
/// All but [`Delivered`](Outcome::Delivered) promise that what was delivered is what was sent, in order and without
/// a gap, up to the place of the tampering; and all but [`LikeAnEnd`](Outcome::LikeAnEnd) that someone notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver says that a unit is not authentic.
    NotAuthentic,
    /// The receiver says that the stream ends in the middle of something.
    CutShort,
    /// The receiver says that the bytes break the rules of the protocol.
    Malformed,
    /// Malformed or not authentic: what the receiver finds first depends on how many bytes arrive at once.
    Garbled,
    /// The connection is refused before anything is delivered.
    Refused,
    /// The stream ends where it could have ended, and looks as if it were meant.
    LikeAnEnd,
    /// Nobody notices: what the attacker made is delivered.
    Delivered,
    /// There is no such thing in this protocol.
    Impossible,
}

impl Outcome {
    /// Whether a table that says this allows what was `seen`.
    #[must_use]
    pub fn covers(self, seen: Outcome) -> bool {
        let either = [Outcome::Malformed, Outcome::NotAuthentic];
        self == seen || self == Outcome::Garbled && either.contains(&seen)
    }
}

/// As the table of `docs/threats.md` names them.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::NotAuthentic => "not authentic",
            Outcome::CutShort => "cut short",
            Outcome::Malformed => "malformed",
            Outcome::Garbled => "malformed or not authentic",
            Outcome::Refused => "refused",
            Outcome::LikeAnEnd => "like an end",
            Outcome::Delivered => "**delivered**",
            Outcome::Impossible => "–",
        })
    }
}
