//! Which frames are at the front of the input, by their headers, and whether they may come at all.

use crate::connection::assembly::Extent;
use crate::error::{Error, WireError};
use crate::limits::{Limits, MAX_WANTED};
use crate::mechanism::Shape;
use crate::wire::frame::{Header, MAX_HEADER};

/// The frames that come next.
#[derive(Copy, Clone)]
pub(super) struct Expected {
    pub(super) shape: Shape,
    /// Number of the first.
    pub(super) index: u64,
    pub(super) has_data_phases: bool,
}

impl Expected {
    pub(super) const PLAIN: Self = Self {
        shape: Shape::PLAIN,
        index: 0,
        has_data_phases: false,
    };

    /// What ends a connection with the frame of this number.
    pub(super) fn not_verified(self, index: u64) -> Error {
        Error::FrameNotVerified {
            index,
            first: index == 0 && self.has_data_phases,
        }
    }
}

/// A whole frame at the front of the input.
#[derive(Copy, Clone)]
pub(in crate::connection) struct Span {
    /// Bytes before the payload.
    pub(in crate::connection) before: usize,
    /// Bytes of the payload.
    pub(in crate::connection) payload: usize,
    pub(in crate::connection) command: bool,
    pub(in crate::connection) more: bool,
}

impl Span {
    fn new(header: Header, payload: usize, shape: Shape) -> Self {
        Self {
            before: header.size() + shape.before(),
            payload,
            command: header.command(),
            more: header.more(),
        }
    }
}

/// Walks over the whole frames at the front of `input` and gives each to `take` until that returns
/// false. Gives how many bytes the frame that follows still lacks, or what is wrong with it.
pub(super) fn scan(
    mut input: &[u8],
    expected: Expected,
    mut check: impl FnMut(Header, u64) -> Result<(), Error>,
    mut take: impl FnMut(Span) -> bool,
) -> Result<usize, Error> {
    let Expected {
        shape, mut index, ..
    } = expected;
    loop {
        let Some(header) = Header::parse(input)? else {
            return Ok(if input.is_empty() {
                0
            } else {
                MAX_HEADER - input.len()
            });
        };
        // A sealed frame without room for what is around its payload is one that cannot verify.
        let Some(payload) = header.body_len.checked_sub(shape.overhead() as u64) else {
            return Err(Error::FrameNotVerified {
                index,
                first: index == 0,
            });
        };
        check(header, payload)?;
        if !shape.is_plain() && index == u64::MAX {
            return Err(Error::CounterExhausted);
        }
        // The limits are sizes in memory, so what they let through fits.
        let payload = payload as usize;
        let size = header.size() + payload + shape.overhead();
        let Some(rest) = input.get(size..) else {
            return Ok((size - input.len()).min(MAX_WANTED.max(input.len())));
        };
        input = rest;
        index += 1;
        if !take(Span::new(header, payload, shape)) {
            return Ok(0);
        }
    }
}

/// Refuses frames that would go beyond the limits, by what they claim.
pub(super) fn check_sizes(
    mut extent: Extent,
    limits: &Limits,
) -> impl FnMut(Header, u64) -> Result<(), Error> {
    move |header, payload| {
        if header.command() {
            at_most(limits.max_command_size, payload)
        } else {
            extent.announce(payload, header.more(), limits)
        }
    }
}

/// The same where the true flags are still sealed: refuses what neither a message nor a command may
/// be, and flags that have no business outside.
pub(super) fn check_size_without_flags(
    limits: &Limits,
) -> impl FnMut(Header, u64) -> Result<(), Error> {
    let limit = limits.max_message_size;
    let either = limit.max(limits.max_command_size) as u64;
    move |header, payload| {
        if header.more() {
            let flags = header.flags;
            return Err(WireError::ReservedFlags { flags }.into());
        }
        if payload > either {
            return Err(Error::MessageTooLarge { limit });
        }
        Ok(())
    }
}

fn at_most(limit: usize, claimed: u64) -> Result<(), Error> {
    let limit = limit as u64;
    if claimed > limit {
        return Err(WireError::FrameTooLarge { claimed, limit }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Sealer;
    use crate::mechanism::blake3::{self, traffic};
    use crate::provider::{DefaultProvider, Provider as _};

    fn sealed_by_blake3() -> Sealer {
        let sealer = traffic::Sealer::new(DefaultProvider.cipher(&[1; 32]), [2; 24]);
        blake3::Sealer::PerMessage(sealer).into()
    }

    #[test]
    fn the_last_number_of_a_direction_is_refused() {
        let mut frame = [0; 34];
        frame[1] = 32;
        let shape = sealed_by_blake3().shape();
        let scan_at = |index| {
            let mut taken = 0;
            let take = |_| {
                taken += 1;
                true
            };
            let expected = Expected {
                shape,
                index,
                has_data_phases: true,
            };
            let limits = Limits::default();
            let check = check_sizes(Extent::default(), &limits);
            let scanned = scan(&frame, expected, check, take);
            (scanned, taken)
        };
        assert_eq!(scan_at(u64::MAX - 1), (Ok(0), 1));
        assert_eq!(scan_at(u64::MAX), (Err(Error::CounterExhausted), 0));
    }
}
