//! The lease of direct reading under every order in which threads can take their steps, as loom tells
//! them. The lease is the library's own file; queue, descriptor and signal are the least that stand for
//! the library's.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

#[path = "../../src/waiting/lease.rs"]
mod lease;

mod atomic {
    pub(super) use loom::sync::atomic::{AtomicU8, Ordering};
}

use lease::{Begun, Ended, Lease, Leaving, Use};

const PREEMPTIONS: usize = 3;

/// Every order with up to this number of places at which a thread is interrupted in favour of another: more
/// take hours, and find little (Musuvathi and Qadeer, Iterative Context Bounding, 2007).
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// A flag that one thread writes and others sleep for.
struct Wakeups {
    written: Mutex<bool>,
    changed: Condvar,
}

impl Wakeups {
    fn new() -> Self {
        Wakeups {
            written: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    fn write(&self) {
        *self.written.lock().unwrap() = true;
        self.changed.notify_all();
    }

    /// Sleeps until it is written, and clears it. Loom fails where nobody writes it.
    fn sleep(&self) {
        let mut written = self.written.lock().unwrap();
        while !*written {
            written = self.changed.wait(written).unwrap();
        }
        *written = false;
    }
}

/// A socket with messages, the descriptor of who reads directly, and one signal for each that waits.
struct Socket {
    lease: Lease,
    messages: Mutex<usize>,
    descriptor: Wakeups,
    signals: [Wakeups; 2],
}

impl Socket {
    fn new() -> Arc<Self> {
        Arc::new(Socket {
            lease: Lease::default(),
            messages: Mutex::new(0),
            descriptor: Wakeups::new(),
            signals: [Wakeups::new(), Wakeups::new()],
        })
    }

    fn deliver(&self, messages: usize) {
        *self.messages.lock().unwrap() += messages;
        for signal in &self.signals {
            signal.write();
        }
        if self.lease.wake() {
            self.descriptor.write();
        }
    }

    fn take(&self) -> bool {
        let mut messages = self.messages.lock().unwrap();
        let taken = *messages > 0;
        *messages -= usize::from(taken);
        taken
    }

    fn ended(&self, ended: &Ended) {
        if ended.sleeps {
            self.descriptor.write();
        }
    }

    /// Reads directly, if that can be, until there is a message; `false` when it could not go on.
    fn receive_directly(&self) -> bool {
        match self.lease.begin() {
            Begun::Reads => {}
            Begun::Taken { sleeps } => {
                if sleeps {
                    self.descriptor.write();
                }
                return false;
            }
            Begun::Shared => return false,
        }
        loop {
            self.lease.park();
            if self.take() {
                self.lease.leave(false);
                return true;
            }
            if !self.lease.is_ended() {
                self.descriptor.sleep();
            }
            if !self.lease.unpark() {
                self.lease.leave(true);
                return false;
            }
        }
    }

    fn receive(&self, number: usize) {
        if self.receive_directly() {
            return;
        }
        while !self.take() {
            self.signals[number].sleep();
        }
    }
}

#[test]
fn who_reads_directly_sees_every_message() {
    explore(|| {
        let socket = Socket::new();
        let other = socket.clone();
        let sender = thread::spawn(move || {
            other.deliver(1);
            other.deliver(1);
        });
        socket.receive(0);
        socket.receive(0);
        sender.join().unwrap();
        assert!(!socket.lease.is_held());
    });
}

#[test]
fn a_second_thread_ends_direct_reading_and_both_have_their_message() {
    explore(|| {
        let socket = Socket::new();
        let other = socket.clone();
        let second = thread::spawn(move || other.receive(1));
        let sender = {
            let socket = socket.clone();
            thread::spawn(move || socket.deliver(2))
        };
        socket.receive(0);
        second.join().unwrap();
        sender.join().unwrap();
        assert!(!socket.lease.is_held());
    });
}

#[test]
fn a_task_ends_direct_reading_for_good() {
    explore(|| {
        let socket = Socket::new();
        let other = socket.clone();
        let task = thread::spawn(move || {
            other.ended(&other.lease.share());
            other.deliver(1);
        });
        socket.receive(0);
        task.join().unwrap();
        assert!(socket.lease.is_shared() && !socket.lease.is_held());
        assert_eq!(socket.lease.begin(), Begun::Shared);
    });
}

#[test]
fn another_peer_ends_direct_reading_until_it_begins_anew() {
    explore(|| {
        let socket = Socket::new();
        let other = socket.clone();
        let peer = thread::spawn(move || {
            other.ended(&other.lease.revoke());
            other.deliver(1);
        });
        socket.receive(0);
        peer.join().unwrap();
        assert!(!socket.lease.is_parked() && !socket.lease.is_shared());
        assert_eq!(socket.lease.begin(), Begun::Reads);
    });
}

/// The connection as the engine sees it.
#[derive(Default)]
struct Connection {
    /// The engine does not read it.
    leased: bool,
    /// The engine looks after the lease before long.
    timer: bool,
}

/// A thread that comes and goes, as the library does it.
fn read_and_leave(lease: &Lease, connection: &Mutex<Connection>) {
    if lease.begin() != Begun::Reads {
        return;
    }
    let mut leasing = connection.lock().unwrap();
    if !leasing.leased {
        lease.is_new();
        leasing.leased = true;
    }
    drop(leasing);
    lease.park();
    let goes_on = lease.unpark();
    match lease.leave(!goes_on) {
        Leaving::Watched => {}
        Leaving::Unwatched => {
            let mut connection = connection.lock().unwrap();
            connection.timer = connection.leased;
        }
        Leaving::Over => end(connection),
    }
}

fn end(connection: &Mutex<Connection>) {
    *connection.lock().unwrap() = Connection::default();
}

fn check(lease: &Lease, connection: &Mutex<Connection>) {
    let mut connection = connection.lock().unwrap();
    if connection.timer {
        match lease.check() {
            Use::Now => connection.timer = false,
            Use::Lately => {}
            Use::Over => *connection = Connection::default(),
        }
    }
}

#[test]
fn the_engine_reads_again_once_nobody_has_for_two_looks() {
    explore(|| {
        let lease = Arc::new(Lease::default());
        let connection = Arc::new(Mutex::new(Connection::default()));
        let engine = {
            let (lease, connection) = (lease.clone(), connection.clone());
            thread::spawn(move || (0..3).for_each(|_| check(&lease, &connection)))
        };
        read_and_leave(&lease, &connection);
        read_and_leave(&lease, &connection);
        engine.join().unwrap();
        check(&lease, &connection);
        check(&lease, &connection);
        assert!(!connection.lock().unwrap().leased, "for ever");
    });
}

#[test]
fn a_lease_that_outlives_its_connection_is_looked_after_with_the_next() {
    explore(|| {
        let lease = Arc::new(Lease::default());
        let connection = Arc::new(Mutex::new(Connection::default()));
        let engine = {
            let connection = connection.clone();
            thread::spawn(move || end(&connection))
        };
        read_and_leave(&lease, &connection);
        engine.join().unwrap();
        read_and_leave(&lease, &connection);
        check(&lease, &connection);
        check(&lease, &connection);
        assert!(!connection.lock().unwrap().leased, "for ever");
    });
}

#[test]
fn a_revoked_lease_ends_whatever_the_thread_does_meanwhile() {
    explore(|| {
        let lease = Arc::new(Lease::default());
        let connection = Arc::new(Mutex::new(Connection::default()));
        let peer = {
            let (lease, connection) = (lease.clone(), connection.clone());
            thread::spawn(move || {
                if lease.revoke().leased {
                    end(&connection);
                }
            })
        };
        read_and_leave(&lease, &connection);
        read_and_leave(&lease, &connection);
        peer.join().unwrap();
        assert!(!lease.is_held());
        check(&lease, &connection);
        check(&lease, &connection);
        assert!(!lease.may_be_leased() || !connection.lock().unwrap().leased);
    });
}
