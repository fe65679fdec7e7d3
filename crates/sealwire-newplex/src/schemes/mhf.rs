//! A memory-hard hash for passwords.
//!
//! DEGSample of Blocki and Holman, "Towards Practical Data-Dependent Memory-Hard Functions with
//! Optimal Sustained Space Trade-offs" (2025, <https://arxiv.org/abs/2508.06795>). With N = 2^cost it
//! fills 3N blocks of 1 KiB whose graph does not depend on the password, then 2N whose graph does.
//!
//! ```
//! use sealwire_newplex::schemes::mhf::{Cost, hash};
//!
//! let mut key = [0; 32];
//! hash("com.example.login", Cost::new(4)?, b"a random salt", b"password", &mut key)?;
//! # Ok::<(), sealwire_newplex::schemes::mhf::MhfError>(())
//! ```

use crate::Protocol;
use alloc::vec::Vec;
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of a block in bytes.
const BLOCK_SIZE: usize = 1024;

type Block = [u8; BLOCK_SIZE];

/// How much memory and time a hash takes: 5 * 2^cost KiB, and 7 * 2^cost KiB to be hashed.
///
/// Choose it so that a hash takes as long as you can bear: cost 10 takes 5 MiB, cost 16 320 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u8);

impl Cost {
    /// The highest: 80 GiB.
    pub const MAX: Self = Self(24);

    /// From 0 to [`MAX`](Self::MAX).
    ///
    /// # Errors
    ///
    /// [`MhfError::Cost`] if it is higher.
    pub const fn new(cost: u8) -> Result<Self, MhfError> {
        if cost > Self::MAX.0 {
            return Err(MhfError::Cost(cost));
        }
        Ok(Self(cost))
    }

    /// Memory that a hash takes, in bytes.
    #[must_use]
    pub const fn memory(self) -> u64 {
        (5 * BLOCK_SIZE as u64) << self.0
    }
}

/// Why there is no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MhfError {
    /// The cost is too high.
    #[error("cost {0} is above the highest, which is 24")]
    Cost(u8),
    /// There is not as much memory as the cost asks for.
    #[error("cost {} takes {} bytes of memory, which are not there", .0.0, .0.memory())]
    Memory(Cost),
}

/// Fills `output` with the hash of `password`. Different lengths give unrelated outputs.
///
/// Where blocks lie in memory depends on the password from the second part on, which someone who
/// observes the caches of this machine can see; that is so by design.
///
/// # Errors
///
/// [`MhfError::Memory`] if there is not enough of it.
pub fn hash(
    domain: impl AsRef<[u8]>,
    cost: Cost,
    salt: &[u8],
    password: &[u8],
    output: &mut [u8],
) -> Result<(), MhfError> {
    let nodes = 1_usize << cost.0;
    let mut blocks = Zeroizing::new(Vec::<Block>::new());
    let count = nodes.checked_mul(5).ok_or(MhfError::Memory(cost))?;
    blocks
        .try_reserve_exact(count)
        .map_err(|_| MhfError::Memory(cost))?;

    let (graph, mut dependent) = begin(domain.as_ref(), cost, salt);
    dependent.mix("password", password);
    blocks.push(dependent.derive_array("source"));
    for index in 1..3 * nodes {
        let [required, optional] = graph.parents(index);
        let mut protocol = dependent.clone();
        mix_number(&mut protocol, index);
        if let Some(parent) = required {
            protocol.mix("required", &blocks[parent]);
        }
        if let Some(parent) = optional {
            protocol.mix("optional", &blocks[parent]);
        }
        blocks.push(protocol.derive_array("static"));
    }
    for index in 3 * nodes..5 * nodes {
        let mut protocol = dependent.clone();
        protocol.mix("prev", &blocks[index - 1]);
        let random = u64::from_le_bytes(protocol.derive_array("pre-label"));
        let target = last_part((random % nodes as u64) as usize);
        protocol.mix("back-pointer", &blocks[target]);
        blocks.push(protocol.derive_array("dynamic"));
    }
    dependent.mix("final", &blocks[5 * nodes - 1]);
    dependent.derive("output", output);
    Ok(())
}

/// The graph, and the branch that the password goes into.
fn begin(domain: &[u8], cost: Cost, salt: &[u8]) -> (Graph, Protocol) {
    let mut root = Protocol::new(domain);
    root.mix("cost", &[cost.0]);
    root.mix("salt", salt);
    let (independent, dependent) = root.fork("data", b"independent", b"dependent");
    let graph = Graph {
        independent,
        columns: columns(cost),
    };
    (graph, dependent)
}

/// Mixes LEB128 of `number`.
fn mix_number(protocol: &mut Protocol, mut number: usize) {
    let mut encoded = [0; 10];
    let mut length = 0;
    while number >= 0x80 {
        encoded[length] = number as u8 | 0x80;
        number >>= 7;
        length += 1;
    }
    encoded[length] = number as u8;
    protocol.mix("node", &encoded[..=length]);
}

/// Columns of the grid: 2^(0.8 cost), rounded to the nearest.
const fn columns(cost: Cost) -> usize {
    // (c - 1/2)^5 <= 2^(4 cost) < (c + 1/2)^5, times 2^5.
    let power = 1_u128 << (4 * cost.0 + 5);
    let mut columns = 0;
    let mut bit = 1_usize << cost.0;
    while bit > 0 {
        if (2 * (columns + bit) as u128 - 1).pow(5) <= power {
            columns += bit;
        }
        bit >>= 1;
    }
    columns
}

/// Every node of the graph is three blocks; this one has the edges to others.
const fn last_part(node: usize) -> usize {
    3 * node + 2
}

/// The part of the graph that does not depend on the password: DRSample and a grid, every node split
/// into three, so that none has more than two parents.
struct Graph {
    independent: Protocol,
    columns: usize,
}

impl Graph {
    /// The blocks that block `index`, from 1 on, depends on.
    fn parents(&self, index: usize) -> [Option<usize>; 2] {
        let (node, part) = (index / 3, index % 3);
        let external = self.external_parent(node, part).map(last_part);
        match part {
            0 => [external, None],
            _ => [Some(index - 1), external],
        }
    }

    /// Parent number `part` of a node: the one before it, a random one, the one above it. A node that
    /// lacks one of them has the next in its place.
    fn external_parent(&self, node: usize, part: usize) -> Option<usize> {
        let above = node.checked_sub(self.columns);
        match (node, part) {
            (0, _) => None,
            (_, 0) => Some(node - 1),
            (1, 1) => above,
            (1, _) => None,
            (_, 1) => Some(self.random_parent(node)),
            (_, _) => above,
        }
    }

    /// A parent of `node`, from 2 on, more likely near than far.
    fn random_parent(&self, node: usize) -> usize {
        let mut protocol = self.independent.clone();
        mix_number(&mut protocol, node);
        let level = u64::from_le_bytes(protocol.derive_array("level"));
        let offset = u64::from_le_bytes(protocol.derive_array("offset"));
        let levels = u64::from((node - 1).ilog2()) + 1;
        let near = 1 << (level % levels);
        let offset = (offset % near as u64) as usize;
        // The furthest level may reach beyond the first node.
        (node + offset).saturating_sub(2 * near)
    }
}

#[cfg(test)]
mod tests;
