//! Why an attempt failed, as text that is bounded.

/// Returns the beginning of a reason, at most `most` bytes, with whole characters.
pub(crate) fn shortened(reason: &str, most: usize) -> &str {
    let mut end = most.min(reason.len());
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}
