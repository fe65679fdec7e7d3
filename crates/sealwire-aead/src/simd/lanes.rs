//! Messages that are done at once, one a lane, and what an instruction set compiles for them.

use super::shape::Shape;
use crate::KEY_SIZE;
use crate::job::Job;
use crate::node::{Chain, Node};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Index of a job in the slice of a batch call.
pub(crate) type Index = u8;

/// The keys of the messages in all lanes.
pub(crate) enum TagKeys<'a, V> {
    /// One for all.
    Same(&'a Chain),
    /// Each its own.
    Own(&'a [V; 8]),
}

/// The input that each lane authenticates. Lanes that are left over do what the first does.
pub(crate) struct Lanes<'a> {
    pub(super) aads: [&'a [u8]; MAX_LANES],
    pub(super) texts: [&'a [u8]; MAX_LANES],
    pub(super) shapes: [Shape; MAX_LANES],
    /// Whether all shapes are the same.
    pub(super) alike: bool,
}

impl<'a> Lanes<'a> {
    #[inline]
    pub(crate) fn new<J: Job>(jobs: &'a [J], group: &[Index]) -> Self {
        let first = &jobs[usize::from(group[0])];
        let mut aads = [first.aad(); MAX_LANES];
        let mut texts = [first.text(); MAX_LANES];
        for (lane, index) in group.iter().enumerate().take(MAX_LANES) {
            let job = &jobs[usize::from(*index)];
            (aads[lane], texts[lane]) = (job.aad(), job.text());
        }
        let shapes: [Shape; MAX_LANES] = core::array::from_fn(|lane| Shape {
            aad_len: aads[lane].len(),
            text_len: texts[lane].len(),
        });
        let alike = shapes.iter().all(|shape| *shape == shapes[0]);
        Self {
            aads,
            texts,
            shapes,
            alike,
        }
    }
}

/// What an instruction set compiles for a kind of vector.
pub(crate) trait LaneKernels<V: Vector<Isa = Self>>: Copy {
    /// See [`batch::group`](super::batch::group).
    fn group<J: Job>(self, key: &[u8; KEY_SIZE], jobs: &mut [J], group: &[Index]);
    /// See [`batch::tags`](super::batch::tags).
    fn tags(self, keys: TagKeys<'_, V>, lanes: &Lanes<'_>, tags: &mut [Node; MAX_LANES]);
}
