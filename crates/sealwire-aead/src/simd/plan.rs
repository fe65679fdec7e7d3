//! Which messages of a batch share lanes.
//!
//! Lanes run until the longest message among them ends, so messages are grouped by length. Lengths
//! are no secret; nothing else decides.

use super::batch::{Index, Job, Lanes, derive_keys, xor_messages, xor_run};
use super::framing::Framing;
use super::isa::Isa;
use super::kernels::LaneKernels;
use crate::KEY_SIZE;
use crate::back_end::{BackEnd, tags_equal};
use crate::batch::{OpenJob, SealJob, Verdict};
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::Node;
use sealwire_simd::blocks::splat_words;
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
    #[inline(always)]
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
    #[inline(always)]
    fn groups(&self, lanes: usize) -> impl Iterator<Item = &[Index]> {
        self.order[..self.count].chunks(lanes)
    }
}

/// Whether a job has no place in any lane.
#[inline(always)]
fn is_long<J: Job>(job: &J) -> bool {
    Framing::block_count(job.aad().len(), job.text().len()).is_none()
}

/// Seals every job under the keys of its nonce.
#[inline(always)]
pub(crate) fn seal_batch<I: Isa + BackEnd>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [SealJob<'_>]) {
    for window in jobs.chunks_mut(WINDOW) {
        let plan = Plan::new(window);
        for group in plan.groups(I::Wide::LANES) {
            if group.len() < MIN_GROUP {
                for index in group {
                    isa.seal_job(key, &mut window[usize::from(*index)]);
                }
            } else if group.len() <= I::Middle::LANES {
                seal_group::<I, I::Middle>(isa, key, window, group);
            } else {
                seal_group::<I, I::Wide>(isa, key, window, group);
            }
        }
        for job in window.iter_mut().filter(|job| is_long(*job)) {
            isa.seal_job(key, job);
        }
    }
}

/// Opens every job under the keys of its nonce and writes the verdicts.
#[inline(always)]
pub(crate) fn open_batch<I: Isa + BackEnd>(isa: I, key: &[u8; KEY_SIZE], jobs: &mut [OpenJob<'_>]) {
    for window in jobs.chunks_mut(WINDOW) {
        let plan = Plan::new(window);
        for group in plan.groups(I::Wide::LANES) {
            if group.len() < MIN_GROUP {
                for index in group {
                    isa.open_job(key, &mut window[usize::from(*index)]);
                }
            } else if group.len() <= I::Middle::LANES {
                open_group::<I, I::Middle>(isa, key, window, group);
            } else {
                open_group::<I, I::Wide>(isa, key, window, group);
            }
        }
        for job in window.iter_mut().filter(|job| is_long(*job)) {
            isa.open_job(key, job);
        }
    }
}

#[inline(always)]
fn seal_group<I: Isa + LaneKernels<V>, V: Vector<Isa = I>>(
    isa: I,
    key: &[u8; KEY_SIZE],
    jobs: &mut [SealJob<'_>],
    group: &[Index],
) {
    let keys = derive_keys::<V, _>(isa, key, jobs, group);
    xor_messages(isa, &keys, jobs, group, &[true; MAX_LANES]);
    let mut lane_tags = [[0; 32]; MAX_LANES];
    let lanes = Lanes::new(jobs, group);
    isa.tags(&keys.authentication, &lanes, &mut lane_tags);
    for (index, tag) in group.iter().zip(&lane_tags) {
        *jobs[usize::from(*index)].tag = *tag;
    }
}

#[inline(always)]
fn open_group<I: Isa + LaneKernels<V>, V: Vector<Isa = I>>(
    isa: I,
    key: &[u8; KEY_SIZE],
    jobs: &mut [OpenJob<'_>],
    group: &[Index],
) {
    let keys = derive_keys::<V, _>(isa, key, jobs, group);
    let mut lane_tags = [[0; 32]; MAX_LANES];
    let lanes = Lanes::new(jobs, group);
    isa.tags(&keys.authentication, &lanes, &mut lane_tags);
    let mut live = [false; MAX_LANES];
    for (lane, index) in group.iter().enumerate() {
        let job = &mut jobs[usize::from(*index)];
        live[lane] = tags_equal(&lane_tags[lane], job.tag);
        job.verdict = Verdict::of(live[lane]);
    }
    xor_messages(isa, &keys, jobs, group, &live);
}

/// Seals all jobs with one keystream from block `counter` on.
#[inline(always)]
pub(crate) fn seal_run<I: Isa + BackEnd>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    jobs: &mut [SealJob<'_>],
) {
    xor_run(isa, keys, counter, jobs);
    for window in jobs.chunks_mut(WINDOW) {
        run_tags(isa, keys, window, |job, tag| *job.tag = tag);
    }
}

/// Opens jobs with one keystream from block `counter` on, up to the first that is forged.
#[inline(always)]
pub(crate) fn open_run<I: Isa + BackEnd>(
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
    xor_run(isa, keys, counter, &mut jobs[..verified]);
}

/// Hands out the tags of the jobs in a window, all under the same key.
#[inline(always)]
fn run_tags<I: Isa + BackEnd, J: Job>(
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
        if group.len() <= I::Middle::LANES {
            let key = splat_words::<I::Middle>(isa, &keys.authentication);
            isa.tags(&key, &lanes, &mut lane_tags);
        } else {
            let key = splat_words::<I::Wide>(isa, &keys.authentication);
            isa.tags(&key, &lanes, &mut lane_tags);
        }
        for (index, tag) in group.iter().zip(&lane_tags) {
            deliver(&mut jobs[usize::from(*index)], *tag);
        }
    }
    for job in jobs.iter_mut().filter(|job| is_long(*job)) {
        alone(job);
    }
}
