//! Signals that end the program, SIGINT (Ctrl-C) and SIGTERM (a service manager's stop).
//!
//! ```text
//! first signal ── begin: nothing new is taken ── --grace for what was accepted ── break off ── exit
//! second signal ── exit at once with 128 + its number
//! ```
//!
//! A command that runs for long finishes on its own threads once it is told, and `main` gives the exit code: 0,
//! or that of what was given up ([`given_up`](crate::service::given_up)). A command that makes one file
//! removes it and ends.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use std::{process, thread};

use crate::exit::{Code, Failure};
use crate::service::{given_up, inspection, notify};
use crate::threads;

/// How long a bind may hold up the stop.
const BIND_TIME: Duration = Duration::from_secs(1);

/// Between what is broken off and the end of a program whose threads do not notice, such as one that nobody reads.
const MARGIN: Duration = Duration::from_secs(1);

/// Between two attempts: to take the lock of those that bind, to read which signal came.
const PAUSE: Duration = Duration::from_millis(1);

/// Held while an endpoint is bound.
static BINDING: Mutex<()> = Mutex::new(());

/// The number of the first signal; 0 before it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// When what is not finished is broken off, from the first signal on.
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);
static STOPPING: Condvar = Condvar::new();

/// Whether the program was asked to stop.
pub(crate) fn requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

fn deadline() -> MutexGuard<'static, Option<Instant>> {
    DEADLINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how much of the time to finish is left.
pub(crate) fn left() -> Duration {
    deadline().map_or(Duration::ZERO, |at| {
        at.saturating_duration_since(Instant::now())
    })
}

/// Sleeps, but not beyond the first signal.
pub(crate) fn sleep(time: Duration) {
    let _ = STOPPING
        .wait_timeout_while(deadline(), time, |at| at.is_none())
        .unwrap_or_else(PoisonError::into_inner);
}

/// Whether a hang-up has something read again, and ends nothing.
static RENEWS: AtomicBool = AtomicBool::new(false);

/// Calls this at each SIGHUP, which does not end the program any more. To be called once, before [`finish_on_signal`].
#[cfg(unix)]
pub(crate) fn at_hangup(mut action: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    use std::io::Read as _;

    let (mut came, comes) = std::io::pipe().map_err(|e| cannot(&e))?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGHUP, comes)
        .map_err(|e| cannot(&e))?;
    RENEWS.store(true, Ordering::SeqCst);
    threads::spawn(move || {
        loop {
            match came.read(&mut [0; 64]) {
                // Several that came meanwhile are one.
                Ok(1..) if !requested() => action(),
                Ok(1..) => return,
                // The signal would be lost on a program that no longer listens.
                _ => thread::sleep(PAUSE),
            }
        }
    })
    .map(drop)
}

/// Systems without that signal.
#[cfg(not(unix))]
pub(crate) fn at_hangup(_: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    Ok(())
}

/// How a command that runs for long ends.
pub(crate) struct Stop {
    /// Time for what was accepted to be finished.
    pub(crate) grace: Duration,
    /// Takes nothing new. It may wait, for up to [`left`].
    pub(crate) begin: Box<dyn FnOnce() + Send>,
    /// Ends all that is not finished, so that the command's own threads notice.
    pub(crate) break_off: Box<dyn FnOnce() + Send>,
    /// Whether a script reads what is said.
    pub(crate) json: bool,
}

/// Has the command finish at the first signal. To be called once, before anything listens.
pub(crate) fn finish_on_signal(stop: Stop) -> Result<(), Failure> {
    let (tell, told) = mpsc::channel::<()>();
    let grace = stop.grace;
    // Started now: it may be refused later.
    threads::spawn(move || {
        if told.recv().is_ok() {
            finish(stop);
        }
    })?;
    on_signals(move |signal| {
        if requested() {
            process::exit(128 + signal);
        }
        // Before the command hears of it, which may end at once.
        notify::stopping(grace);
        SIGNAL.store(signal, Ordering::SeqCst);
        // A grace beyond all clocks ends with the second signal.
        let now = Instant::now();
        *deadline() = Some(now.checked_add(grace).unwrap_or(now + FOR_EVER));
        STOPPING.notify_all();
        input::wake();
        let _ = tell.send(());
    })
}

/// Stands for a time that does not end: ten years.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

fn finish(stop: Stop) {
    // From here on nothing more is bound; what is being bound is there to be cleaned up.
    drop(binding_within(BIND_TIME));
    (stop.begin)();
    thread::sleep(left());
    (stop.break_off)();
    thread::sleep(MARGIN);
    // A thread is held up by what nobody reads or answers.
    given_up::stuck(stop.grace, stop.json);
    inspection::end();
    process::exit(Code::GaveUp as i32);
}

/// Binds an endpoint. A stop waits for it, so that it finds all that is there to be cleaned up; after that
/// nothing is bound.
pub(crate) fn binding<T>(bind: impl FnOnce() -> T) -> Result<T, Failure> {
    let _binding = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
    match requested() {
        true => Err(Failure::stopped()),
        false => Ok(bind()),
    }
}

fn binding_within(limit: Duration) -> Option<MutexGuard<'static, ()>> {
    let deadline = Instant::now() + limit;
    loop {
        match BINDING.try_lock() {
            Ok(binding) => return Some(binding),
            Err(TryLockError::Poisoned(binding)) => return Some(binding.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}

/// Removes a temporary file and ends the program at a signal. To be called once.
pub(crate) fn remove_on_signal(path: PathBuf) -> Result<(), Failure> {
    end_on_signal(move || {
        // It may have got its final name a moment ago.
        let _ = fs::remove_file(&path);
    })
}

/// Cleans up and ends the program at a signal, with 128 and its number. To be called once.
pub(crate) fn end_on_signal(clean_up: impl Fn() + Send + 'static) -> Result<(), Failure> {
    on_signals(move |signal| {
        clean_up();
        process::exit(128 + signal);
    })
}

/// Standard input, which is waited for until the first signal.
#[cfg(unix)]
pub(crate) mod input {
    use std::fs::File;
    use std::io::{self, PipeReader, PipeWriter, Read};
    use std::os::fd::AsFd as _;
    use std::sync::{LazyLock, Mutex, PoisonError};

    use rustix::event::{PollFd, PollFlags, poll};

    /// Its end says that the program is to stop.
    static PIPE: LazyLock<io::Result<(PipeReader, Mutex<Option<PipeWriter>>)>> =
        LazyLock::new(|| {
            let (reader, writer) = io::pipe()?;
            Ok((reader, Mutex::new(Some(writer))))
        });

    /// Waits until there is something to read, or the end. `false` once the program is to stop.
    pub(crate) fn wait() -> io::Result<bool> {
        let (stopping, _) = PIPE
            .as_ref()
            .map_err(|error| io::Error::from(error.kind()))?;
        let stdin = io::stdin();
        loop {
            if super::requested() {
                return Ok(false);
            }
            let mut polled = [
                PollFd::new(&stdin, PollFlags::IN),
                PollFd::new(stopping, PollFlags::IN),
            ];
            match poll(&mut polled, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                // A signal is noticed above.
                Ok(_) if polled[0].revents().is_empty() => {}
                Ok(_) => return Ok(!super::requested()),
            }
        }
    }

    pub(super) fn wake() {
        if let Ok((_, writer)) = &*PIPE {
            drop(writer.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    /// Standard input as the system has it; nothing where it is closed.
    pub(crate) struct Unbuffered(Option<File>);

    pub(crate) fn unbuffered() -> Unbuffered {
        let descriptor = io::stdin().as_fd().try_clone_to_owned();
        Unbuffered(descriptor.ok().map(File::from))
    }

    impl Read for Unbuffered {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.as_mut().map_or(Ok(0), |file| file.read(buffer))
        }
    }
}

/// Systems where a thread that reads standard input cannot be woken.
#[cfg(not(unix))]
pub(crate) mod input {
    pub(crate) fn wait() -> std::io::Result<bool> {
        Ok(!super::requested())
    }

    pub(super) fn wake() {}

    pub(crate) type Unbuffered = std::io::Stdin;

    pub(crate) fn unbuffered() -> Unbuffered {
        std::io::stdin()
    }
}

/// Runs something that others may hold up, for up to this time; afterwards it is left to itself.
pub(crate) fn for_at_most(limit: Duration, action: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel::<()>();
    let started = threads::spawn(move || {
        action();
        drop(done);
    });
    if started.is_ok() {
        // Nothing is ever sent: the channel ends when it is done.
        let _: Result<(), RecvTimeoutError> = is_done.recv_timeout(limit);
    }
}

#[cfg(unix)]
fn on_signals(action: impl Fn(i32) + Send + 'static) -> Result<(), Failure> {
    use std::io::Read as _;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    let last = Arc::new(AtomicUsize::new(0));
    // A pipe and no socket: each signal leaves a byte, also beside others of the same number.
    let (mut came, comes) = std::io::pipe().map_err(|e| cannot(&e))?;
    let all = [SIGINT, SIGTERM, SIGHUP];
    let ends = |signal: &i32| *signal != SIGHUP || !RENEWS.load(Ordering::SeqCst);
    for signal in all.into_iter().filter(ends) {
        // The number is there before the byte that tells of it.
        let number = usize::try_from(signal).unwrap_or_default();
        flag::register_usize(signal, last.clone(), number).map_err(|e| cannot(&e))?;
        let comes = comes.try_clone().map_err(|e| cannot(&e))?;
        low_level::pipe::register(signal, comes).map_err(|e| cannot(&e))?;
    }
    threads::spawn(move || {
        loop {
            match came.read(&mut [0]) {
                Ok(1) => action(i32::try_from(last.load(Ordering::SeqCst)).unwrap_or_default()),
                // A program that no longer listens could not be stopped.
                _ => thread::sleep(PAUSE),
            }
        }
    })
    .map(drop)
}

#[cfg(not(unix))]
fn on_signals(action: impl Fn(i32) + Send + 'static) -> Result<(), Failure> {
    /// That of Ctrl-C.
    const SIGINT: i32 = 2;

    ctrlc::set_handler(move || action(SIGINT)).map_err(|error| match error {
        ctrlc::Error::System(error) => cannot(&error),
        error => cannot(&std::io::Error::other(error)),
    })
}

fn cannot(error: &std::io::Error) -> Failure {
    Failure::new(Code::Failed, format!("cannot handle signals: {error}"))
}
