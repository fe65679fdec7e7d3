//! What BLAKE3's tree is made of: chunks at its bottom, and nodes.

/// Bytes in a leaf of the tree.
pub(crate) const CHUNK_SIZE: usize = 1024;

/// The flag of the node at the top of a whole message, which is its tag.
pub(crate) const ROOT: u32 = 1 << 3;

/// A chaining value or a key, as words.
pub(crate) type Chain = [u32; 8];

/// The chaining value of a node as bytes, so that two neighbours are their parent's block.
pub(crate) type Node = [u8; 32];
