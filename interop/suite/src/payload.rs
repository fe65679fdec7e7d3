//! The payloads of the messages, the same for all peers, and how they report those that they received.

use sealwire::Frame;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Parts up to this many bytes are reported whole, longer ones by length and hash.
const SHOWN_WHOLE: usize = 256;

/// The messages of one exchange.
#[derive(Debug)]
pub struct Shape {
    /// How many parts each message has.
    pub parts: usize,
    /// Bytes of each part: part p of message n has the one at n + p, counted round. There are as
    /// many messages as sizes.
    pub sizes: &'static [usize],
}

/// Messages of one part, from nothing to 10 MB, by way of every size at which something changes:
/// a frame kept in place (70), a short frame (255, sealed 223), one write to the transport.
pub const SINGLE_PARTS: Shape = Shape {
    parts: 1,
    sizes: &[
        0,
        1,
        32,
        70,
        71,
        223,
        224,
        255,
        256,
        1_024,
        65_503,
        65_504,
        65_505,
        65_535,
        65_536,
        1 << 20,
        10_000_000,
    ],
};

/// A few messages, for paths whose sizes are another test's matter.
pub const FEW: Shape = Shape {
    parts: 2,
    sizes: &[0, 70, 1_000],
};

/// Messages of three parts, with short and long frames side by side.
pub const MULTIPART: Shape = Shape {
    parts: 3,
    sizes: &[
        0,
        0,
        1,
        70,
        71,
        223,
        224,
        255,
        256,
        65_503,
        0,
        65_536,
        1 << 20,
    ],
};

impl Shape {
    /// Message number `index`, starting with `topic`: octet i of part p is
    /// (i + 7 p + 13 index) mod 251.
    pub fn message(&self, topic: &str, index: usize) -> Vec<Vec<u8>> {
        let part = |p: usize| {
            let start = 7 * p + 13 * index;
            let size = self.sizes[(index + p) % self.sizes.len()];
            (start..start + size).map(|octet| (octet % 251) as u8)
        };
        let mut message: Vec<Vec<u8>> = (0..self.parts).map(|p| part(p).collect()).collect();
        message[0].splice(0..0, topic.bytes());
        message
    }

    /// The sizes as a peer's command line takes them.
    pub fn sizes_argument(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        sizes.join(",")
    }
}

/// How a peer reports a part it received.
pub fn describe(part: &[u8]) -> Value {
    if part.len() <= SHOWN_WHOLE {
        json!({ "length": part.len(), "hex": hex::encode(part) })
    } else {
        json!({ "length": part.len(), "sha256": hex::encode(Sha256::digest(part)) })
    }
}

/// The message a publisher repeats until a subscriber has seen one.
pub fn sync(topic: &str) -> Vec<u8> {
    [topic.as_bytes(), SYNC_MARK].concat()
}

/// Whether a message is one of those.
pub fn is_sync(frames: &[Frame]) -> bool {
    matches!(frames, [frame] if frame.ends_with(SYNC_MARK))
}

/// Neighbouring octets of a payload differ by one, so this never ends one.
const SYNC_MARK: &[u8] = b"\0sync";
