//! No lanes: there are instructions for Poly1305 on other processors only.

use super::scalar::Limbs;

/// Of which there are none.
pub(crate) enum Lanes {}

impl Lanes {
    pub(super) const fn are_quicker(_: usize) -> bool {
        false
    }

    pub(super) const fn detect(_: Limbs) -> Option<Self> {
        None
    }

    pub(super) const fn update<'a>(&mut self, _: &'a [u8]) -> &'a [u8] {
        match *self {}
    }

    pub(super) const fn sum(&self) -> Limbs {
        match *self {}
    }
}
