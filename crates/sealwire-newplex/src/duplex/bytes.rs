//! Short runs of bytes: copied, XORed and wiped without a call.

#![allow(unsafe_code, reason = "volatile reads and writes")]

use core::sync::atomic::{Ordering, compiler_fence};
use zeroize::Zeroize;

/// Copies all of `source` to the beginning of `target`, which is not shorter.
///
/// Two overlapping pieces where a call for a run of any length would take longer than the bytes.
#[inline]
pub(super) fn copy(target: &mut [u8], source: &[u8]) {
    let length = source.len();
    let target = &mut target[..length];
    match length {
        0 => {}
        1..4 => {
            let (middle, last) = (length / 2, length - 1);
            (target[0], target[middle], target[last]) = (source[0], source[middle], source[last]);
        }
        4..8 => copy_ends::<4>(target, source),
        8..16 => copy_ends::<8>(target, source),
        16..=32 => copy_ends::<16>(target, source),
        _ => target.copy_from_slice(source),
    }
}

/// Copies the first and the last `N` bytes, of `N` to `2 * N`.
#[inline]
fn copy_ends<const N: usize>(target: &mut [u8], source: &[u8]) {
    if let (Some(first), Some(last)) = (source.first_chunk::<N>(), source.last_chunk::<N>()) {
        let end = target.len() - N;
        target[..N].copy_from_slice(first);
        target[end..].copy_from_slice(last);
    }
}

/// One to eight bytes as a little-endian number.
///
/// Two overlapping pieces, as in [`copy`].
#[inline]
pub(super) fn read_word(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if let Some(all) = bytes.first_chunk::<8>().filter(|_| length == 8) {
        u64::from_le_bytes(*all)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last));
        u64::from(u32::from_le_bytes(*first)) | last << (8 * (length - 4))
    } else {
        let (middle, last) = (length / 2, length - 1);
        u64::from(bytes[0])
            | u64::from(bytes[middle]) << (8 * middle)
            | u64::from(bytes[last]) << (8 * last)
    }
}

/// One to 15 bytes as a little-endian number.
#[inline]
pub(super) fn read_lane(bytes: &[u8]) -> u128 {
    match bytes.split_first_chunk() {
        Some((first, [])) => u64::from_le_bytes(*first).into(),
        Some((first, rest)) => {
            u128::from(u64::from_le_bytes(*first)) | u128::from(read_word(rest)) << 64
        }
        None => read_word(bytes).into(),
    }
}

/// Words `2 * index` and the next, as bytes.
///
/// Volatile, or one load of both would be made of them, which waits until the stores of single words
/// before it have left the CPU.
#[inline]
pub(super) fn bytes_of(words: &[u64], index: usize) -> [u8; 16] {
    let (low, high) = (&words[2 * index], &words[2 * index + 1]);
    // SAFETY: reads from references.
    let (low, high) = unsafe {
        (
            core::ptr::read_volatile(low),
            core::ptr::read_volatile(high),
        )
    };
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

/// XORs `mask`, which is as long, to `text`.
#[inline]
pub(super) fn xor_with(text: &mut [u8], mask: &[u8]) {
    let (chunks, rest) = text.as_chunks_mut::<16>();
    let (mask_chunks, mask_rest) = mask.as_chunks::<16>();
    for (chunk, mask) in chunks.iter_mut().zip(mask_chunks) {
        *chunk = (u128::from_ne_bytes(*chunk) ^ u128::from_ne_bytes(*mask)).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask_rest) {
        *byte ^= mask;
    }
}

/// What [`wipe`] writes at a time.
#[cfg(target_arch = "x86_64")]
type Word = core::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Word = u128;

/// A type that can be wiped: every pattern of bits is a value.
pub(super) trait Integer: zeroize::DefaultIsZeroes {}
impl Integer for u8 {}
impl Integer for u64 {}

/// Overwrites `secret` with zeros that the compiler cannot leave out.
///
/// In words: `zeroize` writes single bytes, which for a state takes longer than a permutation.
#[inline]
pub(super) fn wipe<T: Integer>(secret: &mut [T]) {
    // SAFETY: every pattern of bits is a word, and is integers.
    let (head, words, tail) = unsafe { secret.align_to_mut::<Word>() };
    for word in words {
        // SAFETY: an exclusive reference is valid for writes and aligned; zeros are a word.
        unsafe { core::ptr::write_volatile(word, core::mem::zeroed()) }
    }
    head.zeroize();
    tail.zeroize();
    compiler_fence(Ordering::SeqCst);
}
