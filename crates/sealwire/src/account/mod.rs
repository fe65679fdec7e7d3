//! One account per peer: whatever a peer can make this process hold, repeat or log is charged to
//! it, bounded and counted.
//!
//! An account belongs to a [`Peer`](crate::Peer) and lives as long as it does. Bytes and objects held for the
//! peer are charged by [`Kind`]. What the peer sent ([`Side::Inbound`]) and what it does not read
//! ([`Side::Outbound`]) are charged apart: a common budget would stop reading because the application sends.
//! Peers that have not completed a handshake are charged by their address, in the [`Addresses`] of each
//! listener.
//!
//! What all peers together take from the process has bounds of its own. [`DescriptorLimit`] says
//! how many descriptors connections may have, and [`SpareDescriptor`] helps when there are none.
//! [`LogLines`], [`LogGate`] and [`LogGates`] limit how often the same cause is logged.
//!
//! Charging an account is thread-safe and takes no lock.

mod addresses;
mod descriptors;
mod kind;
mod log_lines;

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub use crate::limits::{LOG_PERIOD, MAX_IDLE_ADDRESSES};
pub use addresses::{AddressLimit, AddressLimits, Addresses, Eviction, Source};
pub use descriptors::{
    DescriptorLimit, Place, SpareDescriptor, is_exhaustion, is_of_one_connection,
};
pub use kind::{Excess, Kind, Side};
pub use log_lines::{LogGate, LogGates, LogLines};

/// A charge over its bound. Nothing was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} exceed the limit ({limit} bytes or items)", kind.name())]
pub struct Exceeded {
    /// What there would have been too much of.
    pub kind: Kind,
    /// The bound, in bytes or, for [`Side::Count`], in items.
    pub limit: usize,
}

/// How often bounds were reached by all peers of a socket, also by those that are gone.
#[derive(Debug)]
pub(crate) struct Excesses([AtomicU64; Kind::ALL.len()]);

impl Default for Excesses {
    fn default() -> Self {
        Excesses([const { AtomicU64::new(0) }; Kind::ALL.len()])
    }
}

impl Excesses {
    pub(crate) fn note(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often, by the number of the kind.
    pub(crate) fn snapshot(&self) -> [u64; Kind::ALL.len()] {
        std::array::from_fn(|kind| self.0[kind].load(Ordering::Relaxed))
    }
}

/// The bytes and objects held for one peer, by kind, and how often a bound was reached.
pub struct Account {
    held: [AtomicUsize; Kind::ALL.len()],
    exceeded: [AtomicU64; Kind::ALL.len()],
    /// Those of the socket, once it has taken the peer.
    of_socket: OnceLock<Arc<Excesses>>,
    written: AtomicU64,
}

impl Default for Account {
    fn default() -> Self {
        Account {
            held: [const { AtomicUsize::new(0) }; Kind::ALL.len()],
            exceeded: [const { AtomicU64::new(0) }; Kind::ALL.len()],
            of_socket: OnceLock::new(),
            written: AtomicU64::new(0),
        }
    }
}

impl Account {
    /// Counts excesses for the socket as well from now on.
    pub(crate) fn belongs_to(&self, socket: &Arc<Excesses>) {
        // A peer is taken once.
        let _ = self.of_socket.set(socket.clone());
    }

    /// Charges `amount` bytes or items, of which at most `limit` may be held.
    ///
    /// # Errors
    ///
    /// [`Exceeded`] if more than `limit` would be held: nothing is charged then, and the excess is counted.
    pub fn charge(&self, kind: Kind, amount: usize, limit: usize) -> Result<(), Exceeded> {
        let grow = |held: usize| held.checked_add(amount).filter(|&sum| sum <= limit);
        self.held[kind as usize]
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow)
            .map(drop)
            .map_err(|_| {
                self.note_excess(kind);
                Exceeded { kind, limit }
            })
    }

    /// Gives back what was charged.
    pub fn release(&self, kind: Kind, amount: usize) {
        let shrink = |held: usize| Some(held.saturating_sub(amount));
        let released =
            self.held[kind as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, shrink);
        debug_assert!(
            released.is_ok_and(|held| held >= amount),
            "{kind:?}: released more than was charged"
        );
    }

    /// Notes how much is held, for what is counted elsewhere under a lock.
    pub fn set(&self, kind: Kind, held: usize) {
        self.held[kind as usize].store(held, Ordering::Relaxed);
    }

    /// Counts a bound that was reached, also in the [`Counters`](crate::monitor::Counters) of the
    /// socket.
    pub fn note_excess(&self, kind: Kind) {
        self.exceeded[kind as usize].fetch_add(1, Ordering::Relaxed);
        if let Some(socket) = self.of_socket.get() {
            socket.note(kind);
        }
    }

    /// Notes bytes that the transport took. One thread at a time writes to a connection.
    pub(crate) fn note_written(&self, bytes: usize) {
        let before = self.written.load(Ordering::Relaxed);
        self.written
            .store(before.wrapping_add(bytes as u64), Ordering::Relaxed);
    }

    /// Returns the bytes that the transport has taken for the peer so far, which tells a peer that reads
    /// slowly from one that does not read. Stays 0 for peers in this process.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Returns the bytes or items held, of this kind.
    pub fn held(&self, kind: Kind) -> usize {
        self.held[kind as usize].load(Ordering::Relaxed)
    }

    /// Returns how often the bound was reached: pauses, refusals or the disconnection.
    pub fn exceeded(&self, kind: Kind) -> u64 {
        self.exceeded[kind as usize].load(Ordering::Relaxed)
    }

    /// Returns the bytes held on one side, or items for [`Side::Count`].
    pub fn total(&self, side: Side) -> usize {
        let of_side = Kind::ALL.into_iter().filter(|kind| kind.side() == side);
        of_side.map(|kind| self.held(kind)).sum()
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Kind::ALL.into_iter().map(|kind| (kind, self.held(kind)));
        f.debug_map().entries(held.filter(|&(_, n)| n > 0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_bound_is_not_charged_but_counted() {
        let account = Account::default();
        assert_eq!(account.charge(Kind::Answers, 60, 100), Ok(()));
        let exceeded = account.charge(Kind::Answers, 41, 100).unwrap_err();
        assert_eq!((exceeded.kind, exceeded.limit), (Kind::Answers, 100));
        assert_eq!(account.held(Kind::Answers), 60);
        assert_eq!(account.exceeded(Kind::Answers), 1);
        assert_eq!(account.charge(Kind::Answers, 40, 100), Ok(()));
        account.release(Kind::Answers, 100);
        assert_eq!(account.held(Kind::Answers), 0);
    }

    #[test]
    fn the_two_directions_are_apart() {
        let account = Account::default();
        account.charge(Kind::Answers, 5, 10).unwrap();
        account.charge(Kind::Requests, 7, 10).unwrap();
        assert_eq!(account.total(Side::Outbound), 5);
        assert_eq!(account.total(Side::Inbound), 7);
        assert_eq!(account.total(Side::Count), 0);
    }

    #[test]
    fn the_socket_counts_what_its_peers_exceed_and_outlives_them() {
        let socket = Arc::new(Excesses::default());
        for _ in 0..2 {
            let account = Account::default();
            account.belongs_to(&socket);
            account.note_excess(Kind::Received);
            assert!(account.charge(Kind::Answers, 2, 1).is_err());
        }
        let counts = socket.snapshot();
        assert_eq!(counts[Kind::Received as usize], 2);
        assert_eq!(counts[Kind::Answers as usize], 2);
        assert_eq!(counts.iter().sum::<u64>(), 4);
    }

    #[test]
    fn a_sum_that_overflows_exceeds() {
        let account = Account::default();
        account.charge(Kind::Requests, 1, usize::MAX).unwrap();
        assert!(
            account
                .charge(Kind::Requests, usize::MAX, usize::MAX)
                .is_err()
        );
    }
}
