//! Code of others that takes its time, or panics, wherever it is called, while several threads use the
//! sockets: what loom cannot run with them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Message, SocketType};

use crate::support::primitives::{Hook, Hooked, Primitive};
use crate::support::{Path, eventually};

/// What foreign code does each time it is called.
#[derive(Debug)]
struct Whims {
    seed: AtomicU64,
    panics: AtomicBool,
}

impl Whims {
    fn new(panics: bool) -> Arc<Self> {
        Arc::new(Whims {
            seed: AtomicU64::new(1),
            panics: AtomicBool::new(panics),
        })
    }

    /// Yields, sleeps, panics, or does nothing.
    fn follow(&self) {
        let step = 0x9e37_79b9_7f4a_7c15;
        let mixed = self.seed.fetch_add(step, Ordering::Relaxed);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        match (mixed >> 27) % 64 {
            0 if self.panics.load(Ordering::Relaxed) => {
                // Without the hook, which would print each.
                std::panic::resume_unwind(Box::new("foreign code"))
            }
            0..2 => thread::sleep(Duration::from_micros(50)),
            2..16 => thread::yield_now(),
            _ => {}
        }
    }
}

struct Owner {
    /// Too long for a frame to hold in place of its owner.
    payload: [u8; 200],
    whims: Arc<Whims>,
    dropped: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.payload
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
        // A panic while another panic unwinds ends the process, in all of Rust.
        if !thread::panicking() {
            self.whims.follow();
        }
    }
}

#[derive(Debug)]
struct Primitives(Arc<Whims>);

impl Hook for Primitives {
    fn called(&self, primitive: Primitive) {
        if let Primitive::DiffieHellman | Primitive::Seal | Primitive::Open = primitive {
            self.0.follow();
        }
    }
}

/// Wakes its thread first.
struct Executor(Thread, Arc<Whims>);

impl Wake for Executor {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
        self.1.follow();
    }
}

fn receive_in_a_task(pull: &sealwire::Socket, whims: &Arc<Whims>) -> Message {
    let waker = Arc::new(Executor(thread::current(), whims.clone())).into();
    let mut receiving = pin!(pull.recv());
    loop {
        match receiving.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(message) => return message.unwrap(),
            Poll::Pending => thread::park(),
        }
    }
}

/// The paths and what foreign code does on them.
struct Scene {
    pull: Socket,
    push: Socket,
    whims: Arc<Whims>,
    dropped: Arc<AtomicUsize>,
}

impl Scene {
    fn over(path: &Path, panics: bool) -> Self {
        let whims = Whims::new(false);
        let [server, client] = [path.server(SocketType::Pull), path.client(SocketType::Push)]
            .map(|builder| builder.provider(Hooked::new(Primitives(whims.clone()))))
            .map(|builder| builder.linger(Duration::ZERO));
        let (pull, push) = path.link(server, client);
        push.send("first").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"first");
        whims.panics.store(panics, Ordering::Relaxed);
        Scene {
            pull,
            push,
            whims,
            dropped: Arc::default(),
        }
    }

    fn message(&self) -> Message {
        Message::from(Bytes::from_owner(Owner {
            payload: [b'.'; 200],
            whims: self.whims.clone(),
            dropped: self.dropped.clone(),
        }))
    }
}

const MESSAGES: usize = 300;
const SENDERS: usize = 2;

#[test]
fn foreign_code_that_takes_its_time_costs_no_message() {
    for path in Path::all() {
        let scene = Scene::over(&path, false);
        // Wakers may panic as well: they have woken their thread.
        let wakers = Whims::new(true);
        let received = AtomicUsize::new(0);
        let count = |message: Message| {
            let goes_on = message.as_bytes() != b"stop";
            received.fetch_add(usize::from(goes_on), Ordering::SeqCst);
            goes_on
        };
        thread::scope(|scope| {
            scope.spawn(|| while count(scene.pull.recv().unwrap()) {});
            scope.spawn(|| {
                let pull = sealwire::Socket::from(scene.pull.clone());
                while count(receive_in_a_task(&pull, &wakers)) {}
            });
            let senders = [(); SENDERS].map(|()| {
                scope
                    .spawn(|| (0..MESSAGES).for_each(|_| scene.push.send(scene.message()).unwrap()))
            });
            for sender in senders {
                sender.join().unwrap();
            }
            scene.push.send("stop").unwrap();
            scene.push.send("stop").unwrap();
        });
        let received = received.into_inner();
        assert_eq!(received, SENDERS * MESSAGES, "{}", path.name());
        let dropped = || scene.dropped.load(Ordering::SeqCst);
        eventually("every owner is dropped", || dropped() == SENDERS * MESSAGES);
    }
}

#[test]
fn after_foreign_code_has_panicked_in_many_places_messages_get_through() {
    for path in Path::all() {
        let scene = Scene::over(&path, true);
        thread::scope(|scope| {
            for _ in 0..SENDERS {
                scope.spawn(|| {
                    for _ in 0..MESSAGES {
                        let message = scene.message();
                        // Given back where there is no room or no peer, and dropped here.
                        let refused = scene.push.try_send(message);
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                            drop(refused);
                        }));
                        let received = scene.pull.try_recv();
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                            drop(received);
                        }));
                    }
                });
            }
        });
        scene.whims.panics.store(false, Ordering::Relaxed);
        eventually("a message gets through", || {
            let _ = scene.push.try_send("last");
            let mut received = std::iter::from_fn(|| scene.pull.try_recv().ok());
            received.any(|message| message.as_bytes() == b"last")
        });
        drop(scene.push.close());
        drop(scene.pull.close());
        let dropped = || scene.dropped.load(Ordering::SeqCst);
        eventually("every owner is dropped", || dropped() == SENDERS * MESSAGES);
    }
}
