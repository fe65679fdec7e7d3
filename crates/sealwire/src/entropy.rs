//! Randomness from the operating system.

/// Fills `buffer` with random bytes.
///
/// # Panics
///
/// When the operating system has none to give: no key and no nonce could be trusted after that.
pub(crate) fn fill(buffer: &mut [u8]) {
    getrandom::fill(buffer).expect("the operating system has no randomness to give");
}
