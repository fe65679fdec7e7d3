//! The kinds of segments, and how each is sealed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::{iter, mem};

use arrayvec::ArrayVec;
use bytes::{Buf, Bytes, BytesMut};

use crate::limits::OUTPUT_SEGMENT;
use crate::mechanism::{MAX_BEHIND, NotSealed, Sealer, Shape, UnsealedFrame};
use crate::provider::PieceSealer;
use crate::wire::frame::{Header, MAX_HEADER};

pub(super) enum Segment {
    Packed(Packed),
    Large(Large),
    InPieces(InPieces),
}

impl Segment {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::InPieces(frame) => frame.len(),
            segment => segment.parts().iter().map(|part| part.len()).sum(),
        }
    }

    /// Whether nothing of it can go out, nor anything behind it.
    pub(super) fn is_in_pieces(&self) -> bool {
        matches!(self, Self::InPieces(_))
    }

    /// The bytes in order.
    pub(super) fn parts(&self) -> [&[u8]; 3] {
        match self {
            Self::Packed(packed) => [&packed.bytes, &[], &[]],
            Self::Large(large) => [&large.header, large.body.as_slice(), &large.behind],
            Self::InPieces(_) => [&[], &[], &[]],
        }
    }
}

/// Frames one after the other in one buffer.
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// Bytes at the front that are ready to go.
    sealed: usize,
}

impl Packed {
    pub(super) fn new(buffer: Vec<u8>) -> Self {
        Self {
            bytes: buffer,
            sealed: 0,
        }
    }

    /// Bytes that are sealed already.
    fn ready(bytes: Vec<u8>) -> Self {
        Self {
            sealed: bytes.len(),
            bytes,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds bytes that need no sealing, with nothing before them that does.
    pub(super) fn push_raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.finish();
    }

    /// Everything up to here is ready to go.
    pub(super) fn finish(&mut self) {
        self.sealed = self.bytes.len();
    }

    /// Adds a frame, with room for what stands around its payload.
    #[inline]
    pub(super) fn push_frame(&mut self, header: Header, flags: u8, payload: &[u8], shape: Shape) {
        self.bytes
            .reserve(MAX_HEADER + payload.len() + shape.overhead());
        if header.size() == 2 {
            self.bytes
                .extend_from_slice(&[header.flags, header.body_len as u8]);
        } else {
            self.bytes.extend_from_slice(&header.encode());
        }
        if shape.before() > 0 {
            let last = self.bytes.len() + shape.before() - 1;
            self.bytes.resize(last, 0);
            self.bytes.push(shape.unsealed_flags(flags));
        }
        self.bytes.extend_from_slice(payload);
        if shape.behind() > 0 {
            self.bytes
                .extend_from_slice(&[0; MAX_BEHIND][..shape.behind()]);
        }
    }

    /// Seals every frame behind `sealed`.
    pub(super) fn seal(&mut self, sealer: &mut Sealer, shape: Shape) -> Result<(), NotSealed> {
        sealer.seal(PackedFrames {
            rest: &mut self.bytes[self.sealed..],
            behind: shape.behind(),
        })?;
        self.finish();
        Ok(())
    }

    /// Overwrites the first header behind `sealed`.
    #[cfg(test)]
    pub(super) fn damage_unsealed(&mut self, flags_and_size: [u8; 2]) {
        self.bytes[self.sealed..][..2].copy_from_slice(&flags_and_size);
    }

    /// Drops the frames behind `sealed`.
    pub(super) fn discard_unsealed(&mut self) {
        self.bytes.truncate(self.sealed);
    }
}

/// The frames of a packed segment, one after the other.
struct PackedFrames<'a> {
    rest: &'a mut [u8],
    /// Bytes behind each payload.
    behind: usize,
}

impl<'a> Iterator for PackedFrames<'a> {
    type Item = Result<UnsealedFrame<'a>, NotSealed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        // A list of the sizes beside the bytes would say again what the headers say, for each message. To end
        // here instead of with an error would let the rest out as plain text.
        Some(self.split_first().ok_or(NotSealed))
    }
}

impl<'a> PackedFrames<'a> {
    #[inline]
    fn split_first(&mut self) -> Option<UnsealedFrame<'a>> {
        let header = Header::parse(self.rest).ok().flatten()?;
        let body = usize::try_from(header.body_len).ok()?;
        let rest = mem::take(&mut self.rest);
        let (header, rest) = rest.split_at_mut_checked(header.size())?;
        let (body, rest) = rest.split_at_mut_checked(body.checked_sub(self.behind)?)?;
        let (behind, rest) = rest.split_at_mut_checked(self.behind)?;
        self.rest = rest;
        Some(UnsealedFrame {
            header,
            body,
            behind,
        })
    }
}

/// One frame with a buffer of its own.
pub(super) struct Large {
    header: ArrayVec<u8, MAX_HEADER>,
    body: Body,
    /// The bytes behind the body.
    behind: ArrayVec<u8, MAX_BEHIND>,
}

/// The bytes before a payload, and the payload.
enum Body {
    Ready(Bytes),
    Unsealed(BytesMut),
}

impl Body {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Ready(bytes) => bytes,
            Self::Unsealed(bytes) => bytes,
        }
    }
}

impl Large {
    /// Bytes that are frames already.
    pub(super) fn ready(frames: Bytes) -> Self {
        Self {
            header: ArrayVec::new(),
            body: Body::Ready(frames),
            behind: ArrayVec::new(),
        }
    }

    pub(super) fn new(header: Header, flags: u8, payload: Bytes, shape: Shape) -> Self {
        let header = header.encode();
        if shape.is_plain() {
            return Self {
                header,
                body: Body::Ready(payload),
                behind: ArrayVec::new(),
            };
        }
        if shape.before() == 0 {
            return Self::behind_header(header, payload, shape);
        }
        let mut body = BytesMut::with_capacity(shape.before() + payload.len());
        body.resize(shape.before(), 0);
        body[shape.before() - 1] = shape.unsealed_flags(flags);
        body.extend_from_slice(&payload);
        Self::unsealed(header, body, shape)
    }

    /// A frame with nothing before its payload.
    fn behind_header(header: ArrayVec<u8, MAX_HEADER>, payload: Bytes, shape: Shape) -> Self {
        // Nobody else may see the payload turn into ciphertext.
        let own = payload
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        Self::unsealed(header, own, shape)
    }

    fn unsealed(header: ArrayVec<u8, MAX_HEADER>, body: BytesMut, shape: Shape) -> Self {
        Self {
            header,
            body: Body::Unsealed(body),
            behind: iter::repeat_n(0, shape.behind()).collect(),
        }
    }

    pub(super) fn seal(&mut self, sealer: &mut Sealer) -> Result<(), NotSealed> {
        if let Body::Unsealed(body) = &mut self.body {
            let frame = UnsealedFrame {
                header: &self.header,
                body,
                behind: &mut self.behind,
            };
            sealer.seal(iter::once(Ok(frame)))?;
            self.body = Body::Ready(mem::take(body).freeze());
        }
        Ok(())
    }
}

/// The rest of a frame that is sealed a piece at a time, into buffers that go out before it.
pub(super) struct InPieces {
    header: ArrayVec<u8, MAX_HEADER>,
    /// The bytes that are not sealed yet.
    payload: Bytes,
    shape: Shape,
    /// `None` before the first piece.
    sealer: Option<Box<dyn PieceSealer>>,
}

/// What became of a frame that is sealed in pieces.
pub(super) enum Piece {
    More(Packed),
    Last(Packed),
    /// The provider cannot do it: here is the frame as one segment.
    Whole(Large),
}

impl InPieces {
    pub(super) fn new(header: Header, payload: Bytes, shape: Shape) -> Self {
        Self {
            header: header.encode(),
            payload,
            shape,
            sealer: None,
        }
    }

    fn len(&self) -> usize {
        let header = match self.sealer {
            Some(_) => 0,
            None => self.header.len(),
        };
        header + self.payload.len() + self.shape.behind()
    }

    /// Seals the next piece, in a buffer that is empty.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>, sealer: &mut Sealer) -> Piece {
        buffer.reserve(MAX_HEADER + OUTPUT_SEGMENT + self.shape.behind());
        let mut pieces = match self.sealer.take() {
            Some(pieces) => pieces,
            None => {
                let Some(pieces) = sealer.seal_in_pieces(&self.header) else {
                    let payload = mem::take(&mut self.payload);
                    let header = mem::take(&mut self.header);
                    return Piece::Whole(Large::behind_header(header, payload, self.shape));
                };
                buffer.extend_from_slice(&self.header);
                pieces
            }
        };
        let start = buffer.len();
        let size = self.payload.len().min(OUTPUT_SEGMENT);
        buffer.extend_from_slice(&self.payload[..size]);
        self.payload.advance(size);
        pieces.seal(&mut buffer[start..]);
        if self.payload.is_empty() {
            buffer.extend_from_slice(&pieces.finish());
            return Piece::Last(Packed::ready(buffer));
        }
        self.sealer = Some(pieces);
        Piece::More(Packed::ready(buffer))
    }
}
