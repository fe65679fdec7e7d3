//! Byte budgets beside the counts (`docs/spec/rpc.md`, "Bytes under way").

use crate::limits::{MESSAGE_COST, METADATA_MARGIN};

/// What a message with a body of this size costs of a budget.
pub(super) fn cost(body: usize) -> u64 {
    (body + MESSAGE_COST) as u64
}

/// Bytes under way, with the limit on them.
#[derive(Debug)]
pub(super) struct Budget {
    limit: u64,
    used: u64,
}

impl Budget {
    pub(super) fn new(limit: u32) -> Self {
        Budget {
            limit: limit.into(),
            used: 0,
        }
    }

    /// Whether there is room. For a single message there always is, however small the budget:
    /// its size is bounded by itself.
    pub(super) fn admits(&self, cost: u64) -> bool {
        self.used == 0 || self.used + cost <= self.limit
    }

    pub(super) fn take(&mut self, cost: u64) {
        self.used += cost;
    }

    /// A peer may give back more than was taken; it is its own memory.
    pub(super) fn give(&mut self, cost: u64) {
        self.used = self.used.saturating_sub(cost);
    }

    pub(super) fn used(&self) -> u64 {
        self.used
    }
}

/// One-way messages and items that the peer sends: what it was not given credit for again, and
/// what nobody has taken here.
#[derive(Debug)]
pub(super) struct Incoming {
    /// As the peer counts.
    under_way: Budget,
    held: u64,
    /// Taken since the peer was told.
    taken: u64,
    /// Bytes that are taken before the peer is told: so few that a message of the largest size fits beside
    /// them.
    tell_at: u64,
}

impl Incoming {
    pub(super) fn new(limit: u32, max_body: u32) -> Self {
        let largest = cost(max_body as usize + METADATA_MARGIN);
        let spare = u64::from(limit).saturating_sub(largest);
        Incoming {
            under_way: Budget::new(limit),
            held: 0,
            taken: 0,
            tell_at: spare.min(u64::from(limit / 4)).max(1),
        }
    }

    /// `false` when the peer was told that nothing more fits.
    pub(super) fn received(&mut self, cost: u64) -> bool {
        let admitted = self.under_way.admits(cost);
        if admitted {
            self.under_way.take(cost);
            self.held += cost;
        }
        admitted
    }

    /// Somebody has taken messages, or nobody will. Whether the peer is to be told.
    pub(super) fn taken(&mut self, cost: u64) -> bool {
        self.held = self.held.saturating_sub(cost);
        self.taken += cost;
        self.taken >= self.tell_at
    }

    /// What the peer is told to have been taken.
    pub(super) fn credit(&mut self) -> u32 {
        let credit = u32::try_from(self.taken).unwrap_or(u32::MAX);
        self.taken -= u64::from(credit);
        self.under_way.give(credit.into());
        credit
    }

    pub(super) fn held(&self) -> u64 {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the budget and the sizes, a sender that waits for room goes on once all was taken.
    #[test]
    fn no_sender_waits_for_ever() {
        for (limit, max_body) in [
            (0, 0),
            (1, 9),
            (100, 40),
            (1_000, 999),
            (1_000, 10),
            (64, 0),
            // Room for the largest body, and not for its metadata beside it.
            (20_000, 10_000),
            (METADATA_MARGIN as u32 + 1_000, 900),
        ] {
            let mut receiver = Incoming::new(limit, max_body);
            let mut sender = Budget::new(limit);
            for number in 0..1_000_u32 {
                let metadata = [0, 0, 9, METADATA_MARGIN][number as usize % 4];
                let cost = cost((number * 7 % (max_body + 1)) as usize + metadata);
                assert!(sender.admits(cost), "{limit} {max_body}: stuck at {number}");
                sender.take(cost);
                assert!(receiver.received(cost));
                if receiver.taken(cost) {
                    sender.give(receiver.credit().into());
                }
            }
            assert_eq!(receiver.held(), 0);
        }
    }
}
