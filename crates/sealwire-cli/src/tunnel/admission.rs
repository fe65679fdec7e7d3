//! Who may come in at a listener: handshakes by address, descriptors, and the list of allowed keys.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sealwire::account::{
    AddressLimits, Addresses, DescriptorLimit, Eviction, Source, SpareDescriptor,
};
use sealwire_newplex::schemes::keys::PublicKey;

use super::allow::{AllowList, Look};
use super::failure::Failed;

/// Between two looks at the list that nobody asked for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Looks that handshakes ask for take a tenth of the time at most.
const PAUSE: u32 = 9;

#[derive(Debug)]
pub(super) struct Admission {
    list: AllowList,
    /// When the list is read again in any case.
    look_at: Instant,
    /// When a handshake may have it read.
    may_look_at: Instant,
    book: Addresses,
    limits: AddressLimits,
    /// What a connection is refused with when there is no other descriptor.
    pub(super) spare: SpareDescriptor,
}

impl Admission {
    pub(super) fn new(list: AllowList, max_handshakes: usize, now: Instant) -> Self {
        Admission {
            list,
            look_at: now + LOOK_AGAIN,
            may_look_at: now,
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

    /// Reads the list for a handshake, unless that was done a moment ago.
    pub(super) fn look_for(&mut self, now: Instant) -> Option<Look> {
        (now >= self.may_look_at).then(|| self.look(now))
    }

    /// Whether the list has this key. `None` when it is not on it and may have been added since the
    /// last look, unless that was `fresh`: then it is to be asked again after the next one.
    pub(super) fn decide(&mut self, peer: &PublicKey, fresh: bool) -> Option<Result<(), Failed>> {
        if self.list.allows(peer) {
            return Some(Ok(()));
        }
        if !fresh {
            self.look_at = self.look_at.min(self.may_look_at);
            return None;
        }
        Some(Err(match self.list.is_complete() {
            true => Failed::NotAllowed(Box::new(*peer)),
            false => Failed::AllowList,
        }))
    }

    /// Whether somebody who was let in still is on the list.
    pub(super) fn still_allows(&self, peer: &PublicKey) -> bool {
        self.list.allows(peer)
    }

    /// When the list is to be read again.
    pub(super) fn next_look(&self) -> Instant {
        self.look_at
    }

    /// Reads the list again if it is time.
    pub(super) fn look_if_due(&mut self, now: Instant) -> Option<Look> {
        (now >= self.look_at).then(|| self.look(now))
    }

    fn look(&mut self, now: Instant) -> Look {
        let look = self.list.look(now);
        let ended = Instant::now();
        self.may_look_at = ended + (ended - now) * PAUSE;
        self.look_at = self.may_look_at.max(ended + LOOK_AGAIN);
        look
    }
}

/// How many connections and handshakes the descriptors are enough for; each connection takes two.
pub(super) fn within_descriptors(connections: usize, handshakes: usize) -> (usize, usize) {
    let limit = DescriptorLimit::current();
    let handshakes = handshakes.min(limit.handshakes());
    let left = limit.connections().saturating_sub(handshakes);
    (connections.min((left / 2).max(1)), handshakes)
}
