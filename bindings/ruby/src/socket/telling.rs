//! A socket that waits says why nothing comes, once.
//!
//! A handshake that fails, for want of the right key for example, is not an error of the socket: it
//! goes on trying. Without a limit a call would wait for ever and nobody would know.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Instant;

use magnus::value::ReprValue as _;
use magnus::{Error, Module as _, RModule, Ruby, Value};
use sealwire::{ConnectionFailure, Event, Monitor};

use super::Socket;
use crate::waiting;

#[derive(Default)]
pub(super) struct Telling {
    told: AtomicBool,
    /// The events since the first wait, until something is told.
    events: Mutex<Option<Arc<Monitor>>>,
}

/// How a wait went on.
enum Next<T> {
    Done(T),
    Failed(ConnectionFailure),
}

impl Telling {
    /// Waits for the failure that is to be told; for ever once one was.
    async fn failure(&self, socket: &sealwire::Socket) -> ConnectionFailure {
        let Some(events) = self.watch(socket) else {
            return pending().await;
        };
        if let Some(failure) = socket
            .last_failure()
            .and_then(|failure| self.first(failure))
        {
            return failure;
        }
        while let Some(event) = events.next().await {
            if let Event::Failed(failure) = event
                && let Some(failure) = self.first(failure)
            {
                return failure;
            }
        }
        pending().await
    }

    /// The events from now on, before anybody asks for earlier failures: so none is missed.
    fn watch(&self, socket: &sealwire::Socket) -> Option<Arc<Monitor>> {
        let mut events = self.events();
        let events =
            (!self.told()).then(|| events.get_or_insert_with(|| Arc::new(socket.monitor())));
        events.cloned()
    }

    /// The failure, if it is the one to tell: not that a peer is not there yet, as it may come.
    fn first(&self, failure: ConnectionFailure) -> Option<ConnectionFailure> {
        if !failure.is_handshake_failure() {
            return None;
        }
        let mut events = self.events();
        if self.told.swap(true, Ordering::Relaxed) {
            return None;
        }
        // Nobody reads any more.
        *events = None;
        Some(failure)
    }

    fn events(&self) -> MutexGuard<'_, Option<Arc<Monitor>>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

impl Socket {
    /// Waits for what `attempt` gives, or until the deadline is over: `None` then. The logger hears of
    /// the first failed handshake meanwhile.
    ///
    /// The logger is a program's: it may use this socket. So nothing waits while it runs, and
    /// `attempt` begins again after it.
    pub(super) fn wait<T>(
        &self,
        ruby: &Ruby,
        socket: &sealwire::Socket,
        mut attempt: impl AsyncFnMut() -> T,
        deadline: Option<Instant>,
    ) -> Result<Option<T>, Error> {
        while !self.telling.told() {
            let next = first_of(attempt(), self.telling.failure(socket));
            match waiting::before(ruby, next, deadline)? {
                Some(Next::Done(value)) => return Ok(Some(value)),
                Some(Next::Failed(failure)) => self.tell(ruby, &failure)?,
                None => return Ok(None),
            }
        }
        waiting::before(ruby, attempt(), deadline)
    }

    fn tell(&self, ruby: &Ruby, failure: &ConnectionFailure) -> Result<(), Error> {
        let kind = self.socket_type.get().map_or("socket", |kind| kind.name());
        let text = format!("a {kind} waits, and a connection of it failed: {failure}");
        let sealwire: RModule = ruby.class_object().const_get("Sealwire")?;
        sealwire.funcall::<_, _, Value>("tell", (text,))?;
        Ok(())
    }
}

async fn first_of<T>(
    future: impl Future<Output = T>,
    failure: impl Future<Output = ConnectionFailure>,
) -> Next<T> {
    let (mut future, mut failure) = (pin!(future), pin!(failure));
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Next::Done(value));
        }
        Poll::Ready(Next::Failed(ready!(failure.as_mut().poll(context))))
    })
    .await
}
