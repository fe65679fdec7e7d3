//! What someone on the path does to one unit.

use std::fmt;

use crate::{Act, Script, flip};

/// A manipulation of a unit, or of a whole connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manipulation {
    /// The unit is left out.
    Drop,
    /// The unit comes twice.
    Repeat,
    /// The unit comes behind the next one.
    Reorder,
    /// The unit lacks its last byte, and the stream goes on with another one.
    Shorten,
    /// The connection is cut in the middle of the unit.
    Cut,
    /// The connection is cut behind the unit, where a message ends.
    End,
    /// A unit of another connection of the same peers takes its place.
    Splice,
    /// The unit goes back to its sender.
    Reflect,
    /// A unit that the attacker made comes before it.
    Inject,
    /// The lowest bit of its last byte is flipped.
    Flip,
    /// What a client sent on a connection is sent again on another.
    Replay,
}

/// What the attacker has to put in a unit's place.
#[derive(Debug, Clone, Default)]
pub struct Material {
    /// A unit of another connection, for [`Manipulation::Splice`].
    pub spliced: Vec<u8>,
    /// A unit without protection, for [`Manipulation::Inject`].
    pub forged: Vec<u8>,
}

impl Manipulation {
    /// All that there are.
    pub const ALL: [Manipulation; 11] = [
        Manipulation::Drop,
        Manipulation::Repeat,
        Manipulation::Reorder,
        Manipulation::Shorten,
        Manipulation::Cut,
        Manipulation::End,
        Manipulation::Splice,
        Manipulation::Reflect,
        Manipulation::Inject,
        Manipulation::Flip,
        Manipulation::Replay,
    ];

    /// Does it to unit `at` and lets all others pass. `None` for [`Replay`](Manipulation::Replay), which is done
    /// to no unit: see [`Recording::play`](crate::Recording::play).
    #[must_use]
    pub fn script(self, at: usize, material: Material) -> Option<Script> {
        let Material { spliced, forged } = material;
        Some(match self {
            Manipulation::Drop => to_unit(at, |_| Act::drop()),
            Manipulation::Repeat => to_unit(at, |unit| Act::forward(unit.repeat(2))),
            Manipulation::Reorder => reorder(at),
            Manipulation::Shorten => shorten(at),
            Manipulation::Cut => to_unit(at, |unit| Act::forward_and_cut(&unit[..unit.len() / 2])),
            Manipulation::End => to_unit(at, Act::forward_and_cut),
            Manipulation::Splice => to_unit(at, move |_| Act::forward(spliced.clone())),
            Manipulation::Reflect => to_unit(at, Act::reflect),
            Manipulation::Inject => {
                to_unit(at, move |unit| Act::forward([&forged[..], &unit].concat()))
            }
            Manipulation::Flip => to_unit(at, |mut unit| {
                let bit = (unit.len() - 1) * 8;
                flip(&mut unit, bit);
                Act::forward(unit)
            }),
            Manipulation::Replay => return None,
        })
    }
}

/// As the table of `docs/threats.md` names them.
impl fmt::Display for Manipulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Manipulation::Drop => "leave it out",
            Manipulation::Repeat => "send it twice",
            Manipulation::Reorder => "send it behind the next one",
            Manipulation::Shorten => "take its last byte off",
            Manipulation::Cut => "cut the connection within it",
            Manipulation::End => "cut the connection behind it",
            Manipulation::Splice => "put one of another connection in its place",
            Manipulation::Reflect => "send it back",
            Manipulation::Inject => "put a forged one before it",
            Manipulation::Flip => "flip a bit",
            Manipulation::Replay => "play a recorded connection again",
        })
    }
}

/// Does something to one unit and lets the others pass.
fn to_unit(at: usize, mut act: impl FnMut(Vec<u8>) -> Act + Send + 'static) -> Script {
    Box::new(move |index, unit| match index == at {
        true => act(unit),
        false => Act::forward(unit),
    })
}

/// Takes the last byte off a unit. Bytes like it at the beginning of the next one would take its place, so that nothing
/// would be changed: these go with it.
fn shorten(at: usize) -> Script {
    let mut taken = None;
    Box::new(move |index, mut unit| {
        if index == at {
            taken = unit.pop();
        } else if let Some(taken) = taken.take() {
            let same = unit.iter().take_while(|byte| **byte == taken).count();
            unit.drain(..same);
        }
        Act::forward(unit)
    })
}

/// Holds a unit back until after the next one.
fn reorder(at: usize) -> Script {
    let mut held = Vec::new();
    Box::new(move |index, unit| {
        if index == at {
            held = unit;
            return Act::drop();
        }
        Act::forward([unit, std::mem::take(&mut held)].concat())
    })
}
