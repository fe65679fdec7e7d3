//! Streams: items in both directions that belong to one call, each direction with its own credit,
//! so that a slow reader holds its writer back and nobody else, unless its unread bytes use up
//! the connection's budget for them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::call::Call;
use crate::hub::HubLink;
use crate::limits::bounded;
use crate::link::RoomWait;
use crate::proto::{Body, CallKey, Item, NotSent, Protocol};
use crate::status::Error;

/// The caller's end of a call with streams.
///
/// Dropping it cancels the call.
pub struct CallStream {
    call: Call,
}

impl CallStream {
    pub(crate) fn new(call: Call) -> Self {
        CallStream { call }
    }

    pub(crate) fn link(&self) -> &Arc<HubLink> {
        self.call.parts().0
    }

    fn key(&self) -> Result<(&Arc<HubLink>, CallKey), Error> {
        let (link, key) = self.call.parts();
        link.hub().check()?;
        Ok((link, key.ok_or(Error::StreamEnded)?))
    }

    /// Sends an item, waiting for the other side to want one.
    ///
    /// # Errors
    ///
    /// [`Error::StreamEnded`] if the call has ended (its answer says why) or after
    /// [`finish`](CallStream::finish); [`Error::TooLarge`] if the other side does not take an item of this
    /// size.
    pub async fn send(&self, item: &[u8]) -> Result<(), Error> {
        let (link, key) = self.key()?;
        send(link, |proto, waker| proto.send_call_item(key, item, waker)).await
    }

    /// Sends an item, waiting at most `limit` for the other side to want one. The call goes on after an error.
    ///
    /// # Errors
    ///
    /// [`Error::Congested`] if the other side wants none within `limit`. Otherwise those of
    /// [`send`](CallStream::send).
    pub async fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        match self.send_no_wait(item) {
            Err(Error::WouldBlock) => send_within(self.link(), limit, self.send(item)).await,
            done => done,
        }
    }

    /// Sends an item if the other side wants one now.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it does not. Otherwise those of [`send`](CallStream::send).
    pub fn send_no_wait(&self, item: &[u8]) -> Result<(), Error> {
        let (link, key) = self.key()?;
        send_no_wait(link, |proto, waker| proto.send_call_item(key, item, waker))
    }

    /// Ends the items of this side. The other side may go on sending its own.
    pub fn finish(&self) {
        if let Ok((link, key)) = self.key() {
            link.with(|proto| proto.finish_call_items(key));
        }
    }

    /// Receives the next item of the other side; `None` after the last, because the call has ended.
    pub async fn next(&self) -> Option<Body> {
        let (link, key) = self.key().ok()?;
        next(link, |proto, waker| proto.poll_call_item(key, waker)).await
    }

    /// Receives the next item of the other side, waiting at most `limit` for it; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`] if none comes within `limit`: the call goes on.
    pub async fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        match self.next_no_wait() {
            Err(Error::WouldBlock) => next_within(self.link(), limit, self.next()).await,
            done => done,
        }
    }

    /// Receives the next item of the other side if it is here; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it is not.
    pub fn next_no_wait(&self) -> Result<Option<Body>, Error> {
        let Ok((link, key)) = self.key() else {
            return Ok(None);
        };
        next_no_wait(link, |proto, waker| proto.poll_call_item(key, waker))
    }

    /// Waits for the answer that ends the call. Items that were not read are dropped.
    ///
    /// # Errors
    ///
    /// Those of [`Conn::request`](crate::Conn::request).
    pub fn answer(self) -> impl Future<Output = Result<Body, Error>> + Send {
        self.call
    }
}

/// Sends an item, waiting for credit and for room.
pub(crate) async fn send(
    link: &HubLink,
    mut attempt: impl FnMut(&mut Protocol, &Waker) -> Poll<Result<(), NotSent>>,
) -> Result<(), Error> {
    link.hub().check()?;
    let mut place = RoomWait::new(link);
    poll_fn(|context| place.poll(context.waker(), &mut attempt))
        .await
        .map_err(not_sent)
}

/// Sends an item if there is credit and room.
pub(crate) fn send_no_wait(
    link: &HubLink,
    attempt: impl FnOnce(&mut Protocol, &Waker) -> Poll<Result<(), NotSent>>,
) -> Result<(), Error> {
    link.hub().check()?;
    match link.with(|proto| attempt(proto, Waker::noop())) {
        Poll::Ready(sent) => sent.map_err(not_sent),
        Poll::Pending => Err(Error::WouldBlock),
    }
}

/// Waits for a send, at most for `limit`.
pub(crate) async fn send_within(
    link: &HubLink,
    limit: Duration,
    sent: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let sent = within(link, limit, sent).await;
    sent.unwrap_or(Err(Error::Congested(limit)))
}

fn not_sent(error: NotSent) -> Error {
    match error {
        NotSent::Closed | NotSent::GoingAway => Error::StreamEnded,
        error => error.into(),
    }
}

pub(crate) async fn next(
    link: &HubLink,
    mut poll: impl FnMut(&mut Protocol, &Waker) -> Poll<Item>,
) -> Option<Body> {
    let polled = poll_fn(|context| match link.hub().is_here() {
        true => link.with(|proto| poll(proto, context.waker())),
        false => Poll::Ready(Item::End),
    });
    match polled.await {
        Item::One(body) => Some(body),
        Item::End => None,
    }
}

/// The next item if it is here.
pub(crate) fn next_no_wait(
    link: &HubLink,
    poll: impl FnOnce(&mut Protocol, &Waker) -> Poll<Item>,
) -> Result<Option<Body>, Error> {
    if !link.hub().is_here() {
        return Ok(None);
    }
    match link.with(|proto| poll(proto, Waker::noop())) {
        Poll::Ready(Item::One(body)) => Ok(Some(body)),
        Poll::Ready(Item::End) => Ok(None),
        Poll::Pending => Err(Error::WouldBlock),
    }
}

/// Waits for the next item, at most for `limit`.
pub(crate) async fn next_within(
    link: &HubLink,
    limit: Duration,
    next: impl Future<Output = Option<Body>>,
) -> Result<Option<Body>, Error> {
    let next = within(link, limit, next).await;
    next.ok_or(Error::TimedOut(limit))
}

/// Runs a future of a connection that is made in this process, and gives up after `limit`.
async fn within<F: Future>(link: &HubLink, limit: Duration, future: F) -> Option<F::Output> {
    let hub = link.hub();
    let deadline = hub.now() + bounded(limit);
    let mut future = pin!(future);
    match hub.by(deadline, future.as_mut()).await {
        Some(output) => Some(output),
        // The hub has ended: its links are closed, which ends every wait.
        None if hub.now() < deadline => Some(future.await),
        None => None,
    }
}
