//! Ctrl-C and termination: sockets are closed, so that what is queued goes out and files of Unix
//! sockets disappear, but not for long. Unfinished files are removed.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError, mpsc};
use std::time::{Duration, Instant};
use std::{process, thread};

use sealwire::blocking::Socket;

use crate::exit::{Code, Failure};
use crate::threads;

/// How long an interrupted program may go on sending what is queued.
const GRACE: Duration = Duration::from_secs(1);

/// Between two attempts to take the lock of those that bind.
const PAUSE: Duration = Duration::from_millis(1);

/// Held while an endpoint is bound, and from an interrupt to the end of the program.
static BINDING: Mutex<()> = Mutex::new(());

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the program was asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Closes the sockets and ends the program when it is interrupted. To be called once.
pub(crate) fn close_on_interrupt(sockets: Vec<Socket>) -> Result<(), Failure> {
    on_interrupt(move || {
        let (done, all_done) = mpsc::channel::<()>();
        for socket in sockets.clone() {
            let done = done.clone();
            // Without a thread the socket ends with the program.
            let _ = threads::spawn(move || {
                let _ = socket.close();
                drop(done);
            });
        }
        drop(done);
        // Nothing is ever sent: the channel ends when the last thread is done.
        let _ = all_done.recv_timeout(GRACE);
    })
}

/// Removes a temporary file and ends the program when it is interrupted. To be called once.
pub(crate) fn remove_on_interrupt(path: PathBuf) -> Result<(), Failure> {
    on_interrupt(move || {
        // It may have got its final name a moment ago.
        let _ = fs::remove_file(&path);
    })
}

/// Binds an endpoint. An interrupt waits for it, so that it finds all that is there to be cleaned up.
pub(crate) fn binding<T>(bind: impl FnOnce() -> T) -> T {
    let _binding = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
    bind()
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

/// Cleans up and ends the program when it is interrupted. To be called once.
pub(crate) fn on_interrupt(clean_up: impl Fn() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
        REQUESTED.store(true, Ordering::Relaxed);
        // Nothing is bound any more, unless the system takes too long.
        let _binding = binding_within(GRACE);
        clean_up();
        process::exit(Code::Interrupted as i32);
    })
    .map_err(|error| {
        let why = match error {
            ctrlc::Error::System(error) => error.to_string(),
            error => error.to_string(),
        };
        Failure::new(Code::Failed, format!("cannot handle interrupts: {why}"))
    })
}
