//! Calls of this side, and their outcomes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::guard::Traced;
use crate::hub::HubLink;
use crate::proto::{Body, CallKey};
use crate::status::Error;

/// A call that is under way: a future of its answer. Dropping it cancels the call.
#[must_use = "a call is cancelled when it is dropped"]
pub struct Call {
    link: Arc<HubLink>,
    key: Option<CallKey>,
    /// Lasts as long as the call.
    span: Traced,
}

impl Call {
    pub(crate) fn new(link: Arc<HubLink>, key: CallKey, span: Traced) -> Self {
        Call {
            link,
            key: Some(key),
            span,
        }
    }

    pub(crate) fn parts(&self) -> (&Arc<HubLink>, Option<CallKey>) {
        (&self.link, self.key)
    }

    /// Blocks until the answer is there, for up to the time limit of the call.
    ///
    /// # Errors
    ///
    /// Those of [`Conn::request`](crate::Conn::request), and [`Error::WouldDeadlock`] on the thread that
    /// reads the connection.
    pub fn wait(self) -> Result<Body, Error> {
        let hub = self.link.hub().clone();
        hub.block_on(self)?
    }

    pub(crate) fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Result<Body, Error>> {
        let Some(key) = self.key else {
            return Poll::Ready(Err(Error::StreamEnded));
        };
        if let Err(forked) = self.link.hub().check() {
            return Poll::Ready(Err(forked));
        }
        // Nothing is sent here, so there is nothing to flush.
        let outcome = self.link.act(|proto| {
            let outcome = proto.poll_call(key, context.waker());
            if outcome.is_ready() {
                proto.drop_call(key);
            }
            outcome
        });
        if let Poll::Ready(outcome) = &outcome {
            self.key = None;
            self.span.record(|span| {
                match outcome {
                    Ok(_) => span.record("outcome", "ok"),
                    Err(error) => span.record("outcome", tracing::field::display(error)),
                };
            });
        }
        outcome
    }
}

impl Future for Call {
    type Output = Result<Body, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_outcome(context)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(key) = self.key
            && self.link.hub().is_here()
        {
            self.link.with(|proto| proto.drop_call(key));
            self.span.record(|span| {
                span.record("outcome", "dropped");
            });
        }
    }
}
