//! Time limits, and queues that were full: a thread that sleeps until one of both is due.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Context;
use std::time::Duration;

use super::Hub;
use crate::limits::bounded;
use crate::outgoing::CallOptions;
use crate::proto::TICK;
use crate::seat::Seat;

/// When to look next; arming it for later than that costs one load.
pub(super) struct Clock {
    /// Microseconds of the context's clock; the maximum for never.
    next: AtomicU64,
    /// Some link has messages that the socket had no room for. While this is set the clock's
    /// thread listens for room.
    full: AtomicBool,
    /// Where the clock's thread sleeps.
    seat: OnceLock<Arc<Seat>>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            next: AtomicU64::new(u64::MAX),
            full: AtomicBool::new(false),
            seat: OnceLock::new(),
        }
    }
}

impl Clock {
    pub(super) fn arm(&self, at: Duration) {
        let at = u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
        if at < self.next.load(Ordering::SeqCst) && at < self.next.fetch_min(at, Ordering::SeqCst) {
            // A thread that has not begun will look first.
            if let Some(seat) = self.seat.get() {
                seat.wake_up();
            }
        }
    }

    /// When it is due; `None` for never.
    pub(super) fn next(&self) -> Option<Duration> {
        let next = self.next.load(Ordering::SeqCst);
        (next < u64::MAX).then(|| Duration::from_micros(next))
    }

    /// Whether it is due. Then it forgets what it was armed for.
    fn is_due(&self, now: Duration) -> bool {
        let is_due = self.next().is_some_and(|next| next <= now);
        if is_due {
            self.next.store(u64::MAX, Ordering::SeqCst);
        }
        is_due
    }
}

/// Where the clock's thread listens for room in the socket, while a link waits for it.
#[derive(Default)]
pub(super) struct RoomListener {
    listening: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl RoomListener {
    fn is_there(&mut self, context: &mut Context<'_>) -> bool {
        let listening = self.listening.as_mut();
        listening.is_some_and(|room| room.as_mut().poll(context).is_ready())
    }
}

impl Hub {
    /// Something has to be looked at then.
    pub(crate) fn arm(&self, at: Duration) {
        self.clock.arm(at);
    }

    /// When a call that begins now is over, unless it has no limit.
    pub(crate) fn due(&self, now: Duration, options: CallOptions) -> Option<Duration> {
        let limit = options.limit.or(self.options.request_limit);
        limit.map(|limit| now + bounded(limit))
    }

    /// Wakes those that wait for a change at this time.
    pub(crate) fn limit_wait_for_change(&self, until: Duration) {
        self.changes.limit(until);
        self.arm(until);
    }

    /// The end of a call's time is looked at a tick later.
    pub(crate) fn arm_for_call(&self, due: Option<Duration>) {
        if let Some(due) = due {
            self.arm(due + TICK);
        }
    }

    /// The socket had no room for what a link has to send.
    pub(crate) fn wait_for_socket(&self) {
        if !self.clock.full.swap(true, Ordering::SeqCst) {
            self.clock.arm(Duration::ZERO);
        }
    }

    pub(super) fn keep_time(self: Arc<Self>) {
        Seat::of_this_thread(|seat, waker| {
            let _ = self.clock.seat.set(seat.clone());
            self.keep_time_at(seat, &mut Context::from_waker(waker));
        });
    }

    fn keep_time_at(&self, seat: &Seat, context: &mut Context<'_>) {
        let mut room = RoomListener::default();
        while !self.has_ended() {
            if !self.process_due(&mut room, context) {
                seat.sleep(self.clock.next().map(|next| self.at(next)));
            }
        }
    }

    /// Does what is due, and what there is room for again. `false` where that is nothing: then the waker of
    /// `context` is woken when there is room, and the clock says when to ask next.
    pub(super) fn process_due(&self, room: &mut RoomListener, context: &mut Context<'_>) -> bool {
        let has_room = room.is_there(context);
        if !has_room && !self.clock.is_due(self.now()) {
            return false;
        }
        // Listening comes before the attempt, or a signal could slip through.
        let full = self.clock.full.load(Ordering::SeqCst);
        if !full {
            room.listening = None;
        } else if has_room || room.listening.is_none() {
            room.listening = Some(Box::pin(self.socket.room()));
        }
        self.look_at_links();
        if full {
            self.clock.full.store(false, Ordering::SeqCst);
            // A thread that finds no room from here on says so.
            if self.links().iter().any(|link| link.has_output()) {
                self.clock.full.store(true, Ordering::SeqCst);
            }
        }
        true
    }

    fn look_at_links(&self) {
        let now = self.now();
        for link in self.links() {
            match link.look_at_clock(now) {
                Ok(Some(next)) => self.clock.arm(next),
                Ok(None) => {}
                Err(violation) => self.violated(link.routing_id(), violation),
            }
        }
        self.look_at_door(now);
        if let Some(next) = self.changes.check_limit(now) {
            self.clock.arm(next);
        }
    }
}
