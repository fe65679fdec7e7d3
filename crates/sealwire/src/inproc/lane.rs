//! One direction of a connection: moves messages from the pipe of one end to that of the other.
//!
//! A thread that makes progress possible, by sending, receiving or ending, asks the lane to move on. One
//! thread moves the messages, and serves what others ask for meanwhile. No thread waits for another.

use std::collections::VecDeque;
use std::mem;
use std::sync::PoisonError;

use super::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};

/// Where a lane leads from and to.
pub(super) trait Ends<T> {
    /// Gives the receiver what it has room for.
    fn deliver(&self, moving: &mut VecDeque<T>) -> Delivered;
    /// Takes from the sender what the receiver has room for. `false` where it has none: it asks the
    /// lane to move on once it has.
    fn fetch(&self, moving: &mut VecDeque<T>) -> bool;
    /// Whether the rest may stay with the sender while the receiver has something to read: it asks the
    /// lane to move on once it has read that.
    fn may_wait(&self) -> bool;
    /// Whether both ends can be reached.
    fn are_joined(&self) -> bool;
    /// Whether the connection has ended.
    fn are_parted(&self) -> bool;
    /// Ends the connection.
    fn part(&self);
}

/// What became of a delivery.
pub(super) struct Delivered {
    pub(super) some: bool,
    /// The receiver has no room for the rest.
    pub(super) full: bool,
}

pub(super) struct Lane<T> {
    /// Taken from the sender and not yet accepted by the receiver. Nobody waits for it.
    moving: Mutex<VecDeque<T>>,
    /// How often somebody asked for the lane to move on, and has no answer. The first moves it for all.
    asked: AtomicUsize,
    /// The connection ends once the lane is empty.
    finishing: AtomicBool,
    /// The receiver wants no more than what has left the sender: then the connection ends.
    stopping: AtomicBool,
    /// The sender has no time left: the connection ends once the receiver has what it has room for.
    abandoned: AtomicBool,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Lane {
            moving: Mutex::new(VecDeque::new()),
            asked: AtomicUsize::new(0),
            finishing: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
        }
    }
}

/// Lets others move the lane after a panic.
struct Moving<'a>(&'a AtomicUsize);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl<T> Lane<T> {
    /// Moves on what the receiver needs. If the lane is being moved already, the thread that does it goes
    /// on.
    pub(super) fn pump(&self, ends: &impl Ends<T>) {
        // One number for all: a flag beside the lock could be missed as the lock is released.
        if self.asked.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let still_moving = Moving(&self.asked);
        let mut answered = 1;
        while answered > 0 {
            // Asked before: what finds the lane empty must not miss what was sent until it was to finish.
            let finishing = self.is_ending();
            let abandoned = self.abandoned.load(Ordering::Relaxed);
            let mut moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
            let emptied = self.advance(&mut moving, ends);
            drop(moving);
            if abandoned || (emptied && finishing) {
                ends.part();
            }
            answered = self.asked.fetch_sub(answered, Ordering::AcqRel) - answered;
        }
        mem::forget(still_moving);
    }

    /// Whether the connection ends once nothing is left to move.
    fn is_ending(&self) -> bool {
        let ways = [&self.finishing, &self.stopping, &self.abandoned];
        ways.iter().any(|way| way.load(Ordering::Relaxed))
    }

    /// `true` when nothing is left to move. Something may be left although there is room: a
    /// receiver that has something to read asks for more once it has read it.
    fn advance(&self, moving: &mut VecDeque<T>, ends: &impl Ends<T>) -> bool {
        while !ends.are_parted() {
            if !moving.is_empty() {
                let delivered = ends.deliver(moving);
                let waits = !self.is_ending() && ends.may_wait();
                if delivered.full || (delivered.some && waits) {
                    return false;
                }
            }
            if self.stopping.load(Ordering::Relaxed) {
                return moving.is_empty() && ends.are_joined();
            }
            if !ends.fetch(moving) {
                return false;
            }
            if moving.is_empty() {
                return true;
            }
        }
        false
    }

    /// Parts the ends once all has moved.
    pub(super) fn finish(&self, ends: &impl Ends<T>) {
        // Seen by the thread that this asks to move on.
        self.finishing.store(true, Ordering::Relaxed);
        self.pump(ends);
    }

    /// Parts the ends once all that has left the sender is with the receiver.
    pub(super) fn stop(&self, ends: &impl Ends<T>) {
        // Seen by the thread that this asks to move on.
        self.stopping.store(true, Ordering::Relaxed);
        self.pump(ends);
    }

    /// Parts the ends once the receiver has what it has room for. It is the thread which moves that at the moment that
    /// parts them: if another one did, messages for which there is room would be lost.
    pub(super) fn abandon(&self, ends: &impl Ends<T>) {
        // Seen by the thread that this asks to move on.
        self.abandoned.store(true, Ordering::Relaxed);
        self.pump(ends);
    }
}
