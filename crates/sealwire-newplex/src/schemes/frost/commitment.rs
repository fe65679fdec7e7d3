//! What a signer commits itself to.

use crate::schemes::keys::PublicKey;

/// What a signer publishes before it signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Commitment {
    pub(super) identifier: u16,
    pub(super) hiding: PublicKey,
    pub(super) binding: PublicKey,
}

impl Commitment {
    /// The signer.
    #[must_use]
    pub fn identifier(&self) -> u16 {
        self.identifier
    }
}
