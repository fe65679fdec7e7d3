//! Children of the test's process.

use std::any::Any;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Long enough for anything that a child does here, in seconds.
const LIMIT: libc::c_uint = 120;

/// Runs this in a child, and fails with what it fails with.
pub(crate) fn in_child(check: impl FnOnce()) {
    let (mut told, tell) = UnixStream::pair().unwrap();
    // SAFETY: the child has this thread alone. It allocates, which the C library allows for, calls
    // what is tested, and ends without running what the parent registered for its own end.
    match unsafe { libc::fork() } {
        -1 => panic!("{}", std::io::Error::last_os_error()),
        0 => {
            drop(told);
            // SAFETY: the default action of the signal ends a child that waits for a lock.
            unsafe { libc::alarm(LIMIT) };
            let passed = run(check, tell);
            // SAFETY: may be called at any time.
            unsafe { libc::_exit(i32::from(!passed)) }
        }
        child => {
            drop(tell);
            let mut said = String::new();
            told.read_to_string(&mut said).unwrap();
            let mut status = -1;
            // SAFETY: the status is written to a place of ours.
            let waited = unsafe { libc::waitpid(child, &mut status, 0) };
            assert_eq!((waited, status), (child, 0), "the child says: {said}");
        }
    }
}

fn run(check: impl FnOnce(), mut tell: UnixStream) -> bool {
    // The harness captures what is printed, under a lock.
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(check));
    if let Err(panic) = &outcome {
        let _ = tell.write_all(text_of(panic).as_bytes());
    }
    outcome.is_ok()
}

fn text_of(panic: &Box<dyn Any + Send>) -> &str {
    match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "a panic without words",
    }
}
