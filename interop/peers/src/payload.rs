//! What the peers put into messages.

/// The parts of one message.
pub type Parts = Vec<Vec<u8>>;

/// Ends the single part of a message that tells subscribers their subscription has arrived.
///
/// Neighbouring octets of [`part`] differ by one, so this never ends a payload.
const SYNC_MARK: &[u8] = b"\0sync";

/// Message number `index` of a sender: octet i of part p is (i + 7 p + 13 index) mod 251, and its
/// size is the one at index + p, counted round.
pub(crate) fn message(topic: &str, index: usize, parts: usize, sizes: &[usize]) -> Parts {
    let mut message: Parts = (0..parts)
        .map(|p| part(7 * p + 13 * index, sizes[(index + p) % sizes.len()]))
        .collect();
    if let Some(first) = message.first_mut() {
        first.splice(0..0, topic.bytes());
    }
    message
}

fn part(start: usize, size: usize) -> Vec<u8> {
    (start..start + size)
        .map(|octet| (octet % 251) as u8)
        .collect()
}

/// The message a publisher repeats until it is told to start.
pub(crate) fn sync(topic: &str) -> Parts {
    vec![[topic.as_bytes(), SYNC_MARK].concat()]
}

/// Whether a subscriber received [`sync`].
pub(crate) fn is_sync(message: &[Vec<u8>]) -> bool {
    matches!(message, [part] if part.ends_with(SYNC_MARK))
}
