//! Independent branches of a protocol.

use super::{Protocol, code};
#[cfg(feature = "alloc")]
use crate::error::TooManyBranches;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Branches that a protocol can be forked into at a time.
pub const MAX_BRANCHES: usize = 255;

impl Protocol {
    /// Splits off two branches, which differ from each other and from this one even if the values
    /// are the same.
    #[must_use]
    pub fn fork(&mut self, label: impl AsRef<[u8]>, left: &[u8], right: &[u8]) -> (Self, Self) {
        let [left, right] = self.fork_n(label, [left, right]);
        (left, right)
    }

    /// Splits off a branch for each of the values; at most [`MAX_BRANCHES`], which is checked when
    /// the program is compiled.
    ///
    /// ```compile_fail
    /// # let mut protocol = sealwire_newplex::Protocol::new("example");
    /// let branches = protocol.fork_n("too many", [b"".as_slice(); 256]);
    /// ```
    #[must_use]
    pub fn fork_n<const N: usize>(
        &mut self,
        label: impl AsRef<[u8]>,
        values: [&[u8]; N],
    ) -> [Self; N] {
        const { assert!(N <= MAX_BRANCHES, "more branches than a byte can number") };
        let label = label.as_ref();
        let branches = core::array::from_fn(|index| self.branch(label, index, values[index]));
        self.become_trunk(label);
        branches
    }

    /// Splits off a branch for each of the values, where their number is known only at run time.
    ///
    /// # Errors
    ///
    /// [`TooManyBranches`] if there are more than [`MAX_BRANCHES`].
    #[cfg(feature = "alloc")]
    pub fn fork_each(
        &mut self,
        label: impl AsRef<[u8]>,
        values: &[&[u8]],
    ) -> Result<Vec<Self>, TooManyBranches> {
        if values.len() > MAX_BRANCHES {
            return Err(TooManyBranches(values.len()));
        }
        let label = label.as_ref();
        let branches = values.iter().enumerate();
        let branches = branches.map(|(index, value)| self.branch(label, index, value));
        let branches = branches.collect();
        self.become_trunk(label);
        Ok(branches)
    }

    /// Branch `index`, which is below [`MAX_BRANCHES`].
    fn branch(&self, label: &[u8], index: usize, value: &[u8]) -> Self {
        let mut branch = self.clone();
        branch.duplex.absorb_header(code::FORK, label);
        branch.duplex.absorb_byte(index as u8 + 1);
        branch.duplex.absorb(value);
        branch
    }

    /// What the protocol that was forked goes on as.
    fn become_trunk(&mut self, label: &[u8]) {
        self.duplex.absorb_header(code::FORK, label);
        self.duplex.absorb_byte(0);
    }
}
