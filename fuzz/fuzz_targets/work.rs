//! Workers and distributors that say anything to the other side of acknowledged work, while that adds, takes and ends tasks:
//! nothing panics, each task that was added is in one place or has ended, and bounds are kept.

#![no_main]
#![allow(dead_code, unreachable_pub, reason = "only what is driven here")]

use std::time::Duration;

use arbitrary::Arbitrary;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

// Not part of the crate's interface, and needs nothing else of it. Not all of it is used here.
#[allow(unexpected_cfgs, reason = "of features that this crate does not have")]
#[path = "../../crates/sealwire-rpc/src/limits.rs"]
mod limits;
#[allow(unused_imports)]
#[path = "../../crates/sealwire-rpc/src/work/proto/mod.rs"]
mod proto;

use proto::{DistributorCore, DistributorOptions, Ended, Hello, Taken, WorkerCore};

const TASKS: usize = 16;
const BYTES: usize = 4 << 10;
const MAX_TASK: u32 = 256;

#[derive(Arbitrary, Debug)]
enum Operation<'a> {
    /// To the distributor, by one of four workers.
    ToDistributor(u8, &'a [u8]),
    /// An outcome with a header that may be right.
    Outcome {
        worker: u8,
        distributor: u8,
        counter: u8,
        attempt: u8,
        ended: u8,
        result: &'a [u8],
    },
    Hello(u8, u32, u32, u32),
    Connected(u8),
    Disconnected(u8),
    Add(&'a [u8]),
    Pass(u16),
    PutBack(u8),
    DropAside(u8),
    /// To the worker.
    ToWorker(&'a [u8]),
    Welcome(u8, u32),
    Task(u8, u8, &'a [u8]),
    WorkerConnected,
    WorkerDisconnected,
    Take,
    End(u8, u8, &'a [u8]),
    Leave,
}

fn worker_of(number: u8) -> u32 {
    u32::from(number % 4)
}

fn ended(number: u8) -> Ended {
    match number % 3 {
        0 => Ended::Done,
        1 => Ended::Failed,
        _ => Ended::Returned,
    }
}

struct Driven {
    distributor: DistributorCore,
    worker: WorkerCore,
    taken: Vec<Taken>,
    now: Duration,
    added: u64,
    /// Taken out by hand.
    dropped: u64,
}

impl Driven {
    fn tell_distributor(&mut self, worker: u8, message: Vec<u8>) {
        let worker = worker_of(worker);
        if self
            .distributor
            .receive(worker, message.into(), self.now)
            .is_err()
        {
            self.distributor.violated();
            self.distributor.disconnected(worker);
        }
    }

    fn tell_worker(&mut self, message: Vec<u8>) {
        if self.worker.receive(7, message.into()).is_err() {
            self.worker.violated();
            self.worker.disconnected();
        }
    }

    fn act(&mut self, operation: Operation<'_>) {
        match operation {
            Operation::ToDistributor(worker, message) => {
                self.tell_distributor(worker, message.to_vec())
            }
            Operation::Outcome {
                worker,
                distributor,
                counter,
                attempt,
                ended,
                result,
            } => {
                let mut message = vec![4];
                message.extend(u64::from(distributor % 2).to_be_bytes());
                message.extend(u64::from(counter % 32).to_be_bytes());
                message.extend(u32::from(attempt % 4).to_be_bytes());
                message.push(ended % 4);
                message.extend((result.len() as u32).to_be_bytes());
                message.extend(result);
                self.tell_distributor(worker, message);
            }
            Operation::Hello(worker, credit, credit_bytes, max_task) => {
                let hello = Hello {
                    credit,
                    credit_bytes,
                    max_task,
                };
                self.tell_distributor(worker, hello.message());
            }
            Operation::Connected(worker) => {
                self.distributor.disconnected(worker_of(worker));
                self.distributor.connected(worker_of(worker), self.now);
            }
            Operation::Disconnected(worker) => self.distributor.disconnected(worker_of(worker)),
            Operation::Add(body) => {
                // Larger ones are refused above.
                let body = &body[..body.len().min(MAX_TASK as usize)];
                let body = Bytes::copy_from_slice(body);
                self.added += u64::from(self.distributor.add(&body).is_some());
            }
            Operation::Pass(by) => self.now += Duration::from_millis(by.into()),
            Operation::PutBack(counter) => {
                self.distributor.put_back((counter % 32).into());
            }
            Operation::DropAside(counter) => {
                let dropped = self.distributor.drop_aside((counter % 32).into());
                self.dropped += u64::from(dropped.is_some());
            }
            Operation::ToWorker(message) => self.tell_worker(message.to_vec()),
            Operation::Welcome(distributor, max_result) => {
                let mut message = vec![2, 1];
                message.extend(u64::from(distributor).to_be_bytes());
                message.extend(max_result.to_be_bytes());
                self.tell_worker(message);
            }
            Operation::Task(counter, attempt, body) => {
                let mut message = vec![3];
                message.extend(u64::from(counter).to_be_bytes());
                message.extend(u32::from(attempt).to_be_bytes());
                message.extend((body.len() as u32).to_be_bytes());
                message.extend(body);
                self.tell_worker(message);
            }
            Operation::WorkerConnected => self.worker.connected(7),
            Operation::WorkerDisconnected => self.worker.disconnected(),
            Operation::Take => self.taken.extend(self.worker.take()),
            Operation::End(index, how, result) => {
                if !self.taken.is_empty() {
                    let index = usize::from(index) % self.taken.len();
                    let task = self.taken.swap_remove(index);
                    let result = Bytes::copy_from_slice(result);
                    self.worker.end(&task, ended(how), result);
                }
            }
            Operation::Leave => self.worker.leave(),
        }
    }

    /// What both sides say goes nowhere: the peers are the fuzzer's.
    fn settle(&mut self) {
        self.distributor.process_due(self.now);
        for (worker, _) in self.distributor.take_closing() {
            self.distributor.disconnected(worker);
        }
        self.distributor.hand_out(self.now);
        for worker in 0..4 {
            self.distributor.flush(worker, |messages| messages.clear());
        }
        self.worker.flush(|_, messages| messages.clear());
        let counters = self.distributor.counters();
        let held = (self.distributor.pending() + self.distributor.set_aside().len()) as u64;
        assert_eq!(
            self.added,
            counters.done + self.dropped + held,
            "{counters:?}"
        );
        assert!(held <= TASKS as u64 && self.distributor.held_bytes() <= BYTES);
    }
}

fuzz_target!(|operations: Vec<Operation<'_>>| {
    let options = DistributorOptions {
        max_tasks: TASKS,
        max_bytes: BYTES,
        max_task: MAX_TASK,
        max_result: 64,
        max_attempts: 3,
        attempt_limit: Some(Duration::from_secs(2)),
        retry_delay: Duration::from_millis(100),
        keeps_results: false,
    };
    let hello = Hello {
        credit: 4,
        credit_bytes: 1 << 10,
        max_task: MAX_TASK,
    };
    let mut driven = Driven {
        distributor: DistributorCore::new(1, options),
        worker: WorkerCore::new(hello),
        taken: Vec::new(),
        now: Duration::ZERO,
        added: 0,
        dropped: 0,
    };
    for operation in operations {
        driven.act(operation);
        driven.settle();
    }
});
