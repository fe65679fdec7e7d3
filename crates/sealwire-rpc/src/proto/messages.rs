//! One-way messages and items: what may be under way, and what has been taken.

use super::budget::cost;
use super::credit::Grant;
use super::flow::Flow;
use super::wire::Kind;
use super::{Body, Content, NotSent, Protocol, Violation};

impl Protocol {
    /// Sends a message that nobody answers.
    pub(crate) fn one_way(&mut self, content: Content<'_>) -> Result<(), NotSent> {
        self.check(content.body.len())?;
        if self.going_away.has_begun() {
            return Err(NotSent::GoingAway);
        }
        if !self.messages.take_message(content.size()) {
            return Err(NotSent::Full);
        }
        self.outbox.push_content(Kind::OneWay, 0, 0, content);
        Ok(())
    }

    /// A received one-way message has been handled.
    pub(crate) fn one_way_done(&mut self, body: &Body) {
        let grant = self.messages.message_handled(body.size());
        self.tell_taken(grant);
    }

    /// Items that the peer sent are held no longer.
    pub(super) fn items_taken(&mut self, cost: u64) {
        let grant = self.messages.items_taken(cost);
        self.tell_taken(grant);
    }

    fn tell_taken(&mut self, grant: Option<Grant>) {
        if let Some(grant) = grant {
            self.outbox.push(Kind::Credit, 0, 0, &grant.to_bytes());
        }
    }

    pub(super) fn credit(&mut self, number: u32, ours: bool, body: &[u8]) -> Result<(), Violation> {
        if number == 0 {
            self.messages.granted(Grant::parse(body)?);
            self.wakeups.tell_of_room();
            return Ok(());
        }
        let items = *body.first_chunk().ok_or(Violation::Truncated)?;
        let items = u32::from_be_bytes(items);
        let woken = self.flow_mut(number, ours).map(|flow| flow.credited(items));
        self.wakeups.extend(woken.into_iter().flatten());
        Ok(())
    }

    fn flow_mut(&mut self, number: u32, ours: bool) -> Option<&mut Flow> {
        if ours {
            self.calls.open_flow(number)
        } else {
            self.served.open_flow(number)
        }
    }

    /// The peer may send more items of a call.
    pub(super) fn credit_items(&mut self, number: u32, more: u32) {
        self.outbox
            .push(Kind::Credit, 0, number, &more.to_be_bytes());
    }

    /// Sends an item for which there is room and credit.
    pub(super) fn push_item(&mut self, number: u32, body: &[u8]) {
        self.messages.take_item(body.len());
        self.outbox.push(Kind::Item, 0, number, body);
    }

    pub(super) fn item(&mut self, number: u32, ours: bool, body: Body) -> Result<(), Violation> {
        let cost = cost(body.len());
        self.messages.received_item(body.len())?;
        let kept = match self.flow_mut(number, ours) {
            Some(flow) => {
                let (kept, woken) = flow.received(body)?;
                self.wakeups.extend(woken);
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
