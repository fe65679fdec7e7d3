//! Cookie keys, which a server of BLAKE3ZMQ or CURVE shares between its connections and the clock
//! replaces.
//!
//! Source: wire reference `blake3zmq`, sections 4 and 8; CURVE leaves them to the server.

use alloc::vec::Vec;
use core::fmt::{self, Debug};
#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::ZeroizeOnDrop;

use crate::limits::MAX_TRANSCRIPTS;

/// A cookie secret, `K`. Wiped on drop, `Debug` shows nothing.
#[derive(Clone, ZeroizeOnDrop)]
pub struct CookieKey([u8; 32]);

impl CookieKey {
    /// Takes fresh random bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The secret bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Debug for CookieKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieKey(..)")
    }
}

/// Where the connections of one server get cookie keys and connection ids.
///
/// The implementation must replace `K` by the clock, at least every 60 s and whether or not anyone
/// connects, and keep exactly one predecessor. [`CookieKeys`] in a `std::sync::Mutex` does everything
/// but the clock.
pub trait CookieStore: Send + Sync + Debug {
    /// The current key and a connection id that is never given out again.
    fn issue(&self) -> (CookieKey, u64);

    /// The keys under which a cookie may open: the current one and its predecessor.
    fn candidates(&self) -> [Option<CookieKey>; 2];

    /// Notes the transcript of a connection up to WELCOME. It is public, and may be forgotten:
    /// a server that remembers it is spared two X25519 multiplications of ten.
    fn remember(&self, _connection: u64, _transcript: [u8; 32]) {}

    /// The transcript that was noted of this connection, unless it is forgotten.
    fn recall(&self, _connection: u64) -> Option<[u8; 32]> {
        None
    }
}

/// `K`, its predecessor and the connection ids.
///
/// Pure: the caller owns clock, lock and randomness.
pub struct CookieKeys {
    current: CookieKey,
    previous: Option<CookieKey>,
    next_number: u64,
    /// Connections and their transcripts up to WELCOME, each in the place of its number. Empty
    /// until there is one.
    transcripts: Vec<Option<(u64, [u8; 32])>>,
}

impl CookieKeys {
    /// Starts with one key of fresh random bytes.
    pub const fn new(fresh: [u8; 32]) -> Self {
        Self {
            current: CookieKey(fresh),
            previous: None,
            next_number: 0,
            transcripts: Vec::new(),
        }
    }

    /// Puts a key of fresh random bytes in place; the one before the previous is wiped.
    pub fn rotate(&mut self, fresh: [u8; 32]) {
        self.previous = Some(core::mem::replace(&mut self.current, CookieKey(fresh)));
    }

    /// The current key and the next connection id.
    ///
    /// # Panics
    ///
    /// After 2^64 connections, which would take 58,000 years at ten million a second.
    pub fn issue(&mut self) -> (CookieKey, u64) {
        let number = self.next_number;
        self.next_number = number.checked_add(1).expect("fewer than 2^64 connections");
        (self.current.clone(), number)
    }

    /// Notes a transcript; see [`CookieStore::remember`]. The latest
    /// [`MAX_TRANSCRIPTS`] are kept, in 12 KiB.
    pub fn remember(&mut self, connection: u64, transcript: [u8; 32]) {
        self.transcripts.resize(MAX_TRANSCRIPTS, None);
        self.transcripts[place(connection)] = Some((connection, transcript));
    }

    /// Returns the transcript that was noted of this connection, unless it is forgotten.
    pub fn recall(&self, connection: u64) -> Option<[u8; 32]> {
        let (noted, transcript) = (*self.transcripts.get(place(connection))?)?;
        (noted == connection).then_some(transcript)
    }

    /// The current key, then the previous one.
    pub fn candidates(&self) -> impl Iterator<Item = CookieKey> {
        core::iter::once(self.current.clone()).chain(self.previous.clone())
    }
}

impl Debug for CookieKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieKeys")
            .field("next_number", &self.next_number)
            .finish_non_exhaustive()
    }
}

/// With the feature `std`. What rotates the keys has the same mutex.
#[cfg(feature = "std")]
impl CookieStore for Mutex<CookieKeys> {
    fn issue(&self) -> (CookieKey, u64) {
        unpoisoned(self).issue()
    }

    fn candidates(&self) -> [Option<CookieKey>; 2] {
        let keys = unpoisoned(self);
        let mut candidates = keys.candidates();
        [candidates.next(), candidates.next()]
    }

    fn remember(&self, connection: u64, transcript: [u8; 32]) {
        unpoisoned(self).remember(connection, transcript);
    }

    fn recall(&self, connection: u64) -> Option<[u8; 32]> {
        unpoisoned(self).recall(connection)
    }
}

/// Keys are replaced as a whole, so a panic elsewhere leaves nothing half done.
#[cfg(feature = "std")]
fn unpoisoned(keys: &Mutex<CookieKeys>) -> MutexGuard<'_, CookieKeys> {
    keys.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(connection: u64) -> usize {
    (connection % MAX_TRANSCRIPTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_of_the_latest_connections_are_remembered() {
        let mut keys = CookieKeys::new([1; 32]);
        let transcript = |connection: u64| [connection as u8; 32];
        for last in 0..3 * MAX_TRANSCRIPTS as u64 {
            // Some clients say no more than a greeting.
            if last % 7 != 3 {
                keys.remember(last, transcript(last));
            }
            let oldest = (last + 1).saturating_sub(MAX_TRANSCRIPTS as u64);
            for connection in oldest..=last {
                let noted = (connection % 7 != 3).then(|| transcript(connection));
                assert_eq!(keys.recall(connection), noted);
            }
            assert!((0..oldest).all(|connection| {
                keys.recall(connection)
                    .is_none_or(|noted| noted == transcript(connection))
            }));
            assert_eq!(keys.recall(last + 1), None);
        }
        assert_eq!(keys.transcripts.len(), MAX_TRANSCRIPTS);
    }

    fn candidates(keys: &CookieKeys) -> Vec<[u8; 32]> {
        keys.candidates().map(|key| *key.as_bytes()).collect()
    }

    #[test]
    fn a_key_is_honoured_for_one_rotation_and_no_longer() {
        let mut keys = CookieKeys::new([1; 32]);
        assert_eq!(candidates(&keys), [[1; 32]]);
        keys.rotate([2; 32]);
        assert_eq!(candidates(&keys), [[2; 32], [1; 32]]);
        keys.rotate([3; 32]);
        assert_eq!(candidates(&keys), [[3; 32], [2; 32]]);
    }

    #[test]
    fn numbers_go_on_through_rotations() {
        let mut keys = CookieKeys::new([1; 32]);
        let mut numbers = Vec::new();
        for round in 0..3 {
            keys.rotate([round; 32]);
            for _ in 0..3 {
                let (key, number) = keys.issue();
                assert_eq!(key.as_bytes(), &[round; 32]);
                numbers.push(number);
            }
        }
        assert_eq!(numbers, (0..9).collect::<Vec<_>>());
    }
}
