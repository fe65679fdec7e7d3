//! Randomness from the operating system.

/// Fills `buffer` with random bytes.
///
/// # Panics
///
/// When the operating system has none to give: no key and no nonce could be trusted after that.
pub(crate) fn fill(buffer: &mut [u8]) {
    getrandom::fill(buffer).expect("the operating system has no randomness to give");
}

/// A random number below `bound`, for jitter; 0 when `bound` is 0.
pub(crate) fn below(bound: u64) -> u64 {
    let mut bytes = [0; 8];
    fill(&mut bytes);
    u64::from_le_bytes(bytes).checked_rem(bound).unwrap_or(0)
}
