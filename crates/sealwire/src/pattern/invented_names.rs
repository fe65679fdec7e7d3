//! Routing ids for peers that gave none.

/// A zero octet, which peers may not use as their first, and a number of 4 bytes, as libzmq has it.
pub(super) struct InventedNames {
    next: u32,
}

impl InventedNames {
    /// Their numbers begin with `first`.
    pub(super) fn from(first: u32) -> Self {
        InventedNames { next: first }
    }

    /// Returns the next one that is not taken.
    pub(super) fn invent(&mut self, is_taken: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        loop {
            let mut name = vec![0];
            name.extend_from_slice(&self.next.to_be_bytes());
            self.next = self.next.wrapping_add(1);
            if !is_taken(&name) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_on_behind_the_last_number_and_pass_over_those_that_are_taken() {
        let mut names = InventedNames::from(u32::MAX);
        let mut invented = || names.invent(|name| name == [0, 0, 0, 0, 0]);
        assert_eq!(invented(), [0, 255, 255, 255, 255]);
        assert_eq!(invented(), [0, 0, 0, 0, 1]);
    }
}
