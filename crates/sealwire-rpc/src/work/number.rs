//! What names a task.

use std::fmt;

/// The number of a task: 128 bits, the same at each attempt and in no other task. A worker that stores the numbers
/// of what it has done can tell a repetition by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskNumber {
    pub(super) distributor: u64,
    pub(super) counter: u64,
}

impl TaskNumber {
    /// Returns the number as bytes: those of the distributor, chosen at random when it was made, and a counter.
    pub fn to_bytes(self) -> [u8; 16] {
        let number = (u128::from(self.distributor) << 64) | u128::from(self.counter);
        number.to_be_bytes()
    }

    /// Returns the number that these bytes of [`to_bytes`](TaskNumber::to_bytes) are.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let number = u128::from_be_bytes(bytes);
        TaskNumber {
            distributor: (number >> 64) as u64,
            counter: number as u64,
        }
    }
}

impl fmt::Display for TaskNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.distributor, self.counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_distributor_and_a_counter() {
        let number = TaskNumber {
            distributor: 0xab,
            counter: 0xc,
        };
        assert_eq!(number.to_string(), "00000000000000ab000000000000000c");
        assert_eq!(u128::from_be_bytes(number.to_bytes()), (0xab << 64) | 0xc);
        assert_eq!(TaskNumber::from_bytes(number.to_bytes()), number);
    }
}
