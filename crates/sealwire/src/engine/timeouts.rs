//! Time limits of tasks. Each executor has its own timers; the I/O thread has timers for all of
//! them.
//!
//! ```text
//!   task ── SetTimeout ──▶ I/O thread ── when it is due ──▶ task
//!     └──── dropped: CancelTimeout ──▶ forgets it
//! ```

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::expiry::Expiry;
use super::mailbox::{Command, Mailbox};
use crate::options::bounded;
use crate::waiting::Listening;

/// A time limit that runs: it is ready when it is over. Dropped before, it leaves nothing behind.
pub(crate) struct Timeout {
    expiry: Arc<Expiry>,
    listening: Listening,
    /// Where it was set, and under which number.
    set: (Arc<Mailbox>, u64),
}

impl Timeout {
    /// Begins now.
    pub(crate) fn set(mailbox: &Arc<Mailbox>, number: u64, limit: Duration) -> Self {
        let expiry = Arc::new(Expiry::default());
        let listening = expiry.listen();
        mailbox.post(Command::SetTimeout {
            number,
            at: mailbox.now() + bounded(limit),
            expiry: expiry.clone(),
        });
        Timeout {
            expiry,
            listening,
            set: (mailbox.clone(), number),
        }
    }

    fn is_over(&self) -> bool {
        self.expiry.has_expired()
    }
}

impl Future for Timeout {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.listening).poll(context)
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        if !self.is_over() {
            let (mailbox, number) = &self.set;
            mailbox.post(Command::CancelTimeout { number: *number });
        }
    }
}

/// Those that are set, by number.
#[derive(Default)]
pub(super) struct Timeouts(HashMap<u64, Arc<Expiry>>);

impl Timeouts {
    pub(super) fn set(&mut self, number: u64, expiry: Arc<Expiry>) {
        self.0.insert(number, expiry);
    }

    pub(super) fn forget(&mut self, number: u64) {
        self.0.remove(&number);
    }

    pub(super) fn expire(&mut self, number: u64) {
        if let Some(expiry) = self.0.remove(&number) {
            expiry.expire();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::super::world::System;
    use super::*;

    #[test]
    fn a_time_limit_that_nobody_waits_for_is_forgotten() {
        let mailbox = Arc::new(Mailbox::new(Arc::new(
            System::new(std::time::Instant::now()).unwrap(),
        )));
        let mut timeouts = Timeouts::default();
        let mut commands = Vec::new();
        let mut serve = |timeouts: &mut Timeouts| {
            mailbox.take(&mut commands);
            for command in commands.drain(..) {
                match command {
                    Command::SetTimeout { number, expiry, .. } => timeouts.set(number, expiry),
                    Command::CancelTimeout { number } => timeouts.forget(number),
                    _ => panic!("nobody asked for that"),
                }
            }
            timeouts.0.len()
        };
        let mut context = Context::from_waker(Waker::noop());
        let [mut first, second] =
            [1, 2].map(|number| Timeout::set(&mailbox, number, Duration::from_secs(60)));
        assert_eq!(serve(&mut timeouts), 2);
        assert!(Pin::new(&mut first).poll(&mut context).is_pending());
        drop(second);
        assert_eq!(serve(&mut timeouts), 1);
        timeouts.expire(2);
        assert!(Pin::new(&mut first).poll(&mut context).is_pending());
        timeouts.expire(1);
        assert!(Pin::new(&mut first).poll(&mut context).is_ready());
        drop(first);
        assert_eq!(serve(&mut timeouts), 0);
        let (expiry, weak) = {
            let timeout = Timeout::set(&mailbox, 3, Duration::ZERO);
            (timeout.expiry.clone(), Arc::downgrade(&timeout.expiry))
        };
        drop(expiry);
        assert_eq!(serve(&mut timeouts), 0);
        assert!(weak.upgrade().is_none());
    }
}
