//! Whole blocks of `N` states side by side: what the kernels for one state and for several share.

use super::bytes::bytes_of;
use super::state::{Block, Core, LAST_PADDING, RATE};
use crate::permutation::{LANE, LANES, Permutation, RATE_LANES, Registers};

/// An array of an expression for each index, which is a constant in it. A loop would put the lanes
/// into memory, and a closure could be compiled for itself, without the instructions.
macro_rules! lanes {
    ($index:ident in $($number:literal)*: $lane:expr) => {
        [$({
            const $index: usize = $number;
            $lane
        }),*]
    };
}

pub(super) use lanes;

/// The states with what is pending, which is taken away. Due for a permutation.
#[inline(always)]
pub(super) fn begin<R: Registers<N>, const N: usize>(
    r: R,
    cores: &mut [&mut Core; N],
) -> [R::Lane; LANES] {
    let states = cores.each_ref().map(|core| &core.state);
    let lanes = lanes!(INDEX in 0 1 2 3 4 5 6 7: {
        let lane = r.load(&states, LANE * INDEX);
        if INDEX < RATE_LANES {
            let pending = cores.each_ref().map(|core| bytes_of(&core.pending, INDEX));
            r.xor(lane, r.load(&pending, 0))
        } else {
            lane
        }
    });
    for core in cores {
        core.pending.fill(0);
    }
    lanes
}

/// Puts the states back.
#[inline(always)]
pub(super) fn end<R: Registers<N>, const N: usize>(
    r: R,
    lanes: &[R::Lane; LANES],
    cores: &mut [&mut Core; N],
) {
    let mut states = cores.each_mut().map(|core| &mut core.state);
    for (index, lane) in lanes.iter().enumerate() {
        r.store(*lane, &mut states, LANE * index);
    }
}

/// The lanes of a block of each state, without padding.
#[inline(always)]
fn load_blocks<R: Registers<N>, const N: usize>(
    r: R,
    blocks: &[impl AsRef<[u8]>; N],
) -> [R::Lane; RATE_LANES] {
    lanes!(INDEX in 0 1 2 3 4 5: match INDEX {
        5 => r.last_14(r.load(blocks, RATE - LANE)),
        _ => r.load(blocks, LANE * INDEX),
    })
}

/// Writes the lanes of the rate to a block of each state.
#[inline(always)]
fn store_blocks<R: Registers<N>, const N: usize>(
    r: R,
    lanes: &[R::Lane; LANES],
    blocks: &mut [&mut Block; N],
) {
    // Lane 5 comes with two zeros before it, over which lane 4 goes.
    r.store(r.first_14(lanes[5]), blocks, RATE - LANE);
    for (index, lane) in lanes.iter().enumerate().take(5) {
        r.store(*lane, blocks, LANE * index);
    }
}

/// Which of the states have a block, as masks.
pub(super) struct Masks<Lane> {
    /// Ones where there is a block.
    lane: Lane,
    /// Ones where there is a block and lane 5 belongs to the rate.
    lane_5: Lane,
    /// The padding of a whole block whose frame began at its beginning, as lane 5.
    padding: Lane,
}

impl<Lane: Copy> Masks<Lane> {
    #[inline(always)]
    pub(super) fn new<R: Registers<N, Lane = Lane>, const N: usize>(
        r: R,
        has_block: [bool; N],
    ) -> Self {
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
        let lane_5 = has_block.map(|has| if has { &RATE_OF_LANE_5 } else { &ZEROS });
        Self {
            lane: r.load(&has_block.map(|has| if has { &ONES } else { &ZEROS }), 0),
            lane_5: r.load(&lane_5, 0),
            padding: r.load(&has_block.map(|has| if has { &PADDING } else { &ZEROS }), 0),
        }
    }
}

/// Permutes, and absorbs a block of each state; it is zeros for a state that has none.
#[inline(always)]
pub(super) fn absorb<P: Permutation<N>, const N: usize>(
    p: P,
    lanes: [P::Lane; LANES],
    masks: &Masks<P::Lane>,
    blocks: [&Block; N],
) -> [P::Lane; LANES] {
    let mut input = load_blocks(p, &blocks);
    input[5] = p.xor(input[5], masks.padding);
    p.permute_and_add(lanes, input)
}

/// Permutes, and encrypts a block of each state; it is zeros for a state that has none.
#[inline(always)]
pub(super) fn encrypt<P: Permutation<N>, const N: usize>(
    p: P,
    lanes: [P::Lane; LANES],
    masks: &Masks<P::Lane>,
    mut blocks: [&mut Block; N],
) -> [P::Lane; LANES] {
    let mut lanes = p.permute_and_add(lanes, load_blocks(p, &blocks));
    store_blocks(p, &lanes, &mut blocks);
    lanes[5] = p.xor(lanes[5], masks.padding);
    lanes
}

/// Permutes, and decrypts a block of each state, which is of no effect for a state that has none.
#[inline(always)]
pub(super) fn decrypt<P: Permutation<N>, const N: usize>(
    p: P,
    lanes: [P::Lane; LANES],
    masks: &Masks<P::Lane>,
    mut blocks: [&mut Block; N],
) -> [P::Lane; LANES] {
    let input = load_blocks(p, &blocks);
    let mut lanes = p.permute(lanes);
    let mut plain = lanes;
    for (plain, input) in plain.iter_mut().zip(&input) {
        *plain = p.xor(*plain, *input);
    }
    store_blocks(p, &plain, &mut blocks);
    for (lane, input) in lanes.iter_mut().zip(&input).take(5) {
        *lane = p.xor(p.clear(*lane, masks.lane), *input);
    }
    let kept = p.clear(lanes[5], masks.lane_5);
    lanes[5] = p.xor(kept, p.xor(input[5], masks.padding));
    lanes
}

/// Permutes, and squeezes a block of each state, which becomes zeros in it.
#[inline(always)]
pub(super) fn squeeze<P: Permutation<N>, const N: usize>(
    p: P,
    lanes: [P::Lane; LANES],
    masks: &Masks<P::Lane>,
    mut blocks: [&mut Block; N],
) -> [P::Lane; LANES] {
    let mut lanes = p.permute(lanes);
    store_blocks(p, &lanes, &mut blocks);
    for lane in &mut lanes[..5] {
        *lane = p.clear(*lane, masks.lane);
    }
    lanes[5] = p.xor(p.clear(lanes[5], masks.lane_5), masks.padding);
    lanes
}
