//! Ctrl-C and termination: sockets are closed, so that what is queued goes out and files of Unix
//! sockets disappear, but not for long. Unfinished files are removed.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use sealwire::blocking::Socket;

use crate::exit::{Code, Failure};
use crate::threads;

/// How long an interrupted program may go on sending what is queued.
const GRACE: Duration = Duration::from_secs(1);

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the program was asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Closes the sockets and ends the program when it is interrupted. To be called once.
pub(crate) fn close_on_interrupt(sockets: Vec<Socket>) -> Result<(), Failure> {
    on_interrupt(move || {
        REQUESTED.store(true, Ordering::Relaxed);
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

/// Cleans up and ends the program when it is interrupted. To be called once.
pub(crate) fn on_interrupt(clean_up: impl Fn() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(move || {
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
