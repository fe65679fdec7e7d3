//! A worker without sockets: messages of the distributor in, tasks and messages out.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use sealwire::Frame;

use super::counters::WorkerCounters;
use super::pacing::Pacing;
use super::violation::Violation;
use super::wire::{self, Ended, FromDistributor, Handed, Hello, Welcome};
use crate::limits::work::{BATCH_BYTES, ENOUGH_OUTCOMES, MAX_CREDIT, TASK_COST};

/// A task for the application, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) distributor: u64,
    pub(crate) counter: u64,
    pub(crate) attempt: u32,
    pub(crate) body: Bytes,
    /// The link that it came over.
    link: u64,
    /// Bytes of the largest result.
    pub(crate) max_result: u32,
}

impl Taken {
    fn cost(&self) -> usize {
        self.body.len() + TASK_COST
    }
}

/// The present connection.
struct Link {
    /// Tells it from others, as numbers of connections may come again.
    number: u64,
    connection: u32,
    welcome: Option<Welcome>,
    /// Attempts that came over it and have no outcome that left.
    open: u32,
    bytes: usize,
    says_leave: bool,
}

/// The outcome of an attempt that has not left.
struct Untold {
    distributor: u64,
    link: u64,
    cost: usize,
    counter: u64,
    attempt: u32,
    ended: Ended,
    result: Bytes,
}

impl Untold {
    fn size(&self) -> usize {
        wire::OUTCOME_HEADER + self.result.len()
    }
}

pub(crate) struct WorkerCore {
    hello: Hello,
    link: Option<Link>,
    /// Connections that there were.
    links: u64,
    /// Received, and not taken.
    queue: VecDeque<Taken>,
    /// Taken, and without an outcome.
    begun: usize,
    untold: VecDeque<Untold>,
    /// Bytes of the tasks that they are of.
    untold_bytes: usize,
    /// When outcomes are told.
    pacing: Pacing,
    outbox: VecDeque<Frame>,
    /// The socket had no room for all of them.
    is_full: bool,
    leaves: bool,
    /// The distributor knows that nothing is left here.
    released: bool,
    /// There is something for those who wait.
    changed: bool,
    counters: WorkerCounters,
}

impl WorkerCore {
    pub(crate) fn new(hello: Hello) -> Self {
        WorkerCore {
            hello,
            link: None,
            links: 0,
            queue: VecDeque::new(),
            begun: 0,
            untold: VecDeque::new(),
            untold_bytes: 0,
            pacing: Pacing::default(),
            outbox: VecDeque::new(),
            is_full: false,
            leaves: false,
            released: false,
            changed: false,
            counters: WorkerCounters::default(),
        }
    }

    // The application.

    pub(crate) fn take(&mut self) -> Option<Taken> {
        let task = self.queue.pop_front()?;
        self.begun += 1;
        self.counters.taken += 1;
        Some(task)
    }

    /// A task that was taken has an outcome.
    pub(crate) fn end(&mut self, task: &Taken, ended: Ended, result: Bytes) {
        self.begun -= 1;
        match ended {
            Ended::Done => self.counters.done += 1,
            Ended::Failed => self.counters.failed += 1,
            Ended::Returned => self.counters.returned += 1,
        }
        self.tell(task, ended, result);
    }

    /// Whether outcomes are to be told now that one was added: the first, and where the distributor may have tasks in
    /// return without which somebody has to wait.
    pub(crate) fn tells_now(&mut self, now: Duration) -> bool {
        let is_first = self.pacing.is_first(now);
        let enough = self.hello.credit.min(MAX_CREDIT) as usize / ENOUGH_OUTCOMES;
        let enough_bytes = self.hello.credit_bytes as usize / ENOUGH_OUTCOMES;
        is_first
            || self.queue.is_empty()
            || self.untold.len() >= enough
            || self.untold_bytes >= enough_bytes
    }

    /// When [`process_due`](WorkerCore::process_due) has something to do.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.pacing.due()
    }

    pub(crate) fn process_due(&mut self, now: Duration) {
        self.pacing.process_due(now);
    }

    fn tell(&mut self, task: &Taken, ended: Ended, result: Bytes) {
        self.untold_bytes += task.cost();
        self.untold.push_back(Untold {
            distributor: task.distributor,
            link: task.link,
            cost: task.cost(),
            counter: task.counter,
            attempt: task.attempt,
            ended,
            result,
        });
    }

    /// Takes no more tasks, and gives those back that were not begun.
    pub(crate) fn leave(&mut self) {
        self.leaves = true;
        // The last one first: each goes before all others again.
        for task in std::mem::take(&mut self.queue).into_iter().rev() {
            self.counters.returned += 1;
            self.tell(&task, Ended::Returned, Bytes::new());
        }
        self.say_leave();
    }

    fn say_leave(&mut self) {
        if let Some(link) = &mut self.link
            && link.welcome.is_some()
            && self.leaves
            && !link.says_leave
        {
            link.says_leave = true;
            self.outbox.push_back(wire::leave().into());
        }
    }

    /// Whether it has left: no task is with the application, and the distributor knows the outcomes of all, or is
    /// gone.
    pub(crate) fn has_left(&self) -> bool {
        self.leaves && self.begun == 0 && (self.released || self.link.is_none())
    }

    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    pub(crate) fn violated(&mut self) {
        self.counters.violations += 1;
    }

    pub(crate) fn leaves(&self) -> bool {
        self.leaves
    }

    /// Whether a distributor has welcomed it.
    pub(crate) fn is_connected(&self) -> bool {
        let link = self.link.as_ref();
        link.is_some_and(|link| link.welcome.is_some())
    }

    pub(crate) fn counters(&self) -> WorkerCounters {
        self.counters
    }

    // The connection.

    pub(crate) fn connected(&mut self, connection: u32) {
        self.disconnected();
        self.links += 1;
        self.link = Some(Link {
            number: self.links,
            connection,
            welcome: None,
            open: 0,
            bytes: 0,
            says_leave: false,
        });
    }

    /// Whether this is its present connection.
    pub(crate) fn is_link(&self, connection: u32) -> bool {
        let link = self.link.as_ref();
        link.is_some_and(|link| link.connection == connection)
    }

    /// The connection has ended. Others get what was not begun.
    pub(crate) fn disconnected(&mut self) {
        if self.link.take().is_none() {
            return;
        }
        self.changed = true;
        self.counters.dropped += self.queue.len() as u64;
        self.queue.clear();
        self.outbox.clear();
        self.is_full = false;
        // Only what is done is worth to be said later.
        let before = self.untold.len();
        self.untold.retain(|untold| untold.ended == Ended::Done);
        self.untold_bytes = self.untold.iter().map(|untold| untold.cost).sum();
        self.counters.untold += (before - self.untold.len()) as u64;
    }

    /// # Errors
    ///
    /// A violation, for which the connection is to be ended.
    pub(crate) fn receive(&mut self, connection: u32, message: Frame) -> Result<(), Violation> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        if link.connection != connection {
            return Ok(());
        }
        let message = FromDistributor::parse(message.into_bytes())?;
        self.changed = true;
        match (message, link.welcome) {
            (FromDistributor::Welcome(welcome), None) => {
                link.welcome = Some(welcome);
                self.counters.connections += 1;
                self.say_leave();
            }
            (FromDistributor::Welcome(_), Some(_)) => return Err(Violation::GreetingAgain),
            (_, None) => return Err(Violation::NoGreeting),
            (FromDistributor::Farewell, _) if !link.says_leave => {
                return Err(Violation::NotLeaving);
            }
            (FromDistributor::Farewell, _) => self.released = true,
            (FromDistributor::Tasks(handed), Some(welcome)) => {
                for handed in handed {
                    self.handed(handed?, welcome)?;
                }
            }
        }
        Ok(())
    }

    fn handed(&mut self, handed: Handed, welcome: Welcome) -> Result<(), Violation> {
        let Some(link) = &mut self.link else {
            return Ok(());
        };
        let cost = handed.body.len() + TASK_COST;
        if handed.body.len() > self.hello.max_task as usize {
            return Err(Violation::TooLarge);
        }
        let has_room = link.open < self.hello.credit
            && (link.open == 0 || link.bytes + cost <= self.hello.credit_bytes as usize);
        if !has_room {
            return Err(Violation::BeyondCredit);
        }
        link.open += 1;
        link.bytes += cost;
        self.counters.received += 1;
        let task = Taken {
            distributor: welcome.distributor,
            counter: handed.counter,
            attempt: handed.attempt,
            body: handed.body,
            link: link.number,
            max_result: welcome.max_result,
        };
        if self.leaves {
            // It has crossed with LEAVE.
            self.counters.returned += 1;
            self.tell(&task, Ended::Returned, Bytes::new());
        } else {
            self.queue.push_back(task);
        }
        Ok(())
    }

    // Messages for the distributor.

    /// Writes messages of the outcomes that have not left.
    fn write_outcomes(&mut self) {
        let Some(link) = &mut self.link else {
            return;
        };
        let Some(welcome) = link.welcome else {
            return;
        };
        let mut left: usize = self.untold.iter().map(Untold::size).sum();
        self.untold_bytes = 0;
        let mut message = Vec::new();
        while let Some(untold) = self.untold.pop_front() {
            let size = untold.size();
            if untold.distributor == welcome.distributor {
                if !message.is_empty() && message.len() + size > BATCH_BYTES {
                    self.outbox.push_back(std::mem::take(&mut message).into());
                }
                if message.is_empty() {
                    let room = left.min(BATCH_BYTES).max(size);
                    message = wire::begin_outcomes(welcome.distributor, room);
                }
                let result = &untold.result;
                wire::add_outcome(
                    &mut message,
                    untold.counter,
                    untold.attempt,
                    untold.ended,
                    result,
                );
            } else {
                self.counters.untold += 1;
            }
            if untold.link == link.number {
                link.open -= 1;
                link.bytes -= untold.cost;
            }
            left -= size;
        }
        if !message.is_empty() {
            self.pacing.sent();
            self.outbox.push_back(message.into());
        }
    }

    /// Lets `send` take messages for the connection off the front. Returns whether some are left: the socket is
    /// full.
    pub(crate) fn flush(&mut self, send: impl FnOnce(u32, &mut VecDeque<Frame>)) -> bool {
        if !self.is_full {
            self.write_outcomes();
        }
        if let Some(link) = &self.link
            && !self.outbox.is_empty()
        {
            send(link.connection, &mut self.outbox);
        }
        self.is_full = !self.outbox.is_empty();
        self.is_full
    }

    /// What it holds: tasks that were not taken, outcomes that have not left, and messages.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        (self.queue.len(), self.untold.len(), self.outbox.len())
    }
}
