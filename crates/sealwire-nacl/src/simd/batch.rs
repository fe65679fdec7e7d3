//! Batches: the first blocks of all messages, their tags, then the rest of the keystream.

use super::salsa20::{Pending, Position, keystream, xor_block, xor_runs, xor_short};
use super::vector::{Blocks, Isa, MAX_LANES, Vector};
use crate::TAG_SIZE;
use crate::counter_box::{OpenJob, SealJob};
use crate::poly1305;
use crate::portable::{BLOCK_SIZE, MAC_KEY_SIZE, mac_key};

/// Jobs whose first blocks are kept at the same time.
const WINDOW: usize = 32;

/// Bytes of a long text that are encrypted and then authenticated at a time: a fraction of a
/// first-level cache, in whole runs of lanes.
const PIECE: usize = 8 * 1024;

/// Bytes of text that the first block has keystream for.
const HEAD: usize = BLOCK_SIZE - MAC_KEY_SIZE;

/// What sealing and opening have in common.
trait Job {
    fn nonce(&self) -> u64;
    fn text(&mut self) -> &mut [u8];
    /// Whether its text is to be XORed together with the others'.
    fn is_live(&self) -> bool;
}

impl Job for SealJob<'_> {
    #[inline(always)]
    fn nonce(&self) -> u64 {
        u64::from_le_bytes(self.nonce)
    }
    #[inline(always)]
    fn text(&mut self) -> &mut [u8] {
        self.buffer
    }
    #[inline(always)]
    fn is_live(&self) -> bool {
        !poly1305::is_long(self.buffer.len())
    }
}

impl Job for OpenJob<'_> {
    #[inline(always)]
    fn nonce(&self) -> u64 {
        u64::from_le_bytes(self.nonce)
    }
    #[inline(always)]
    fn text(&mut self) -> &mut [u8] {
        self.buffer
    }
    #[inline(always)]
    fn is_live(&self) -> bool {
        self.verified
    }
}

/// Seals every job under its nonce.
#[inline(always)]
pub(crate) fn seal_batch<I: Isa>(isa: I, subkey: &[u32; 8], jobs: &mut [SealJob<'_>]) {
    let mut first = Blocks::<WINDOW>::new();
    for window in jobs.chunks_mut(WINDOW) {
        first_blocks(isa, subkey, window, &mut first);
        xor_messages(isa, subkey, window, &first);
        for (job, block) in window.iter_mut().zip(&first.0) {
            *job.tag = if job.is_live() {
                poly1305::tag(mac_key(block), job.buffer)
            } else {
                seal_long(isa, subkey, job.nonce(), block, job.buffer)
            };
        }
    }
    isa.wipe(&mut first);
}

/// Encrypts a long text piece by piece, each of which is authenticated while it is in the cache.
#[inline(always)]
fn seal_long<I: Isa>(
    isa: I,
    subkey: &[u32; 8],
    nonce: u64,
    first: &[u8; BLOCK_SIZE],
    text: &mut [u8],
) -> [u8; TAG_SIZE] {
    let mut mac = poly1305::Running::new(mac_key(first));
    xor_short(&mut text[..HEAD], &first[MAC_KEY_SIZE..]);
    let (mut encrypted, mut authenticated, mut counter) = (HEAD, 0, 1);
    loop {
        let end = text.len().min(encrypted + PIECE);
        let taken = xor_runs(isa, subkey, nonce, counter, &mut text[encrypted..end]);
        if taken == 0 {
            break;
        }
        encrypted += taken;
        counter += (taken / BLOCK_SIZE) as u64;
        let whole = encrypted - encrypted % poly1305::PIECE_UNIT;
        mac.update(&text[authenticated..whole]);
        authenticated = whole;
    }
    // Less than a run is left.
    let mut positions = [Position { nonce, counter }; MAX_LANES];
    for (lane, position) in positions.iter_mut().enumerate() {
        position.counter += lane as u64;
    }
    let rest = &mut text[encrypted..];
    let count = rest.len().div_ceil(BLOCK_SIZE);
    let mut blocks = Blocks::<MAX_LANES>::new();
    keystream(isa, subkey, &positions[..count], &mut blocks.0);
    for (bytes, block) in rest.chunks_mut(BLOCK_SIZE).zip(&blocks.0) {
        xor_block(isa, bytes, block);
    }
    isa.wipe(&mut blocks);
    mac.finish(&text[authenticated..])
}

/// Writes every job's verdict and decrypts those that verified.
#[inline(always)]
pub(crate) fn open_batch<I: Isa>(isa: I, subkey: &[u32; 8], jobs: &mut [OpenJob<'_>]) {
    let mut first = Blocks::<WINDOW>::new();
    for window in jobs.chunks_mut(WINDOW) {
        first_blocks(isa, subkey, window, &mut first);
        for (job, block) in window.iter_mut().zip(&first.0) {
            let expected = poly1305::tag(mac_key(block), job.buffer);
            job.verified = poly1305::tags_equal(&expected, job.tag);
        }
        xor_messages(isa, subkey, window, &first);
    }
    isa.wipe(&mut first);
}

/// Block 0 of each job's keystream.
#[inline(always)]
fn first_blocks<I: Isa, J: Job>(isa: I, subkey: &[u32; 8], jobs: &[J], first: &mut Blocks<WINDOW>) {
    let lanes = I::Wide::LANES;
    for (group, blocks) in jobs.chunks(lanes).zip(first.0.chunks_mut(lanes)) {
        let mut positions = [Position {
            nonce: 0,
            counter: 0,
        }; MAX_LANES];
        for (position, job) in positions.iter_mut().zip(group) {
            position.nonce = job.nonce();
        }
        keystream(isa, subkey, &positions[..group.len()], blocks);
    }
}

/// XORs the keystream into every live job.
#[inline(always)]
fn xor_messages<I: Isa, J: Job>(isa: I, subkey: &[u32; 8], jobs: &mut [J], first: &Blocks<WINDOW>) {
    let mut pending = Pending::new();
    for index in 0..jobs.len() {
        let job = &mut jobs[index];
        if !job.is_live() {
            continue;
        }
        let nonce = job.nonce();
        let text = job.text();
        let head = text.len().min(HEAD);
        xor_short(&mut text[..head], &first.0[index][MAC_KEY_SIZE..]);
        let in_runs = xor_runs(isa, subkey, nonce, 1, &mut text[head..]);
        let length = text.len();
        for at in (head + in_runs..length).step_by(BLOCK_SIZE) {
            let counter = 1 + ((at - HEAD) / BLOCK_SIZE) as u64;
            if !pending.push::<I>(Position { nonce, counter }, index, at) {
                flush(isa, subkey, &mut pending, jobs);
            }
        }
    }
    flush(isa, subkey, &mut pending, jobs);
    pending.wipe(isa);
}

#[inline(always)]
fn flush<I: Isa, J: Job>(isa: I, subkey: &[u32; 8], pending: &mut Pending, jobs: &mut [J]) {
    pending.flush(isa, subkey, |job, at, block| {
        let text = &mut jobs[job].text()[at..];
        let length = text.len().min(BLOCK_SIZE);
        xor_block(isa, &mut text[..length], block);
    });
}
