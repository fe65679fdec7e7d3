//! Time limits, and queues that were full: what has to be done about them, and when.
//!
//! The thread that does the I/O of the context does it, in [rounds](Round) through the links, a few links at once.
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
use super::round::Round;
use crate::limits::bounded;
use crate::link::{Checked, Offered};
use crate::lock::lock;
use crate::proto::TICK;

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
pub(super) struct Progress {
    round: Round<Arc<HubLink>, Offered>,
    /// Some link waited for room in the socket as the round began.
    full: bool,
    /// A wait for room in the socket.
    room: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Progress {
    fn has_room(&mut self, context: &mut Context<'_>) -> bool {
        let room = self.room.as_mut();
        room.is_some_and(|room| room.as_mut().poll(context).is_ready())
    }
}

/// What the clock is for the thread that keeps it.
pub(super) struct Timekeeping {
    hub: Arc<Hub>,
    /// Locked by that thread only.
    progress: Mutex<Progress>,
}

impl Timekeeping {
    pub(super) fn of(hub: &Arc<Hub>) -> Arc<Self> {
        Arc::new(Timekeeping {
            hub: hub.clone(),
            progress: Mutex::default(),
        })
    }

    /// Puts this in place of a wait for room in the socket.
    #[cfg(test)]
    pub(super) fn wait_for_room(&self, room: impl Future<Output = ()> + Send + 'static) {
        lock(&self.progress).room = Some(Box::pin(room));
    }
}

impl waits::Work for Timekeeping {
    fn run(&self, waker: &Waker) -> Option<Duration> {
        let hub = &self.hub;
        if hub.has_ended() {
            return None;
        }
        let progress = &mut *lock(&self.progress);
        let context = &mut Context::from_waker(waker);
        match hub.guard("the clock", || hub.process_due(progress, context)) {
            // There may be more, once others had their time.
            Some(true) => Some(Duration::ZERO),
            Some(false) => hub.next_check(progress),
            None => {
                hub.fail_beside();
                None
            }
        }
    }
}

impl Hub {
    /// Something has to be checked then.
    pub(crate) fn arm(&self, at: Duration) {
        self.clock.arm(at);
    }

    /// When a call that begins now is over, unless it has no limit.
    pub(crate) fn due(&self, now: Duration, limit: Option<Duration>) -> Option<Duration> {
        let limit = limit.or(self.options.request_limit);
        limit.map(|limit| now + bounded(limit))
    }

    /// Wakes those that wait for a change at this time.
    pub(crate) fn limit_wait_for_change(&self, until: Duration) {
        self.changes.limit(until);
        self.arm(until);
    }

    /// The end of a call's time is checked a tick later.
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
    pub(super) fn next_check(&self, progress: &Progress) -> Option<Duration> {
        let retry = progress.round.retry_at();
        self.clock.next().into_iter().chain(retry).min()
    }

    /// Does some of what is due, and of what there is room for again. `false` where that is nothing: then the waker
    /// of `context` is woken when there is room, and the clock says when to ask next.
    pub(super) fn process_due(&self, progress: &mut Progress, context: &mut Context<'_>) -> bool {
        let now = self.now();
        if !progress.round.is_under_way() {
            let has_room = progress.has_room(context);
            if has_room || self.clock.is_due(now) {
                self.begin_round(progress, has_room);
            }
        }
        let busy = progress.round.take_busy(now);
        let has_work = progress.round.is_under_way() || !busy.is_empty();
        for (link, offered) in busy {
            self.process_link(progress, link, offered, now);
        }
        if progress.round.is_under_way() {
            let links_from = |first, most| self.admission.links_from(first, most);
            let links = progress
                .round
                .take_next(links_from, |link| link.routing_id());
            for link in links {
                self.process_link(progress, link, None, now);
            }
            if !progress.round.is_under_way() {
                self.end_round(progress, now);
            }
        }
        has_work
    }

    fn begin_round(&self, progress: &mut Progress, has_room: bool) {
        progress.round.begin();
        // Listening comes before the attempt, or a signal could slip through.
        progress.full = self.clock.full.load(Ordering::SeqCst);
        if !progress.full {
            progress.room = None;
        } else if has_room || progress.room.is_none() {
            progress.room = Some(Box::pin(self.socket.room()));
        }
    }

    fn end_round(&self, progress: &Progress, now: Duration) {
        if progress.full {
            self.clock.full.store(false, Ordering::SeqCst);
            // A thread that finds no room from here on says so.
            if self.admission.any(|link| link.waits_for_socket()) {
                self.clock.full.store(true, Ordering::SeqCst);
            }
        }
        self.check_door(now);
        if let Some(next) = self.changes.check_limit(now) {
            self.clock.note(next);
        }
    }

    fn process_link(
        &self,
        progress: &mut Progress,
        link: Arc<HubLink>,
        offered: Option<Offered>,
        now: Duration,
    ) {
        match link.process_due(now, offered) {
            Checked::Next(Some(next)) => {
                self.clock.note(next);
            }
            Checked::Next(None) => {}
            Checked::Busy(offered) => progress.round.put_off(link, offered, now),
            Checked::Violated(violation) => {
                self.turn_away(Some(&link), violation, link.routing_id())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::proto::Content;
    use sealwire::{Generate as _, KeyPair};
    use sealwire::{Security, auth::AllowAnyone};

    use super::*;
    use crate::handler::Inline;
    use crate::hub::Driver;
    use crate::link::inproc_peer;
    use crate::proto::Settings;
    use crate::{Body, Limits, Request, Server, Status};

    /// A hub without threads, and a link of it that has a message to send.
    fn hub_and_link() -> (Server, Arc<Hub>, Arc<HubLink>) {
        let security = Security::blake3_server(KeyPair::generate(), AllowAnyone);
        let echo = |request: &Request| Ok::<Body, Status>(request.body().clone());
        let driver = Arc::new(Driver::default());
        let mut started = None;
        let server = Server::builder(security)
            .build_with(Inline::new(echo), |options, socket| {
                Ok(started.insert(driver.start(options, socket)).clone())
            })
            .unwrap();
        let hub = started.unwrap();
        let settings = Settings::of(&Limits::default());
        let link = HubLink::new(hub.clone(), inproc_peer(), settings);
        link.act(|proto| proto.one_way(Content::plain(b"message")))
            .unwrap();
        (server, hub, link)
    }

    fn process_due(hub: &Hub, progress: &mut Progress) -> bool {
        hub.process_due(progress, &mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_link_that_another_thread_has_is_tried_again_before_long() {
        let (_server, hub, link) = hub_and_link();
        hub.admission.admit(link.routing_id(), link.clone());
        let mut progress = Progress::default();
        assert!(!process_due(&hub, &mut progress));
        assert_eq!(hub.next_check(&progress), None);
        hub.arm(Duration::ZERO);
        assert!(link.while_held(|| process_due(&hub, &mut progress)));
        assert!(
            hub.next_check(&progress)
                .is_some_and(|at| at <= hub.now() + Duration::from_secs(1))
        );
    }

    #[test]
    fn what_a_link_had_offered_as_another_thread_took_it_is_settled() {
        let (_server, hub, link) = hub_and_link();
        let mut progress = Progress::default();
        let offered = link.offer_to_nobody();
        progress
            .round
            .put_off(link.clone(), Some(offered), Duration::ZERO);
        assert!(!link.waits_for_socket());
        while !process_due(&hub, &mut progress) {}
        assert!(link.waits_for_socket(), "the socket has not taken it");
        assert_eq!(progress.round.retry_at(), None);
    }
}
