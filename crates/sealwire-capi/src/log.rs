//! The log: lines of text to a callback of the program, on a thread of their own.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::thread;

use sealwire::embed::{self, LogLines};
use sealwire_fork::Birth;
use tracing::{Level, callsite};

use crate::callback::{User, sealwire_destroy_fn};
use crate::panics::guard;
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_FORKED, SEALWIRE_ERROR_STATE,
    SEALWIRE_ERROR_SYSTEM, sealwire_status,
};

/// Something does not work any more.
pub const SEALWIRE_LOG_ERROR: i32 = 1;
/// A connection or a client failed.
pub const SEALWIRE_LOG_WARNING: i32 = 2;
/// Something changed: a file of keys was read again, for example.
pub const SEALWIRE_LOG_INFO: i32 = 3;
/// Every event of every socket.
pub const SEALWIRE_LOG_DEBUG: i32 = 4;

/// Lines that wait for the callback. More are dropped and counted.
const WAITING: usize = 1024;

/// Takes a line of the log, whose level is one of `SEALWIRE_LOG_`. `text` is valid during the call. It is
/// printable: what peers chose of it is escaped.
pub type sealwire_log_fn =
    Option<extern "C" fn(level: i32, text: *const c_char, user: *mut c_void)>;
type Callback = extern "C" fn(level: i32, text: *const c_char, user: *mut c_void);

/// Has lines of this level (`SEALWIRE_LOG_`) and graver ones go to `log`, in place of an earlier one. NULL for
/// `log` ends it; then `destroy` is not called for `user`.
///
/// Until this is called, the first failed handshake of a socket, for want of the right key for example, is a line
/// on standard error, for up to 8 sockets of a process. A broken pipe there raises no signal that reaches the
/// program. A call of this turns such lines off for good, so after one with NULL the library says nothing at all.
///
/// `log` is called on a thread of its own, for one line at a time, and may use this library. While it is slow, up
/// to 1,024 lines wait; a line tells how many were dropped. The same failure again and again has one line a second,
/// except in `SEALWIRE_LOG_DEBUG`. An earlier one still gets the lines that wait for it, then its `destroy` is called.
/// In a child of `fork` there is no log until this is called there.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for another level, `SEALWIRE_ERROR_SYSTEM` where no thread can be started,
/// `SEALWIRE_ERROR_STATE` in a program of Rust that has a log of its own, `SEALWIRE_ERROR_FORKED` in a child
/// that was forked during a call of this. After an error `destroy` is not called.
///
/// Threads: any number may call it at once.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_log(
    level: i32,
    log: sealwire_log_fn,
    user: *mut c_void,
    destroy: sealwire_destroy_fn,
) -> sealwire_status {
    guard(|| {
        let level = tracing_level(level)?;
        let Some(log) = log else {
            *current()? = None;
            // Then standard error gets nothing either. A program of Rust with a log of its own has that.
            let _ = subscribe();
            callsite::rebuild_interest_cache();
            return Ok(());
        };
        subscribe()?;
        let user = Arc::new(User::new(user, destroy));
        let started = start(log, user.clone(), level)
            .and_then(|log| current().map(|mut current| *current = Some(log)));
        if started.is_err() {
            user.forget();
        }
        callsite::rebuild_interest_cache();
        started
    })
}

/// Where lines go.
struct Log {
    level: Level,
    lines: SyncSender<Line>,
    birth: Birth,
}

struct Line {
    level: i32,
    text: CString,
}

static LOG: RwLock<Option<Log>> = RwLock::new(None);
/// Lines that nobody got.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// For a change. A child of `fork` does not wait for threads that it does not have.
fn current() -> Result<RwLockWriteGuard<'static, Option<Log>>, Failure> {
    static BIRTH: OnceLock<Birth> = OnceLock::new();
    if BIRTH.get_or_init(Birth::now).is_here() {
        return Ok(LOG.write().unwrap_or_else(PoisonError::into_inner));
    }
    match LOG.try_write() {
        Ok(current) => Ok(current),
        Err(TryLockError::Poisoned(current)) => Ok(current.into_inner()),
        Err(TryLockError::WouldBlock) => Err(Failure::new(
            SEALWIRE_ERROR_FORKED,
            "the process was forked while another thread used the log: there is none here",
        )),
    }
}

fn start(log: Callback, user: Arc<User>, level: Level) -> Result<Log, Failure> {
    let (lines, waiting) = sync_channel(WAITING);
    thread::Builder::new()
        .name("sealwire-log".to_owned())
        .spawn(move || deliver(log, &user, &waiting))
        .map_err(|error| {
            let text = format!("cannot start the thread of the log: {error}");
            Failure::new(SEALWIRE_ERROR_SYSTEM, text)
        })?;
    Ok(Log {
        level,
        lines,
        birth: Birth::now(),
    })
}

/// Until another log takes its place.
fn deliver(log: Callback, user: &User, waiting: &Receiver<Line>) {
    let tell = |level, text: &CStr| log(level, text.as_ptr(), user.pointer());
    for line in waiting {
        tell(line.level, &line.text);
        let dropped = DROPPED.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let text = format!("{dropped} lines were dropped: the log is too slow for them");
            tell(
                SEALWIRE_LOG_WARNING,
                &CString::new(text).unwrap_or_default(),
            );
        }
    }
}

fn tracing_level(level: i32) -> Result<Level, Failure> {
    Ok(match level {
        SEALWIRE_LOG_ERROR => Level::ERROR,
        SEALWIRE_LOG_WARNING => Level::WARN,
        SEALWIRE_LOG_INFO => Level::INFO,
        SEALWIRE_LOG_DEBUG => Level::DEBUG,
        other => {
            let text = format!("there is no level {other} of the log: use SEALWIRE_LOG_");
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
    })
}

fn number(level: Level) -> i32 {
    match level {
        Level::ERROR => SEALWIRE_LOG_ERROR,
        Level::WARN => SEALWIRE_LOG_WARNING,
        Level::INFO => SEALWIRE_LOG_INFO,
        _ => SEALWIRE_LOG_DEBUG,
    }
}

/// Once a process.
fn subscribe() -> Result<(), Failure> {
    static OURS: OnceLock<bool> = OnceLock::new();
    if *OURS.get_or_init(|| embed::log_to(Lines)) {
        return Ok(());
    }
    Err(Failure::new(
        SEALWIRE_ERROR_STATE,
        "this program has a subscriber of `tracing`, which gets the log",
    ))
}

/// Gives lines to the log that is there.
struct Lines;

impl LogLines for Lines {
    fn wants(&self, _: &str, level: Level) -> bool {
        let Ok(log) = LOG.try_read() else {
            return false;
        };
        let log = log.as_ref().filter(|log| log.birth.is_here());
        log.is_some_and(|log| level <= log.level)
    }

    fn take(&self, level: Level, line: String) {
        let level = number(level);
        let text = escaped(&line);
        let sent = LOG.try_read().ok().and_then(|log| {
            let lines = &log.as_ref()?.lines;
            lines.try_send(Line { level, text }).ok()
        });
        if sent.is_none() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn escaped(line: &str) -> CString {
    let shown: String = line
        .chars()
        .flat_map(|character| {
            let escaped = character.is_control().then(|| character.escape_default());
            let plain = escaped.is_none().then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    // A zero byte is a control character.
    CString::new(shown).unwrap_or_default()
}
