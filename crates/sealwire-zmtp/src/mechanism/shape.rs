//! The shape of frames after the handshake: what a mechanism puts around a payload, and where the flags are.
//!
//! ```text
//! plain     header | payload
//! tagged    header | payload | behind                the header can be read, and is authenticated
//! wrapped   header | before, flags last | payload    the flags are sealed with the payload
//! ```

use crate::wire::frame::{COMMAND, MORE};

/// Most bytes behind a payload.
pub(crate) const MAX_BEHIND: usize = 32;

/// What a connection has to know of the frames that it stages, measures and cuts: the mechanism's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of a frame's body before its payload.
    before: usize,
    /// Bytes of it behind.
    behind: usize,
    flags: Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flags {
    InHeader,
    /// In the last byte before the payload. This bit means COMMAND there; MORE is where it is outside.
    Sealed {
        command: u8,
    },
}

impl Shape {
    /// Frames go as they are.
    pub(crate) const PLAIN: Self = Self {
        before: 0,
        behind: 0,
        flags: Flags::InHeader,
    };

    /// This number of bytes follows a payload. The header says what the flags are.
    pub(super) const fn tagged(behind: usize) -> Self {
        assert!(0 < behind && behind <= MAX_BEHIND);
        Self {
            before: 0,
            behind,
            flags: Flags::InHeader,
        }
    }

    /// This number of bytes stands before a payload, the last of which has the flags, with COMMAND as this bit.
    pub(super) const fn wrapped(before: usize, command: u8) -> Self {
        assert!(before > 0 && command != MORE);
        Self {
            before,
            behind: 0,
            flags: Flags::Sealed { command },
        }
    }

    /// Bytes of a frame's body before its payload.
    #[inline]
    pub(crate) const fn before(self) -> usize {
        self.before
    }

    /// Bytes of a frame's body behind its payload.
    #[inline]
    pub(crate) const fn behind(self) -> usize {
        self.behind
    }

    /// Bytes that a frame grows by.
    #[inline]
    pub(crate) const fn overhead(self) -> usize {
        self.before + self.behind
    }

    /// Whether frames go as they are.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        self.overhead() == 0
    }

    /// Whether the header does not say what the flags are.
    #[inline]
    pub(crate) const fn seals_flags(self) -> bool {
        matches!(self.flags, Flags::Sealed { .. })
    }

    /// The flags in the header of a frame that has these.
    #[inline]
    pub(crate) const fn header_flags(self, flags: u8) -> u8 {
        match self.flags {
            Flags::InHeader => flags,
            Flags::Sealed { .. } => 0,
        }
    }

    /// The last byte before the payload of a frame that has these flags, until it is sealed.
    #[inline]
    pub(crate) const fn unsealed_flags(self, flags: u8) -> u8 {
        match self.flags {
            Flags::Sealed { command } if flags & COMMAND != 0 => flags & MORE | command,
            Flags::InHeader | Flags::Sealed { .. } => flags & MORE,
        }
    }

    /// The flags of a frame, by the last byte before its opened payload; `None` for others than MORE or
    /// COMMAND.
    #[inline]
    pub(crate) const fn opened_flags(self, opened: u8) -> Option<u8> {
        match (self.flags, opened) {
            (_, 0) => Some(0),
            (_, MORE) => Some(MORE),
            (Flags::Sealed { command }, opened) if opened == command => Some(COMMAND),
            _ => None,
        }
    }
}

/// A frame was not staged in the shape that its sealer takes, or no number is left for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSealed;

/// A frame that is sealed where it lies.
pub(crate) struct UnsealedFrame<'a> {
    pub(crate) header: &'a [u8],
    /// The bytes before the payload, and the payload.
    pub(crate) body: &'a mut [u8],
    /// Room for what stands behind.
    pub(crate) behind: &'a mut [u8],
}

/// A frame that is opened where it lies.
pub(crate) struct SealedFrame<'a> {
    pub(crate) header: &'a [u8],
    /// The bytes before the payload, and the payload.
    pub(crate) body: &'a mut [u8],
    /// The bytes behind.
    pub(crate) behind: &'a [u8],
}

/// Frames that are opened where they lie. An iterator that is asked for each would keep where it is in memory
/// instead of in registers, which costs a small message 5 per cent.
pub(crate) trait SealedFrames<'a> {
    /// Gives each frame of this shape to `take`, in order. The mechanism says the shape, as it is a constant
    /// there: one that is looked up costs a small message 2 per cent.
    fn each(self, shape: Shape, take: impl FnMut(SealedFrame<'a>));
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND_INSIDE: u8 = 0x02;

    #[test]
    fn sealed_flags_come_back_as_they_were_and_no_others_do() {
        let shape = Shape::wrapped(33, COMMAND_INSIDE);
        assert!(shape.seals_flags() && !Shape::tagged(32).seals_flags());
        for flags in [0, MORE, COMMAND] {
            assert_eq!(shape.header_flags(flags), 0);
            let opened = shape.opened_flags(shape.unsealed_flags(flags));
            assert_eq!(opened, Some(flags));
        }
        for opened in 3..=u8::MAX {
            assert_eq!(shape.opened_flags(opened), None, "{opened}");
        }
    }

    #[test]
    fn flags_that_are_not_sealed_stay_in_the_header() {
        for shape in [Shape::PLAIN, Shape::tagged(32)] {
            assert_eq!(shape.header_flags(COMMAND), COMMAND);
            assert_eq!(shape.opened_flags(COMMAND_INSIDE), None);
        }
        assert_eq!(Shape::tagged(32).overhead(), 32);
        assert!(Shape::PLAIN.is_plain() && !Shape::wrapped(1, COMMAND_INSIDE).is_plain());
    }
}
