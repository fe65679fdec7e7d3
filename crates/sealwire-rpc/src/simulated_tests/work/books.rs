//! The tasks that were added, the work on them, and the outcomes that the distributor tells.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::lock::lock;
use crate::simulated_tests::service::{answer, numbers};
use crate::work::{DistributorCounters, Outcome, Task, TaskNumber, WorkerCounters};

/// What becomes of a task at a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is done, mostly.
    Usual,
    /// It fails each time.
    Fails,
    /// It ends its worker each time.
    Deadly,
}

const KINDS: [Kind; 3] = [Kind::Usual, Kind::Fails, Kind::Deadly];

/// The body of a task: its number here, its kind, and as many bytes more.
pub(super) fn task_body(number: u64, kind: Kind, fill: u64) -> Vec<u8> {
    let mut body = [number, kind as u64].map(u64::to_le_bytes).concat();
    body.resize(body.len() + fill as usize, number as u8);
    body
}

fn parse(body: &[u8]) -> (u64, Kind) {
    let [number, kind] = numbers(body);
    (number, KINDS[kind as usize])
}

#[derive(Clone)]
pub(super) struct Books(Arc<Mutex<Entries>>);

struct Entries {
    max_attempts: u32,
    has_trouble: bool,
    tasks: BTreeMap<u64, Entry>,
    given: BTreeMap<TaskNumber, u64>,
    ended: u64,
    set_aside: u64,
}

#[derive(Default)]
struct Entry {
    /// Attempts that a worker has begun and not given back.
    begun: Vec<u32>,
    /// Times that a worker said that it is done.
    done: u64,
    has_ended: bool,
}

impl Books {
    pub(super) fn new(max_attempts: u32, has_trouble: bool) -> Self {
        Books(Arc::new(Mutex::new(Entries {
            max_attempts,
            has_trouble,
            tasks: BTreeMap::new(),
            given: BTreeMap::new(),
            ended: 0,
            set_aside: 0,
        })))
    }

    /// Tasks that have an outcome.
    pub(super) fn ended(&self) -> u64 {
        lock(&self.0).ended
    }

    pub(super) fn added(&self, number: u64, given: TaskNumber) {
        let mut books = lock(&self.0);
        let before = books.given.insert(given, number);
        assert_eq!(before, None, "{given} was given twice");
        books.tasks.entry(number).or_default();
    }

    /// A worker has taken a task.
    pub(super) fn begun(&self, task: &Task) -> Kind {
        let (number, kind) = parse(task.body());
        let mut books = lock(&self.0);
        let known = books.given.get(&task.number());
        assert!(known.is_none_or(|known| *known == number), "{task:?}");
        let attempt = task.attempt();
        assert!(attempt <= books.max_attempts, "{task:?}");
        let has_trouble = books.has_trouble;
        let begun = &mut books.tasks.entry(number).or_default().begun;
        // Nobody has lost one, and what was given back does not count.
        assert!(
            has_trouble || attempt as usize == begun.len() + 1,
            "{task:?}"
        );
        assert!(!begun.contains(&attempt), "{task:?} is there twice");
        begun.push(attempt);
        kind
    }

    /// A worker is about to give a task back, and the same attempt may be made again.
    pub(super) fn given_back(&self, task: &Task) {
        let (number, _) = parse(task.body());
        let mut books = lock(&self.0);
        let entry = books.tasks.get_mut(&number).expect("it was begun");
        entry.begun.retain(|attempt| *attempt != task.attempt());
    }

    /// A worker is about to say that a task is done.
    pub(super) fn done(&self, task: &Task) {
        let (number, _) = parse(task.body());
        let mut books = lock(&self.0);
        books.tasks.get_mut(&number).expect("it was begun").done += 1;
    }

    /// The distributor has told of an outcome.
    pub(super) fn told(&self, outcome: &Outcome) {
        let mut books = lock(&self.0);
        let given = match outcome {
            Outcome::Done { number, .. } => number,
            Outcome::SetAside(task) => &task.number,
        };
        let number = *books.given.get(given).expect("it was added");
        let (max_attempts, has_trouble) = (books.max_attempts, books.has_trouble);
        let entry = books.tasks.get_mut(&number).expect("it was added");
        assert!(!entry.has_ended, "task {number}: a second outcome");
        entry.has_ended = true;
        match outcome {
            Outcome::Done { result, .. } => {
                let (of, kind) = parse(&answer(result));
                assert_eq!((of, kind), (number, Kind::Usual), "somebody else's result");
                assert!(entry.done > 0, "task {number} was done by nobody");
            }
            Outcome::SetAside(task) => {
                let (of, kind) = parse(&task.body);
                assert_eq!(of, number, "somebody else's task");
                assert!(has_trouble || kind == Kind::Fails, "{task:?}");
                assert!(task.is_set_aside && task.reason.is_some(), "{task:?}");
                assert_eq!(task.attempts, max_attempts, "{task:?}");
                books.set_aside += 1;
            }
        }
        books.ended += 1;
    }

    /// Asserts that the counters of the distributor and those of all workers that there were tell what happened.
    pub(super) fn check(&self, counters: &DistributorCounters, workers: &[WorkerCounters]) {
        let books = lock(&self.0);
        let added = books.given.len() as u64;
        assert_eq!(counters.added, added);
        assert_eq!(counters.done + books.set_aside, added, "{counters:?}");
        assert_eq!(
            (
                counters.out,
                counters.pending,
                counters.set_aside,
                counters.held_bytes
            ),
            (0, 0, 0, 0),
            "something is left"
        );
        // Each attempt but the last one of a task ended in one of these ways. A "done" that came late may have ended a
        // task that waited for its next one.
        let without_done = counters.failed + counters.lost + counters.overdue + counters.returned
            - books.set_aside;
        let repetitions = counters.handed_out - added;
        assert!(
            repetitions <= without_done && without_done <= repetitions + counters.late,
            "{counters:?}: {} set aside",
            books.set_aside
        );
        let sum = |count: fn(&WorkerCounters) -> u64| workers.iter().map(count).sum::<u64>();
        let begun: usize = books.tasks.values().map(|task| task.begun.len()).sum();
        let said_done: u64 = books.tasks.values().map(|task| task.done).sum();
        assert_eq!(sum(|worker| worker.done), said_done);
        assert!(sum(|worker| worker.taken) >= begun as u64);
        assert!(sum(|worker| worker.received) <= counters.handed_out);
        // A repetition whose outcome was lost on its way is known to its worker alone.
        assert!(
            counters.repeated <= said_done - counters.done,
            "{counters:?}"
        );
        let violations = counters.violations + sum(|worker| worker.violations);
        assert_eq!((violations, counters.foreign), (0, 0), "{counters:?}");
        if !books.has_trouble {
            let unusual = [
                counters.lost,
                counters.overdue,
                counters.late,
                counters.repeated,
                counters.silent,
                sum(|worker| worker.dropped),
                sum(|worker| worker.untold),
            ];
            assert_eq!(unusual, [0; 7], "{counters:?}");
            assert_eq!(said_done, counters.done);
            assert_eq!(sum(|worker| worker.received), counters.handed_out);
        }
    }
}
