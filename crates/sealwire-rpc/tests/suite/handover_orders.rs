//! The choice of the reader, under every order in which threads can take their steps, as loom tells them. The
//! hand-over is the library's own file; socket and seats are the least that stand for the library's.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

#[path = "../../src/hub/handover.rs"]
mod handover;

mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard};
}

use handover::{Handover, Sleeper, Ticket};

const PREEMPTIONS: usize = 3;
/// The seat of the client's own thread.
const OWN: usize = 2;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

#[derive(Default)]
struct World {
    /// On the socket; each is the answer for one caller.
    messages: Vec<usize>,
    answered: [bool; 2],
    woken: [bool; 3],
    is_read: bool,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    world: Mutex<World>,
    changed: Condvar,
}

struct Seat {
    number: usize,
    shared: Arc<Shared>,
}

impl Sleeper for Seat {
    fn is_woken(&self) -> bool {
        self.shared.world.lock().unwrap().woken[self.number]
    }
}

struct Client {
    handover: Handover<Seat>,
    shared: Arc<Shared>,
}

impl Client {
    fn new() -> Arc<Self> {
        Arc::new(Client {
            handover: Handover::new(),
            shared: Arc::default(),
        })
    }

    fn change<R>(&self, change: impl FnOnce(&mut World) -> R) -> R {
        let result = change(&mut self.shared.world.lock().unwrap());
        self.shared.changed.notify_all();
        result
    }

    fn wake(&self, seat: usize) {
        self.change(|world| world.woken[seat] = true);
    }

    fn wake_chosen(&self, seat: Option<Seat>) {
        if let Some(seat) = seat {
            self.wake(seat.number);
        }
    }

    /// Sleeps at the seat, also for a message where `reads`.
    fn sleep(&self, seat: usize, reads: bool) {
        let mut world = self.shared.world.lock().unwrap();
        if reads {
            assert!(!std::mem::replace(&mut world.is_read, true), "two read");
        }
        while !(world.woken[seat] || world.ended || reads && !world.messages.is_empty()) {
            world = self.shared.changed.wait(world).unwrap();
        }
        world.woken[seat] = false;
        if !reads {
            return;
        }
        world.is_read = false;
        let answers = std::mem::take(&mut world.messages);
        drop(world);
        for caller in answers {
            self.change(|world| {
                assert!(!std::mem::replace(&mut world.answered[caller], true));
                world.woken[caller] = true;
            });
        }
    }

    fn seat(&self, number: usize) -> Seat {
        let shared = self.shared.clone();
        Seat { number, shared }
    }

    /// A call that waits for its answer.
    fn call(&self, caller: usize) {
        let mut ticket: Option<Ticket> = None;
        while !self.shared.world.lock().unwrap().answered[caller] {
            let ticket = *ticket.get_or_insert_with(|| self.handover.enter(self.seat(caller)));
            self.sleep(caller, self.handover.reads(ticket));
        }
        if let Some(ticket) = ticket {
            let chosen = self.handover.leave(ticket);
            self.wake_chosen(chosen);
            // The time after which it asks passes some time later.
            self.wake(OWN);
        }
    }

    /// What the client's own thread does.
    fn serve(&self) {
        while !self.shared.world.lock().unwrap().ended {
            // Twice: it leaves the reading for some time after a caller has read.
            if self.handover.own_reads() || self.handover.own_reads() {
                self.sleep(OWN, true);
                self.wake_chosen(self.handover.share());
            } else {
                self.sleep(OWN, false);
            }
        }
    }

    fn end(&self) {
        self.change(|world| world.ended = true);
    }

    fn answer(&self, caller: usize) {
        self.change(|world| world.messages.push(caller));
    }
}

#[test]
fn each_caller_gets_its_answer_whoever_reads_it() {
    explore(|| {
        let client = Client::new();
        let callers = [0, 1].map(|caller| {
            let client = client.clone();
            thread::spawn(move || client.call(caller))
        });
        client.answer(0);
        client.answer(1);
        for caller in callers {
            caller.join().unwrap();
        }
        assert!(client.handover.own_reads() || client.handover.own_reads());
    });
}

#[test]
fn answers_come_in_the_other_order_too() {
    explore(|| {
        let client = Client::new();
        let first = client.clone();
        let first = thread::spawn(move || first.call(0));
        let network = client.clone();
        let network = thread::spawn(move || {
            network.answer(1);
            network.answer(0);
        });
        client.call(1);
        first.join().unwrap();
        network.join().unwrap();
    });
}

/// Something else than its answer wakes it, as its deadline does.
#[test]
fn a_caller_that_is_woken_without_an_answer_reads_if_nobody_does() {
    explore(|| {
        let client = Client::new();
        client.answer(0);
        let first = client.clone();
        let first = thread::spawn(move || first.call(0));
        let network = client.clone();
        let network = thread::spawn(move || {
            network.wake(1);
            network.answer(1);
        });
        client.call(1);
        first.join().unwrap();
        network.join().unwrap();
    });
}

#[test]
fn its_own_thread_reads_until_a_caller_can() {
    explore(|| {
        let client = Client::new();
        let own = client.clone();
        let own = thread::spawn(move || own.serve());
        let network = client.clone();
        let network = thread::spawn(move || network.answer(0));
        client.call(0);
        client.end();
        own.join().unwrap();
        network.join().unwrap();
    });
}

#[test]
fn what_comes_after_a_call_is_read_by_its_own_thread() {
    explore(|| {
        let client = Client::new();
        let own = client.clone();
        let own = thread::spawn(move || own.serve());
        client.answer(0);
        client.call(0);
        client.answer(1);
        let mut world = client.shared.world.lock().unwrap();
        while !world.answered[1] {
            world = client.shared.changed.wait(world).unwrap();
        }
        drop(world);
        client.end();
        own.join().unwrap();
    });
}

/// A seat that was woken, or was not.
#[derive(Debug, PartialEq)]
struct Named(&'static str, bool);

impl Sleeper for Named {
    fn is_woken(&self) -> bool {
        self.1
    }
}

#[test]
fn the_first_reads_and_hands_over_as_it_leaves() {
    loom::model(|| {
        let handover = Handover::new();
        let [first, second, third] =
            ["first", "second", "third"].map(|name| handover.enter(Named(name, false)));
        assert!(handover.reads(first) && !handover.reads(second) && !handover.reads(third));
        assert_eq!(handover.leave(second), None, "it waits no longer");
        assert_eq!(handover.leave(first), Some(Named("third", false)));
        assert!(handover.reads(third));
        assert_eq!(handover.leave(third), None, "nobody is left");
    });
}

#[test]
fn who_is_awake_is_not_chosen_and_reads_where_nobody_does() {
    loom::model(|| {
        let handover = Handover::new();
        let [first, second, third, fourth] = [false, false, true, true].map(|woken| {
            let seat = Named("", woken);
            handover.enter(seat)
        });
        assert_eq!(handover.leave(first), Some(Named("", false)), "the second");
        assert!(handover.reads(second) && !handover.reads(third));
        assert_eq!(handover.leave(second), None, "they are awake");
        assert_eq!(handover.leave(third), None, "it has its answer");
        assert!(handover.reads(fourth));
        assert_eq!(handover.leave(fourth), None);
    });
}

#[test]
fn its_own_thread_reads_once_no_caller_has_for_a_while() {
    loom::model(|| {
        let handover = Handover::new();
        assert!(handover.own_reads());
        let caller = handover.enter(Named("caller", false));
        assert!(!handover.reads(caller) && handover.own_reads());
        assert_eq!(handover.share(), Some(Named("caller", false)));
        assert!(handover.reads(caller) && !handover.own_reads());
        assert_eq!(handover.leave(caller), None);
        assert!(!handover.own_reads(), "one has lately");
        assert!(handover.own_reads());
        assert_eq!(handover.share(), None, "it goes on where nobody waits");
        assert!(handover.own_reads());
        let caller = handover.enter(Named("caller", true));
        assert_eq!(handover.share(), None, "it is awake");
        assert!(!handover.own_reads(), "it may read");
        assert!(handover.reads(caller));
    });
}
