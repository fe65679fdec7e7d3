//! What a context waits for as it ends: the wait, and the line that says why it lasts.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use sealwire::blocking::block_on;
use sealwire::{Error, embed};

use crate::errno::Errno;

/// How long a context waits before it says what for.
const SLOW_AFTER: Duration = Duration::from_secs(5);

/// Sockets that the line names. Those beyond are counted.
const MAX_NAMED: usize = 8;

/// Between two attempts to get the descriptor that a wait needs.
const DESCRIPTOR_PERIOD: Duration = Duration::from_secs(1);

/// When to say why the end takes so long, and where. It is said once, however often signals interrupt the wait and the
/// program goes on with it.
pub(super) struct SlowEnd {
    limit: Duration,
    tell: Box<dyn Fn(&str) + Send + Sync>,
    wait: Mutex<Wait>,
}

#[derive(Default)]
struct Wait {
    began: Option<Instant>,
    told: bool,
}

impl SlowEnd {
    pub(super) fn new(limit: Duration, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        SlowEnd {
            limit,
            tell: Box::new(tell),
            wait: Mutex::default(),
        }
    }

    fn wait(&self) -> MutexGuard<'_, Wait> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the line is due, in a wait that began before or begins now. `None` once it was told.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let mut wait = self.wait();
        let began = *wait.began.get_or_insert(now);
        if wait.told {
            return None;
        }
        began.checked_add(self.limit)
    }

    /// Says what is waited for, if that has not been said.
    pub(super) fn tell(&self, awaited: impl FnOnce() -> Vec<Awaited>) {
        if std::mem::replace(&mut self.wait().told, true) {
            return;
        }
        let awaited = awaited();
        if !awaited.is_empty() {
            (self.tell)(&line(self.limit, &awaited));
        }
    }
}

impl Default for SlowEnd {
    fn default() -> Self {
        Self::new(SLOW_AFTER, embed::tell)
    }
}

/// A socket that keeps its context from ending.
pub(super) struct Awaited {
    /// Its type and endpoints.
    pub(super) name: String,
    /// Messages that it has not sent.
    pub(super) to_send: usize,
    /// `None` where the program has not closed it.
    pub(super) linger: Option<Duration>,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Awaited { name, to_send, .. } = self;
        let messages = match to_send {
            1 => "1 message".into(),
            count => format!("{count} messages"),
        };
        match self.linger {
            None => write!(
                f,
                "{name} is open, with {messages} to send: zmq_close was not called"
            ),
            Some(Duration::MAX) => write!(
                f,
                "{name} is closed and has {messages} to send, for which ZMQ_LINGER lets it wait for ever"
            ),
            Some(linger) => write!(
                f,
                "{name} is closed and has {messages} to send, for which ZMQ_LINGER lets it wait {} ms",
                linger.as_millis()
            ),
        }
    }
}

fn line(waited: Duration, awaited: &[Awaited]) -> String {
    let named: Vec<String> = awaited
        .iter()
        .take(MAX_NAMED)
        .map(Awaited::to_string)
        .collect();
    let sockets = match awaited.len() {
        1 => "1 socket".into(),
        count => format!("{count} sockets"),
    };
    let more = match awaited.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(
        "zmq_ctx_term has waited {} s for {sockets}: {}{more}",
        waited.as_secs(),
        named.join("; ")
    )
}

/// Waits until `deadline`, unless a signal handler runs meanwhile. `None` where the future has not ended: ask again then.
///
/// A process without a descriptor for the wait sleeps for a second at most, and hears no signal in that time.
///
/// # Errors
///
/// `EINTR`.
pub(super) fn interruptible<F: Future>(
    future: F,
    deadline: Option<Instant>,
) -> Result<Option<F::Output>, Errno> {
    let mut future = pin!(future);
    match block_on(future.as_mut(), deadline, |handler_ran| handler_ran) {
        Ok(done) => Ok(done),
        Err(Error::Interrupted) => Err(Errno::INTR),
        Err(Error::System(_)) => {
            let again = Instant::now() + DESCRIPTOR_PERIOD;
            let until = deadline.map_or(again, |deadline| deadline.min(again));
            Ok(asleep(future, until))
        }
        Err(_) => Err(Errno::AGAIN),
    }
}

/// Waits as threads do that need no descriptor for it.
fn asleep<F: Future>(future: F, until: Instant) -> Option<F::Output> {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending if Instant::now() >= until => return None,
            Poll::Pending => {
                thread::park_timeout(until.saturating_duration_since(Instant::now()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn awaited(name: &str, to_send: usize, linger: Option<Duration>) -> Awaited {
        Awaited {
            name: name.to_owned(),
            to_send,
            linger,
        }
    }

    #[test]
    fn the_line_names_what_is_waited_for() {
        let said = line(
            Duration::from_secs(5),
            &[
                awaited("PUSH at tcp://a:1", 0, None),
                awaited("DEALER at ipc:///b", 1, Some(Duration::MAX)),
                awaited("PUB", 30, Some(Duration::from_millis(1_500))),
            ],
        );
        assert_eq!(
            said,
            "zmq_ctx_term has waited 5 s for 3 sockets: PUSH at tcp://a:1 is open, with 0 messages to send: zmq_close \
             was not called; DEALER at ipc:///b is closed and has 1 message to send, for which ZMQ_LINGER lets it wait \
             for ever; PUB is closed and has 30 messages to send, for which ZMQ_LINGER lets it wait 1500 ms"
        );
    }

    #[test]
    fn a_line_has_an_end() {
        let many: Vec<_> = (0..20).map(|_| awaited("PAIR", 0, None)).collect();
        let said = line(Duration::ZERO, &many);
        assert!(said.contains("for 20 sockets: PAIR is open"), "{said}");
        assert!(said.ends_with("; and 12 more"), "{said}");
        assert_eq!(said.matches("PAIR").count(), MAX_NAMED);
    }

    #[test]
    fn it_is_due_by_the_first_wait_and_told_once() {
        let (told, lines) = mpsc::channel();
        let slow_end = SlowEnd::new(SLOW_AFTER, move |line| told.send(line.to_owned()).unwrap());
        let began = Instant::now();
        let later = began + Duration::from_secs(3);
        assert_eq!(slow_end.due(began), Some(began + SLOW_AFTER));
        // A signal interrupted the wait, and the program went on.
        assert_eq!(slow_end.due(later), Some(began + SLOW_AFTER));
        for _ in 0..2 {
            slow_end.tell(|| vec![awaited("PULL", 0, None)]);
            assert_eq!(slow_end.due(later), None);
        }
        assert_eq!(lines.try_iter().count(), 1);
    }

    #[test]
    fn without_a_descriptor_a_wait_ends_all_the_same() {
        let (event, until) = (
            event_listener::Event::new(),
            Instant::now() + SLOW_AFTER * 12,
        );
        let listener = event.listen();
        let done = thread::scope(|scope| {
            scope.spawn(|| event.notify(usize::MAX));
            asleep(listener, until)
        });
        assert_eq!(done, Some(()));
        assert_eq!(asleep(std::future::pending::<()>(), Instant::now()), None);
    }
}
