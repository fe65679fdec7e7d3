//! Which messages of a batch share lanes.
//!
//! Lanes run until the longest message among them ends, so messages are grouped by length. Lengths
//! are no secret; nothing else decides.

use super::batch::{Index, Job, Lanes, TagKeys};
use super::framing::Framing;
use super::kernels::{Kernels, LaneKernels};
use crate::KEY_SIZE;
use crate::back_end::tags_equal;
use crate::batch::{OpenJob, SealJob, Verdict};
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::Node;
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
            if let Some(blocks) = Framing::block_count(job.aad().len(), job.text().len()) {
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
    Framing::block_count(job.aad().len(), job.text().len()).is_none()
}

/// Seals every job under the keys of its nonce.
pub(crate) fn seal_batch<I: Kernels>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [SealJob<'_>]) {
    for window in jobs.chunks_mut(WINDOW) {
        let plan = Plan::new(window);
        for group in plan.groups(I::Wide::LANES) {
            if group.len() < MIN_GROUP {
                for index in group {
                    isa.seal_job(key, &mut window[usize::from(*index)]);
                }
            } else if group.len() <= I::Middle::LANES {
                LaneKernels::<I::Middle>::seal_group(isa, key, window, group);
            } else {
                LaneKernels::<I::Wide>::seal_group(isa, key, window, group);
            }
        }
        for job in window.iter_mut().filter(|job| is_long(*job)) {
            isa.seal_job(key, job);
        }
    }
}

/// Opens every job under the keys of its nonce and writes the verdicts.
pub(crate) fn open_batch<I: Kernels>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [OpenJob<'_>]) {
    for window in jobs.chunks_mut(WINDOW) {
        let plan = Plan::new(window);
        for group in plan.groups(I::Wide::LANES) {
            if group.len() < MIN_GROUP {
                for index in group {
                    isa.open_job(key, &mut window[usize::from(*index)]);
                }
            } else if group.len() <= I::Middle::LANES {
                LaneKernels::<I::Middle>::open_group(isa, key, window, group);
            } else {
                LaneKernels::<I::Wide>::open_group(isa, key, window, group);
            }
        }
        for job in window.iter_mut().filter(|job| is_long(*job)) {
            isa.open_job(key, job);
        }
    }
}

/// Seals all jobs with one keystream from block `counter` on.
pub(crate) fn seal_run<I: Kernels>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    jobs: &mut [SealJob<'_>],
) {
    isa.xor_sealing_run(keys, counter, jobs);
    for window in jobs.chunks_mut(WINDOW) {
        run_tags(isa, keys, window, |job, tag| *job.tag = tag);
    }
}

/// Opens jobs with one keystream from block `counter` on, up to the first that is forged.
pub(crate) fn open_run<I: Kernels>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    jobs: &mut [OpenJob<'_>],
) {
    let mut verified = 0;
    for window in jobs.chunks_mut(WINDOW) {
        run_tags(isa, keys, window, |job, tag| {
            job.verdict = Verdict::of(tags_equal(&tag, job.tag));
        });
        let is_verified = |job: &&OpenJob<'_>| job.verdict == Verdict::Verified;
        let count = window.iter().take_while(is_verified).count();
        verified += count;
        if count < window.len() {
            // Nobody knows where their keystream starts.
            for job in &mut window[count + 1..] {
                job.verdict = Verdict::Unchecked;
            }
            break;
        }
    }
    isa.xor_opening_run(keys, counter, &mut jobs[..verified]);
}

/// Hands out the tags of the jobs in a window, all under the same key.
fn run_tags<I: Kernels, J: Job>(
    isa: I,
    keys: &MessageKeys,
    jobs: &mut [J],
    deliver: impl Fn(&mut J, Node),
) {
    let plan = Plan::new(jobs);
    let alone = |job: &mut J| {
        let tag = isa.mac(&keys.authentication, &MacInput::new(job.aad(), job.text()));
        deliver(job, tag);
    };
    for group in plan.groups(I::Wide::LANES) {
        if group.len() < MIN_GROUP {
            for index in group {
                alone(&mut jobs[usize::from(*index)]);
            }
            continue;
        }
        let mut lane_tags = [[0; 32]; MAX_LANES];
        let lanes = Lanes::new(jobs, group);
        let key = &keys.authentication;
        if group.len() <= I::Middle::LANES {
            let key = TagKeys::<I::Middle>::Same(key);
            isa.tags(key, &lanes, &mut lane_tags);
        } else {
            let key = TagKeys::<I::Wide>::Same(key);
            isa.tags(key, &lanes, &mut lane_tags);
        }
        for (index, tag) in group.iter().zip(&lane_tags) {
            deliver(&mut jobs[usize::from(*index)], *tag);
        }
    }
    for job in jobs.iter_mut().filter(|job| is_long(*job)) {
        alone(job);
    }
}
