//! Tasks and threads that wait for a signal.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use loom::thread;

use super::explore;
use super::sync::{AtomicBool, Mutex, Ordering, contain};
use super::waiting::listen;
use super::waiting::listening::{Listening, Signal};
use super::wakers::{Executor, Panics, panicking};

/// A socket with messages that several wait for.
#[derive(Default)]
struct Socket {
    signal: Signal,
    messages: Mutex<usize>,
}

impl Socket {
    fn deliver(&self, messages: usize) {
        *self.messages.lock().unwrap() += messages;
        self.signal.notify_more(messages);
    }

    fn take(&self) -> bool {
        let mut messages = self.messages.lock().unwrap();
        let taken = *messages > 0;
        *messages -= usize::from(taken);
        taken
    }

    fn receive(&self) {
        loop {
            let listening = Listening::to(&self.signal);
            if self.take() {
                return;
            }
            finish(listening);
        }
    }

    /// As a thread does it that blocks.
    fn receive_blocking(&self) {
        loop {
            let listener = listen(&self.signal);
            if self.take() {
                return;
            }
            listener.wait();
        }
    }

    /// Polls with such a waker once, and gives up.
    fn poll_once(&self, waker: &Waker) {
        let mut listening = Listening::to(&self.signal);
        let told = contain("polling", || poll(&mut listening, waker));
        contain("dropping", || drop(listening));
        if told == Some(true) && self.take() {
            self.deliver(1);
        }
    }
}

fn poll(listening: &mut Listening, waker: &Waker) -> bool {
    Pin::new(listening)
        .poll(&mut Context::from_waker(waker))
        .is_ready()
}

/// Runs a wait to its end.
fn finish(mut listening: Listening) {
    let executor = Executor::new();
    let waker = Waker::from(executor.clone());
    while !poll(&mut listening, &waker) {
        executor.0.sleep();
    }
}

/// Runs these at once, in every order, and sees that nobody is left who waits.
fn at_once<const N: usize>(threads: [fn(&Socket); N]) {
    explore(move || {
        let socket = Arc::new(Socket::default());
        let (own, others) = threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|&other| {
                let socket = socket.clone();
                thread::spawn(move || other(&socket))
            })
            .collect();
        own(&socket);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(socket.signal.waiters(), 0, "waiters");
        assert!(!socket.take(), "a message is left");
    });
}

#[test]
fn each_task_has_its_message() {
    at_once([|socket| socket.deliver(2), Socket::receive, Socket::receive]);
}

#[test]
fn a_task_and_a_thread_have_their_messages() {
    at_once([
        |socket| socket.deliver(2),
        Socket::receive,
        Socket::receive_blocking,
    ]);
}

#[test]
fn a_task_that_gives_up_passes_it_on() {
    at_once([
        |socket| socket.deliver(1),
        |socket| socket.poll_once(Waker::noop()),
        Socket::receive,
    ]);
}

fn beside_a_waker_that(panics: Panics) {
    explore(move || {
        let socket = Arc::new(Socket::default());
        let hostile = {
            let socket = socket.clone();
            thread::spawn(move || {
                let waker = panicking(&Executor::new(), panics);
                socket.poll_once(&waker);
                contain("dropping", || drop(waker));
            })
        };
        let receiver = {
            let socket = socket.clone();
            thread::spawn(move || socket.receive())
        };
        socket.deliver(1);
        hostile.join().unwrap();
        receiver.join().unwrap();
        assert_eq!(socket.signal.waiters(), 0, "waiters");
    });
}

#[test]
fn a_waker_that_panics_as_it_is_called_costs_nobody_a_message() {
    beside_a_waker_that(Panics::Woken);
}

#[test]
fn a_waker_that_panics_as_it_is_cloned_costs_nobody_a_message() {
    beside_a_waker_that(Panics::Cloned);
}

#[test]
fn a_waker_that_panics_as_it_is_dropped_costs_nobody_a_message() {
    beside_a_waker_that(Panics::Dropped);
}

/// The condition of a wait need not be under a lock, as a fence stands before it is told.
#[test]
fn a_task_sees_what_changes_without_a_lock_as_it_begins_to_wait() {
    explore(|| {
        let (signal, done) = (
            Arc::new(Signal::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let other = (signal.clone(), done.clone());
        let notifier = thread::spawn(move || {
            let (signal, done) = other;
            done.store(true, Ordering::Relaxed);
            signal.notify(usize::MAX);
        });
        let listening = Listening::to(&signal);
        if !done.load(Ordering::Relaxed) {
            finish(listening);
        }
        notifier.join().unwrap();
    });
}
