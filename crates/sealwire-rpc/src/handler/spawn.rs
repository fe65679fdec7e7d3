//! Futures that answer, on an executor.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Handler, MessageHandler, OneWay, Request, overloaded, take};

/// A future without a result, as executors take it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs a future per request on an executor, up to a limit at a time; what goes beyond is turned
/// away as not started.
pub struct Spawn<S, F> {
    spawner: S,
    handle: Arc<F>,
    running: Arc<AtomicUsize>,
    limit: usize,
    messages: MessageHandler,
}

impl<S, F, T> Spawn<S, F>
where
    S: Fn(Task) + Send + Sync + 'static,
    F: Fn(Request) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    /// Makes a handler whose requests are futures: `handle` makes one that answers, `spawner` runs it (as
    /// `tokio::spawn` does). Up to `limit` run at once; further requests are turned away as not started.
    pub fn new(spawner: S, limit: usize, handle: F) -> Self {
        Spawn {
            spawner,
            handle: Arc::new(handle),
            running: Arc::default(),
            limit,
            messages: Box::new(|_| {}),
        }
    }

    /// Takes one-way messages with this function, where the connection is read.
    #[must_use]
    pub fn on_message(mut self, handle: impl Fn(&OneWay) + Send + Sync + 'static) -> Self {
        self.messages = Box::new(handle);
        self
    }
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<S, F, T> Handler for Spawn<S, F>
where
    S: Fn(Task) + Send + Sync + 'static,
    F: Fn(Request) -> T + Send + Sync + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    fn request(&self, request: Request) {
        let before = self.running.fetch_add(1, Ordering::SeqCst);
        let running = Running(self.running.clone());
        if before >= self.limit {
            return request.fail(overloaded());
        }
        let future = (self.handle)(request);
        (self.spawner)(Box::pin(async move {
            future.await;
            drop(running);
        }));
    }

    fn message(&self, message: OneWay) {
        take(message, &*self.messages);
    }
}
