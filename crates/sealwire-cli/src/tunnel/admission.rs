//! Who may come in at a listener: handshakes by address, descriptors, and the list of allowed keys.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::Waker;
use sealwire::account::{
    AddressLimits, Addresses, DescriptorLimit, Eviction, Source, SpareDescriptor,
};
use sealwire_tunnel::PublicKey;

use super::allow::{AllowList, Look};
use super::failure::Failed;
use super::reading::Reading;
use crate::exit::Failure;

/// Between two looks at the list that nobody asked for.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Looks that handshakes ask for take a tenth of the time at most.
const PAUSE: u32 = 9;

#[derive(Debug)]
pub(super) struct Admission {
    reading: Reading,
    /// What the list says, as it was read last.
    current: Look,
    /// Looks that have begun, and whether the last of them is under way.
    looks: u64,
    is_looking: bool,
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
    /// With the list as it was read at `now`.
    pub(super) fn new(
        (list, current): (AllowList, Look),
        max_handshakes: usize,
        waker: Arc<Waker>,
        now: Instant,
    ) -> Result<Self, Failure> {
        Ok(Admission {
            reading: Reading::start(list, waker)?,
            current,
            looks: 0,
            is_looking: false,
            look_at: now + LOOK_AGAIN,
            may_look_at: now,
            book: Addresses::default(),
            limits: AddressLimits::for_handshakes(max_handshakes),
            spare: SpareDescriptor::new(),
        })
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

    /// Wants the list to be read soon. Which look tells whether somebody is on it who asks now: one that
    /// has not begun.
    pub(super) fn want_look(&mut self) -> u64 {
        self.look_at = self.look_at.min(self.may_look_at);
        self.looks + 1
    }

    /// Whether the list has this key. `None` when it is not on it and may have been added since: it is
    /// to be asked again after `look`.
    pub(super) fn decide(&self, peer: &PublicKey, look: u64) -> Option<Result<(), Failed>> {
        if self.current.allows(peer) {
            return Some(Ok(()));
        }
        let done = self.looks - u64::from(self.is_looking);
        (done >= look).then(|| {
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
    pub(super) fn look_due(&self) -> Option<Instant> {
        (!self.is_looking).then_some(self.look_at)
    }

    /// Has the list read again if it is time.
    pub(super) fn look_if_due(&mut self, now: Instant) {
        if self.look_due().is_some_and(|at| at <= now) {
            self.is_looking = true;
            self.looks += 1;
            self.reading.begin();
        }
    }

    /// Takes what the list says now, if it has been read: whether keys may have been taken off, and
    /// remarks for the log.
    pub(super) fn take_look(
        &mut self,
        now: Instant,
    ) -> Result<Option<(bool, Vec<String>)>, Failure> {
        let Some(mut look) = self.reading.take()? else {
            return Ok(None);
        };
        self.is_looking = false;
        self.may_look_at = now + look.took * PAUSE;
        self.look_at = self.may_look_at.max(now + LOOK_AGAIN);
        let remarks = std::mem::take(&mut look.remarks);
        self.current = look;
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
