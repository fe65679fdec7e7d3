//! What workers say: greetings, outcomes, farewells, and that they are gone.

use std::time::Duration;

use bytes::Bytes;
use sealwire::Frame;

use super::super::reason::shortened;
use super::super::tasks::{Place, Turn};
use super::super::violation::Violation;
use super::super::wire::{self, Ended, FromWorker, Hello, Reported, Welcome};
use super::{Changes, DistributorCore, result_cost};
use crate::limits::work::{GREETING_LIMIT, MAX_REASON};

impl DistributorCore {
    pub(crate) fn connected(&mut self, worker: u32, now: Duration) {
        self.workers.add(worker, now + GREETING_LIMIT);
    }

    pub(crate) fn violated(&mut self) {
        self.counters.violations += 1;
    }

    /// A connection has ended. What its worker has goes to others.
    pub(crate) fn disconnected(&mut self, worker: u32) {
        let had = self.workers.remove(worker);
        // The first one last, as each goes before all others.
        for (counter, attempt) in had.into_iter().rev() {
            if self.is_current(worker, counter, attempt) {
                self.counters.lost += 1;
                self.lost(counter, "the worker's connection ended");
            }
        }
    }

    /// # Errors
    ///
    /// A violation, for which the connection is to be ended.
    pub(crate) fn receive(
        &mut self,
        worker: u32,
        message: Frame,
        now: Duration,
    ) -> Result<(), Violation> {
        let Some(known) = self.workers.get(worker) else {
            return Ok(());
        };
        match (FromWorker::parse(message.into_bytes())?, known.is_greeted()) {
            (FromWorker::Hello(hello), false) => self.greeted(worker, hello),
            (FromWorker::Hello(_), true) => Err(Violation::GreetingAgain),
            (_, false) => Err(Violation::NoGreeting),
            (FromWorker::Leave, true) => {
                self.workers.leave(worker);
                self.let_go(worker);
                Ok(())
            }
            (
                FromWorker::Outcomes {
                    distributor,
                    reported,
                },
                true,
            ) => {
                for reported in reported {
                    let reported = reported?;
                    if reported.body.len() > self.options.max_result as usize {
                        return Err(Violation::TooLarge);
                    }
                    if distributor == self.id {
                        self.reported(worker, reported, now);
                    } else {
                        self.counters.foreign += 1;
                    }
                }
                self.let_go(worker);
                Ok(())
            }
        }
    }

    fn greeted(&mut self, worker: u32, hello: Hello) -> Result<(), Violation> {
        if hello.credit == 0 {
            return Err(Violation::NoCredit);
        }
        let (ours, theirs) = (self.options.max_task, hello.max_task);
        if theirs < ours {
            return Err(Violation::SmallTasks { ours, theirs });
        }
        self.workers.greet(worker, hello);
        let welcome = Welcome {
            distributor: self.id,
            max_result: self.options.max_result,
        };
        self.workers.send(worker, welcome.message());
        Ok(())
    }

    /// Says farewell to a worker that leaves, once it has nothing any more.
    fn let_go(&mut self, worker: u32) {
        let known = self.workers.get(worker);
        if known.is_some_and(|worker| worker.leaves() && worker.is_idle()) {
            self.workers.send(worker, wire::farewell());
        }
    }

    /// Whether a worker has this attempt, and nobody has another one of the task.
    fn is_current(&self, worker: u32, counter: u64, attempt: u32) -> bool {
        self.tasks.get(counter).is_some_and(|task| {
            let is_there = matches!(task.place, Place::Out { worker: at, .. } if at == worker);
            is_there && task.attempts == attempt
        })
    }

    fn reported(&mut self, worker: u32, reported: Reported, now: Duration) {
        let Reported {
            counter,
            attempt,
            ended,
            body,
        } = reported;
        let had = self.workers.take_back(worker, (counter, attempt));
        let is_current = had && self.is_current(worker, counter, attempt);
        match ended {
            Ended::Done => self.done(counter, attempt, is_current, &body),
            _ if !is_current => self.counters.late += 1,
            Ended::Failed => {
                self.counters.failed += 1;
                self.attempt_is_over();
                let reason = String::from_utf8_lossy(&body);
                self.attempt_failed(counter, &reason, Some(now + self.options.retry_delay));
            }
            Ended::Returned => {
                self.counters.returned += 1;
                self.attempt_is_over();
                self.tasks.uncount(counter);
                self.tasks.wait(counter, Turn::First);
            }
        }
    }

    fn attempt_is_over(&mut self) {
        self.counters.out -= 1;
        // A shutdown waits for that.
        self.changes.ended |= self.counters.out == 0;
    }

    /// Work is done, also where another worker has the task by now: the first one that says so ends it.
    fn done(&mut self, counter: u64, attempt: u32, is_current: bool, result: &Bytes) {
        let Some(task) = self.tasks.get(counter) else {
            self.counters.repeated += 1;
            return;
        };
        let place = task.place;
        if !is_current {
            self.counters.late += 1;
            // Of the attempt that is under way only its own worker can tell.
            let under_way = matches!(place, Place::Out { .. }) && attempt >= task.attempts;
            if under_way || attempt == 0 || attempt > task.attempts {
                return;
            }
        }
        if matches!(place, Place::Out { .. }) {
            self.attempt_is_over();
        }
        self.tasks.remove(counter);
        self.counters.done += 1;
        self.changes = Changes {
            room: true,
            ended: true,
        };
        if self.options.keeps_results {
            // Of its own, as it would keep the whole message.
            let result = Bytes::copy_from_slice(result);
            self.result_bytes += result_cost(&result);
            self.results.push_back((counter, result));
        }
    }

    /// The attempt that is under way will have no outcome, or too late.
    pub(super) fn lost(&mut self, counter: u64, reason: &str) {
        self.attempt_is_over();
        self.tasks.count_lost(counter);
        self.attempt_failed(counter, reason, None);
    }

    /// Tries a task again, at once or later, or sets it aside.
    fn attempt_failed(&mut self, counter: u64, reason: &str, again: Option<Duration>) {
        if !self
            .tasks
            .failed(counter, shortened(reason, MAX_REASON).into())
        {
            self.tasks.set_aside(counter);
            self.changes.ended = true;
            return;
        }
        match again {
            None => self.tasks.wait(counter, Turn::First),
            Some(_) if self.options.retry_delay.is_zero() => self.tasks.wait(counter, Turn::Last),
            Some(at) => self.tasks.delay(counter, at),
        }
    }
}
