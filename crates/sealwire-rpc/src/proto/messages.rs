//! One-way messages and items: what may be under way, and what has been taken.

use super::budget::cost;
use super::flow::Flow;
use super::wire::Kind;
use super::{Body, Connection, NotSent, Violation};

impl Connection {
    /// Sends a message that nobody answers.
    pub(crate) fn one_way(&mut self, body: &[u8]) -> Result<(), NotSent> {
        self.check(body.len())?;
        if self.we_go_away || self.peer_goes_away {
            return Err(NotSent::GoingAway);
        }
        let cost = cost(body.len());
        if self.one_way_credit == 0 || !self.outgoing.admits(cost) {
            return Err(NotSent::Full);
        }
        self.one_way_credit -= 1;
        self.outgoing.take(cost);
        self.push(Kind::OneWay, 0, 0, body, &[]);
        Ok(())
    }

    /// A received one-way message with a body of this size has been handled.
    pub(crate) fn one_way_done(&mut self, body: usize) {
        self.one_way_done += 1;
        let tell = self.incoming.taken(cost(body));
        if tell || self.one_way_done >= self.local.one_way_window.div_ceil(2) {
            self.tell_taken();
        }
    }

    /// Items that the peer sent are held no longer.
    pub(super) fn items_taken(&mut self, cost: u64) {
        if cost > 0 && self.incoming.taken(cost) {
            self.tell_taken();
        }
    }

    fn tell_taken(&mut self) {
        let messages = std::mem::take(&mut self.one_way_done);
        self.one_way_granted += messages;
        let bytes = self.incoming.credit();
        let (messages, bytes) = (messages.to_be_bytes(), bytes.to_be_bytes());
        self.push(Kind::Credit, 0, 0, &messages, &bytes);
    }

    pub(super) fn credit(&mut self, number: u32, ours: bool, amount: u32) {
        if number == 0 {
            self.one_way_credit = self.one_way_credit.saturating_add(amount);
            self.room = true;
            return;
        }
        let woken = self
            .flow_mut(number, ours)
            .map(|flow| flow.credited(amount));
        self.wakers.extend(woken.into_iter().flatten());
    }

    fn flow_mut(&mut self, number: u32, ours: bool) -> Option<&mut Flow> {
        if ours {
            self.calls.flow_mut(number)
        } else {
            let slot = self.numbers.get(&number)?;
            self.served[*slot].flow.as_deref_mut()
        }
    }

    pub(super) fn item(&mut self, number: u32, ours: bool, body: Body) -> Result<(), Violation> {
        let cost = cost(body.len());
        if !self.incoming.received(cost) {
            return Err(Violation::BeyondCredit);
        }
        let kept = match self.flow_mut(number, ours) {
            Some(flow) => {
                let (kept, woken) = flow.received(body)?;
                self.wakers.extend(woken);
                kept
            }
            // It has crossed with the end of its call.
            None => false,
        };
        if !kept {
            self.items_taken(cost);
        }
        Ok(())
    }
}
