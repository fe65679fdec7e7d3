//! Admission at a listener: handshakes by address, descriptors, and the list of allowed keys.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sealwire::account::{
    AddressLimits, Addresses, DescriptorLimit, Eviction, Source, SpareDescriptor,
};
use sealwire_tunnel::PublicKey;

use super::allow::Snapshot;
use super::failure::Failed;
use super::reading::ReadList;
use crate::exit::Failure;

/// Between two readings of the list that nobody asked for.
const READ_AGAIN: Duration = Duration::from_millis(500);
/// Readings that handshakes ask for take a tenth of the time at most.
const PAUSE: u32 = 9;

#[derive(Debug)]
pub(super) struct Admission {
    reading: Box<dyn ReadList>,
    /// What the list says, as it was read last.
    current: Snapshot,
    /// Readings that have begun, and whether the last of them is under way.
    readings: u64,
    is_reading: bool,
    /// When the list is read again in any case.
    read_at: Instant,
    /// When a handshake may have it read.
    may_read_at: Instant,
    book: Addresses,
    limits: AddressLimits,
    /// What a connection is refused with when there is no other descriptor.
    pub(super) spare: SpareDescriptor,
}

impl Admission {
    /// With the list as it was read at `now`, and who reads it again.
    pub(super) fn new(
        (reading, current): (Box<dyn ReadList>, Snapshot),
        max_handshakes: usize,
        now: Instant,
    ) -> Self {
        Admission {
            reading,
            current,
            readings: 0,
            is_reading: false,
            read_at: now + READ_AGAIN,
            may_read_at: now,
            book: Addresses::default(),
            limits: AddressLimits::for_handshakes(max_handshakes),
            spare: SpareDescriptor::new(),
        }
    }

    /// A connection was accepted. The handshake that gives way to it, if one has to.
    pub(super) fn began(&mut self, id: u64, address: SocketAddr) -> Option<(u64, Failed)> {
        let Eviction {
            connection,
            over_share,
        } = self.book.began(id, Source::from(address), &self.limits)?;
        let failed = if over_share {
            Failed::DisplacedByItsOwn {
                max: self.limits.handshakes,
            }
        } else {
            self.displaced()
        };
        Some((connection, failed))
    }

    /// The handshake that gives way when descriptors have run out.
    pub(super) fn first_to_give_way(&self) -> Option<(u64, Failed)> {
        let (connection, _) = self.book.first_to_give_way()?;
        Some((connection, Failed::NoDescriptors))
    }

    fn displaced(&self) -> Failed {
        Failed::Displaced {
            max: self.limits.all_handshakes,
        }
    }

    pub(super) fn became_ready(&mut self, id: u64) {
        self.book.became_ready(id);
    }

    pub(super) fn ended(&mut self, id: u64) {
        self.book.ended(id);
    }

    /// Requests that the list be read soon. Which reading tells whether somebody is on it who asks now: one that
    /// has not begun.
    pub(super) fn request_reading(&mut self) -> u64 {
        self.read_at = self.read_at.min(self.may_read_at);
        self.readings + 1
    }

    /// Whether the list has this key. `None` when it is not on it and may have been added since: it is
    /// to be asked again after `reading`.
    pub(super) fn decide(&self, peer: &PublicKey, reading: u64) -> Option<Result<(), Failed>> {
        if self.current.allows(peer) {
            return Some(Ok(()));
        }
        let done = self.readings - u64::from(self.is_reading);
        (done >= reading).then(|| {
            Err(match self.current.is_complete {
                true => Failed::NotAllowed(Box::new(*peer)),
                false => Failed::AllowList,
            })
        })
    }

    /// Whether somebody who was let in still is on the list.
    pub(super) fn still_allows(&self, peer: &PublicKey) -> bool {
        self.current.allows(peer)
    }

    /// When the list is to be read again; `None` while it is being read.
    pub(super) fn read_due(&self) -> Option<Instant> {
        (!self.is_reading).then_some(self.read_at)
    }

    /// Has the list read again if it is time.
    pub(super) fn read_if_due(&mut self, now: Instant) {
        if self.read_due().is_some_and(|at| at <= now) {
            self.is_reading = true;
            self.readings += 1;
            self.reading.begin();
        }
    }

    /// Takes what the list says now, if it has been read: whether keys may have been taken off, and
    /// remarks for the log.
    pub(super) fn take_snapshot(
        &mut self,
        now: Instant,
    ) -> Result<Option<(bool, Vec<String>)>, Failure> {
        let Some(mut snapshot) = self.reading.take()? else {
            return Ok(None);
        };
        self.is_reading = false;
        self.may_read_at = now + snapshot.took * PAUSE;
        self.read_at = self.may_read_at.max(now + READ_AGAIN);
        let remarks = std::mem::take(&mut snapshot.remarks);
        self.current = snapshot;
        Ok(Some((self.current.removed, remarks)))
    }
}

/// How many connections and handshakes the descriptors are enough for; each connection takes two.
pub(super) fn within_descriptors(connections: usize, handshakes: usize) -> (usize, usize) {
    let limit = DescriptorLimit::current();
    let handshakes = handshakes.min(limit.handshakes());
    let left = limit.connections().saturating_sub(handshakes);
    (connections.min((left / 2).max(1)), handshakes)
}
