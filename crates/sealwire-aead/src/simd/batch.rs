//! Many short messages at once, one a lane.
//!
//! The keys of the messages never leave the lanes: they are derived as word vectors, which is the
//! form in which ChaCha20 and BLAKE3 take them.

use super::blake3::{
    LaneParameters, NONCE_FLAGS, compress_lanes, parent_block, permute_lanes, store_nodes,
};
use super::chacha20::{blocks, keystream_blocks, lane_state, xor_block};
use super::isa::Isa;
use super::kernels::Kernels;
use super::lanes::{Index, LaneKernels, Lanes, TagKeys};
use super::shape::{CHUNK_BLOCKS, Edge, MAX_CHUNKS, Shape};
use crate::job::Job;
use crate::keys::MessageKeys;
use crate::node::{Node, ROOT};
use crate::portable::blake3::{BLOCK_SIZE, CHUNK_END, CHUNK_START, KEYED_HASH, PARENT, words};
use crate::{KEY_SIZE, NONCE_SIZE};
use sealwire_simd::blocks::{Blocks, gather_blocks, scatter_blocks, splat_words};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// The keys of one message a lane, as word vectors.
struct LaneKeys<V> {
    encryption: [V; 8],
    authentication: [V; 8],
    nonce: [V; 2],
}

/// Does the jobs in `group`, one a lane, under the keys of their nonces.
#[inline(always)]
pub(crate) fn group<I: Isa + LaneKernels<V>, V: Vector<Isa = I>, J: Job>(
    isa: I,
    key: &[u8; KEY_SIZE],
    jobs: &mut [J],
    group: &[Index],
) {
    let keys = derive_keys::<V, _>(isa, key, jobs, group);
    let mut live = [true; MAX_LANES];
    if J::SEALS {
        xor_messages(isa, &keys, jobs, group, &live);
    }
    let mut lane_tags = [[0; 32]; MAX_LANES];
    let lanes = Lanes::new(jobs, group);
    isa.tags(TagKeys::Own(&keys.authentication), &lanes, &mut lane_tags);
    for (lane, index) in group.iter().enumerate() {
        live[lane] = jobs[usize::from(*index)].settle(&lane_tags[lane]);
    }
    if !J::SEALS {
        xor_messages(isa, &keys, jobs, group, &live);
    }
}

/// Derives the keys of the messages in `group`.
#[inline(always)]
fn derive_keys<V: Vector, J: Job>(
    isa: V::Isa,
    key: &[u8; KEY_SIZE],
    jobs: &[J],
    group: &[Index],
) -> LaneKeys<V> {
    let mut nonces = [[0; BLOCK_SIZE]; MAX_LANES];
    for (block, index) in nonces.iter_mut().zip(group) {
        block[..NONCE_SIZE].copy_from_slice(jobs[usize::from(*index)].nonce());
    }
    let zero = V::splat(isa, 0);
    // Written out so that the compiler leaves out the additions of zero.
    let [n0, n1, n2, n3, n4, n5, ..] = gather_blocks::<V>(isa, &nonces.each_ref());
    let message = [
        n0, n1, n2, n3, n4, n5, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero,
    ];
    let key = splat_words::<V>(isa, &words(key));
    let mut outputs = [[zero; 16]; 2];
    for (counter, output) in outputs.iter_mut().enumerate() {
        let parameters = LaneParameters {
            counter: [V::splat(isa, counter as u32), zero],
            block_len: V::splat(isa, NONCE_SIZE as u32),
            flags: V::splat(isa, NONCE_FLAGS),
        };
        *output = permute_lanes(isa, &key, &message, parameters);
    }
    let [first, second] = outputs;
    let mut keys = LaneKeys {
        encryption: [zero; 8],
        authentication: [zero; 8],
        nonce: [second[0].xor(second[8]), second[1].xor(second[9])],
    };
    for i in 0..8 {
        keys.encryption[i] = first[i].xor(first[i + 8]);
        keys.authentication[i] = first[i + 8].xor(key[i]);
    }
    keys
}

/// XORs each message of `group` with its lane's keystream; a lane whose `live` is false is left
/// alone.
#[inline(always)]
fn xor_messages<I: Isa, V: Vector<Isa = I>, J: Job>(
    isa: I,
    keys: &LaneKeys<V>,
    jobs: &mut [J],
    group: &[Index],
    live: &[bool; MAX_LANES],
) {
    let mut lengths = [0; MAX_LANES];
    for (lane, index) in group.iter().enumerate() {
        lengths[lane] = if live[lane] {
            jobs[usize::from(*index)].text().len()
        } else {
            0
        };
    }
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let mut keystream = Blocks::new();
    for (number, start) in (0..longest).step_by(BLOCK_SIZE).enumerate() {
        let counter = [V::splat(isa, number as u32), V::splat(isa, 0)];
        let words = blocks(lane_state(isa, &keys.encryption, counter, keys.nonce));
        scatter_blocks(words, &mut keystream);
        for (lane, index) in group.iter().enumerate() {
            if lengths[lane] > start {
                let end = lengths[lane].min(start + BLOCK_SIZE);
                let text = jobs[usize::from(*index)].parts().2;
                xor_block(isa, &mut text[start..end], &keystream.0[lane]);
            }
        }
    }
    keystream.wipe::<I::Wide>(isa);
}

/// XORs messages with one keystream that runs on from block `counter`.
#[inline(always)]
pub(crate) fn xor_run<I: Kernels, J: Job>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    jobs: &mut [J],
) {
    let mut keystream = Blocks::new();
    let (mut ready, mut used) = (0, 0);
    let mut counter = counter;
    // Bytes of whole blocks that are still to come.
    let padded = |job: &J| job.text().len().next_multiple_of(BLOCK_SIZE);
    let mut wanted: usize = jobs.iter().map(padded).sum();
    for job in jobs {
        wanted -= padded(job);
        let text = job.parts().2;
        let text_blocks = text.len().div_ceil(BLOCK_SIZE);
        if used == ready && text_blocks >= I::Wide::LANES {
            isa.xor_text(keys, counter, text);
            counter = counter.wrapping_add(text_blocks as u64);
            continue;
        }
        let mut rest = text_blocks * BLOCK_SIZE;
        for bytes in text.chunks_mut(BLOCK_SIZE) {
            if used == ready {
                ready = keystream_blocks(isa, keys, counter, rest + wanted, &mut keystream);
                counter = counter.wrapping_add(ready as u64);
                used = 0;
            }
            xor_block(isa, bytes, &keystream.0[used]);
            used += 1;
            rest -= BLOCK_SIZE;
        }
    }
    keystream.wipe::<I::Wide>(isa);
}

/// Tags of the messages in `lanes`.
#[inline(always)]
pub(crate) fn tags<I: Isa, V: Vector<Isa = I>>(
    isa: I,
    keys: TagKeys<'_, V>,
    lanes: &Lanes<'_>,
    tags: &mut [Node; MAX_LANES],
) {
    let key = &match keys {
        TagKeys::Same(key) => splat_words(isa, key),
        TagKeys::Own(keys) => *keys,
    };
    let block_counts = lanes.shapes.map(Shape::blocks);
    let last_lengths = lanes.shapes.map(|shape| shape.last_len() as u32);
    let shortest = block_counts.iter().copied().min().unwrap_or(0);
    let longest = block_counts.iter().copied().max().unwrap_or(0);

    let zero = V::splat(isa, 0);
    // Most groups have one chunk a lane, whose node is the tag.
    let mut nodes = None;
    if longest > CHUNK_BLOCKS {
        nodes = Some([[[0; 32]; MAX_CHUNKS]; MAX_LANES]);
    }
    let mut chain = *key;
    let mut edges = Blocks::new();
    for index in 0..longest {
        let chunk = index / CHUNK_BLOCKS;
        let mut flags = KEYED_HASH;
        if index % CHUNK_BLOCKS == 0 {
            flags |= CHUNK_START;
            chain = *key;
        }
        if index % CHUNK_BLOCKS == CHUNK_BLOCKS - 1 {
            flags |= CHUNK_END;
        }
        let message = lanes.words::<I, V>(isa, index, &mut edges);
        let mut parameters = LaneParameters {
            counter: [V::splat(isa, chunk as u32), zero],
            block_len: V::splat(isa, BLOCK_SIZE as u32),
            flags: V::splat(isa, flags),
        };
        let mut active = None;
        let last_flags = flags | CHUNK_END | if chunk == 0 { ROOT } else { 0 };
        if index + 1 == longest && shortest == longest {
            parameters.block_len = V::load(isa, &last_lengths);
            parameters.flags = V::splat(isa, last_flags);
        } else if index + 1 >= shortest {
            let mut lane_flags = [flags; MAX_LANES];
            let mut lane_lengths = [BLOCK_SIZE as u32; MAX_LANES];
            let mut lane_active = [u32::MAX; MAX_LANES];
            for lane in 0..V::LANES {
                if index + 1 == block_counts[lane] {
                    lane_flags[lane] = last_flags;
                    lane_lengths[lane] = last_lengths[lane];
                } else if index >= block_counts[lane] {
                    lane_active[lane] = 0;
                }
            }
            parameters.block_len = V::load(isa, &lane_lengths);
            parameters.flags = V::load(isa, &lane_flags);
            active = Some(V::load(isa, &lane_active));
        }
        compress_lanes(isa, &mut chain, &message, parameters, active);
        if flags & CHUNK_END != 0 || index + 1 == longest {
            store_nodes(&chain, tags);
            let Some(nodes) = &mut nodes else { break };
            for lane in 0..V::LANES {
                if block_counts[lane] > chunk * CHUNK_BLOCKS {
                    nodes[lane][chunk] = tags[lane];
                }
            }
        }
    }
    if let Some(mut nodes) = nodes {
        fold_nodes(
            isa,
            key,
            &mut nodes,
            block_counts.map(|count| count.div_ceil(CHUNK_BLOCKS)),
        );
        for (tag, nodes) in tags.iter_mut().zip(&nodes) {
            *tag = nodes[0];
        }
    }
}

impl<'a> Lanes<'a> {
    /// Block `index` of each lane as word vectors, some other block where a lane is shorter. A block
    /// that does not lie inside a text is put together in `edges`.
    #[inline(always)]
    fn words<I: Isa, V: Vector<Isa = I>>(
        &self,
        isa: I,
        index: usize,
        edges: &mut Blocks,
    ) -> [V; 16] {
        if !self.alike {
            let shapes = self.shapes.iter().enumerate().take(V::LANES);
            for (lane, shape) in shapes.clone() {
                if index < shape.blocks() && shape.inside(index).is_none() {
                    let edge = Edge::new(*shape, index);
                    isa.write_edge(&edge, self.aads[lane], self.texts[lane], &mut edges.0[lane]);
                }
            }
            let mut blocks = edges.0.each_ref();
            for ((lane, shape), block) in shapes.zip(&mut blocks) {
                if let Some(at) = shape.inside(index) {
                    *block = self.text_block(lane, at);
                }
            }
            return gather_blocks(isa, &blocks);
        }
        let shape = self.shapes[0];
        if let Some(at) = shape.inside(index) {
            return gather_blocks(isa, &core::array::from_fn(|lane| self.text_block(lane, at)));
        }
        let edge = Edge::new(shape, index);
        for lane in 0..V::LANES {
            isa.write_edge(&edge, self.aads[lane], self.texts[lane], &mut edges.0[lane]);
        }
        gather_blocks(isa, &edges.0.each_ref())
    }

    #[inline]
    fn text_block(&self, lane: usize, at: usize) -> &'a [u8; BLOCK_SIZE] {
        const NONE: &[u8; BLOCK_SIZE] = &[0; BLOCK_SIZE];
        let block = self.texts[lane]
            .get(at..)
            .and_then(|text| text.first_chunk());
        block.unwrap_or(NONE)
    }
}

/// Hashes each lane's nodes, of which it has `counts`, to its first.
#[inline(always)]
fn fold_nodes<V: Vector>(
    isa: V::Isa,
    key: &[V; 8],
    nodes: &mut [[Node; MAX_CHUNKS]; MAX_LANES],
    mut counts: [usize; MAX_LANES],
) {
    let zero = V::splat(isa, 0);
    while let Some(longest @ 2..) = counts.iter().copied().max() {
        for pair in 0..longest / 2 {
            let mut lane_flags = [0; MAX_LANES];
            for (flags, count) in lane_flags.iter_mut().zip(&counts) {
                *flags = KEYED_HASH | PARENT | if *count == 2 { ROOT } else { 0 };
            }
            let lane_blocks =
                core::array::from_fn(|lane| parent_block(&nodes[lane].as_chunks::<2>().0[pair]));
            let message = gather_blocks::<V>(isa, &lane_blocks);
            let parameters = LaneParameters {
                counter: [zero, zero],
                block_len: V::splat(isa, BLOCK_SIZE as u32),
                flags: V::load(isa, &lane_flags),
            };
            let mut chain = *key;
            compress_lanes(isa, &mut chain, &message, parameters, None);
            let mut done = [[0; 32]; MAX_LANES];
            store_nodes(&chain, &mut done);
            for lane in 0..V::LANES {
                if 2 * pair + 1 < counts[lane] {
                    nodes[lane][pair] = done[lane];
                }
            }
        }
        for (nodes, count) in nodes.iter_mut().zip(&mut counts) {
            if *count > 1 && *count % 2 == 1 {
                nodes[*count / 2] = nodes[*count - 1];
            }
            *count = count.div_ceil(2);
        }
    }
}
