//! Cookie keys: what a server shares between its connections, and replaces by the clock.
//!
//! Source: wire reference, sections 4 and 8. A server keeps nothing of a handshake between WELCOME
//! and INITIATE; the client carries it back in a cookie sealed under `K`. Each connection has a
//! number that enters the cookie's associated data, so that a cookie is good for one connection
//! only.

use alloc::vec::Vec;
use core::fmt::{self, Debug};
#[cfg(feature = "std")]
use std::sync::{Mutex, MutexGuard, PoisonError};

use zeroize::ZeroizeOnDrop;

use super::commands::COOKIE_SIZE;
use super::sealed_box::SealedBox;
use super::transcript::Transcript;
use crate::keys::{PublicKey, SecretKey};
use crate::provider::Provider;

pub(super) const KEY_CONTEXT: &str = "BLAKE3ZMQ-1.0 cookie";
const AAD: &[u8] = b"COOKIE";

/// What a cookie carries from HELLO to INITIATE.
///
/// ```text
/// nonce 24 | sealed: C' 32, s' 32, h1 32 | tag 32
/// ```
pub(super) struct Cookie {
    /// `C'`.
    pub(super) client_ephemeral: PublicKey,
    /// `s'`.
    pub(super) server_ephemeral: SecretKey,
    pub(super) h1: Transcript,
}

impl Cookie {
    /// The cookie on the wire, good for the connection `number` only.
    pub(super) fn seal(
        &self,
        provider: &dyn Provider,
        key: &CookieKey,
        number: u64,
        nonce: [u8; 24],
    ) -> [u8; COOKIE_SIZE] {
        let aad = associated_data(number);
        self.seal_with(
            &SealedBox::with_nonce(provider, KEY_CONTEXT, &[key.as_bytes()], nonce, &aad),
            nonce,
        )
    }

    pub(super) fn seal_with(&self, sealing: &SealedBox<'_>, nonce: [u8; 24]) -> [u8; COOKIE_SIZE] {
        let mut cookie = [0; COOKIE_SIZE];
        let (nonce_field, sealed) = cookie.split_at_mut(nonce.len());
        nonce_field.copy_from_slice(&nonce);
        let (text, tag) = sealed.split_at_mut(96);
        let fields = text.chunks_exact_mut(32).zip([
            self.client_ephemeral.as_bytes(),
            self.server_ephemeral.as_bytes(),
            self.h1.as_bytes(),
        ]);
        fields.for_each(|(field, bytes)| field.copy_from_slice(bytes));
        tag.copy_from_slice(&sealing.seal_in_place(text));
        cookie
    }

    /// Opens a cookie; `None` when it was made under another key, for another connection, or by
    /// someone else.
    pub(super) fn open(
        provider: &dyn Provider,
        key: &CookieKey,
        number: u64,
        cookie: &[u8; COOKIE_SIZE],
    ) -> Option<Self> {
        let (nonce, sealed) = cookie.split_first_chunk()?;
        let aad = associated_data(number);
        let opened = SealedBox::with_nonce(provider, KEY_CONTEXT, &[key.as_bytes()], *nonce, &aad)
            .open_array::<96>(sealed)?;
        let (client_ephemeral, rest) = opened.split_first_chunk()?;
        let (server_ephemeral, h1) = rest.split_first_chunk()?;
        Some(Self {
            client_ephemeral: PublicKey::from_bytes(*client_ephemeral).ok()?,
            server_ephemeral: SecretKey::from_bytes(*server_ephemeral),
            h1: Transcript::from_bytes(h1.try_into().ok()?),
        })
    }
}

/// `"COOKIE"` and the connection id.
fn associated_data(number: u64) -> [u8; 14] {
    let mut data = [0; 14];
    let (name, rest) = data.split_at_mut(AAD.len());
    name.copy_from_slice(AAD);
    rest.copy_from_slice(&number.to_le_bytes());
    data
}

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

/// Transcripts that are kept, 48 bytes each. With more concurrent handshakes the oldest are forgotten.
const REMEMBERED: usize = 256;

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
    /// 256 are kept, in 12 KiB.
    pub fn remember(&mut self, connection: u64, transcript: [u8; 32]) {
        self.transcripts.resize(REMEMBERED, None);
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
    (connection % REMEMBERED as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_of_the_latest_connections_are_remembered() {
        let mut keys = CookieKeys::new([1; 32]);
        let transcript = |connection: u64| [connection as u8; 32];
        for last in 0..3 * REMEMBERED as u64 {
            // Some clients say no more than a greeting.
            if last % 7 != 3 {
                keys.remember(last, transcript(last));
            }
            let oldest = (last + 1).saturating_sub(REMEMBERED as u64);
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
        assert_eq!(keys.transcripts.len(), REMEMBERED);
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
