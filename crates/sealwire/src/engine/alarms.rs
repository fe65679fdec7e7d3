//! Time limits of tasks. Executors have timers, each its own; the I/O thread has some for all of them.
//!
//! ```text
//!   task ── SetAlarm ──▶ I/O thread ── when it is due ──▶ task
//!     └──── dropped: ForgetAlarm ──▶ forgets it
//! ```

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::bell::Bell;
use super::mailbox::{Command, Mailbox};
use crate::options::bounded;
use crate::waiting::Listening;

/// A time limit that runs: it is ready when it is over. Dropped before, it leaves nothing behind.
pub(crate) struct Alarm {
    bell: Arc<Bell>,
    listening: Listening,
    /// Where it was set, and under which number.
    set: (Arc<Mailbox>, u64),
}

impl Alarm {
    /// Begins now.
    pub(crate) fn set(mailbox: &Arc<Mailbox>, number: u64, limit: Duration) -> Self {
        let bell = Arc::new(Bell::default());
        let listening = bell.listen();
        mailbox.post(Command::SetAlarm {
            number,
            at: mailbox.now() + bounded(limit),
            bell: bell.clone(),
        });
        Alarm {
            bell,
            listening,
            set: (mailbox.clone(), number),
        }
    }

    fn is_over(&self) -> bool {
        self.bell.has_rung()
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.listening).poll(context)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if !self.is_over() {
            let (mailbox, number) = &self.set;
            mailbox.post(Command::ForgetAlarm { number: *number });
        }
    }
}

/// Those that are set, by number.
#[derive(Default)]
pub(super) struct Alarms(HashMap<u64, Arc<Bell>>);

impl Alarms {
    pub(super) fn set(&mut self, number: u64, bell: Arc<Bell>) {
        self.0.insert(number, bell);
    }

    pub(super) fn forget(&mut self, number: u64) {
        self.0.remove(&number);
    }

    pub(super) fn ring(&mut self, number: u64) {
        if let Some(bell) = self.0.remove(&number) {
            bell.ring();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::super::world::System;
    use super::*;

    #[test]
    fn an_alarm_that_nobody_waits_for_is_forgotten() {
        let mailbox = Arc::new(Mailbox::new(Arc::new(System::new().unwrap())));
        let mut alarms = Alarms::default();
        let mut commands = Vec::new();
        let mut serve = |alarms: &mut Alarms| {
            mailbox.take(&mut commands);
            for command in commands.drain(..) {
                match command {
                    Command::SetAlarm { number, bell, .. } => alarms.set(number, bell),
                    Command::ForgetAlarm { number } => alarms.forget(number),
                    _ => panic!("nobody asked for that"),
                }
            }
            alarms.0.len()
        };
        let mut context = Context::from_waker(Waker::noop());
        let [mut first, second] =
            [1, 2].map(|number| Alarm::set(&mailbox, number, Duration::from_secs(60)));
        assert_eq!(serve(&mut alarms), 2);
        assert!(Pin::new(&mut first).poll(&mut context).is_pending());
        drop(second);
        assert_eq!(serve(&mut alarms), 1);
        alarms.ring(2);
        assert!(Pin::new(&mut first).poll(&mut context).is_pending());
        alarms.ring(1);
        assert!(Pin::new(&mut first).poll(&mut context).is_ready());
        drop(first);
        assert_eq!(serve(&mut alarms), 0);
        let (bell, weak) = {
            let alarm = Alarm::set(&mailbox, 3, Duration::ZERO);
            (alarm.bell.clone(), Arc::downgrade(&alarm.bell))
        };
        drop(bell);
        assert_eq!(serve(&mut alarms), 0);
        assert!(weak.upgrade().is_none());
    }
}
