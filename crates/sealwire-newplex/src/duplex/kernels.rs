//! What a duplex does between taking its state into registers and putting it back.
//!
//! Each kernel begins with the permutation that the padded block is due for and goes on over whole
//! blocks with the state in registers, so each is compiled for every instruction set.

use super::blocks::{self, Masks, begin, end, lanes};
use super::bytes::{copy, read_lane, wipe};
use super::state::{Block, Core, LAST_PADDING, Tag};
use crate::permutation::{LANE, LANES, Permutation, RATE_LANES, Registers};

/// The end of the padding of every block, as lane 5.
const LAST_OF_PADDING: [u8; LANE] = {
    let mut lane = [0; LANE];
    lane[LAST_PADDING % LANE] = 0x80;
    lane
};

/// The padding of a block that has nothing in it, as lane 0: a frame index of zero, then the first byte.
const FIRST_OF_EMPTY: [u8; LANE] = {
    let mut lane = [0; LANE];
    lane[1] = 0x01;
    lane
};

/// From byte `96 - n` on: `n` bytes of ones, then zeros.
static MASKS: [u8; 192] = {
    let mut masks = [0; 192];
    let mut index = 0;
    while index < 96 {
        masks[index] = 0xff;
        index += 1;
    }
    masks
};

/// From byte `95 - n` on: `n` bytes of zeros, the padding that follows a frame index of zero there,
/// then zeros.
static PADDINGS: [u8; 192] = {
    let mut paddings = [0; 192];
    paddings[96] = 0x01;
    paddings
};

/// Lanes of the rate from byte `start` of `table` on.
#[inline(always)]
fn window<R: Registers<1>>(r: R, table: &[u8; 192], start: usize) -> [R::Lane; RATE_LANES] {
    let window: &[u8; LANE * RATE_LANES] = table[start..]
        .first_chunk()
        .expect("the tail is shorter than a block");
    lanes!(INDEX in 0 1 2 3 4 5: r.load(&[window], LANE * INDEX))
}

/// XORs `input` to the lanes of the rate.
#[inline(always)]
fn add<R: Registers<1>>(r: R, lanes: &mut [R::Lane; LANES], input: &[R::Lane; RATE_LANES]) {
    for (lane, input) in lanes.iter_mut().zip(input) {
        *lane = r.xor(*lane, *input);
    }
}

/// The rest of a text after its whole blocks, followed by zeros.
///
/// Loaded before the permutations that come before it, so that it does not wait for them.
#[inline(always)]
fn load_tail<R: Registers<1>>(r: R, tail: &[u8]) -> [R::Lane; RATE_LANES] {
    let (chunks, rest) = tail.as_chunks::<LANE>();
    lanes!(INDEX in 0 1 2 3 4 5: match chunks.get(INDEX) {
        Some(chunk) => r.load(&[chunk], 0),
        None if INDEX == chunks.len() && !rest.is_empty() => {
            r.load(&[read_lane(rest).to_le_bytes()], 0)
        }
        None => r.load(&[[0; LANE]], 0),
    })
}

/// Writes the beginning of the rate to `tail`.
#[inline(always)]
fn store_tail<R: Registers<1>>(r: R, lanes: &[R::Lane; LANES], tail: &mut [u8]) {
    let (chunks, rest) = tail.as_chunks_mut::<LANE>();
    let whole = chunks.len();
    for (index, lane) in lanes.iter().enumerate().take(RATE_LANES) {
        if let Some(chunk) = chunks.get_mut(index) {
            r.store(*lane, &mut [chunk], 0);
        } else if index == whole && !rest.is_empty() {
            let mut bytes = [0; LANE];
            r.store(*lane, &mut [&mut bytes], 0);
            copy(rest, &bytes[..rest.len()]);
            wipe(&mut bytes);
        }
    }
}

/// Writes zeros to the first `length` bytes of the rate.
#[inline(always)]
fn clear_tail<R: Registers<1>>(r: R, lanes: &mut [R::Lane; LANES], length: usize) {
    for (lane, mask) in lanes.iter_mut().zip(window(r, &MASKS, 96 - length)) {
        *lane = r.clear(*lane, mask);
    }
}

#[inline(always)]
pub(super) fn absorb<P: Permutation<1>>(p: P, core: &mut Core, blocks: &[Block]) {
    let masks = Masks::new(p, [true]);
    let mut lanes = begin(p, &mut [core]);
    for block in blocks {
        lanes = blocks::absorb(p, lanes, &masks, [block]);
    }
    end(p, &p.permute(lanes), &mut [core]);
}

#[inline(always)]
pub(super) fn squeeze<P: Permutation<1>>(p: P, core: &mut Core, output: &mut [u8]) {
    let lanes = begin(p, &mut [core]);
    squeeze_from(p, lanes, core, output);
}

/// Permutes, ends a block that has nothing in it, and squeezes: what comes where a length fills its block.
#[inline(always)]
pub(super) fn squeeze_behind_empty<P: Permutation<1>>(p: P, core: &mut Core, output: &mut [u8]) {
    let mut lanes = p.permute(begin(p, &mut [core]));
    lanes[0] = p.xor(lanes[0], p.load(&[FIRST_OF_EMPTY], 0));
    lanes[5] = p.xor(lanes[5], p.load(&[LAST_OF_PADDING], 0));
    squeeze_from(p, lanes, core, output);
}

/// Squeezes after permutations, and puts the state back.
#[inline(always)]
fn squeeze_from<P: Permutation<1>>(
    p: P,
    mut lanes: [P::Lane; LANES],
    core: &mut Core,
    output: &mut [u8],
) {
    let (blocks, tail) = output.as_chunks_mut();
    let masks = Masks::new(p, [true]);
    for block in blocks {
        lanes = blocks::squeeze(p, lanes, &masks, [block]);
    }
    let mut lanes = p.permute(lanes);
    store_tail(p, &lanes, tail);
    clear_tail(p, &mut lanes, tail.len());
    end(p, &lanes, &mut [core]);
}

/// Encrypts a text. Where there is room for a tag, ends the block and gives one.
#[inline(always)]
pub(super) fn encrypt<P: Permutation<1>>(
    p: P,
    core: &mut Core,
    text: &mut [u8],
    tag: Option<&mut Tag>,
) {
    let (blocks, tail) = text.as_chunks_mut();
    let masks = Masks::new(p, [true]);
    let input = load_tail(p, tail);
    let mut lanes = begin(p, &mut [core]);
    for block in blocks {
        lanes = blocks::encrypt(p, lanes, &masks, [block]);
    }
    let lanes = p.permute_and_add(lanes, input);
    store_tail(p, &lanes, tail);
    end_with_tag(p, lanes, tail.len(), core, tag);
}

/// Decrypts a text. Where there is room for a tag, ends the block and gives one.
#[inline(always)]
pub(super) fn decrypt<P: Permutation<1>>(
    p: P,
    core: &mut Core,
    text: &mut [u8],
    tag: Option<&mut Tag>,
) {
    let (blocks, tail) = text.as_chunks_mut();
    let masks = Masks::new(p, [true]);
    let input = load_tail(p, tail);
    let mut lanes = begin(p, &mut [core]);
    for block in blocks {
        lanes = blocks::decrypt(p, lanes, &masks, [block]);
    }
    let mut lanes = p.permute(lanes);
    let mut plain = lanes;
    add(p, &mut plain, &input);
    store_tail(p, &plain, tail);
    clear_tail(p, &mut lanes, tail.len());
    add(p, &mut lanes, &input);
    end_with_tag(p, lanes, tail.len(), core, tag);
}

/// Puts the state back. Before that, where there is room for a tag, ends the block, which has `length`
/// bytes, and gives a tag, which becomes zero in the state.
#[inline(always)]
fn end_with_tag<P: Permutation<1>>(
    p: P,
    mut lanes: [P::Lane; LANES],
    length: usize,
    core: &mut Core,
    tag: Option<&mut Tag>,
) {
    if let Some(tag) = tag {
        // The padding of a block whose frame began at its beginning.
        add(p, &mut lanes, &window(p, &PADDINGS, 95 - length));
        lanes[5] = p.xor(lanes[5], p.load(&[LAST_OF_PADDING], 0));
        lanes = p.permute(lanes);
        p.store(lanes[0], &mut [tag], 0);
        lanes[0] = p.load(&[[0; LANE]], 0);
    }
    end(p, &lanes, &mut [core]);
}
