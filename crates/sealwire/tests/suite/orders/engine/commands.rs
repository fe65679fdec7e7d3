//! The mailbox of the I/O thread.

use std::sync::{Arc, Weak};

use loom::thread;

use super::inbox::Inbox;
use super::sync::Mutex;
use crate::orders::{Wakeups, explore};

/// The I/O thread as others see it.
struct Engine {
    inbox: Inbox<Command, ()>,
    awake: Wakeups,
    fate: Mutex<Fate>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Fate {
    carried_out: usize,
    dropped: usize,
}

struct Command {
    engine: Weak<Engine>,
    carried_out: bool,
    /// Posts another as it is dropped, as the owner of a payload may.
    posts: bool,
}

impl Drop for Command {
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade().filter(|_| !self.carried_out) else {
            return;
        };
        if std::thread::panicking() {
            // The model has failed: loom does nothing any more.
            return;
        }
        engine.fate.lock().unwrap().dropped += 1;
        if self.posts {
            post(&engine, false);
        }
    }
}

fn post(engine: &Arc<Engine>, posts: bool) {
    let command = Command {
        engine: Arc::downgrade(engine),
        carried_out: false,
        posts,
    };
    engine.inbox.post(command, || engine.awake.write());
}

impl Engine {
    fn new() -> Arc<Self> {
        Arc::new(Engine {
            inbox: Inbox::default(),
            awake: Wakeups::new(),
            fate: Mutex::default(),
        })
    }

    /// What the thread does each time it wakes.
    fn iterate(&self) -> usize {
        self.awake.sleep();
        let mut commands = Vec::new();
        self.inbox.take(&mut commands);
        let taken = commands.len();
        for command in &mut commands {
            command.carried_out = true;
        }
        self.fate.lock().unwrap().carried_out += taken;
        taken
    }
}

fn posting(engine: &Arc<Engine>, commands: usize, posts: bool) -> thread::JoinHandle<()> {
    let engine = engine.clone();
    thread::spawn(move || (0..commands).for_each(|_| post(&engine, posts)))
}

#[test]
fn every_command_wakes_the_thread_or_finds_it_awake() {
    explore(|| {
        let engine = Engine::new();
        let posters = [2, 1].map(|commands| posting(&engine, commands, false));
        let mut left = 3;
        while left > 0 {
            left -= engine.iterate();
        }
        for poster in posters {
            poster.join().unwrap();
        }
    });
}

#[test]
fn as_the_thread_ends_every_command_is_carried_out_or_dropped_and_may_post_others() {
    explore(|| {
        let engine = Engine::new();
        let poster = posting(&engine, 2, true);
        engine.iterate();
        engine.inbox.close();
        poster.join().unwrap();
        assert!(engine.inbox.is_closed());
        let Fate {
            carried_out,
            dropped,
        } = *engine.fate.lock().unwrap();
        // Each that is dropped posts another, which is dropped too.
        assert_eq!(2 * carried_out + dropped, 4, "{carried_out} and {dropped}");
    });
}

#[test]
fn a_socket_is_told_of_the_end_or_finds_it() {
    explore(|| {
        let inbox = Arc::new(Inbox::<(), Mutex<bool>>::default());
        let sockets = [(); 2].map(|()| Arc::new(Mutex::new(false)));
        let enrolling = sockets.clone().map(|socket| {
            let inbox = inbox.clone();
            thread::spawn(move || {
                if !inbox.enroll(Arc::downgrade(&socket)) {
                    *socket.lock().unwrap() = true;
                }
            })
        });
        for socket in inbox.close().iter().filter_map(Weak::upgrade) {
            *socket.lock().unwrap() = true;
        }
        for enrolling in enrolling {
            enrolling.join().unwrap();
        }
        for socket in sockets {
            assert!(*socket.lock().unwrap(), "not told");
        }
    });
}
