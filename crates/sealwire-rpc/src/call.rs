//! Calls of this side: what they may be given, what intercepts them, and their outcomes.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::conn::Link;
use crate::guard::Traced;
use crate::handler::panicked;
use crate::hub::Hub;
use crate::proto::{Body, CallKey};
use crate::status::{Error, Status};

/// What a call may be given. The defaults are those of the client or server.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallOptions {
    /// How long to wait for the answer; `None` for as long as the client or server says.
    pub limit: Option<Duration>,
}

impl CallOptions {
    /// Returns options with this time limit for the answer.
    pub fn within(limit: Duration) -> Self {
        CallOptions { limit: Some(limit) }
    }
}

/// A call or message about to leave, for [`ClientBuilder::intercept`](crate::ClientBuilder::intercept).
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// The body that is sent; may be replaced.
    pub body: Cow<'a, [u8]>,
    /// The time limit, of calls.
    pub options: CallOptions,
    /// A message that nobody answers.
    pub is_one_way: bool,
}

/// Lets a call or message out, changed or not, or ends it with an error.
pub(crate) type Interceptor = Box<dyn Fn(&mut Outgoing<'_>) -> Result<(), Status> + Send + Sync>;

impl<'a> Outgoing<'a> {
    /// Calls all interceptors, in their order.
    pub(crate) fn passed(
        hub: &Hub,
        body: &'a [u8],
        options: CallOptions,
        is_one_way: bool,
    ) -> Result<Self, Error> {
        let mut outgoing = Outgoing {
            body: Cow::Borrowed(body),
            options,
            is_one_way,
        };
        let by = &hub.options.interceptors;
        if by.is_empty() {
            return Ok(outgoing);
        }
        let passed = hub.guard("an interceptor", || {
            by.iter().try_for_each(|intercept| intercept(&mut outgoing))
        });
        match passed.unwrap_or_else(|| Err(panicked("an interceptor"))) {
            Ok(()) => Ok(outgoing),
            Err(status) => Err(Error::Intercepted(status)),
        }
    }
}

/// A call that is under way: a future of its answer. Dropping it cancels the call.
#[must_use = "a call is cancelled when it is dropped"]
pub struct Call {
    link: Arc<Link>,
    key: Option<CallKey>,
    /// Lasts as long as the call.
    span: Traced,
}

impl Call {
    pub(crate) fn new(link: Arc<Link>, key: CallKey, span: Traced) -> Self {
        Call {
            link,
            key: Some(key),
            span,
        }
    }

    pub(crate) fn parts(&self) -> (&Arc<Link>, Option<CallKey>) {
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
