//! Time limits, and queues that were full: what has to be done about them, and when.
//!
//! The thread that does the I/O of the context does it, in [rounds](Round) through the links, a few links at a time.
//! All sockets of the context wait for that thread, so it takes no lock here that others hold while they run code
//! of the program's: a link that another thread has is tried again later ([`Checked::Busy`]), and the other locks on
//! its way guard data only.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;

use sealwire::waits;

use super::Hub;
use super::links::HubLink;
use crate::limits::bounded;
use crate::link::{Checked, Offered};
use crate::lock::lock;
use crate::outgoing::CallOptions;
use crate::proto::TICK;

/// Links that are looked at before the sockets of the context have an iteration.
const LINKS_AT_A_TIME: usize = 64;
/// When a link is tried again that another thread had.
const BUSY: Duration = Duration::from_millis(1);

/// When to check next; arming it for later than that costs one load.
pub(super) struct Clock {
    /// Microseconds of the context's clock; the maximum for never.
    next: AtomicU64,
    /// Some link has messages that the socket had no room for. While this is set the clock listens for room.
    full: AtomicBool,
    /// Wakes who keeps the time.
    waker: OnceLock<Waker>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            next: AtomicU64::new(u64::MAX),
            full: AtomicBool::new(false),
            waker: OnceLock::new(),
        }
    }
}

impl Clock {
    /// Says who keeps the time, and has it done at once.
    pub(super) fn keep_by(&self, waker: Waker) {
        self.waker.get_or_init(|| waker).wake_by_ref();
    }

    pub(super) fn arm(&self, at: Duration) {
        // Before there is a waker nobody needs one: it is woken as it comes.
        if self.note(at)
            && let Some(waker) = self.waker.get()
        {
            waker.wake_by_ref();
        }
    }

    /// Arms it by who keeps the time. Whether that is earlier than before.
    fn note(&self, at: Duration) -> bool {
        let at = u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
        at < self.next.load(Ordering::SeqCst) && at < self.next.fetch_min(at, Ordering::SeqCst)
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

/// How far the clock has come.
#[derive(Default)]
pub(super) struct Round {
    /// The first routing id that is left of a round that has begun.
    left: Option<u32>,
    /// Some link waited for room in the socket as the round began.
    full: bool,
    /// A wait for room in the socket.
    room: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Links that another thread had, with what is left to do for them.
    busy: Vec<(Arc<HubLink>, Option<Offered>)>,
    retry: Duration,
}

impl Round {
    fn has_room(&mut self, context: &mut Context<'_>) -> bool {
        let room = self.room.as_mut();
        room.is_some_and(|room| room.as_mut().poll(context).is_ready())
    }
}

/// What the clock is for the thread that keeps it.
pub(super) struct Timekeeping {
    hub: Arc<Hub>,
    /// Locked by that thread only.
    round: Mutex<Round>,
}

impl Timekeeping {
    pub(super) fn of(hub: &Arc<Hub>) -> Arc<Self> {
        Arc::new(Timekeeping {
            hub: hub.clone(),
            round: Mutex::default(),
        })
    }

    /// Puts this in place of a wait for room in the socket.
    #[cfg(test)]
    pub(super) fn wait_for_room(&self, room: impl Future<Output = ()> + Send + 'static) {
        lock(&self.round).room = Some(Box::pin(room));
    }
}

impl waits::Work for Timekeeping {
    fn run(&self, waker: &Waker) -> Option<Duration> {
        let hub = &self.hub;
        if hub.has_ended() {
            return None;
        }
        let round = &mut *lock(&self.round);
        let context = &mut Context::from_waker(waker);
        match hub.guard("the clock", || hub.process_due(round, context)) {
            // There may be more, once others had their time.
            Some(true) => Some(Duration::ZERO),
            Some(false) => hub.next_check(round),
            None => {
                hub.fail_beside();
                None
            }
        }
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

    /// When to process next, where nothing is due and the waker is not woken before.
    pub(super) fn next_check(&self, round: &Round) -> Option<Duration> {
        let retry = (!round.busy.is_empty()).then_some(round.retry);
        self.clock.next().into_iter().chain(retry).min()
    }

    /// Does some of what is due, and of what there is room for again. `false` where that is nothing: then the waker
    /// of `context` is woken when there is room, and the clock says when to ask next.
    pub(super) fn process_due(&self, round: &mut Round, context: &mut Context<'_>) -> bool {
        let now = self.now();
        if round.left.is_none() {
            let has_room = round.has_room(context);
            if has_room || self.clock.is_due(now) {
                self.begin_round(round, has_room);
            }
        }
        let retries = !round.busy.is_empty() && round.retry <= now;
        if retries {
            for (link, offered) in std::mem::take(&mut round.busy) {
                self.look_at_link(round, link, offered, now);
            }
        }
        let Some(from) = round.left else {
            return retries;
        };
        let links = self.admission.links_from(from, LINKS_AT_A_TIME);
        let last = links.get(LINKS_AT_A_TIME - 1);
        round.left = last.and_then(|link| link.routing_id().checked_add(1));
        for link in links {
            self.look_at_link(round, link, None, now);
        }
        if round.left.is_none() {
            self.end_round(round, now);
        }
        true
    }

    fn begin_round(&self, round: &mut Round, has_room: bool) {
        round.left = Some(0);
        // Listening comes before the attempt, or a signal could slip through.
        round.full = self.clock.full.load(Ordering::SeqCst);
        if !round.full {
            round.room = None;
        } else if has_room || round.room.is_none() {
            round.room = Some(Box::pin(self.socket.room()));
        }
    }

    fn end_round(&self, round: &Round, now: Duration) {
        if round.full {
            self.clock.full.store(false, Ordering::SeqCst);
            // A thread that finds no room from here on says so.
            if self.admission.any(|link| link.waits_for_socket()) {
                self.clock.full.store(true, Ordering::SeqCst);
            }
        }
        self.look_at_door(now);
        if let Some(next) = self.changes.check_limit(now) {
            self.clock.note(next);
        }
    }

    fn look_at_link(
        &self,
        round: &mut Round,
        link: Arc<HubLink>,
        offered: Option<Offered>,
        now: Duration,
    ) {
        match link.look_at_clock(now, offered) {
            Checked::Next(Some(next)) => {
                self.clock.note(next);
            }
            Checked::Next(None) => {}
            Checked::Busy(offered) => {
                round.retry = now + BUSY;
                round.busy.push((link, offered));
            }
            Checked::Violated(violation) => {
                self.turn_away(Some(&link), violation, link.routing_id())
            }
        }
    }
}
