//! Checks that every message is accounted for.

use super::*;

/// What became of the messages that a socket sent, as it counts them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    /// Messages that did not arrive.
    pub(super) lost: u64,
    /// Those that may not have arrived.
    pub(super) unconfirmed: u64,
}

impl Account {
    pub(super) fn of(core: &SocketCore) -> Self {
        let counters = core.counters();
        Account {
            lost: counters.dropped_at_send + counters.dropped_unsent + counters.replaced,
            unconfirmed: counters.unconfirmed,
        }
    }

    /// Every message is accounted for: `delivered + lost <= sent <= delivered + lost + unconfirmed`,
    /// where those count as delivered that the receiving sockets count as lost themselves.
    pub(super) fn check(
        self,
        sent: u64,
        received: usize,
        receivers: &[Arc<SocketCore>],
        seed: u64,
    ) {
        let unread = receivers.iter().map(|core| core.counters());
        let unread = unread.map(|counters| counters.dropped_unread + counters.dropped_at_receive);
        let delivered = received as u64 + unread.sum::<u64>();
        let least = delivered + self.lost;
        assert!(
            least <= sent && sent <= least + self.unconfirmed,
            "seed {seed}: {sent} sent, {delivered} delivered, {self:?}"
        );
    }
}

impl std::iter::Sum for Account {
    fn sum<I: Iterator<Item = Self>>(accounts: I) -> Self {
        let none = Account {
            lost: 0,
            unconfirmed: 0,
        };
        accounts.fold(none, |all, one| Account {
            lost: all.lost + one.lost,
            unconfirmed: all.unconfirmed + one.unconfirmed,
        })
    }
}
