//! What the clock does with a link.
//!
//! Under the lock of a link wakers are cloned, and payloads of peers in this process may be dropped: code of the
//! program's, which may take its time. All sockets wait for the thread that keeps the time, so that only tries to
//! take the lock, and wakes and drops nothing under it.

use std::collections::VecDeque;
use std::sync::{MutexGuard, TryLockError};
use std::task::Waker;
use std::time::Duration;

use sealwire::Frame;

use super::owner::Owner;
use super::{CallLink, Core};
use crate::limits::LEAST_READ;
#[cfg(test)]
use crate::lock::lock;
use crate::proto::{Closed, Protocol, Violation};

/// How often the clock offers a link's messages to the socket, while threads queue more.
const OFFERS: usize = 4;

/// What came of applying time limits to a link.
pub(crate) enum Checked {
    /// When to do so next, if at all.
    Next(Option<Duration>),
    /// Another thread has the link. The next attempt gives this back.
    Busy(Option<Offered>),
    /// The link is closed, and the connection has to end.
    Violated(Violation),
}

/// Messages that were offered to the socket. Nobody else offers anything before it is settled.
pub(crate) struct Offered {
    /// There was no room for these.
    pub(super) left: VecDeque<Frame>,
    /// The connection is not there any more.
    pub(super) gone: bool,
}

/// What follows what was done under the lock.
struct Step {
    next: Next,
    wakers: Vec<Waker>,
    at_its_end: bool,
    full: bool,
}

enum Next {
    Offer(VecDeque<Frame>),
    Wait(Option<Duration>),
    End(Violation, Closed),
}

impl<O: Owner> CallLink<O> {
    fn try_lock(&self) -> Option<MutexGuard<'_, Core>> {
        match self.core.try_lock() {
            Ok(core) => Some(core),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Applies time limits, and sends what is queued. Does not wait for the lock.
    pub(crate) fn process_due(&self, now: Duration, mut offered: Option<Offered>) -> Checked {
        for _ in 0..OFFERS {
            let Some(mut core) = self.try_lock() else {
                break;
            };
            let mut step = self.step(&mut core, offered.take(), now);
            drop(core);
            self.wake(&mut step.wakers);
            if step.full {
                self.owner.wait_for_socket();
            }
            if step.at_its_end {
                self.owner.tell_change();
            }
            match step.next {
                Next::Offer(frames) => offered = Some(self.offer(frames)),
                Next::Wait(next) => return Checked::Next(next),
                Next::End(violation, closed) => {
                    drop(closed);
                    return Checked::Violated(violation);
                }
            }
        }
        Checked::Busy(offered)
    }

    /// Offers queued messages to nobody, as if another thread took the link right after.
    #[cfg(test)]
    pub(crate) fn offer_to_nobody(&self) -> Offered {
        let left = lock(&self.core).begin_flush().unwrap();
        Offered { left, gone: false }
    }

    /// Runs this while another thread has the link, as far as others see.
    #[cfg(test)]
    pub(crate) fn while_held<R>(&self, action: impl FnOnce() -> R) -> R {
        let _core = lock(&self.core);
        action()
    }

    fn step(&self, core: &mut Core, offered: Option<Offered>, now: Duration) -> Step {
        let flushed = offered.map(|offered| self.settle(core, offered));
        let full = flushed.as_ref().is_some_and(|flushed| flushed.full);
        let ((), changed) = self.apply(core, |proto| proto.handle_timeout(now));
        core.note_held(&self.peer);
        let overdue = core.room.take_overdue(now);
        let mut room = overdue || changed.room || flushed.as_ref().is_some_and(|it| it.room);
        let mut at_its_end = changed.at_its_end;
        let more = (!full).then(|| core.begin_flush()).flatten();
        let next = match more {
            Some(frames) => Next::Offer(frames),
            None => {
                at_its_end |= flushed.is_some() && core.is_finished();
                match self.check_limits(core, now) {
                    Ok(next) => Next::Wait(next),
                    Err(violation) => {
                        let (closed, changed) = self.apply(core, Protocol::close);
                        core.note_held(&self.peer);
                        room = true;
                        at_its_end |= changed.at_its_end;
                        Next::End(violation, closed)
                    }
                }
            }
        };
        let mut wakers = Vec::new();
        core.take_wakers(room, &mut wakers);
        Step {
            next,
            wakers,
            at_its_end,
            full,
        }
    }

    /// Returns when to check next.
    fn check_limits(&self, core: &mut Core, now: Duration) -> Result<Option<Duration>, Violation> {
        let unread = self.check_reading(core, now)?;
        let stuck = self.check_answers(core, now)?;
        let next = [core.proto.next_timeout(), unread, stuck, core.room.limit()];
        Ok(next.into_iter().flatten().min())
    }

    /// Checks whether the peer reads, while too much waits for it. Returns when to check next.
    fn check_reading(&self, core: &mut Core, now: Duration) -> Result<Option<Duration>, Violation> {
        if !core.proto.is_over_budget() {
            core.unread = None;
            return Ok(None);
        }
        let current = self.unread(core, now);
        let before = *core.unread.get_or_insert(current);
        let read = current.written.wrapping_sub(before.written) >= LEAST_READ
            || current.handed_over > before.handed_over;
        let since = if read {
            core.unread = Some(current);
            now
        } else {
            before.since
        };
        let until = since + self.owner.options().write_limit;
        if until <= now {
            return Err(Violation::NotRead);
        }
        Ok(Some(until))
    }

    /// Whether the peer answers calls that were given up, while no others can be made.
    fn check_answers(&self, core: &mut Core, now: Duration) -> Result<Option<Duration>, Violation> {
        if !core.proto.is_stuck() {
            core.stuck = None;
            return Ok(None);
        }
        let until = *core.stuck.get_or_insert(now) + self.owner.options().read_limit;
        if until <= now {
            return Err(Violation::NotAnswered);
        }
        Ok(Some(until))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, OnceLock, Weak};
    use std::thread;

    use sealwire::{Context, Peer, SocketType, blocking};

    use super::super::LinkOptions;
    use super::*;
    use crate::counters::LiveCounters;
    use crate::limits::Limits;
    use crate::proto::Content;
    use crate::proto::{Settings, Side};

    /// A link whose lock another thread takes, and the gate that lets that thread go.
    type Intrusion = (Weak<CallLink<Owned>>, Arc<Mutex<()>>);

    /// A socket that takes one message of each offer, or none.
    struct Owned {
        options: LinkOptions,
        counters: LiveCounters,
        is_full: AtomicBool,
        sent: Mutex<Vec<Vec<u8>>>,
        waits: AtomicUsize,
        /// Another thread takes the lock of this link with each offer, until it may go.
        intrudes: OnceLock<Intrusion>,
    }

    impl Owned {
        fn intrude(&self) {
            let Some((link, gate)) = self.intrudes.get() else {
                return;
            };
            let (link, gate) = (link.upgrade().unwrap(), gate.clone());
            let (tell, told) = std::sync::mpsc::channel();
            thread::spawn(move || {
                let core = lock(&link.core);
                tell.send(()).unwrap();
                let _passed = lock(&gate);
                drop(core);
            });
            told.recv().unwrap();
        }
    }

    impl Owner for Owned {
        fn options(&self) -> &LinkOptions {
            &self.options
        }

        fn counters(&self) -> &LiveCounters {
            &self.counters
        }

        fn is_here(&self) -> bool {
            true
        }

        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn arm(&self, _: Duration) {}

        fn try_send(&self, _: u32, frames: &mut VecDeque<Frame>) -> bool {
            if !self.is_full.load(Ordering::SeqCst)
                && let Some(frame) = frames.pop_front()
            {
                lock(&self.sent).push(frame.to_vec());
            }
            self.intrude();
            true
        }

        fn wait_for_socket(&self) {
            self.waits.fetch_add(1, Ordering::SeqCst);
        }

        fn tell_change(&self) {}
    }

    /// A peer in this process.
    pub(crate) fn inproc_peer() -> Arc<Peer> {
        // Names belong to a context.
        let context = Context::new().unwrap();
        let socket = |socket_type| {
            let socket = blocking::Socket::builder(socket_type).context(&context);
            socket.build_blocking().unwrap()
        };
        let [pull, push] = [SocketType::Pull, SocketType::Push].map(socket);
        push.connect(pull.bind("inproc://peer").unwrap()).unwrap();
        push.send("").unwrap();
        pull.recv().unwrap().peer().unwrap().clone()
    }

    /// A link with as many one-way messages to send, which say their number.
    fn link(messages: u8) -> Arc<CallLink<Owned>> {
        let settings = Settings::of(&Limits::default());
        let owner = Arc::new(Owned {
            options: LinkOptions {
                side: Side::Client,
                settings,
                answer_budget: 1 << 20,
                write_limit: Duration::from_secs(1),
                read_limit: Duration::from_secs(1),
            },
            counters: LiveCounters::default(),
            is_full: AtomicBool::new(false),
            sent: Mutex::default(),
            waits: AtomicUsize::new(0),
            intrudes: OnceLock::new(),
        });
        let link = CallLink::new(owner, inproc_peer(), settings);
        for number in 0..messages {
            link.act(|proto| proto.one_way(Content::plain(&[number])))
                .unwrap();
        }
        link
    }

    fn sent(link: &CallLink<Owned>) -> Vec<u8> {
        let sent = lock(&link.owner.sent);
        sent.iter().map(|frame| *frame.last().unwrap()).collect()
    }

    #[test]
    fn a_link_that_another_thread_has_is_left_for_later() {
        let link = link(1);
        let core = lock(&link.core);
        assert!(matches!(
            link.process_due(Duration::ZERO, None),
            Checked::Busy(None)
        ));
        drop(core);
        let checked = link.process_due(Duration::ZERO, None);
        assert!(matches!(checked, Checked::Next(None)));
        assert_eq!(sent(&link), [0]);
    }

    #[test]
    fn messages_are_sent_in_order_and_none_is_lost_where_another_thread_comes_between() {
        let link = link(3);
        let gate = Arc::new(Mutex::new(()));
        let closed = lock(&gate);
        let intrudes = (Arc::downgrade(&link), gate.clone());
        assert!(link.owner.intrudes.set(intrudes).is_ok());
        let checked = link.process_due(Duration::ZERO, None);
        let Checked::Busy(Some(offered)) = checked else {
            panic!("nobody has come between");
        };
        assert_eq!(sent(&link), [0]);
        drop(closed);
        // Nobody else sends meanwhile, or it would overtake those that are left.
        link.flush();
        assert_eq!(sent(&link), [0]);
        let checked = link.process_due(Duration::ZERO, Some(offered));
        assert!(matches!(checked, Checked::Next(None)));
        assert!(link.waits_for_socket(), "the socket has not taken all");
        assert_eq!(link.owner.waits.load(Ordering::SeqCst), 1);
        for _ in 0..2 {
            link.flush();
        }
        assert_eq!(sent(&link), [0, 1, 2]);
        assert!(!link.waits_for_socket());
    }

    #[test]
    fn a_socket_without_room_is_waited_for() {
        let link = link(1);
        link.owner.is_full.store(true, Ordering::SeqCst);
        let checked = link.process_due(Duration::ZERO, None);
        assert!(matches!(checked, Checked::Next(None)));
        assert!(link.waits_for_socket());
        assert_eq!(link.owner.waits.load(Ordering::SeqCst), 1);
        link.owner.is_full.store(false, Ordering::SeqCst);
        link.process_due(Duration::ZERO, None);
        assert!(!link.waits_for_socket());
        assert_eq!(sent(&link), [0]);
    }
}
