//! Streams: items in both directions that belong to one call, each direction with its own credit,
//! so that a slow reader holds its writer back and nobody else, unless its unread bytes use up
//! the connection's budget for them.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::call::Call;
use crate::hub::HubLink;
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
        .map_err(|error| match error {
            NotSent::Closed | NotSent::GoingAway => Error::StreamEnded,
            error => error.into(),
        })
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
