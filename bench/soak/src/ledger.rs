//! Accounts of what each client has sent, and of what has come of it. A client that has left is settled once all of its messages are here, or,
//! where it was cut off, a while later; then it is forgotten.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::message::Header;

/// How long messages of a client that has left may be on their way.
pub(crate) const ON_ITS_WAY: Duration = Duration::from_secs(120);
/// How long after its end the messages of a client that was cut off are counted: its connection is gone by then.
const AFTER_A_CUT: Duration = Duration::from_secs(30);

/// What a client says as it leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub(crate) client: u64,
    pub(crate) sent: u64,
    /// Not begun to be written.
    pub(crate) unsent: u64,
    /// Written, and perhaps lost.
    pub(crate) unconfirmed: u64,
    /// It closed and waited: nothing may be missing.
    pub(crate) in_order: bool,
}

#[derive(Default)]
struct Arrived {
    messages: u64,
    /// Of their numbers: one that came twice, or in another's place, is seen.
    sum: u64,
    last: bool,
}

#[derive(Default)]
pub(crate) struct Ledger {
    arrived: HashMap<u64, Arrived>,
    left: Vec<(Left, Instant)>,
    pub(crate) totals: Totals,
    pub(crate) faults: Vec<String>,
}

/// Of clients that are settled.
#[derive(Default, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) in_order: u64,
    pub(crate) cut_off: u64,
    pub(crate) sent: u64,
    pub(crate) arrived: u64,
    pub(crate) unsent: u64,
    /// Written as a connection was cut off, and not arrived.
    pub(crate) lost_on_the_way: u64,
}

impl Ledger {
    pub(crate) fn arrived(&mut self, header: Option<Header>) {
        let Some(header) = header else {
            self.faults.push("a message is not as it was sent".into());
            return;
        };
        let of = self.arrived.entry(header.client).or_default();
        of.messages += 1;
        of.sum += header.number;
        of.last |= header.is_last;
    }

    pub(crate) fn left(&mut self, left: Left, now: Instant) {
        self.left.push((left, now));
    }

    /// Clients of which not all is known.
    pub(crate) fn unsettled(&self) -> usize {
        self.arrived.len()
    }

    /// Settles those whose time has come.
    pub(crate) fn settle(&mut self, now: Instant) {
        let mut waiting = Vec::new();
        for (left, since) in std::mem::take(&mut self.left) {
            let here = self.arrived.get(&left.client);
            let complete = here.is_some_and(|here| here.last && here.messages == left.sent);
            let waited = now.saturating_duration_since(since);
            let limit = match left.in_order {
                true => ON_ITS_WAY,
                false => AFTER_A_CUT,
            };
            if (left.in_order && complete) || waited >= limit {
                self.close(left);
            } else {
                waiting.push((left, since));
            }
        }
        self.left = waiting;
    }

    fn close(&mut self, left: Left) {
        let Left {
            client,
            sent,
            unsent,
            unconfirmed,
            in_order,
        } = left;
        let here = self.arrived.remove(&client).unwrap_or_default();
        let all = sent.checked_sub(1).map_or(0, |last| sent * last / 2);
        let right = match in_order {
            true => here.messages == sent && here.sum == all && here.last,
            false => {
                here.messages + unsent <= sent
                    && sent <= here.messages + unsent + unconfirmed
                    && here.sum <= all
            }
        };
        if !right {
            let (messages, sum) = (here.messages, here.sum);
            self.faults.push(format!(
                "{left:?}: {messages} arrived, the sum of their numbers is {sum}"
            ));
        }
        let totals = &mut self.totals;
        match in_order {
            true => totals.in_order += 1,
            false => totals.cut_off += 1,
        }
        totals.sent += sent;
        totals.arrived += here.messages;
        totals.unsent += unsent;
        totals.lost_on_the_way += sent.saturating_sub(here.messages + unsent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(sent: u64, in_order: bool) -> Left {
        Left {
            client: 1,
            sent,
            unsent: 0,
            unconfirmed: 0,
            in_order,
        }
    }

    fn faults(numbers: &[u64], left: Left) -> usize {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        for &number in numbers {
            let is_last = left.in_order && number + 1 == left.sent;
            ledger.arrived(Some(Header {
                client: 1,
                number,
                is_last,
            }));
        }
        ledger.left(left, now);
        ledger.settle(now + ON_ITS_WAY);
        assert_eq!((ledger.unsettled(), ledger.left.len()), (0, 0));
        ledger.faults.len()
    }

    #[test]
    fn each_message_of_a_client_that_closes_has_to_come_once() {
        assert_eq!(faults(&[0, 1, 2], left(3, true)), 0);
        assert_eq!(faults(&[0, 2], left(3, true)), 1);
        assert_eq!(faults(&[0, 2, 2], left(3, true)), 1);
        assert_eq!(faults(&[0, 1, 2, 2], left(3, true)), 1);
        assert_eq!(faults(&[], left(1, true)), 1);
    }

    #[test]
    fn what_a_client_that_is_cut_off_counts_may_be_missing() {
        assert_eq!(faults(&[0, 1], left(3, false)), 1);
        assert_eq!(
            faults(
                &[0, 1],
                Left {
                    unsent: 1,
                    ..left(3, false)
                }
            ),
            0
        );
        assert_eq!(
            faults(
                &[0, 1],
                Left {
                    unconfirmed: 1,
                    ..left(3, false)
                }
            ),
            0
        );
        assert_eq!(
            faults(
                &[0, 1, 2],
                Left {
                    unconfirmed: 1,
                    ..left(3, false)
                }
            ),
            0
        );
        assert_eq!(
            faults(
                &[0, 1, 2],
                Left {
                    unsent: 1,
                    ..left(3, false)
                }
            ),
            1
        );
    }

    #[test]
    fn messages_on_their_way_are_waited_for() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        ledger.left(left(1, true), now);
        ledger.settle(now + ON_ITS_WAY / 2);
        assert!(ledger.faults.is_empty());
        ledger.arrived(Some(Header {
            client: 1,
            number: 0,
            is_last: true,
        }));
        ledger.settle(now + ON_ITS_WAY / 2);
        assert_eq!((ledger.totals.in_order, ledger.totals.arrived), (1, 1));
    }
}
