//! Workers that are killed, stalled, cut and leave at random, by a seed. `SEALWIRE_SEED` runs one of them,
//! `SEALWIRE_SEEDS` another number of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::super::{DistributorOptions, Ended};
use super::world::{World, hello, options};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

const TASKS: u64 = 3_000;
const MAX_TASKS: usize = 400;
const MAX_BYTES: usize = 100_000;

/// The events of a play, beside what the cores count.
#[derive(Default)]
struct Ledger {
    /// Tasks that were worked on to their end, and how often.
    done: BTreeMap<u64, u64>,
    kills: u64,
    cuts: u64,
    stalls: u64,
    leaves: u64,
}

fn poisonous(counter: u64) -> bool {
    counter % 701 == 0
}

struct Play {
    random: Random,
    world: World,
    ledger: Ledger,
    added: u64,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let attempt_limit = random.one_in(2).then(|| Duration::from_secs(20));
        let retry_delay = Duration::from_millis(random.below(3) as u64 * 40);
        let world = World::new(DistributorOptions {
            max_tasks: MAX_TASKS,
            max_bytes: MAX_BYTES,
            // Only what always fails gets here, however often workers end.
            max_attempts: 40,
            attempt_limit,
            retry_delay,
            keeps_results: true,
            ..options()
        });
        Play {
            random,
            world,
            ledger: Ledger::default(),
            added: 0,
        }
    }

    fn join(&mut self) {
        let credit = 1 + self.random.below(64) as u32;
        self.world.join(hello(credit));
    }

    /// One act of a worker's program.
    fn work(&mut self, worker: usize) {
        let person = &self.world.people[&worker];
        if person.stalled {
            return;
        }
        if person.has.is_empty() || (person.has.len() < 4 && self.random.one_in(2)) {
            self.world.take(worker);
            return;
        }
        let counter = person.has[0].counter;
        if poisonous(counter) {
            self.world.end(worker, Ended::Failed, b"poison");
        } else if self.random.one_in(20) {
            self.world.end(worker, Ended::Failed, b"at random");
        } else {
            *self.ledger.done.entry(counter).or_default() += 1;
            self.world.end(worker, Ended::Done, &counter.to_be_bytes());
        }
    }

    fn disturb(&mut self) {
        let people: Vec<_> = self.world.people.keys().copied().collect();
        let worker = people[self.random.below(people.len())];
        match self.random.below(4) {
            0 => {
                self.world.kill(worker);
                self.ledger.kills += 1;
                self.join();
            }
            1 => {
                self.world.cut(worker);
                self.ledger.cuts += 1;
                if !self.world.people[&worker].core.leaves() {
                    self.world.connect(worker);
                }
            }
            2 => {
                let person = self.world.people.get_mut(&worker).unwrap();
                person.stalled = !person.stalled;
                self.ledger.stalls += 1;
            }
            _ => {
                let person = self.world.people.get_mut(&worker).unwrap();
                if !person.core.leaves() {
                    person.core.leave();
                    self.ledger.leaves += 1;
                    self.join();
                }
            }
        }
    }

    fn check_bounds(&self) {
        let (tasks, results, connections, entries) = self.world.distributor.held();
        assert!(
            tasks + results <= MAX_TASKS,
            "{tasks} tasks, {results} results"
        );
        let held = self.world.distributor.held_bytes();
        // Reasons and results come on top of the tasks that they are of.
        assert!(held <= MAX_BYTES + MAX_TASKS * 64, "{held} bytes");
        assert!(connections <= self.world.people.len());
        assert!(
            entries <= 3 * (tasks + 64),
            "{entries} entries for {tasks} tasks"
        );
        for person in self.world.people.values() {
            let (queue, untold, outbox) = person.core.held();
            assert!(queue <= 64 && untold <= 200 && outbox <= 8);
        }
    }

    /// Takes workers away that have left, and lets a program with nothing to say end.
    fn bid_farewell(&mut self) {
        let left = |(id, person): (&usize, &super::world::Person)| {
            (person.core.has_left() && !person.stalled).then_some(*id)
        };
        let gone: Vec<_> = self.world.people.iter().filter_map(left).collect();
        for worker in gone {
            assert!(self.world.kill(worker).is_empty(), "left with work");
        }
    }

    fn read_results(&mut self, results: &mut BTreeSet<u64>) {
        while let Some((counter, result)) = self.world.distributor.next_result() {
            assert_eq!(result[..], counter.to_be_bytes());
            assert!(results.insert(counter), "a second result of {counter}");
        }
    }
}

/// Everything that was added is done or set aside, however its workers end.
fn play(seed: u64) -> (Ledger, super::super::DistributorCounters) {
    let mut play = Play::new(seed);
    for _ in 0..3 {
        play.join();
    }
    let mut results = BTreeSet::new();
    let mut rounds = 0;
    while play.added < TASKS || play.world.distributor.pending() > 0 {
        rounds += 1;
        assert!(
            rounds < 400_000,
            "seed {seed}: {} of {TASKS}",
            results.len()
        );
        if play.added < TASKS && !play.random.one_in(3) {
            let size = play.random.below(400);
            if play.world.add(&vec![7; size]).is_some() {
                play.added += 1;
            } else if play.random.one_in(2) {
                play.read_results(&mut results);
            }
        }
        let people: Vec<_> = play.world.people.keys().copied().collect();
        for worker in people {
            play.work(worker);
        }
        if play.random.one_in(60) {
            play.disturb();
        }
        if play.random.one_in(3) {
            let most = 1 + play.random.below(4);
            play.world
                .step(most)
                .unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        }
        play.world.now += Duration::from_millis(play.random.below(20) as u64);
        play.bid_farewell();
        play.check_bounds();
        if play.added == TASKS {
            play.read_results(&mut results);
        }
    }
    play.read_results(&mut results);
    let expected: BTreeSet<_> = (1..=TASKS).filter(|counter| !poisonous(*counter)).collect();
    assert_eq!(results, expected, "seed {seed}");
    for counter in &results {
        assert!(
            play.ledger.done.contains_key(counter),
            "{counter} was done by nobody"
        );
    }
    let counters = play.world.distributor.counters();
    assert_eq!(counters.added, TASKS);
    assert_eq!(counters.done, expected.len() as u64);
    let aside = play.world.distributor.set_aside();
    let set_aside: BTreeSet<_> = aside.iter().map(|task| task.counter).collect();
    let poisons: BTreeSet<_> = (1..=TASKS).filter(|counter| poisonous(*counter)).collect();
    assert_eq!(set_aside, poisons, "seed {seed}");
    assert!(aside.iter().all(|task| task.attempts == 40));
    assert_eq!((counters.out, counters.pending), (0, 0));
    // Each attempt ended in one way. A late "done" takes the place of an attempt that was under way, or waited.
    let ended =
        counters.done + counters.failed + counters.lost + counters.overdue + counters.returned;
    assert!(
        counters.handed_out <= ended && ended <= counters.handed_out + counters.late,
        "{counters:?}"
    );
    (play.ledger, counters)
}

fn seeds() -> Vec<u64> {
    let number = |name| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    match number("SEALWIRE_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("SEALWIRE_SEEDS").unwrap_or(20)).collect(),
    }
}

#[test]
fn nothing_is_lost_and_repetitions_are_counted_however_workers_end() {
    let seeds = seeds();
    let (mut kills, mut cuts, mut stalls, mut leaves) = (0, 0, 0, 0);
    let (mut late, mut repeated, mut returned, mut lost) = (0, 0, 0, 0);
    for seed in &seeds {
        let (ledger, counters) = play(*seed);
        let times: u64 = ledger.done.values().sum();
        let repetitions = times - counters.done;
        // A repetition whose outcome was lost on its way is known to nobody but its worker.
        assert!(counters.repeated <= repetitions, "seed {seed}");
        kills += ledger.kills;
        cuts += ledger.cuts;
        stalls += ledger.stalls;
        leaves += ledger.leaves;
        late += counters.late;
        repeated += counters.repeated;
        returned += counters.returned;
        lost += counters.lost;
    }
    if seeds.len() >= 20 {
        let all = [kills, cuts, stalls, leaves, late, repeated, returned, lost];
        assert!(
            all.iter().all(|count| *count > 0),
            "not everything has happened: {all:?}"
        );
    }
}
