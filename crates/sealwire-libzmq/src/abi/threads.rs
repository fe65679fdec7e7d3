//! Threads for programs that have no other way to start one.

use std::mem::MaybeUninit;
use std::ptr;

use libc::{c_int, c_void};
use sealwire_fork::Birth;

use super::guard;
use super::tagged::{self, Tag};
use crate::errno::Errno;

/// `zmq_thread_fn`.
pub type ThreadFunction = unsafe extern "C" fn(*mut c_void);

struct Thread {
    thread: libc::pthread_t,
    /// A child of a fork does not have it, and would wait for it for ever.
    birth: Birth,
}

impl Tag for Thread {
    const TAG: u64 = 0x5357_5468_7265_6164;
}

struct Start {
    function: ThreadFunction,
    argument: *mut c_void,
}

/// The thread that the program asked for: it has libzmq's name and, as there, meets no signals.
extern "C" fn run(start: *mut c_void) -> *mut c_void {
    // SAFETY: `zmq_threadstart` made it for this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    let mut signals = MaybeUninit::uninit();
    // SAFETY: the set is filled before it is read.
    unsafe {
        libc::sigfillset(signals.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), ptr::null_mut());
    }
    #[cfg(target_os = "linux")]
    // SAFETY: this thread, and a string of at most 15 characters.
    unsafe {
        libc::pthread_setname_np(libc::pthread_self(), c"ZMQapp".as_ptr());
    }
    // SAFETY: the caller has given both for each other.
    unsafe { (start.function)(start.argument) };
    ptr::null_mut()
}

/// `zmq_threadstart`. The thread is one of the system's and not of Rust's: its stack is as large as programs expect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_threadstart(
    function: Option<ThreadFunction>,
    argument: *mut c_void,
) -> *mut c_void {
    guard::value(ptr::null_mut(), || {
        let function = function.ok_or(Errno::FAULT)?;
        let start = Box::into_raw(Box::new(Start { function, argument }));
        let mut thread = MaybeUninit::uninit();
        // SAFETY: `run` takes what `start` points to.
        let result: c_int =
            unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), run, start.cast()) };
        if result != 0 {
            // SAFETY: there is no thread that could have taken it.
            drop(unsafe { Box::from_raw(start) });
            return Err(Errno(result));
        }
        // SAFETY: a thread was made.
        let thread = unsafe { thread.assume_init() };
        let birth = Birth::now();
        Ok(tagged::give(Thread { thread, birth }))
    })
}

/// `zmq_threadclose`: waits until the function has returned, and ends the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_threadclose(thread: *mut c_void) {
    guard::value((), || {
        // SAFETY: the caller's handle.
        let Thread { thread, birth } = unsafe { tagged::take(thread)? };
        if !birth.is_here() {
            return Err(Errno::FAULT);
        }
        // SAFETY: a thread that nobody has joined, as its handle was taken.
        match unsafe { libc::pthread_join(thread, ptr::null_mut()) } {
            0 => Ok(()),
            error => Err(Errno(error)),
        }
    });
}
