//! Chooses the back end that does the work, and is the only place that knows there is a choice.
//!
//! With the feature `std` the CPU is asked at run time; without it, the features that the program
//! is compiled for decide.

use crate::back_end::BackEnd;
use crate::batch::{OpenJob, Verdict};
use crate::job::Job;
use crate::keys::{Keying, MessageKeys};
use crate::mac_input::MacInput;
use crate::node::{Chain, Node, ROOT};
use crate::portable::Portable;
use crate::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};
#[cfg(feature = "measuring")]
use sealwire_simd::measuring::Level;

/// Evaluates an expression with the best back end that this CPU has, and returns its value.
macro_rules! dispatch {
    ($back_end:ident => $call:expr) => {
        sealwire_simd::dispatch!(
            x86_64: [sealwire_simd::Avx512, sealwire_simd::Avx2, sealwire_simd::Sse41],
            aarch64: [sealwire_simd::Neon],
            wasm32: [sealwire_simd::Simd128],
            else Portable;
            $back_end => $call
        )
    };
}

/// Uses no better back end than `most` from now on, and returns the one that this leaves.
///
/// For measuring; no promise, and absent without the feature `measuring`.
#[cfg(feature = "measuring")]
pub fn limit_back_end(most: Level) -> Level {
    sealwire_simd::measuring::set_limit(most);
    dispatch!(back_end => back_end.level())
}

/// Seals one message, encrypting all of it before hashing any, to measure what that costs.
#[cfg(feature = "measuring")]
pub fn seal_in_two_passes(
    key: &[u8; KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    aad: &[u8],
    buffer: &mut [u8],
) -> [u8; TAG_SIZE] {
    dispatch!(back_end => {
        let keys = back_end.derive_message_keys(key, nonce);
        back_end.xor_keystream(&keys, 0, buffer);
        crate::back_end::tag(back_end, &keys, aad, buffer)
    })
}

/// Decrypts `buffer` under the keys of `nonce` if `tag` is its tag, and leaves it alone if not.
#[must_use]
pub(crate) fn open_one(
    key: &[u8; KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    aad: &[u8],
    buffer: &mut [u8],
    tag: &[u8; TAG_SIZE],
) -> bool {
    let mut job = OpenJob::new(*nonce, aad, buffer, tag);
    batch(key, core::slice::from_mut(&mut job));
    job.verdict == Verdict::Verified
}

/// See [`BackEnd::seal`].
#[inline]
pub(crate) fn seal(keying: Keying<'_>, aad: &[u8], buffer: &mut [u8]) -> [u8; TAG_SIZE] {
    dispatch!(back_end => back_end.seal(keying, aad, buffer))
}

/// See [`BackEnd::xor_keystream`].
pub(crate) fn xor_keystream(keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    dispatch!(back_end => back_end.xor_keystream(keys, counter, data))
}

/// See [`BackEnd::derive_message_keys`].
pub(crate) fn derive_message_keys(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys {
    dispatch!(back_end => back_end.derive_message_keys(key, nonce))
}

/// Keyed BLAKE3 over `input`.
pub(crate) fn mac(key: &Chain, input: &MacInput<'_>) -> [u8; TAG_SIZE] {
    dispatch!(back_end => back_end.node(key, input, 0, input.len(), ROOT))
}

/// See [`BackEnd::node`]: that of a subtree.
pub(crate) fn node(key: &Chain, input: &MacInput<'_>, start: usize, len: usize) -> Node {
    dispatch!(back_end => back_end.node(key, input, start, len, 0))
}

/// See [`BackEnd::batch`].
#[inline]
pub(crate) fn batch<J: Job>(key: &[u8; KEY_SIZE], jobs: &mut [J]) {
    dispatch!(back_end => back_end.batch(key, jobs))
}

/// See [`BackEnd::run`].
pub(crate) fn run<J: Job>(keys: &MessageKeys, counter: u64, jobs: &mut [J]) {
    dispatch!(back_end => back_end.run(keys, counter, jobs))
}
