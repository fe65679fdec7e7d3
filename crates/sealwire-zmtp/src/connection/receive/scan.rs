//! Finds the frames at the front of the input by their headers, and checks whether they are
//! allowed.

use arrayvec::ArrayVec;

use crate::connection::assembly::Extent;
use crate::error::{Error, WireError};
use crate::limits::{BATCH_FRAMES, Limits, MAX_WANTED};
use crate::mechanism::{SealedFrame, SealedFrames, Shape};
use crate::wire::frame::{Header, MAX_HEADER};

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

pub(super) type Spans = ArrayVec<Span, BATCH_FRAMES>;

/// The whole frames at the front of the input, up to a batch.
pub(super) struct Scan<'a, 'b, C> {
    pub(super) input: &'a mut [u8],
    /// Number of the first frame.
    pub(super) index: u64,
    /// Refuses frames by their headers and what these say of their payloads.
    pub(super) check: C,
    /// Where the frames are noted.
    pub(super) spans: &'b mut Spans,
    /// Filled with the bytes that the frame behind them lacks, or its fault, as [`scan`] gives it.
    pub(super) end: &'b mut Result<usize, Error>,
}

impl<'a, C> SealedFrames<'a> for Scan<'a, '_, C>
where
    C: FnMut(Header, u64) -> Result<(), Error>,
{
    #[inline]
    fn each(self, shape: Shape, mut take: impl FnMut(SealedFrame<'a>)) {
        let spans = self.spans;
        *self.end = scan(self.input, shape, self.index, self.check, |span, frame| {
            spans.push(span);
            let (header, body) = frame.split_at_mut(span.before - shape.before());
            let (body, behind) = body.split_at_mut(shape.before() + span.payload);
            take(SealedFrame {
                header,
                body,
                behind,
            });
            !spans.is_full()
        });
    }
}

/// Walks over the whole frames at the front of `input` and gives each to `take` until that returns
/// false. Gives how many bytes the frame that follows still lacks, or what is wrong with it.
#[inline]
pub(super) fn scan<'a>(
    mut input: &'a mut [u8],
    shape: Shape,
    mut index: u64,
    mut check: impl FnMut(Header, u64) -> Result<(), Error>,
    mut take: impl FnMut(Span, &'a mut [u8]) -> bool,
) -> Result<usize, Error> {
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
        if size > input.len() {
            return Ok((size - input.len()).min(MAX_WANTED.max(input.len())));
        }
        let (frame, rest) = input.split_at_mut(size);
        input = rest;
        index += 1;
        let span = Span {
            before: header.size() + shape.before(),
            payload,
            command: header.command(),
            more: header.more(),
        };
        if !take(span, frame) {
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
    let limit = limits.max_message_size.min(limits.max_frame_size);
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

    fn shape_of_blake3() -> Shape {
        let sealer = traffic::Sealer::new(DefaultProvider.cipher(&[1; 32]), [2; 24]);
        Sealer::from(blake3::Sealer::PerMessage(sealer)).shape()
    }

    /// Scans these bytes from this number on. Gives the number of frames, and what ended the scan.
    fn scan(input: &mut [u8], index: u64) -> (usize, Result<usize, Error>) {
        let limits = Limits::default();
        let check = check_sizes(Extent::default(), &limits);
        let (mut spans, mut end, mut given) = (Spans::new(), Ok(0), 0);
        let scan = Scan {
            input,
            index,
            check,
            spans: &mut spans,
            end: &mut end,
        };
        scan.each(shape_of_blake3(), |frame| {
            given += usize::from(frame.behind.len() == 32)
        });
        assert_eq!(given, spans.len());
        (given, end)
    }

    #[test]
    fn the_last_number_of_a_direction_is_refused() {
        let mut frame = [0; 34];
        frame[1] = 32;
        assert_eq!(scan(&mut frame, u64::MAX - 1), (1, Ok(0)));
        assert_eq!(
            scan(&mut frame, u64::MAX),
            (0, Err(Error::CounterExhausted))
        );
    }

    #[test]
    fn it_says_what_the_next_frame_lacks() {
        let mut input = [[0, 40]; 43].concat();
        // A frame of 42 bytes, another one, and a header with no more than its flags behind them.
        for (here, frames, lacks) in [
            (0, 0, 0),
            (1, 0, MAX_HEADER - 1),
            (2, 0, 40),
            (41, 0, 1),
            (42, 1, 0),
            (43, 1, MAX_HEADER - 1),
            (84, 2, 0),
            (85, 2, MAX_HEADER - 1),
        ] {
            assert_eq!(scan(&mut input[..here], 0), (frames, Ok(lacks)), "{here}");
        }
    }

    #[test]
    fn a_frame_without_room_for_its_tag_cannot_verify() {
        for (index, first) in [(0, true), (7, false)] {
            let expected = Error::FrameNotVerified { index, first };
            assert_eq!(scan(&mut [0, 31], index), (0, Err(expected)));
        }
    }

    #[test]
    fn no_more_than_a_batch_is_given() {
        let mut input = [0; 34 * (BATCH_FRAMES + 1)];
        input.chunks_mut(34).for_each(|frame| frame[1] = 32);
        assert_eq!(scan(&mut input, 0), (BATCH_FRAMES, Ok(0)));
    }
}
