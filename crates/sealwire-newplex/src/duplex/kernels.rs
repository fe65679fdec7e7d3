//! What a duplex does between taking its state into registers and putting it back.
//!
//! Each kernel begins with the permutation that the padded block is due for and goes on over whole
//! blocks with the state in registers. A back end compiles all of them for its instructions by
//! [`kernels!`](kernels).

use super::{Core, LAST_PADDING, RATE};
use crate::TAG_SIZE;
use crate::duplex::bytes::{copy, read_lane, wipe};
use crate::permutation::{LANE, LANES, RATE_LANES, Registers};

/// A whole block.
pub(crate) type Block = [u8; RATE];
/// A block with its padding: the lanes that inputs reach.
type PaddedBlock = [u8; LANE * RATE_LANES];

/// The padding of a whole block whose frame began at its beginning, as lane 5.
const FULL_PADDING: [u8; LANE] = {
    let mut lane = [0; LANE];
    lane[LAST_PADDING % LANE] = 0x01 ^ 0x80;
    lane
};

/// The end of the padding of every block, as lane 5.
const LAST_OF_PADDING: [u8; LANE] = {
    let mut lane = [0; LANE];
    lane[LAST_PADDING % LANE] = 0x80;
    lane
};

/// Ones where lane 5 belongs to the rate.
const RATE_OF_LANE_5: [u8; LANE] = {
    let mut lane = [0xff; LANE];
    lane[LANE - 2] = 0;
    lane[LANE - 1] = 0;
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

/// The lanes of a padded block.
#[inline(always)]
fn lanes_of<R: Registers>(r: R, block: &PaddedBlock) -> [R::Lane; RATE_LANES] {
    let (lanes, _) = block.as_chunks::<LANE>();
    core::array::from_fn(|index| r.load(&lanes[index]))
}

/// The lanes of a whole block, without padding.
#[inline(always)]
fn lanes_of_block<R: Registers>(r: R, block: &Block) -> [R::Lane; RATE_LANES] {
    let (lanes, _) = block.as_chunks::<LANE>();
    let last: &[u8; LANE] = block.last_chunk().expect("a block is longer than a lane");
    [
        r.load(&lanes[0]),
        r.load(&lanes[1]),
        r.load(&lanes[2]),
        r.load(&lanes[3]),
        r.load(&lanes[4]),
        r.load_last_14(last),
    ]
}

/// Writes the lanes to a whole block.
#[inline(always)]
fn store_block<R: Registers>(r: R, lanes: &[R::Lane; RATE_LANES], block: &mut Block) {
    let (chunks, _) = block.as_chunks_mut::<LANE>();
    for (chunk, lane) in chunks.iter_mut().zip(lanes) {
        r.store(*lane, chunk);
    }
    let last = block
        .last_chunk_mut()
        .expect("a block is longer than a lane");
    r.store_first_14(lanes[4], lanes[5], last);
}

/// XORs `input` to the lanes of the rate.
#[inline(always)]
fn add<R: Registers>(r: R, lanes: &mut [R::Lane; LANES], input: &[R::Lane; RATE_LANES]) {
    for (lane, input) in lanes.iter_mut().zip(input) {
        *lane = r.xor(*lane, *input);
    }
}

/// The state with the pending block, which is taken away. Due for a permutation.
#[inline(always)]
fn begin<R: Registers>(r: R, core: &mut Core) -> [R::Lane; LANES] {
    let (state, _) = core.state.as_chunks::<LANE>();
    let mut lanes: [R::Lane; LANES] = core::array::from_fn(|index| r.load(&state[index]));
    let (pending, _) = core.pending.as_chunks_mut();
    for (lane, pending) in lanes.iter_mut().zip(pending).take(RATE_LANES) {
        *lane = r.xor(*lane, r.load_words(pending));
        *pending = [0; 2];
    }
    lanes
}

/// Puts the state back.
#[inline(always)]
fn end<R: Registers>(r: R, lanes: &[R::Lane; LANES], core: &mut Core) {
    let (state, _) = core.state.as_chunks_mut::<LANE>();
    for (chunk, lane) in state.iter_mut().zip(lanes) {
        r.store(*lane, chunk);
    }
}

/// Pads lane 5 of a whole block.
#[inline(always)]
fn padded<R: Registers>(r: R, lane: R::Lane) -> R::Lane {
    r.xor(lane, r.load(&FULL_PADDING))
}

#[inline(always)]
pub(crate) fn absorb<R: Registers>(r: R, core: &mut Core, blocks: &[Block]) {
    let mut lanes = begin(r, core);
    for block in blocks {
        let mut input = lanes_of_block(r, block);
        input[5] = padded(r, input[5]);
        lanes = r.permute_and_add(lanes, input);
    }
    end(r, &r.permute(lanes), core);
}

#[inline(always)]
pub(crate) fn squeeze<R: Registers>(r: R, core: &mut Core, output: &mut [u8]) {
    let (blocks, tail) = output.as_chunks_mut();
    let mut lanes = begin(r, core);
    let zero = r.load(&[0; LANE]);
    let rate_of_lane_5 = r.load(&RATE_OF_LANE_5);
    for block in blocks {
        let [l0, l1, l2, l3, l4, l5, l6, l7] = r.permute(lanes);
        store_block(r, &[l0, l1, l2, l3, l4, l5], block);
        let l5 = padded(r, r.clear(l5, rate_of_lane_5));
        lanes = [zero, zero, zero, zero, zero, l5, l6, l7];
    }
    let mut lanes = r.permute(lanes);
    store_tail(r, &lanes, tail);
    clear_tail(r, &mut lanes, tail.len());
    end(r, &lanes, core);
}

/// Encrypts whole blocks, each after a permutation, and leaves the state due for another.
#[inline(always)]
fn encrypt_blocks<R: Registers>(
    r: R,
    mut lanes: [R::Lane; LANES],
    blocks: &mut [Block],
) -> [R::Lane; LANES] {
    for block in blocks {
        lanes = r.permute_and_add(lanes, lanes_of_block(r, block));
        let [l0, l1, l2, l3, l4, l5, _, _] = lanes;
        store_block(r, &[l0, l1, l2, l3, l4, l5], block);
        lanes[5] = padded(r, l5);
    }
    lanes
}

/// Decrypts whole blocks, each after a permutation, and leaves the state due for another.
#[inline(always)]
fn decrypt_blocks<R: Registers>(
    r: R,
    mut lanes: [R::Lane; LANES],
    blocks: &mut [Block],
) -> [R::Lane; LANES] {
    let rate_of_lane_5 = r.load(&RATE_OF_LANE_5);
    for block in blocks {
        let mut plain = r.permute(lanes);
        let text = lanes_of_block(r, block);
        let kept = r.clear(plain[5], rate_of_lane_5);
        add(r, &mut plain, &text);
        let [l0, l1, l2, l3, l4, l5, l6, l7] = plain;
        store_block(r, &[l0, l1, l2, l3, l4, l5], block);
        let [t0, t1, t2, t3, t4, t5] = text;
        lanes = [t0, t1, t2, t3, t4, r.xor(padded(r, t5), kept), l6, l7];
    }
    lanes
}

/// What is left of a text after its whole blocks, followed by zeros.
///
/// Loaded before the permutations that come before it, so that it does not wait for them.
#[inline(always)]
fn load_tail<R: Registers>(r: R, tail: &[u8]) -> [R::Lane; RATE_LANES] {
    let (chunks, rest) = tail.as_chunks();
    // One by one: a loop over the chunks would put the lanes into memory.
    [
        tail_lane(r, chunks, rest, 0),
        tail_lane(r, chunks, rest, 1),
        tail_lane(r, chunks, rest, 2),
        tail_lane(r, chunks, rest, 3),
        tail_lane(r, chunks, rest, 4),
        tail_lane(r, chunks, rest, 5),
    ]
}

/// Lane `index` of a tail.
#[inline(always)]
fn tail_lane<R: Registers>(r: R, chunks: &[[u8; LANE]], rest: &[u8], index: usize) -> R::Lane {
    match chunks.get(index) {
        Some(chunk) => r.load(chunk),
        None if index == chunks.len() && !rest.is_empty() => r.load(&read_lane(rest).to_le_bytes()),
        None => r.load(&[0; LANE]),
    }
}

/// Writes the beginning of the rate to `tail`.
#[inline(always)]
fn store_tail<R: Registers>(r: R, lanes: &[R::Lane; LANES], tail: &mut [u8]) {
    let (chunks, rest) = tail.as_chunks_mut();
    let whole = chunks.len();
    for (index, lane) in lanes.iter().enumerate().take(RATE_LANES) {
        if let Some(chunk) = chunks.get_mut(index) {
            r.store(*lane, chunk);
        } else if index == whole && !rest.is_empty() {
            let mut bytes = [0; LANE];
            r.store(*lane, &mut bytes);
            copy(rest, &bytes[..rest.len()]);
            wipe(&mut bytes);
        }
    }
}

/// Writes zeros to the first `length` bytes of the rate.
#[inline(always)]
fn clear_tail<R: Registers>(r: R, lanes: &mut [R::Lane; LANES], length: usize) {
    let masks = lanes_of(r, window(&MASKS, 96 - length));
    for (lane, mask) in lanes.iter_mut().zip(masks) {
        *lane = r.clear(*lane, mask);
    }
}

/// Pads what follows `length` bytes of a block whose frame began at its beginning.
#[inline(always)]
fn pad_tail<R: Registers>(r: R, lanes: &mut [R::Lane; LANES], length: usize) {
    add(r, lanes, &lanes_of(r, window(&PADDINGS, 95 - length)));
    lanes[5] = r.xor(lanes[5], r.load(&LAST_OF_PADDING));
}

/// A block of `table`.
#[inline(always)]
fn window(table: &[u8; 192], start: usize) -> &PaddedBlock {
    let window = table[start..].first_chunk();
    window.expect("the tail is shorter than a block")
}

#[inline(always)]
pub(crate) fn encrypt<R: Registers>(r: R, core: &mut Core, text: &mut [u8]) {
    let (blocks, tail) = text.as_chunks_mut();
    let input = load_tail(r, tail);
    let lanes = begin(r, core);
    let lanes = encrypt_blocks(r, lanes, blocks);
    let lanes = r.permute_and_add(lanes, input);
    store_tail(r, &lanes, tail);
    end(r, &lanes, core);
}

/// Decrypts all of a text.
#[inline(always)]
fn decrypt_all<R: Registers>(r: R, lanes: [R::Lane; LANES], text: &mut [u8]) -> [R::Lane; LANES] {
    let (blocks, tail) = text.as_chunks_mut();
    let input = load_tail(r, tail);
    let mut lanes = r.permute(decrypt_blocks(r, lanes, blocks));
    let mut plain = lanes;
    add(r, &mut plain, &input);
    store_tail(r, &plain, tail);
    clear_tail(r, &mut lanes, tail.len());
    add(r, &mut lanes, &input);
    lanes
}

#[inline(always)]
pub(crate) fn decrypt<R: Registers>(r: R, core: &mut Core, text: &mut [u8]) {
    let lanes = begin(r, core);
    end(r, &decrypt_all(r, lanes, text), core);
}

/// Gives the tag, which becomes zero in the state, and puts the state back.
#[inline(always)]
fn end_with_tag<R: Registers>(
    r: R,
    mut lanes: [R::Lane; LANES],
    core: &mut Core,
) -> [u8; TAG_SIZE] {
    let mut tag = [0; TAG_SIZE];
    r.store(lanes[0], &mut tag);
    lanes[0] = r.load(&[0; LANE]);
    end(r, &lanes, core);
    tag
}

#[inline(always)]
pub(crate) fn seal<R: Registers>(r: R, core: &mut Core, text: &mut [u8]) -> [u8; TAG_SIZE] {
    let (blocks, tail) = text.as_chunks_mut();
    let input = load_tail(r, tail);
    let lanes = begin(r, core);
    let lanes = encrypt_blocks(r, lanes, blocks);
    let mut lanes = r.permute_and_add(lanes, input);
    store_tail(r, &lanes, tail);
    pad_tail(r, &mut lanes, tail.len());
    end_with_tag(r, r.permute(lanes), core)
}

#[inline(always)]
pub(crate) fn open<R: Registers>(r: R, core: &mut Core, text: &mut [u8]) -> [u8; TAG_SIZE] {
    let lanes = begin(r, core);
    let mut lanes = decrypt_all(r, lanes, text);
    pad_tail(r, &mut lanes, text.len() % RATE);
    end_with_tag(r, r.permute(lanes), core)
}

/// Compiles every kernel for the instructions `$features`, which a value of `$isa` proves.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
))]
macro_rules! kernels {
    ($isa:ty, $features:literal) => {
        $crate::duplex::kernels::kernels! { @each $isa, $features;
            absorb(&[$crate::duplex::kernels::Block]);
            squeeze(&mut [u8]);
            encrypt(&mut [u8]);
            decrypt(&mut [u8]);
            seal(&mut [u8]) -> [u8; $crate::TAG_SIZE];
            open(&mut [u8]) -> [u8; $crate::TAG_SIZE];
        }
    };
    (@each $isa:ty, $features:literal; $($name:ident($data:ty) $(-> $output:ty)?;)*) => {
        impl $isa {
            $(
                /// The kernel of this name.
                #[inline(always)]
                pub(crate) fn $name(
                    self,
                    core: &mut $crate::duplex::Core,
                    data: $data,
                ) $(-> $output)? {
                    #[target_feature(enable = $features)]
                    fn compiled(
                        isa: $isa,
                        core: &mut $crate::duplex::Core,
                        data: $data,
                    ) $(-> $output)? {
                        $crate::duplex::kernels::$name(isa, core, data)
                    }
                    // SAFETY: `self` is the proof that the CPU has the instructions.
                    unsafe { compiled(self, core, data) }
                }
            )*
        }
    };
}

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
))]
pub(crate) use kernels;
