//! Several states at a time: each register holds the same lane of all of them.
//!
//! One permutation waits for itself most of the time, so that two or four take hardly longer. Jobs
//! take places as these become free; a place whose job has no more blocks goes along with zeros for
//! the permutation that ends the job.

use super::back_end::BackEnd;
use super::kernels::Block;
use super::{Core, LAST_PADDING, PENDING_WORDS, RATE};
use crate::duplex::bytes::wipe;
use crate::permutation::rounds::AesRounds;
use crate::permutation::{LANE, LANES, RATE_LANES, WIDTH};
use core::mem;

/// A back end for `N` states at a time.
pub(crate) trait SideBySide<const N: usize>: AesRounds {
    /// The lane of each state.
    fn gather(self, bytes: [&[u8; LANE]; N]) -> Self::Lane;

    /// The lane of each state as little-endian numbers.
    fn gather_words(self, words: [&[u64; 2]; N]) -> Self::Lane;

    /// Writes the lane of each state.
    fn scatter(self, lane: Self::Lane, bytes: [&mut [u8; LANE]; N]);

    /// The last 14 bytes of each lane, followed by two zeros.
    fn last_14(self, lane: Self::Lane) -> Self::Lane;

    /// `lane` with zeros where `mask` has ones.
    fn clear(self, lane: Self::Lane, mask: Self::Lane) -> Self::Lane;

    /// Simpira-1024.
    fn permute(self, lanes: [Self::Lane; LANES]) -> [Self::Lane; LANES];

    /// Simpira-1024, then `input` XORed to the lanes of the rate.
    fn permute_and_add(
        self,
        lanes: [Self::Lane; LANES],
        input: [Self::Lane; RATE_LANES],
    ) -> [Self::Lane; LANES];
}

/// What is to be done with a state: blocks, each after a permutation.
pub(crate) trait Work<'a>: Default {
    /// Blocks that are left.
    fn left(&self) -> usize;

    /// Does what is left with one state.
    fn alone(self, back_end: BackEnd, core: &mut Core);

    /// A permutation and the next block of each state.
    fn step<S: SideBySide<N>, const N: usize>(
        works: &mut [Self; N],
        idle: &mut [Block; N],
        stepping: &Stepping<S, N>,
        lanes: [S::Lane; LANES],
    ) -> [S::Lane; LANES];
}

/// Blocks to be absorbed.
#[derive(Default)]
pub(crate) struct Absorb<'a>(pub(crate) &'a [Block]);
/// Blocks to be encrypted.
#[derive(Default)]
pub(crate) struct Encrypt<'a>(pub(crate) &'a mut [Block]);
/// Blocks to be decrypted.
#[derive(Default)]
pub(crate) struct Decrypt<'a>(pub(crate) &'a mut [Block]);

/// Which states have a block, as masks.
pub(crate) struct Stepping<S: SideBySide<N>, const N: usize> {
    side_by_side: S,
    /// Ones.
    lane: S::Lane,
    /// Ones where lane 5 belongs to the rate.
    rate_of_lane_5: S::Lane,
    /// The padding of a whole block, as lane 5.
    padding: S::Lane,
}

impl<S: SideBySide<N>, const N: usize> Stepping<S, N> {
    #[inline(always)]
    fn new(side_by_side: S, has_block: [bool; N]) -> Self {
        const ZEROS: [u8; LANE] = [0; LANE];
        const ONES: [u8; LANE] = [0xff; LANE];
        const RATE_OF_LANE_5: [u8; LANE] = {
            let mut lane = ONES;
            lane[LANE - 2] = 0;
            lane[LANE - 1] = 0;
            lane
        };
        const PADDING: [u8; LANE] = {
            let mut lane = ZEROS;
            lane[LAST_PADDING % LANE] = 0x01 ^ 0x80;
            lane
        };
        Self {
            side_by_side,
            lane: side_by_side.gather(has_block.map(|has| if has { &ONES } else { &ZEROS })),
            rate_of_lane_5: side_by_side
                .gather(has_block.map(|has| if has { &RATE_OF_LANE_5 } else { &ZEROS })),
            padding: side_by_side.gather(has_block.map(|has| if has { &PADDING } else { &ZEROS })),
        }
    }
}

/// Lane `index` of a block, of the last one with the two bytes before it.
#[inline(always)]
fn chunk(block: &Block, index: usize) -> &[u8; LANE] {
    let start = if index == 5 {
        RATE - LANE
    } else {
        LANE * index
    };
    block[start..].first_chunk().expect("inside of the block")
}

/// [`chunk`] to be written to.
#[inline(always)]
fn chunk_mut(block: &mut Block, index: usize) -> &mut [u8; LANE] {
    block[LANE * index..]
        .first_chunk_mut()
        .expect("inside of the block")
}

/// The lanes of a block of each state.
#[inline(always)]
fn gather_blocks<S: SideBySide<N>, const N: usize>(
    s: S,
    blocks: [&Block; N],
) -> [S::Lane; RATE_LANES] {
    [
        s.gather(blocks.map(|block| chunk(block, 0))),
        s.gather(blocks.map(|block| chunk(block, 1))),
        s.gather(blocks.map(|block| chunk(block, 2))),
        s.gather(blocks.map(|block| chunk(block, 3))),
        s.gather(blocks.map(|block| chunk(block, 4))),
        s.last_14(s.gather(blocks.map(|block| chunk(block, 5)))),
    ]
}

/// Writes the lanes to a block of each state.
#[inline(always)]
fn scatter_blocks<S: SideBySide<N>, const N: usize>(
    s: S,
    lanes: &[S::Lane; LANES],
    mut blocks: [&mut Block; N],
) {
    for (index, lane) in lanes.iter().enumerate().take(5) {
        s.scatter(
            *lane,
            blocks.each_mut().map(|block| chunk_mut(block, index)),
        );
    }
    let mut last = [[0; LANE]; N];
    s.scatter(lanes[5], last.each_mut());
    for (block, last) in blocks.iter_mut().zip(&mut last) {
        block[5 * LANE..].copy_from_slice(&last[..LANE - 2]);
        wipe(last);
    }
}

/// The next block of each state, or one that is idle.
#[inline(always)]
fn next_blocks<'b, const N: usize>(
    texts: [&'b mut &mut [Block]; N],
    idle: &'b mut [Block; N],
) -> [&'b mut Block; N] {
    let mut idle = idle.each_mut().map(Some);
    let mut index = 0;
    texts.map(|text| {
        let spare = idle[index].take().expect("one for each");
        index += 1;
        text.split_off_first_mut().unwrap_or(spare)
    })
}

impl<'a> Work<'a> for Absorb<'a> {
    #[inline(always)]
    fn left(&self) -> usize {
        self.0.len()
    }

    fn alone(self, back_end: BackEnd, core: &mut Core) {
        back_end.absorb(core, self.0);
    }

    #[inline(always)]
    fn step<S: SideBySide<N>, const N: usize>(
        works: &mut [Self; N],
        _: &mut [Block; N],
        stepping: &Stepping<S, N>,
        lanes: [S::Lane; LANES],
    ) -> [S::Lane; LANES] {
        const ZEROS: Block = [0; RATE];
        let s = stepping.side_by_side;
        let blocks = works
            .each_mut()
            .map(|work| work.0.split_off_first().unwrap_or(&ZEROS));
        let mut input = gather_blocks(s, blocks);
        input[5] = s.xor(input[5], stepping.padding);
        s.permute_and_add(lanes, input)
    }
}

impl<'a> Work<'a> for Encrypt<'a> {
    #[inline(always)]
    fn left(&self) -> usize {
        self.0.len()
    }

    fn alone(self, back_end: BackEnd, core: &mut Core) {
        back_end.encrypt(core, self.0.as_flattened_mut());
    }

    #[inline(always)]
    fn step<S: SideBySide<N>, const N: usize>(
        works: &mut [Self; N],
        idle: &mut [Block; N],
        stepping: &Stepping<S, N>,
        lanes: [S::Lane; LANES],
    ) -> [S::Lane; LANES] {
        let s = stepping.side_by_side;
        let blocks = next_blocks(works.each_mut().map(|work| &mut work.0), idle);
        let input = gather_blocks(s, blocks.each_ref().map(|block| &**block));
        let mut lanes = s.permute_and_add(lanes, input);
        scatter_blocks(s, &lanes, blocks);
        lanes[5] = s.xor(lanes[5], stepping.padding);
        lanes
    }
}

impl<'a> Work<'a> for Decrypt<'a> {
    #[inline(always)]
    fn left(&self) -> usize {
        self.0.len()
    }

    fn alone(self, back_end: BackEnd, core: &mut Core) {
        back_end.decrypt(core, self.0.as_flattened_mut());
    }

    #[inline(always)]
    fn step<S: SideBySide<N>, const N: usize>(
        works: &mut [Self; N],
        idle: &mut [Block; N],
        stepping: &Stepping<S, N>,
        lanes: [S::Lane; LANES],
    ) -> [S::Lane; LANES] {
        let s = stepping.side_by_side;
        let blocks = next_blocks(works.each_mut().map(|work| &mut work.0), idle);
        let input = gather_blocks(s, blocks.each_ref().map(|block| &**block));
        let mut lanes = s.permute(lanes);
        let mut plain = lanes;
        for index in 0..RATE_LANES {
            let (mask, padding) = match index {
                5 => (stepping.rate_of_lane_5, s.xor(input[5], stepping.padding)),
                _ => (stepping.lane, input[index]),
            };
            plain[index] = s.xor(plain[index], input[index]);
            lanes[index] = s.xor(s.clear(lanes[index], mask), padding);
        }
        scatter_blocks(s, &plain, blocks);
        lanes
    }
}

/// Lane `index` of each state with what is pending.
///
/// No closure, which could be compiled for itself, without the instructions.
#[inline(always)]
fn lane_of<S: SideBySide<N>, const N: usize>(
    s: S,
    states: &[&[[u8; LANE]]; N],
    pending: &[&[[u64; 2]]; N],
    index: usize,
) -> S::Lane {
    let lane = s.gather(states.map(|state| &state[index]));
    if index < RATE_LANES {
        s.xor(lane, s.gather_words(pending.map(|words| &words[index])))
    } else {
        lane
    }
}

/// The states with what is pending, which is taken away. Due for a permutation.
#[inline(always)]
fn begin<S: SideBySide<N>, const N: usize>(
    s: S,
    places: &mut [Option<&mut Core>; N],
) -> [S::Lane; LANES] {
    static NO_STATE: [u8; WIDTH] = [0; WIDTH];
    static NOTHING_PENDING: [u64; PENDING_WORDS] = [0; PENDING_WORDS];
    let states = places.each_ref().map(|place| match place {
        Some(core) => core.state.as_chunks().0,
        None => NO_STATE.as_chunks().0,
    });
    let pending = places.each_ref().map(|place| match place {
        Some(core) => core.pending.as_chunks().0,
        None => NOTHING_PENDING.as_chunks().0,
    });
    let lanes = [
        lane_of(s, &states, &pending, 0),
        lane_of(s, &states, &pending, 1),
        lane_of(s, &states, &pending, 2),
        lane_of(s, &states, &pending, 3),
        lane_of(s, &states, &pending, 4),
        lane_of(s, &states, &pending, 5),
        lane_of(s, &states, &pending, 6),
        lane_of(s, &states, &pending, 7),
    ];
    for core in places.iter_mut().flatten() {
        core.pending = [0; PENDING_WORDS];
    }
    lanes
}

/// Puts the states back.
#[inline(always)]
fn end<S: SideBySide<N>, const N: usize>(
    s: S,
    lanes: &[S::Lane; LANES],
    places: &mut [Option<&mut Core>; N],
    unused: &mut [[u8; WIDTH]; N],
) {
    let mut unused = unused.iter_mut();
    let mut states = places.each_mut().map(|place| {
        let spare = unused.next().expect("one for each");
        match place {
            Some(core) => core.state.as_chunks_mut().0,
            None => spare.as_chunks_mut().0,
        }
    });
    for (index, lane) in lanes.iter().enumerate() {
        s.scatter(*lane, states.each_mut().map(|state| &mut state[index]));
    }
}

/// Does the jobs, each of which ends with a permutation.
///
/// Gives back the last one if it would go on alone, which another back end does faster: it is due
/// for a permutation, and its work is what is left.
#[inline(always)]
pub(crate) fn run<'a, S: SideBySide<N>, W: Work<'a>, const N: usize>(
    s: S,
    mut jobs: impl Iterator<Item = (&'a mut Core, W)>,
) -> Option<(&'a mut Core, W)> {
    let mut places: [Option<&'a mut Core>; N] = [const { None }; N];
    let mut works: [W; N] = core::array::from_fn(|_| W::default());
    let mut idle = [[0; RATE]; N];
    let mut unused = [[0; WIDTH]; N];
    let last = loop {
        for (place, work) in places.iter_mut().zip(&mut works) {
            if place.is_none()
                && let Some((core, new)) = jobs.next()
            {
                *place = Some(core);
                *work = new;
            }
        }
        let taken = places.iter().flatten().count();
        if taken <= 1 {
            break places.iter().position(Option::is_some);
        }
        let mut lanes = begin(s, &mut places);
        loop {
            let left = works.each_ref().map(W::left);
            let has_block = left.map(|left| left > 0);
            let mut count = usize::MAX;
            let mut ends = false;
            for (place, left) in places.iter().zip(left) {
                if place.is_some() {
                    ends |= left == 0;
                    count = count.min(left);
                }
            }
            let stepping = Stepping::new(s, has_block);
            if ends {
                // Those that end have a block of zeros.
                wipe(idle.as_flattened_mut());
            }
            for _ in 0..count.max(1) {
                lanes = W::step(&mut works, &mut idle, &stepping, lanes);
            }
            if ends {
                end(s, &lanes, &mut places, &mut unused);
                for (place, had_block) in places.iter_mut().zip(has_block) {
                    if !had_block {
                        *place = None;
                    }
                }
                break;
            }
        }
    };
    wipe(unused.as_flattened_mut());
    wipe(idle.as_flattened_mut());
    last.and_then(|index| {
        let core = places[index].take()?;
        Some((core, mem::take(&mut works[index])))
    })
}
