//! Which messages of a batch share lanes.
//!
//! Lanes run until the longest message among them ends, so messages are grouped by length. Lengths are
//! public; nothing else decides.

use super::framing::MacBlocks;
use super::kernels::Kernels;
use super::lanes::{Index, LaneKernels, Lanes, TagKeys};
use super::tree;
use crate::KEY_SIZE;
use crate::back_end::alone;
use crate::job::Job;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{Chain, ROOT};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Jobs that are sorted together.
const WINDOW: usize = 64;

/// A group of fewer messages takes longer in lanes than one message after the other.
const MIN_GROUP: usize = 3;

/// The messages of a window that are short enough for lanes, in groups of like length.
struct Plan {
    order: [Index; WINDOW],
    count: usize,
}

impl Plan {
    /// Plans for at most [`WINDOW`] jobs.
    fn new<J: Job>(jobs: &[J]) -> Self {
        let mut keys = [0u32; WINDOW];
        let mut count = 0;
        for (index, job) in jobs.iter().enumerate() {
            if let Some(blocks) = MacBlocks::block_count(job.aad().len(), job.text().len()) {
                keys[count] = (blocks as u32) << 8 | index as u32;
                count += 1;
            }
        }
        let keys = &mut keys[..count];
        if !keys.is_sorted() {
            keys.sort_unstable();
        }
        let mut order = [0; WINDOW];
        for (place, key) in order.iter_mut().zip(keys) {
            *place = *key as Index;
        }
        Self { order, count }
    }

    /// Groups for at most `lanes` lanes.
    fn groups(&self, lanes: usize) -> impl Iterator<Item = &[Index]> {
        self.order[..self.count].chunks(lanes)
    }
}

/// Whether a job has no place in any lane.
fn is_long<J: Job>(job: &J) -> bool {
    MacBlocks::block_count(job.aad().len(), job.text().len()).is_none()
}

/// Does every job under the keys of its nonce.
#[inline]
pub(crate) fn batch<I: Kernels, J: Job>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [J]) {
    match jobs {
        [job] => {
            alone(isa, key, job);
        }
        _ => many(isa, key, jobs),
    }
}

fn many<I: Kernels, J: Job>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [J]) {
    for window in jobs.chunks_mut(WINDOW) {
        let plan = Plan::new(window);
        for group in plan.groups(I::Wide::LANES) {
            if group.len() < MIN_GROUP {
                for index in group {
                    alone(isa, key, &mut window[usize::from(*index)]);
                }
            } else if group.len() <= I::Middle::LANES {
                LaneKernels::<I::Middle>::group(isa, key, window, group);
            } else {
                LaneKernels::<I::Wide>::group(isa, key, window, group);
            }
        }
        for job in window.iter_mut().filter(|job| is_long(*job)) {
            alone(isa, key, job);
        }
    }
}

/// Does jobs with one keystream from block `counter` on, up to the first that is forged.
pub(crate) fn run<I: Kernels, J: Job>(isa: I, keys: &MessageKeys, counter: u64, jobs: &mut [J]) {
    if J::SEALS {
        isa.xor_run(keys, counter, jobs);
    }
    let genuine = settle_run(isa, &keys.authentication, jobs);
    if !J::SEALS {
        isa.xor_run(keys, counter, &mut jobs[..genuine]);
    }
}

/// Settles jobs under one key, up to the first that is forged, and returns how many are genuine.
fn settle_run<I: Kernels, J: Job>(isa: I, key: &Chain, jobs: &mut [J]) -> usize {
    let mut before = 0;
    for window in jobs.chunks_mut(WINDOW) {
        let genuine = settle_window(isa, key, window);
        if let Some(forged) = genuine.iter().position(|genuine| !genuine) {
            // Nobody knows where their keystream starts.
            window[forged + 1..].iter_mut().for_each(J::withdraw);
            return before + forged;
        }
        before += window.len();
    }
    before
}

/// Settles the jobs in a window, all under the same key, and tells which of them are genuine.
fn settle_window<I: Kernels, J: Job>(isa: I, key: &Chain, jobs: &mut [J]) -> [bool; WINDOW] {
    let plan = Plan::new(jobs);
    let mut genuine = [true; WINDOW];
    let alone = |job: &mut J| {
        let input = MacInput::new(job.aad(), job.text());
        let tag = tree::node(isa, key, &input, 0, input.len(), ROOT);
        job.settle(&tag)
    };
    for group in plan.groups(I::Wide::LANES) {
        if group.len() < MIN_GROUP {
            for index in group.iter().copied().map(usize::from) {
                genuine[index] = alone(&mut jobs[index]);
            }
            continue;
        }
        let mut lane_tags = [[0; 32]; MAX_LANES];
        let lanes = Lanes::new(jobs, group);
        if group.len() <= I::Middle::LANES {
            let key = TagKeys::<I::Middle>::Same(key);
            isa.tags(key, &lanes, &mut lane_tags);
        } else {
            let key = TagKeys::<I::Wide>::Same(key);
            isa.tags(key, &lanes, &mut lane_tags);
        }
        for (index, tag) in group.iter().copied().map(usize::from).zip(&lane_tags) {
            genuine[index] = jobs[index].settle(tag);
        }
    }
    for (job, genuine) in jobs.iter_mut().zip(&mut genuine) {
        if is_long(job) {
            *genuine = alone(job);
        }
    }
    genuine
}
