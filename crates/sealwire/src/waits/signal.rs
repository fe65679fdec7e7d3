use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::waiting;

/// Tells tasks of something. Their wakers are cloned, called and dropped without its lock.
#[derive(Default)]
pub struct Signal(waiting::Signal);

impl Signal {
    /// Tells all who listen.
    pub fn notify_all(&self) {
        self.0.notify(usize::MAX);
    }

    /// Tells one of those who listen, the one that began first. If it stops listening before it has heard of that, another is
    /// told in its place.
    pub fn notify_one(&self) {
        self.0.notify(1);
    }

    /// Returns a future that ends with the next signal from now on, and not only from its first poll.
    pub fn listen(&self) -> Listening {
        Listening(waiting::Listening::to(&self.0))
    }
}

/// A wait for a signal that has begun. In a child of a fork it is over.
pub struct Listening(waiting::Listening);

impl Future for Listening {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(context)
    }
}
