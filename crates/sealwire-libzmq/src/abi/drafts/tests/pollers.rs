//! `zmq_poller` and `zmq_ppoll`.

use super::*;

/// A place that says something before it is written.
fn place() -> PollerEvent {
    PollerEvent {
        socket: null_mut(),
        fd: 99,
        user_data: null_mut(),
        events: 99,
    }
}

#[test]
fn a_poller_tells_of_sockets_and_descriptors_in_their_order() {
    let mut scene = Scene::new();
    let [server, client] = scene.pair([SERVER, CLIENT], c"inproc://a-poller");
    let [near, far] = scene.pair([PAIR, PAIR], c"inproc://a-poller-too");
    let mut poller = zmq_poller_new();
    let (read, mut write) = std::io::pipe().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&read);
    let marks = [1_u8, 2, 3];
    let mark = |index: usize| (&raw const marks[index]).cast_mut().cast::<c_void>();
    assert_eq!(zmq_poller_add(poller, server, mark(0), POLLIN), 0);
    assert_eq!(zmq_poller_add(poller, near, mark(1), POLLIN), 0);
    assert_eq!(zmq_poller_add_fd(poller, fd, mark(2), POLLIN), 0);
    assert_eq!(zmq_poller_size(poller), 3);
    for again in [
        errno(|| zmq_poller_add(poller, near, null_mut(), POLLIN)),
        errno(|| zmq_poller_add_fd(poller, fd, null_mut(), POLLIN)),
        errno(|| zmq_poller_modify(poller, near, 16)),
        errno(|| zmq_poller_modify(poller, far, POLLIN)),
        errno(|| zmq_poller_remove(poller, client)),
        errno(|| zmq_poller_remove_fd(poller, fd + 1_000)),
    ] {
        assert_eq!(again, Errno::INVAL);
    }

    let mut event = place();
    let wait = errno(|| zmq_poller_wait(poller, &raw mut event, 0));
    assert_eq!((wait, event.fd, event.events), (Errno::AGAIN, -1, 0));
    std::io::Write::write_all(&mut write, b"x").unwrap();
    assert_eq!(send(far, b"hello", 0), 5);
    assert_eq!(send(client, b"hello", 0), 5);
    let mut events = [(); 4].map(|()| place());
    assert_eq!(zmq_poller_wait_all(poller, events.as_mut_ptr(), 4, -1), 3);
    let told: Vec<_> = events
        .iter()
        .map(|it| (it.socket, it.fd, it.user_data, it.events))
        .collect();
    let expected = [
        (server, -1, mark(0), POLLIN),
        (near, -1, mark(1), POLLIN),
        (null_mut(), fd, mark(2), POLLIN),
        (null_mut(), -1, null_mut(), 0),
    ];
    assert_eq!(told, expected);
    // As many as there is room for, from the first.
    assert_eq!(zmq_poller_wait_all(poller, events.as_mut_ptr(), 2, -1), 2);
    assert_eq!((events[0].socket, events[1].socket), (server, near));

    assert_eq!(zmq_poller_modify(poller, server, POLLIN | POLLOUT), 0);
    assert_eq!(receive(server), b"hello");
    assert_eq!(zmq_poller_wait(poller, &raw mut event, -1), 0);
    assert_eq!((event.socket, event.events), (server, POLLOUT));
    assert_eq!(zmq_poller_modify(poller, server, 0), 0);
    assert_eq!(zmq_poller_remove(poller, near), 0);
    assert_eq!(zmq_poller_wait(poller, &raw mut event, -1), 0);
    assert_eq!((event.socket, event.fd), (null_mut(), fd));
    assert_eq!(zmq_poller_modify_fd(poller, fd, 0), 0);
    let wait = errno(|| zmq_poller_wait(poller, &raw mut event, -1));
    assert_eq!(wait, Errno::FAULT, "for ever, for nothing");
    assert_eq!(zmq_poller_remove_fd(poller, fd), 0);
    assert_eq!(zmq_poller_size(poller), 1);
    assert_eq!(zmq_poller_destroy(&raw mut poller), 0);
    assert!(poller.is_null());
    assert_eq!(errno(|| zmq_poller_size(poller)), Errno::FAULT);
}

#[test]
fn a_poller_refuses_what_it_cannot_wait_for() {
    let mut scene = Scene::new();
    let pair = scene.socket(PAIR);
    let mut elsewhere: *mut c_void = null_mut();
    let mut event = place();
    for handle in [null_mut(), (&raw mut elsewhere).cast(), pair] {
        for refused in [
            errno(|| zmq_poller_size(handle)),
            errno(|| zmq_poller_add(handle, pair, null_mut(), POLLIN)),
            errno(|| zmq_poller_modify(handle, pair, POLLIN)),
            errno(|| zmq_poller_remove(handle, pair)),
            errno(|| zmq_poller_add_fd(handle, 0, null_mut(), POLLIN)),
            errno(|| zmq_poller_modify_fd(handle, 0, POLLIN)),
            errno(|| zmq_poller_remove_fd(handle, 0)),
            errno(|| zmq_poller_wait(handle, &raw mut event, 0)),
            errno(|| zmq_poller_wait_all(handle, &raw mut event, 1, 0)),
            errno(|| zmq_poller_fd(handle, &raw mut event.fd)),
        ] {
            assert_eq!(refused, Errno::FAULT);
        }
    }
    assert_eq!(errno(|| zmq_poller_destroy(null_mut())), Errno::FAULT);
    assert_eq!(
        errno(|| zmq_poller_destroy(&raw mut elsewhere)),
        Errno::FAULT
    );

    let mut poller = zmq_poller_new();
    for refused in [
        errno(|| zmq_poller_add(poller, null_mut(), null_mut(), POLLIN)),
        errno(|| zmq_poller_modify(poller, null_mut(), POLLIN)),
        errno(|| zmq_poller_remove(poller, null_mut())),
    ] {
        assert_eq!(refused, Errno::NOTSOCK);
    }
    for refused in [
        errno(|| zmq_poller_add_fd(poller, -1, null_mut(), POLLIN)),
        errno(|| zmq_poller_modify_fd(poller, -1, POLLIN)),
        errno(|| zmq_poller_remove_fd(poller, -1)),
    ] {
        assert_eq!(refused, Errno(libc::EBADF));
    }
    let wait = |events, count, timeout| zmq_poller_wait_all(poller, events, count, timeout);
    assert_eq!(errno(|| wait(null_mut(), 1, 0)), Errno::FAULT);
    assert_eq!(errno(|| wait(&raw mut event, -1, 0)), Errno::INVAL);
    assert_eq!(errno(|| wait(&raw mut event, 1, 0)), Errno::AGAIN);
    assert_eq!(errno(|| wait(&raw mut event, 1, 1)), Errno::AGAIN);
    assert_eq!(errno(|| wait(&raw mut event, 1, -1)), Errno::FAULT);
    // A socket that is closed while it is there.
    let closed = zmq_socket(scene.context, PAIR);
    assert_eq!(zmq_poller_add(poller, closed, null_mut(), POLLIN), 0);
    assert_eq!(zmq_close(closed), 0);
    assert_eq!(errno(|| wait(&raw mut event, 1, -1)), Errno::NOTSOCK);
    assert_eq!(zmq_poller_destroy(&raw mut poller), 0);
}

/// The poller has a socket of it that was closed.
#[test]
fn a_context_ends_before_a_poller() {
    let (done, ended) = std::sync::mpsc::channel();
    let mut poller = zmq_poller_new();
    let handle = poller.expose_provenance();
    std::thread::spawn(move || {
        let mut scene = Scene::new();
        let pair = scene.socket(PAIR);
        let poller = std::ptr::with_exposed_provenance_mut(handle);
        assert_eq!(zmq_poller_add(poller, pair, null_mut(), POLLIN), 0);
        drop(scene);
        let _ = done.send(());
    });
    let limit = std::time::Duration::from_secs(30);
    assert_eq!(ended.recv_timeout(limit), Ok(()));
    assert_eq!(zmq_poller_destroy(&raw mut poller), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_descriptor_of_a_poller_is_that_of_its_shared_sockets() {
    let mut scene = Scene::new();
    let [server, client] = scene.pair([SERVER, CLIENT], c"inproc://a-descriptor");
    let [late, of_late] = scene.pair([SERVER, CLIENT], c"inproc://a-descriptor-too");
    let pair = scene.socket(PAIR);
    let mut poller = zmq_poller_new();
    let mut fd = -1;
    assert_eq!(zmq_poller_add(poller, pair, null_mut(), POLLIN), 0);
    assert_eq!(
        errno(|| zmq_poller_fd(poller, &raw mut fd)),
        Errno::INVAL,
        "none of them can be shared"
    );
    assert_eq!(zmq_poller_add(poller, server, null_mut(), POLLIN), 0);
    assert_eq!(zmq_poller_fd(poller, &raw mut fd), 0);
    assert_eq!(zmq_poller_add(poller, late, null_mut(), POLLIN), 0);
    let readable = |timeout| {
        let mut item = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor, which the poller keeps open.
        unsafe { libc::poll(&raw mut item, 1, timeout) }
    };
    for (from, to) in [(client, server), (of_late, late)] {
        let mut event = place();
        // The wait sees all that has happened until now, and then there is nothing.
        let wait = errno(|| zmq_poller_wait(poller, &raw mut event, 0));
        assert_eq!(wait, Errno::AGAIN);
        assert_eq!(readable(0), 0);
        assert_eq!(send(from, b"hello", 0), 5);
        assert_eq!(readable(60_000), 1);
        assert_eq!(zmq_poller_wait(poller, &raw mut event, -1), 0);
        assert_eq!(event.socket, to);
        assert_eq!(receive(to), b"hello");
    }
    assert_eq!(zmq_poller_remove(poller, server), 0);
    assert_eq!(zmq_poller_destroy(&raw mut poller), 0);
}

// ---- ppoll -------------------------------------------------------------------------------------

/// A signal that waits for this thread alone is let through while it sleeps, and only then.
#[test]
fn ppoll_lets_signals_through_while_it_sleeps() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static SEEN: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn handler(_signal: c_int) {
        SEEN.fetch_add(1, Ordering::SeqCst);
    }
    let mut scene = Scene::new();
    let [near, far] = scene.pair([PAIR, PAIR], c"inproc://ppoll");
    let poll = |timeout, signals| {
        let mut item = PollItem::of(near, POLLIN);
        let ready = zmq_ppoll(&raw mut item, 1, timeout, signals);
        (ready, item.happened())
    };
    let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets that are filled before they are read, a handler that counts, and this thread.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as extern "C" fn(c_int) as usize;
        assert_eq!(
            libc::sigaction(libc::SIGUSR2, &raw const action, null_mut()),
            0
        );
        libc::sigemptyset(blocked.as_mut_ptr());
        libc::sigaddset(blocked.as_mut_ptr(), libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), before.as_mut_ptr());
    }
    for (round, timeout) in [0, -1].into_iter().enumerate() {
        // SAFETY: this thread.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR2) };
        assert_eq!(SEEN.load(Ordering::SeqCst), round);
        // With the same signals blocked, or those of the thread, nothing comes through.
        for signals in [null(), blocked.as_ptr()] {
            assert_eq!(poll(0, signals), (0, 0));
        }
        assert_eq!(SEEN.load(Ordering::SeqCst), round);
        let polled = errno(|| poll(timeout, before.as_ptr()));
        assert_eq!(polled, Errno::INTR);
        assert_eq!(SEEN.load(Ordering::SeqCst), round + 1);
    }
    assert_eq!(send(far, b"hello", 0), 5);
    assert_eq!(poll(-1, before.as_ptr()), (1, POLLIN));
    let refused = errno(|| zmq_ppoll(null_mut(), 1, 0, null()));
    assert_eq!(refused, Errno::FAULT);
}
