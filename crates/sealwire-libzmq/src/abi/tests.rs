//! The functions as C calls them: what bad handles and null pointers are answered with.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use libc::{c_int, c_void};

use super::capabilities::{zmq_has, zmq_version};
use super::clock::{zmq_stopwatch_intermediate, zmq_stopwatch_start, zmq_stopwatch_stop};
use super::counters::{
    zmq_atomic_counter_dec, zmq_atomic_counter_destroy, zmq_atomic_counter_inc,
    zmq_atomic_counter_new, zmq_atomic_counter_set, zmq_atomic_counter_value,
};
use super::error::{set_errno, zmq_errno};
use super::keys::{zmq_curve_keypair, zmq_curve_public, zmq_z85_decode, zmq_z85_encode};
use super::threads::{zmq_threadclose, zmq_threadstart};
use super::timers::{
    zmq_timers_add, zmq_timers_cancel, zmq_timers_destroy, zmq_timers_execute, zmq_timers_new,
    zmq_timers_reset, zmq_timers_set_interval, zmq_timers_timeout,
};
use crate::errno::Errno;

/// The `errno` that `call` leaves, and none if it leaves it alone.
fn errno<T>(call: impl FnOnce() -> T) -> Errno {
    set_errno(Errno(0));
    call();
    Errno(zmq_errno())
}

#[test]
fn handles_that_are_none_are_refused() {
    unsafe extern "C" fn handler(_: c_int, _: *mut c_void) {}
    let mut elsewhere: *mut c_void = null_mut();
    let counter = zmq_atomic_counter_new();
    for handle in [null_mut(), (&raw mut elsewhere).cast(), counter] {
        let mut place = handle;
        // SAFETY: null, or eight bytes that are not timers.
        unsafe {
            assert_eq!(
                errno(|| zmq_timers_add(handle, 1, Some(handler), null_mut())),
                Errno::FAULT
            );
            assert_eq!(errno(|| zmq_timers_cancel(handle, 1)), Errno::FAULT);
            assert_eq!(
                errno(|| zmq_timers_set_interval(handle, 1, 1)),
                Errno::FAULT
            );
            assert_eq!(errno(|| zmq_timers_reset(handle, 1)), Errno::FAULT);
            assert_eq!(errno(|| zmq_timers_timeout(handle)), Errno::FAULT);
            assert_eq!(errno(|| zmq_timers_execute(handle)), Errno::FAULT);
            assert_eq!(errno(|| zmq_timers_destroy(&raw mut place)), Errno::FAULT);
            assert_eq!(errno(|| zmq_stopwatch_intermediate(handle)), Errno::FAULT);
            assert_eq!(errno(|| zmq_stopwatch_stop(handle)), Errno::FAULT);
            assert_eq!(errno(|| zmq_threadclose(handle)), Errno::FAULT);
        }
        assert_eq!(place, handle);
    }
    let mut counter = counter;
    // SAFETY: a counter, then null.
    unsafe {
        assert_eq!(errno(|| zmq_timers_destroy(null_mut())), Errno::FAULT);
        assert_eq!(
            errno(|| zmq_atomic_counter_destroy(&raw mut counter)),
            Errno(0)
        );
        assert!(counter.is_null());
        assert_eq!(
            errno(|| zmq_atomic_counter_destroy(&raw mut counter)),
            Errno(0)
        );
        assert_eq!(errno(|| zmq_atomic_counter_inc(counter)), Errno::FAULT);
    }
}

#[test]
fn counters_count() {
    let mut counter = zmq_atomic_counter_new();
    // SAFETY: a counter.
    unsafe {
        zmq_atomic_counter_set(counter, 1);
        assert_eq!(zmq_atomic_counter_inc(counter), 1);
        assert_eq!(zmq_atomic_counter_dec(counter), 1);
        assert_eq!(zmq_atomic_counter_dec(counter), 0);
        assert_eq!(zmq_atomic_counter_value(counter), 0);
        zmq_atomic_counter_destroy(&raw mut counter);
    }
}

#[test]
fn a_handler_may_destroy_its_timers() {
    unsafe extern "C" fn destroy(_: c_int, timers: *mut c_void) {
        // SAFETY: the test's pointer to its timers.
        assert_eq!(unsafe { zmq_timers_destroy(timers.cast()) }, 0);
    }
    let mut timers = zmq_timers_new();
    let handle = timers;
    let place: *mut *mut c_void = &raw mut timers;
    // SAFETY: timers, until the first handler destroys them.
    unsafe {
        assert_eq!(
            errno(|| zmq_timers_timeout(handle)),
            Errno(0),
            "no timers is no error"
        );
        assert_eq!(
            errno(|| zmq_timers_add(handle, 0, None, null_mut())),
            Errno::FAULT
        );
        assert_eq!(zmq_timers_add(handle, 0, Some(destroy), place.cast()), 1);
        assert_eq!(zmq_timers_add(handle, 0, Some(destroy), place.cast()), 2);
        assert_eq!(zmq_timers_timeout(handle), 0);
        assert_eq!(zmq_timers_execute(handle), 0);
        assert!((*place).is_null());
    }
}

#[test]
fn a_thread_has_ended_when_it_is_closed() {
    unsafe extern "C" fn set(place: *mut c_void) {
        // SAFETY: the test's number, which it reads when the thread has ended.
        unsafe { *place.cast::<c_int>() = 7 };
    }
    let mut number: c_int = 0;
    // SAFETY: the number outlives the thread.
    unsafe {
        let thread = zmq_threadstart(Some(set), (&raw mut number).cast());
        assert!(!thread.is_null());
        zmq_threadclose(thread);
        assert_eq!(errno(|| zmq_threadstart(None, null_mut())), Errno::FAULT);
    }
    assert_eq!(number, 7);
}

#[test]
fn a_stopwatch_goes_on_until_it_is_stopped() {
    let watch = zmq_stopwatch_start();
    // SAFETY: a stopwatch.
    unsafe {
        let first = zmq_stopwatch_intermediate(watch);
        assert!(zmq_stopwatch_stop(watch) >= first);
    }
}

#[test]
fn keys_and_their_text() {
    let (mut public, mut secret, mut again) = ([0; 41], [0; 41], [0; 41]);
    let mut bytes = [0_u8; 32];
    // SAFETY: there is room for each.
    unsafe {
        assert_eq!(
            zmq_curve_keypair(public.as_mut_ptr(), secret.as_mut_ptr()),
            0
        );
        assert_eq!(zmq_curve_public(again.as_mut_ptr(), secret.as_ptr()), 0);
        assert_eq!(public, again);
        assert_eq!(
            zmq_z85_decode(bytes.as_mut_ptr(), public.as_ptr()),
            bytes.as_mut_ptr()
        );
        let text = zmq_z85_encode(again.as_mut_ptr(), bytes.as_ptr(), 32);
        assert_eq!(CStr::from_ptr(text).to_bytes().len(), 40);
        assert_eq!(public, again);
        let mut none = [1];
        assert!(!zmq_z85_encode(none.as_mut_ptr(), null(), 0).is_null());
        assert_eq!(none, [0]);
        for call in [
            errno(|| zmq_z85_encode(again.as_mut_ptr(), bytes.as_ptr(), 31)),
            errno(|| zmq_z85_encode(null_mut(), null(), 1)),
            errno(|| zmq_z85_decode(bytes.as_mut_ptr(), c"abcd".as_ptr())),
            errno(|| zmq_curve_public(again.as_mut_ptr(), c"abcde".as_ptr())),
        ] {
            assert_eq!(call, Errno::INVAL);
        }
        assert_eq!(
            errno(|| zmq_curve_keypair(null_mut(), secret.as_mut_ptr())),
            Errno::FAULT
        );
        assert_eq!(
            errno(|| zmq_curve_public(again.as_mut_ptr(), null())),
            Errno::FAULT
        );
    }
}

#[test]
fn the_version_is_libzmqs() {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: numbers, a string and null.
    unsafe {
        zmq_version(&raw mut major, &raw mut minor, &raw mut patch);
        assert_eq!(zmq_has(c"curve".as_ptr()), 1);
        assert_eq!(zmq_has(c"gssapi".as_ptr()), 0);
        assert_eq!(zmq_has(null()), 0);
    }
    assert_eq!((major, minor, patch), (4, 3, 5));
}
