//! Event loops that wait for a descriptor.

use std::sync::Arc;

use loom::thread;

use super::explore;
use super::sync::Mutex;
use super::waiting::latest_descriptor;
use super::waiting::readiness::{Pollable, Pollers, Readiness, Ready};

/// A socket with messages.
#[derive(Default)]
struct Socket {
    messages: Mutex<usize>,
    pollers: Pollers,
}

impl Socket {
    fn deliver(&self) {
        *self.messages.lock().unwrap() += 1;
        self.pollers.signal();
    }

    fn readiness(self: &Arc<Self>) -> Readiness {
        Readiness::new(&self.pollers, self.clone()).unwrap()
    }
}

impl Pollable for Socket {
    fn ready(&self) -> Ready {
        Ready {
            receive: *self.messages.lock().unwrap() > 0,
            send: true,
            closed: false,
        }
    }
}

/// Takes this number of messages, and polls before each attempt.
fn receive(socket: &Arc<Socket>, mut messages: usize) {
    let readiness = socket.readiness();
    let descriptor = latest_descriptor();
    while messages > 0 {
        descriptor.poll();
        if readiness.take().receive {
            messages -= std::mem::take(&mut *socket.messages.lock().unwrap());
        }
    }
}

#[test]
fn an_event_loop_sees_every_message() {
    explore(|| {
        let socket = Arc::new(Socket::default());
        let senders = [(); 2].map(|()| {
            let socket = socket.clone();
            thread::spawn(move || socket.deliver())
        });
        receive(&socket, 2);
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

#[test]
fn an_event_loop_that_ends_takes_nothing_from_the_next() {
    explore(|| {
        let socket = Arc::new(Socket::default());
        let sender = {
            let socket = socket.clone();
            thread::spawn(move || {
                socket.deliver();
                socket.deliver();
            })
        };
        drop(socket.readiness());
        receive(&socket, 2);
        sender.join().unwrap();
    });
}
