//! Maps whose keys are numbers that this side has given out, one after the other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by such numbers. Nobody else chooses its keys, so that no peer can choose those that collide.
pub(super) type Numbered<K, V> = HashMap<K, V, BuildHasherDefault<Multiplying>>;

/// Spreads successive numbers over all bits, with a multiplication each.
#[derive(Default)]
pub(super) struct Multiplying(u64);

/// 2^64 divided by the golden ratio: products of successive numbers lie far apart.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Multiplying {
    fn finish(&self) -> u64 {
        // Maps take the lowest bits and the highest ones.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(FACTOR);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash as _;

    use super::*;

    #[test]
    fn successive_numbers_fall_into_different_places() {
        const NUMBERS: u64 = 1 << 12;
        for attempt in [1_u32, 5] {
            let hashes = (1..=NUMBERS).map(|counter| {
                let mut hasher = Multiplying::default();
                (counter, attempt).hash(&mut hasher);
                hasher.finish()
            });
            let (low, high): (HashSet<_>, HashSet<_>) =
                hashes.map(|hash| (hash % NUMBERS, hash >> 52)).unzip();
            // Chance would fill 63 per cent of the places.
            assert!(low.len() as u64 > NUMBERS / 2, "{}", low.len());
            assert!(high.len() as u64 > NUMBERS / 2, "{}", high.len());
        }
    }
}
