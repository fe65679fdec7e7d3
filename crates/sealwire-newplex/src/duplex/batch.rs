//! Operations of many duplexes at a time, each step of which permutes all states that need it.

use super::{Duplex, RATE, Tag, side_by_side};

/// Duplexes that go through the steps of a batch together; what holds a duplex may be longer.
pub(crate) const GROUP: usize = 16;

/// Bytes from which on four messages are faster together, as measured: with fewer, what comes once
/// for each costs more than the permutations save.
const BREAK_EVEN: usize = 512;

/// Whether a message of this length in bytes is faster in a batch.
pub(crate) fn pays(length: usize) -> bool {
    #[cfg(test)]
    if super::every_back_end::is_chosen() {
        return true;
    }
    length >= BREAK_EVEN && side_by_side::is_wide()
}

/// A type that has a duplex.
pub(crate) trait HasDuplex {
    /// The duplex.
    fn duplex(&mut self) -> &mut Duplex;
}

/// A type that has a duplex and a text.
pub(crate) trait HasText: HasDuplex {
    /// Both.
    fn parts(&mut self) -> (&mut Duplex, &mut [u8]);
}

impl<T: HasDuplex> HasDuplex for Option<T> {
    fn duplex(&mut self) -> &mut Duplex {
        self.as_mut().expect(FILLED).duplex()
    }
}

impl<T: HasText> HasText for Option<T> {
    fn parts(&mut self) -> (&mut Duplex, &mut [u8]) {
        self.as_mut().expect(FILLED).parts()
    }
}

/// Groups are cut to those places that are taken.
const FILLED: &str = "a place of the group that is not taken";

#[cfg(test)]
impl HasDuplex for Duplex {
    fn duplex(&mut self) -> &mut Duplex {
        self
    }
}

/// Ends the block of those whose block `is_due`.
fn permute(items: &mut [impl HasDuplex], is_due: impl Fn(&Duplex) -> bool) {
    let duplexes = items.iter_mut().map(HasDuplex::duplex);
    side_by_side::absorb(&mut duplexes.filter(|duplex| is_due(duplex)).map(|duplex| {
        duplex.pad();
        (&mut duplex.core, [].as_slice())
    }));
}

/// Ends the block of all.
pub(crate) fn permute_all(items: &mut [impl HasDuplex]) {
    permute(items, |_| true);
}

/// [`Duplex::absorb`] of an input for each of up to [`GROUP`].
pub(crate) fn absorb<'a>(items: &mut [impl HasDuplex], inputs: impl Fn(usize) -> &'a [u8]) {
    let mut tails = [0; GROUP];
    let places = items.iter_mut().zip(&mut tails).enumerate();
    side_by_side::absorb(&mut places.filter_map(|(index, (item, tail))| {
        let (duplex, input) = (item.duplex(), inputs(index));
        if input.len() < duplex.room() {
            duplex.absorb_short(input);
            return None;
        }
        let (first, rest) = input.split_at(duplex.room());
        duplex.absorb_short(first);
        duplex.pad();
        let (blocks, rest) = rest.as_chunks();
        *tail = rest.len();
        Some((&mut duplex.core, blocks))
    }));
    for (index, (item, tail)) in items.iter_mut().zip(tails).enumerate() {
        let input = inputs(index);
        item.duplex().absorb_short(&input[input.len() - tail..]);
    }
}

/// [`Duplex::absorb_header`] for each of up to [`GROUP`].
pub(crate) fn absorb_header(items: &mut [impl HasDuplex], code: u8, label: &[u8]) {
    let mut is_long = [false; GROUP];
    for (item, is_long) in items.iter_mut().zip(&mut is_long) {
        let duplex = item.duplex();
        *is_long = label.len() + 4 >= duplex.room();
        if !*is_long {
            duplex.absorb_header(code, label);
        }
    }
    if is_long.contains(&true) {
        frame(items, &is_long, code);
        absorb(items, |index| if is_long[index] { label } else { &[] });
        frame(items, &is_long, code | 0x80);
    }
}

/// [`Duplex::frame`] for some.
fn frame(items: &mut [impl HasDuplex], chosen: &[bool; GROUP], id: u8) {
    absorb_byte(items, chosen, |duplex| duplex.frame_index);
    absorb_byte(items, chosen, |duplex| {
        duplex.frame_index = duplex.rate_index;
        id
    });
}

/// [`Duplex::absorb_byte`] for some.
fn absorb_byte(
    items: &mut [impl HasDuplex],
    chosen: &[bool; GROUP],
    byte: impl Fn(&mut Duplex) -> u8,
) {
    for (item, chosen) in items.iter_mut().zip(chosen) {
        if *chosen {
            let duplex = item.duplex();
            let byte = byte(duplex);
            duplex.absorb_short(&[byte]);
        }
    }
    permute(items, |duplex| duplex.position() == RATE);
}

/// [`Duplex::absorb_leb128`] for each.
pub(crate) fn absorb_leb128(items: &mut [impl HasDuplex], value: impl Fn(usize) -> usize) {
    for (index, item) in items.iter_mut().enumerate() {
        item.duplex().absorb_leb128(value(index) as u64);
    }
}

/// [`Duplex::permute_and_squeeze`] of the same small size for each.
pub(crate) fn squeeze<const SIZE: usize>(
    items: &mut [impl HasDuplex],
    mut give: impl FnMut(usize, [u8; SIZE]),
) {
    const { assert!(SIZE < RATE) };
    permute_all(items);
    for (index, item) in items.iter_mut().enumerate() {
        let duplex = item.duplex();
        let output = *duplex.core.state.first_chunk().expect("less than a block");
        duplex.absorb_short(&output);
        give(index, output);
    }
}

/// [`Duplex::seal`] of a text for each.
pub(crate) fn seal(items: &mut [impl HasText], give: impl FnMut(usize, Tag)) {
    side_by_side::encrypt(&mut items.iter_mut().map(|item| {
        let (duplex, text) = item.parts();
        duplex.pad();
        (&mut duplex.core, text.as_chunks_mut().0)
    }));
    for item in &mut *items {
        let (duplex, text) = item.parts();
        duplex.encrypt_short(text.as_chunks_mut::<RATE>().1);
    }
    squeeze(items, give);
}

/// [`Duplex::open`] of a text for each.
pub(crate) fn open(items: &mut [impl HasText], give: impl FnMut(usize, Tag)) {
    side_by_side::decrypt(&mut items.iter_mut().map(|item| {
        let (duplex, text) = item.parts();
        duplex.pad();
        (&mut duplex.core, text.as_chunks_mut().0)
    }));
    for item in &mut *items {
        let (duplex, text) = item.parts();
        duplex.decrypt_short(text.as_chunks_mut::<RATE>().1);
    }
    squeeze(items, give);
}
