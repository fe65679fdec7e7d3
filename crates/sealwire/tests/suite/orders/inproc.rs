//! `inproc`: the thread that makes progress possible moves the messages.

use std::collections::VecDeque;
use std::sync::Arc;

use loom::thread;

use super::waiting::listen;
use super::waiting::listening::Signal;
use super::{explore, explore_up_to};
use lane::{Delivered, Ends, Lane};

#[path = "../../../src/inproc/lane.rs"]
mod lane;

mod sync {
    pub(super) use super::super::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
}

use sync::{AtomicBool, Mutex, Ordering};

/// Two sockets with a lane between them, and their pipes as `core` and `pattern` keep them.
struct Connection {
    sender: Mutex<Outbound>,
    lane: Lane<usize>,
    receiver: Mutex<VecDeque<usize>>,
    readable: Signal,
    parted: AtomicBool,
}

#[derive(Default)]
struct Outbound {
    queue: VecDeque<usize>,
    signalled: bool,
}

/// Messages that the receiver has room for.
const ROOM: usize = 2;

impl Ends<usize> for Connection {
    fn deliver(&self, moving: &mut VecDeque<usize>) -> Delivered {
        let mut receiver = self.receiver.lock().unwrap();
        let delivered = moving.len().min(ROOM - receiver.len());
        receiver.extend(moving.drain(..delivered));
        drop(receiver);
        if delivered > 0 {
            self.readable.notify_more(delivered);
        }
        Delivered {
            some: delivered > 0,
            full: !moving.is_empty(),
        }
    }

    fn fetch(&self, moving: &mut VecDeque<usize>) -> bool {
        let room = ROOM - self.receiver.lock().unwrap().len();
        if room == 0 {
            return false;
        }
        let mut sender = self.sender.lock().unwrap();
        let taken = room.min(sender.queue.len());
        moving.extend(sender.queue.drain(..taken));
        sender.signalled = taken > 0;
        true
    }

    fn may_wait(&self) -> bool {
        true
    }

    fn are_joined(&self) -> bool {
        true
    }

    fn are_parted(&self) -> bool {
        self.parted.load(Ordering::SeqCst)
    }

    fn part(&self) {
        self.parted.store(true, Ordering::SeqCst);
    }
}

impl Connection {
    fn new() -> Arc<Self> {
        Arc::new(Connection {
            sender: Mutex::default(),
            lane: Lane::default(),
            receiver: Mutex::default(),
            readable: Signal::default(),
            parted: AtomicBool::new(false),
        })
    }

    fn send(&self, message: usize) {
        let mut sender = self.sender.lock().unwrap();
        sender.queue.push_back(message);
        let told = std::mem::replace(&mut sender.signalled, true);
        drop(sender);
        if !told {
            self.lane.pump(self);
        }
    }

    fn try_receive(&self) -> Option<usize> {
        let mut receiver = self.receiver.lock().unwrap();
        let message = receiver.pop_front();
        let emptied = receiver.is_empty();
        drop(receiver);
        if message.is_some() && emptied {
            self.lane.pump(self);
        }
        message
    }

    fn receive(&self) -> usize {
        loop {
            let listener = listen(&self.readable);
            if let Some(message) = self.try_receive() {
                return message;
            }
            listener.wait();
        }
    }
}

fn sending(connection: &Arc<Connection>, messages: &'static [usize]) -> thread::JoinHandle<()> {
    let connection = connection.clone();
    thread::spawn(move || {
        messages
            .iter()
            .for_each(|&message| connection.send(message))
    })
}

/// Sends two messages, and leaves in this way.
fn leaving(
    connection: &Arc<Connection>,
    way: fn(&Lane<usize>, &Connection),
) -> thread::JoinHandle<()> {
    let connection = connection.clone();
    thread::spawn(move || {
        connection.send(1);
        connection.send(2);
        way(&connection.lane, &connection);
    })
}

#[test]
fn what_is_sent_arrives_in_order_whoever_moves_it() {
    explore(|| {
        let connection = Connection::new();
        let sender = sending(&connection, &[1, 2, 3]);
        assert_eq!([1, 2, 3].map(|_| connection.receive()), [1, 2, 3]);
        sender.join().unwrap();
    });
}

#[test]
fn two_that_send_and_one_that_receives_leave_nothing_lying() {
    explore_up_to(2, || {
        let connection = Connection::new();
        let senders = [sending(&connection, &[1]), sending(&connection, &[2])];
        assert_eq!(connection.receive() + connection.receive(), 3);
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

#[test]
fn the_ends_part_once_all_has_moved() {
    explore(|| {
        let connection = Connection::new();
        let sender = leaving(&connection, Lane::finish);
        assert_eq!([1, 2].map(|_| connection.receive()), [1, 2]);
        sender.join().unwrap();
        assert!(connection.are_parted(), "nobody has parted them");
    });
}

#[test]
fn what_there_is_room_for_arrives_whoever_moves_it_as_the_sender_gives_up() {
    explore(|| {
        let connection = Connection::new();
        let sender = leaving(&connection, Lane::abandon);
        let mut all: Vec<_> = connection.try_receive().into_iter().collect();
        sender.join().unwrap();
        assert!(connection.are_parted(), "nobody has parted them");
        all.extend(std::iter::from_fn(|| connection.try_receive()));
        assert_eq!(all, [1, 2]);
    });
}

#[test]
fn what_has_left_the_sender_arrives_and_the_rest_stays_when_the_receiver_stops() {
    explore(|| {
        let connection = Connection::new();
        let sender = sending(&connection, &[1, 2, 3]);
        connection.lane.stop(&*connection);
        sender.join().unwrap();
        let arrived = std::iter::from_fn(|| connection.try_receive());
        let mut all: Vec<_> = arrived.collect();
        assert!(connection.are_parted(), "nobody has parted them");
        all.extend(&connection.sender.lock().unwrap().queue);
        assert_eq!(all, [1, 2, 3]);
    });
}
