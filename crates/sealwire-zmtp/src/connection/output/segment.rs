//! The kinds of segments, and how each is sealed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use bytes::{Buf, Bytes, BytesMut};
use sealwire_aead::TAG_SIZE;

use crate::limits::{BATCH_FRAMES, OUTPUT_SEGMENT};
use crate::mechanism::{Sealer, blake3, curve};
use crate::provider::{PieceSealer, SealJob};
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
            Self::Large(large) => [&large.header, large.body.as_slice(), &large.tag],
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

    /// Adds a frame, with room for its tag.
    #[inline]
    pub(super) fn push_frame(&mut self, header: Header, payload: &[u8], overhead: usize) {
        self.bytes.reserve(MAX_HEADER + payload.len() + overhead);
        if header.size() == 2 {
            self.bytes
                .extend_from_slice(&[header.flags, header.body_len as u8]);
        } else {
            self.bytes.extend_from_slice(&header.encode());
        }
        self.bytes.extend_from_slice(payload);
        self.bytes.extend_from_slice(&[0; TAG_SIZE][..overhead]);
    }

    /// Adds a frame that is wrapped: `prefix` stands before its payload until it is sealed.
    #[inline]
    pub(super) fn push_wrapped_frame(&mut self, header: Header, prefix: &[u8], payload: &[u8]) {
        self.bytes
            .reserve(MAX_HEADER + prefix.len() + payload.len());
        self.bytes.extend_from_slice(&header.encode());
        self.bytes.extend_from_slice(prefix);
        self.bytes.extend_from_slice(payload);
    }

    /// Seals every frame behind `sealed`, a batch at a time.
    pub(super) fn seal(&mut self, sealer: &mut Sealer) {
        let rest = &mut self.bytes[self.sealed..];
        match sealer {
            Sealer::Plain => {}
            Sealer::Tagged(sealer) => seal_tagged(rest, sealer),
            Sealer::Wrapped(sealer) => seal_wrapped(rest, sealer),
        }
        self.finish();
    }
}

/// Splits the first frame off: header, body, what follows.
fn split_frame(frames: &mut [u8]) -> (&mut [u8], &mut [u8], &mut [u8]) {
    let header = Header::parse(frames)
        .ok()
        .flatten()
        .expect("a header written here");
    let (first, behind) = frames.split_at_mut(header.size());
    let (body, behind) = behind.split_at_mut(header.body_len as usize);
    (first, body, behind)
}

fn seal_wrapped(mut rest: &mut [u8], sealer: &mut curve::traffic::Sealer) {
    while !rest.is_empty() {
        let mut bodies = ArrayVec::<&mut [u8], BATCH_FRAMES>::new();
        while !bodies.is_full() && !rest.is_empty() {
            let (_, body, behind) = split_frame(rest);
            bodies.push(body);
            rest = behind;
        }
        sealer.seal(bodies);
    }
}

fn seal_tagged(mut rest: &mut [u8], sealer: &mut blake3::Sealer) {
    while !rest.is_empty() {
        let mut jobs = ArrayVec::<SealJob<'_>, BATCH_FRAMES>::new();
        while !jobs.is_full() && !rest.is_empty() {
            let (aad, body, behind) = split_frame(rest);
            let (buffer, tag) = body.split_last_chunk_mut().expect("room left for the tag");
            jobs.push(SealJob {
                nonce: [0; 24],
                aad,
                buffer,
                tag,
            });
            rest = behind;
        }
        sealer.seal(&mut jobs);
    }
}

/// One frame with a buffer of its own.
pub(super) struct Large {
    header: ArrayVec<u8, MAX_HEADER>,
    body: Body,
    /// Empty where frames are not sealed, or wrapped.
    tag: ArrayVec<u8, TAG_SIZE>,
}

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
            tag: ArrayVec::new(),
        }
    }

    pub(super) fn new(header: Header, payload: Bytes, sealed: bool) -> Self {
        let header = header.encode();
        if !sealed {
            return Self {
                header,
                body: Body::Ready(payload),
                tag: ArrayVec::new(),
            };
        }
        Self::with_header(header, payload)
    }

    /// A frame that is sealed with a tag behind it.
    fn with_header(header: ArrayVec<u8, MAX_HEADER>, payload: Bytes) -> Self {
        // Nobody else may see the payload turn into ciphertext.
        let own = payload
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        Self {
            header,
            body: Body::Unsealed(own),
            tag: ArrayVec::from([0; TAG_SIZE]),
        }
    }

    /// A frame that is wrapped: `prefix` stands before its payload until it is sealed.
    pub(super) fn wrapped(header: Header, prefix: &[u8], payload: &[u8]) -> Self {
        let mut body = BytesMut::with_capacity(prefix.len() + payload.len());
        body.extend_from_slice(prefix);
        body.extend_from_slice(payload);
        Self {
            header: header.encode(),
            body: Body::Unsealed(body),
            tag: ArrayVec::new(),
        }
    }

    pub(super) fn seal(&mut self, sealer: &mut Sealer) {
        if let Body::Unsealed(body) = &mut self.body {
            let mut body = core::mem::take(body);
            match sealer {
                Sealer::Plain => {}
                Sealer::Tagged(sealer) => {
                    let mut tag = [0; TAG_SIZE];
                    sealer.seal(&mut [SealJob {
                        nonce: [0; 24],
                        aad: &self.header,
                        buffer: &mut body,
                        tag: &mut tag,
                    }]);
                    self.tag = ArrayVec::from(tag);
                }
                Sealer::Wrapped(sealer) => sealer.seal([&mut body[..]]),
            }
            self.body = Body::Ready(body.freeze());
        }
    }
}

/// The rest of a frame that is sealed a piece at a time, into buffers that go out before it.
pub(super) struct InPieces {
    header: ArrayVec<u8, MAX_HEADER>,
    /// The bytes that are not sealed yet.
    payload: Bytes,
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
    pub(super) fn new(header: Header, payload: Bytes) -> Self {
        Self {
            header: header.encode(),
            payload,
            sealer: None,
        }
    }

    fn len(&self) -> usize {
        let header = match self.sealer {
            Some(_) => 0,
            None => self.header.len(),
        };
        header + self.payload.len() + TAG_SIZE
    }

    /// Seals the next piece, in a buffer that is empty.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>, sealer: &mut Sealer) -> Piece {
        buffer.reserve(MAX_HEADER + OUTPUT_SEGMENT + TAG_SIZE);
        let mut pieces = match self.sealer.take() {
            Some(pieces) => pieces,
            None => {
                let begun = match sealer {
                    Sealer::Tagged(sealer) => sealer.seal_in_pieces(&self.header),
                    Sealer::Plain | Sealer::Wrapped(_) => None,
                };
                let Some(pieces) = begun else {
                    let payload = core::mem::take(&mut self.payload);
                    let header = core::mem::take(&mut self.header);
                    return Piece::Whole(Large::with_header(header, payload));
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
