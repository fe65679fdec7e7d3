//! Calls of this side, their answers, and the items of their callers.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::{Flow, Item};
use super::wire::{Kind, encode_time};
use super::{Body, CallKey, Content, NotSent, Protocol, Violation};
use crate::status::Error;

impl Protocol {
    /// Begins a call. `due` is when its caller stops waiting.
    pub(crate) fn call(
        &mut self,
        content: Content<'_>,
        now: Duration,
        due: Option<Duration>,
        streams: bool,
    ) -> Result<CallKey, NotSent> {
        self.check(content.body.len())?;
        if self.going_away.has_begun() {
            return Err(NotSent::GoingAway);
        }
        if !self.calls.find_room(content.size()) {
            return Err(NotSent::Full);
        }
        let flow = streams.then(|| Flow::new(self.local.stream_window, self.peer.stream_window));
        let position = self.outbox.next_position();
        let (key, number) = self.calls.begin(content.size(), position, due, flow);
        let time = encode_time(due.map(|due| due.saturating_sub(now)));
        let kind = if streams { Kind::Open } else { Kind::Request };
        self.outbox.push_content(kind, time, number, content);
        Ok(key)
    }

    /// The outcome of a call, once; the caller is done with it then unless it streams.
    pub(crate) fn poll_call(&mut self, key: CallKey, waker: &Waker) -> Poll<Result<Body, Error>> {
        self.calls.poll(key, waker)
    }

    /// The caller is done with a call. One without an outcome is cancelled.
    pub(crate) fn drop_call(&mut self, key: CallKey) {
        let unread = self.calls.let_go(key, &mut self.outbox);
        self.items_taken(unread);
    }

    pub(super) fn end_call(
        &mut self,
        number: u32,
        outcome: Result<Body, Error>,
    ) -> Result<(), Violation> {
        let unread = self.calls.end(number, outcome, &mut self.wakeups)?;
        self.wakeups.tell_of_room();
        self.items_taken(unread);
        Ok(())
    }

    /// Calls without an answer so far.
    pub(crate) fn open_calls(&self) -> usize {
        self.calls.open()
    }

    /// Whether the connection is of no use for calls as long as those that were given up are not
    /// answered.
    pub(crate) fn is_stuck(&self) -> bool {
        self.calls.is_stuck()
    }

    /// The next item of the peer's stream.
    pub(crate) fn poll_call_item(&mut self, key: CallKey, waker: &Waker) -> Poll<Item> {
        let Some((number, flow)) = self.calls.flow(key) else {
            return Poll::Ready(Item::End);
        };
        let Poll::Ready((item, more)) = flow.poll_next(waker) else {
            return Poll::Pending;
        };
        if let (Some(number), Some(more)) = (number, more) {
            self.credit_items(number, more);
        }
        self.items_taken(item.cost());
        Poll::Ready(item)
    }

    /// Sends an item to the peer. `Full` registers the waker for the end of the call, and asks for another
    /// try when there is room.
    pub(crate) fn send_call_item(
        &mut self,
        key: CallKey,
        body: &[u8],
        waker: &Waker,
    ) -> Poll<Result<(), NotSent>> {
        let has_room = match self.check_item(body.len()) {
            Ok(has_room) => has_room,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let Some((number, flow)) = self.calls.sending(key) else {
            return Poll::Ready(Err(NotSent::Closed));
        };
        let sent = flow.poll_to_send(has_room, waker);
        if sent == Poll::Ready(Ok(())) {
            self.push_item(number, body);
        }
        sent
    }

    /// This side sends no more items.
    pub(crate) fn finish_call_items(&mut self, key: CallKey) {
        if let Some((Some(number), flow)) = self.calls.flow(key)
            && !std::mem::replace(&mut flow.finished, true)
        {
            self.outbox.push(Kind::End, 0, number, &[]);
        }
    }
}
