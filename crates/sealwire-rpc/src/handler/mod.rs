//! What answers requests, and where it runs.

mod dispatch;
mod inbox;
mod pool;
mod request;
mod spawn;

use std::sync::Arc;

pub(crate) use self::dispatch::{Dispatch, StateHandler};
pub use self::inbox::{Arrival, Inbox};
pub use self::pool::Pool;
#[cfg(test)]
pub(crate) use self::pool::PoolSteps;
pub use self::request::{OneWay, Request};
pub use self::spawn::{Spawn, Task};
use crate::guard::Traced;
use crate::status::{Code, Status};
use crate::trace;

/// Handles the requests of peers. Called on the thread that reads the connection, which goes on only
/// when it returns: long work belongs elsewhere ([`Pool`], [`Spawn`], [`Inbox`]), with the request moved there.
pub trait Handler: Send + Sync + 'static {
    /// A request; it is answered by [`Request::reply`] or [`Request::fail`], now or later.
    fn request(&self, request: Request);

    /// A one-way message. The peer may send more of them once this value is dropped.
    fn message(&self, message: OneWay) {
        drop(message);
    }
}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn request(&self, request: Request) {
        (**self).request(request);
    }

    fn message(&self, message: OneWay) {
        (**self).message(message);
    }
}

/// Answers every request with "unimplemented". What a client does unless told otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Handler for Nothing {
    fn request(&self, request: Request) {
        let status = Status::new(Code::UNIMPLEMENTED, "nothing is served on this side");
        request.fail(status.not_started());
    }
}

fn run<R: AsRef<[u8]>>(request: Request, handle: impl FnOnce(&Request) -> Result<R, Status>) {
    let hub = request.conn().link().hub().clone();
    let bytes = request.body().len();
    let span = Traced::new(|| {
        let trace_id = || trace::id_of(&request.metadata());
        tracing::debug_span!(target: "sealwire::rpc", "serve", bytes, trace_id = trace_id())
    });
    let answering = || {
        let outcome = span.within(|| hub.guard("a handler", || handle(&request)));
        // Looking at the reply and dropping it is code of others as well.
        request.answer(outcome.unwrap_or_else(|| Err(Status::panicked("the handler"))));
    };
    let _ = hub.guard("the reply of a handler", answering);
}

fn take(message: OneWay, handle: &(impl Fn(&OneWay) + ?Sized)) {
    let hub = message.conn().link().hub().clone();
    let _ = hub.guard("a handler of one-way messages", || handle(&message));
}

type MessageHandler = Box<dyn Fn(&OneWay) + Send + Sync>;

/// Runs a function where the connection is read: the fastest, for what takes microseconds and
/// waits for nothing.
pub struct Inline<F> {
    handle: F,
    messages: MessageHandler,
}

impl<F, R> Inline<F>
where
    F: Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    R: AsRef<[u8]>,
{
    /// Answers requests with this function.
    pub fn new(handle: F) -> Self {
        Inline {
            handle,
            messages: Box::new(|_| {}),
        }
    }

    /// Takes one-way messages with this function.
    #[must_use]
    pub fn on_message(mut self, handle: impl Fn(&OneWay) + Send + Sync + 'static) -> Self {
        self.messages = Box::new(handle);
        self
    }
}

impl<F, R> Handler for Inline<F>
where
    F: Fn(&Request) -> Result<R, Status> + Send + Sync + 'static,
    R: AsRef<[u8]> + 'static,
{
    fn request(&self, request: Request) {
        run(request, &self.handle);
    }

    fn message(&self, message: OneWay) {
        take(message, &*self.messages);
    }
}

/// Looks at each request before its handler does, and may answer it instead.
pub(crate) struct Intercepted {
    pub(crate) before: Vec<Interceptor>,
    pub(crate) handler: Arc<dyn Handler>,
}

/// Lets a request through or answers it with an error.
pub(crate) type Interceptor = Box<dyn Fn(&Request) -> Result<(), Status> + Send + Sync>;

impl Handler for Intercepted {
    fn request(&self, request: Request) {
        let hub = request.conn().link().hub();
        let passed = hub.guard("an interceptor", || {
            self.before.iter().try_for_each(|before| before(&request))
        });
        match passed.unwrap_or_else(|| Err(Status::panicked("an interceptor"))) {
            Ok(()) => self.handler.request(request),
            Err(status) => request.fail(status),
        }
    }

    fn message(&self, message: OneWay) {
        self.handler.message(message);
    }
}

fn overloaded() -> Status {
    Status::new(Code::RESOURCE_EXHAUSTED, "too many requests wait here").not_started()
}
