//! Operations of many protocols at a time, in groups of up to [`GROUP`].

use super::{Protocol, code};
use crate::duplex::batch::{self, HasDuplex, HasText};
use crate::duplex::{Duplex, Tag};
pub(crate) use batch::{GROUP, pays};

/// Hands jobs to `many` in groups, and those to `alone` that are faster so, of which `length` says
/// how many bytes they have.
pub(crate) fn in_groups<J>(
    jobs: impl Iterator<Item = J>,
    length: impl Fn(&J) -> usize,
    alone: impl Fn(J),
    mut many: impl FnMut(&mut [Option<J>]),
) {
    let mut group = [const { None }; GROUP];
    let (mut count, mut total) = (0, 0);
    for job in jobs {
        let length = length(&job);
        if !pays(length) {
            alone(job);
            continue;
        }
        group[count] = Some(job);
        count += 1;
        total += length;
        if count == GROUP {
            many(&mut group);
            (count, total) = (0, 0);
        }
    }
    let group = &mut group[..count];
    // The cost of a group must pay off for two or three of them, too.
    if count > 1 && pays(total / 4) {
        many(group);
    } else {
        group.iter_mut().filter_map(Option::take).for_each(alone);
    }
}

impl HasDuplex for Protocol {
    fn duplex(&mut self) -> &mut Duplex {
        &mut self.duplex
    }
}

/// A protocol with the text that it is to seal or to open.
pub(crate) struct WithText<'t> {
    pub(crate) protocol: Protocol,
    pub(crate) text: &'t mut [u8],
}

impl HasDuplex for WithText<'_> {
    fn duplex(&mut self) -> &mut Duplex {
        &mut self.protocol.duplex
    }
}

impl HasText for WithText<'_> {
    fn parts(&mut self) -> (&mut Duplex, &mut [u8]) {
        (&mut self.protocol.duplex, self.text)
    }
}

/// [`Protocol::mix`] of an input for each.
pub(crate) fn mix<'a>(
    items: &mut [impl HasDuplex],
    label: &[u8],
    inputs: impl Fn(usize) -> &'a [u8],
) {
    batch::absorb_header(items, code::MIX, label);
    batch::absorb(items, inputs);
}

/// [`Protocol::continue_mix`] with an input for each.
pub(crate) fn continue_mix<'a>(items: &mut [impl HasDuplex], inputs: impl Fn(usize) -> &'a [u8]) {
    batch::absorb(items, inputs);
}

/// [`Protocol::derive`] of the same size for each.
pub(crate) fn derive<const SIZE: usize>(
    items: &mut [impl HasDuplex],
    label: &[u8],
    give: impl FnMut(usize, [u8; SIZE]),
) {
    batch::absorb_header(items, code::DERIVE, label);
    batch::absorb_leb128(items, |_| SIZE);
    batch::squeeze(items, give);
}

/// [`Protocol::seal_detached`] of each text.
pub(crate) fn seal(items: &mut [impl HasText], label: &[u8], give: impl FnMut(usize, Tag)) {
    begin_sealed(items, label);
    batch::seal(items, give);
}

/// Decrypts each text and gives the tag that it should have.
pub(crate) fn open(items: &mut [impl HasText], label: &[u8], give: impl FnMut(usize, Tag)) {
    begin_sealed(items, label);
    batch::open(items, give);
}

fn begin_sealed(items: &mut [impl HasText], label: &[u8]) {
    batch::absorb_header(items, code::AUTH_CRYPT, label);
    for item in items {
        let (duplex, text) = item.parts();
        duplex.absorb_leb128(text.len() as u64);
    }
}
