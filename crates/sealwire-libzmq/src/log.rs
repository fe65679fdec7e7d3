//! What the engine logs, as lines on standard error, where `SEALWIRE_LOG` asks for it.
//!
//! Standard error belongs to the program and may be a pipe that nobody reads, so a thread of its own writes there. Lines
//! that it has no room for are counted.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use sealwire::embed::{self, CONNECTIONS, LogLines};
use sealwire::signals;
use sealwire_fork::PerProcess;
use tracing::Level;

const VARIABLE: &str = "SEALWIRE_LOG";

/// Lines that wait for the thread. More are dropped and counted.
const WAITING: usize = 1024;

/// The log of this process, once there is one. A child of a fork has none until it makes a context.
static LOG: PerProcess<Option<Log>> = PerProcess::new();

struct Log {
    detail: Detail,
    lines: SyncSender<String>,
    dropped: Arc<AtomicU64>,
}

/// How much is logged, each with what is before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Failures, at most one line a second for each cause.
    Warning,
    /// Connections that are ready and that have ended, and lists of keys that were read again.
    Info,
    /// Every event of every socket.
    Debug,
}

impl Detail {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "warning" => Detail::Warning,
            "info" => Detail::Info,
            "debug" => Detail::Debug,
            _ => return None,
        })
    }

    fn takes(self, target: &str, level: Level) -> bool {
        let least = match self {
            Detail::Warning => Level::WARN,
            Detail::Info if target == CONNECTIONS => Level::DEBUG,
            Detail::Info => Level::INFO,
            Detail::Debug => Level::DEBUG,
        };
        level <= least
    }
}

/// Begins the log of this process, if its environment asks for one and is to be believed, and there is none yet. `secure`
/// says that it runs with rights that its user has not.
pub(crate) fn begin(secure: impl Fn() -> bool) {
    let log = || {
        let asked = env::var_os(VARIABLE).filter(|_| !secure());
        Ok::<_, ()>(asked.and_then(|asked| Log::begin(&asked.to_string_lossy())))
    };
    /// Whether `tracing` has been told, which a child of a fork need not do again.
    static SUBSCRIBED: AtomicBool = AtomicBool::new(false);
    let begun = LOG.get_or_try_make(|_| true, log);
    if begun.is_ok_and(Option::is_some) && !SUBSCRIBED.swap(true, Ordering::Relaxed) {
        // A program of Rust may have a subscriber of its own, which has the lines then.
        embed::log_to(Lines);
    }
}

fn current() -> Option<&'static Log> {
    LOG.get_or_try_make(|_| true, || Err(())).ok()?.as_ref()
}

impl Log {
    fn begin(asked: &str) -> Option<Self> {
        let Some(detail) = Detail::of(asked) else {
            embed::tell(&format!(
                "{VARIABLE} is {asked:?}, and nothing is logged; warning, info and debug are what it may be"
            ));
            return None;
        };
        let (log, waiting) = Log::new(detail);
        let dropped = log.dropped.clone();
        let deliver = move || deliver(&waiting, &dropped, embed::write_line);
        let thread = thread::Builder::new().name("sealwire-log".into());
        // Signals are the program's, and a broken pipe shall raise none.
        signals::held_back(|| thread.spawn(deliver)).ok()?;
        Some(log)
    }

    fn new(detail: Detail) -> (Self, Receiver<String>) {
        let (lines, waiting) = sync_channel(WAITING);
        let log = Log {
            detail,
            lines,
            dropped: Arc::default(),
        };
        (log, waiting)
    }

    fn take(&self, line: String) {
        if self.lines.try_send(line).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Until there is no log any more.
fn deliver(waiting: &Receiver<String>, dropped: &AtomicU64, mut write: impl FnMut(&str)) {
    for line in waiting {
        write(&line);
        let dropped = dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            write(&format!("{dropped} lines of the log had no room"));
        }
    }
}

/// Gives lines to the log of this process: a child of a fork may have another.
struct Lines;

impl LogLines for Lines {
    fn wants(&self, target: &str, level: Level) -> bool {
        current().is_some_and(|log| log.detail.takes(target, level))
    }

    fn take(&self, _: Level, line: String) {
        if let Some(log) = current() {
            log.take(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_detail_has_what_is_before_it() {
        let lines = [
            ("sealwire", Level::WARN),
            ("sealwire::auth", Level::INFO),
            (CONNECTIONS, Level::DEBUG),
            ("sealwire", Level::DEBUG),
            ("sealwire", Level::TRACE),
        ];
        for (text, takes) in [("warning", 1), ("info", 3), ("debug", 4)] {
            let detail = Detail::of(text).unwrap();
            for (index, (target, level)) in lines.into_iter().enumerate() {
                assert_eq!(
                    detail.takes(target, level),
                    index < takes,
                    "{text} {target}"
                );
            }
        }
        for text in ["", "INFO", "trace", "info "] {
            assert_eq!(Detail::of(text), None);
        }
    }

    #[test]
    fn lines_that_nobody_writes_are_bounded_and_counted() {
        let (log, waiting) = Log::new(Detail::Info);
        let dropped = log.dropped.clone();
        for number in 0..WAITING + 3 {
            log.take(number.to_string());
        }
        drop(log);
        let mut written = Vec::new();
        deliver(&waiting, &dropped, |line| written.push(line.to_owned()));
        assert_eq!(written.len(), WAITING + 1);
        assert_eq!(written[..2], ["0", "3 lines of the log had no room"]);
        assert_eq!(*written.last().unwrap(), (WAITING - 1).to_string());
    }
}
