//! The functions as C calls them: what bad handles and null pointers are answered with.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use libc::{c_int, c_void};

use super::capabilities::{zmq_has, zmq_version};
use super::clock::{zmq_stopwatch_intermediate, zmq_stopwatch_start, zmq_stopwatch_stop};
use super::contexts::{zmq_ctx_new, zmq_ctx_term};
use super::counters::{
    zmq_atomic_counter_dec, zmq_atomic_counter_destroy, zmq_atomic_counter_inc,
    zmq_atomic_counter_new, zmq_atomic_counter_set, zmq_atomic_counter_value,
};
use super::error::{set_errno, zmq_errno};
use super::keys::{zmq_curve_keypair, zmq_curve_public, zmq_z85_decode, zmq_z85_encode};
use super::messages::zmq_msg_init_data;
use super::sockets::{
    zmq_bind, zmq_close, zmq_connect, zmq_msg_recv, zmq_msg_send, zmq_recv, zmq_recviov, zmq_send,
    zmq_sendiov, zmq_socket,
};
use super::threads::{zmq_threadclose, zmq_threadstart};
use super::timers::{
    zmq_timers_add, zmq_timers_cancel, zmq_timers_destroy, zmq_timers_execute, zmq_timers_new,
    zmq_timers_reset, zmq_timers_set_interval, zmq_timers_timeout,
};
use crate::errno::Errno;
use crate::message::{FreeFn, Msg};

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

/// Two sockets that talk over inproc.
fn pair(context: *mut c_void, endpoint: &CStr) -> [*mut c_void; 2] {
    const PAIR: c_int = 0;
    let sockets = [zmq_socket(context, PAIR), zmq_socket(context, PAIR)];
    assert_eq!(zmq_bind(sockets[0], endpoint.as_ptr()), 0);
    assert_eq!(zmq_connect(sockets[1], endpoint.as_ptr()), 0);
    sockets
}

/// As those who reuse the memory of messages do: to say that it is free they send, and the socket may be the one that is
/// being used.
#[test]
fn what_frees_a_message_may_use_the_socket_that_is_done_with_it() {
    const DONTWAIT: c_int = 1;
    const PUB: c_int = 1;
    static FREED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn receives_and_sends(_: *mut c_void, socket: *mut c_void) {
        let mut octet = 0_u8;
        let received = zmq_recv(socket, (&raw mut octet).cast(), 1, DONTWAIT);
        assert!(received == 1 || Errno(zmq_errno()) == Errno(libc::ENOTSUP));
        assert_eq!(zmq_send(socket, (&raw const octet).cast(), 1, DONTWAIT), 1);
        FREED.fetch_add(1, Ordering::SeqCst);
    }

    let foreign = |socket: *mut c_void| {
        let mut message = MaybeUninit::<Msg>::zeroed();
        let bytes = [7_u8; 100].as_mut_ptr();
        let (size, free) = (0, Some(receives_and_sends as FreeFn));
        // SAFETY: the memory of a message, and none of the bytes.
        let made =
            unsafe { zmq_msg_init_data(message.as_mut_ptr(), bytes.cast(), size, free, socket) };
        assert_eq!(made, 0);
        message
    };
    let (done, finished) = mpsc::channel();
    let work = move || {
        let context = zmq_ctx_new();
        let [one, other] = pair(context, c"inproc://what-frees");
        for octet in [1_u8, 2] {
            assert_eq!(zmq_send(other, (&raw const octet).cast(), 1, 0), 1);
        }
        // Ends as another takes its place.
        let mut message = foreign(one);
        assert_eq!(zmq_msg_recv(message.as_mut_ptr(), one, 0), 1);
        assert_eq!(FREED.load(Ordering::SeqCst), 1);
        let mut octet = 0_u8;
        assert_eq!(zmq_recv(other, (&raw mut octet).cast(), 1, 0), 1);
        assert_eq!(octet, 2);
        // Ends as nobody wants it.
        let publisher = zmq_socket(context, PUB);
        let mut message = foreign(publisher);
        assert_eq!(zmq_msg_send(message.as_mut_ptr(), publisher, 0), 0);
        assert_eq!(FREED.load(Ordering::SeqCst), 2);
        for socket in [one, other, publisher] {
            assert_eq!(zmq_close(socket), 0);
        }
        assert_eq!(zmq_ctx_term(context), 0);
        done.send(()).unwrap();
    };
    thread::spawn(work);
    let ended = finished.recv_timeout(Duration::from_secs(60));
    ended.expect("it waits for a lock that it holds");
}

#[test]
fn elements_are_parts_of_one_message_only_where_that_is_asked_for() {
    let context = zmq_ctx_new();
    let [push, pull] = [8, 7].map(|socket_type| zmq_socket(context, socket_type));
    assert_eq!(zmq_bind(pull, c"inproc://parts".as_ptr()), 0);
    assert_eq!(zmq_connect(push, c"inproc://parts".as_ptr()), 0);
    let mut texts = [*b"one", *b"two"];
    let mut elements = texts.each_mut().map(|text| libc::iovec {
        iov_base: text.as_mut_ptr().cast(),
        iov_len: text.len(),
    });
    for (flags, parts) in [(crate::socket::SNDMORE, 2), (0, 1)] {
        assert_eq!(zmq_sendiov(push, elements.as_mut_ptr(), 2, flags), 3);
        let mut left = 2;
        while left > 0 {
            let mut found = [const { MaybeUninit::<libc::iovec>::uninit() }; 2];
            let mut count = 2;
            let given = zmq_recviov(pull, found.as_mut_ptr().cast(), &raw mut count, 0);
            assert_eq!((given, count), (parts, parts as usize), "{flags}");
            for element in &found[..count] {
                // SAFETY: it was filled, and its memory is for `free`.
                unsafe { libc::free(element.assume_init().iov_base) };
            }
            left -= parts;
        }
    }
    assert_eq!((zmq_close(push), zmq_close(pull)), (0, 0));
    assert_eq!(zmq_ctx_term(context), 0);
}
