//! The two kinds of segments, and how each is sealed in place.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use bytes::{Bytes, BytesMut};

use crate::limits::BATCH_FRAMES;
use crate::mechanism::{Sealer, curve};
use crate::provider::SealJob;
use crate::wire::frame::{Header, MAX_HEADER};

/// Bytes of the tag behind a sealed payload.
const TAG_SIZE: usize = 32;

pub(super) enum Segment {
    Packed(Packed),
    Large(Large),
}

impl Segment {
    pub(super) fn len(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    /// The bytes in order.
    pub(super) fn parts(&self) -> [&[u8]; 3] {
        match self {
            Self::Packed(packed) => [&packed.bytes, &[], &[]],
            Self::Large(large) => [&large.header, large.body.as_slice(), &large.tag],
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
            Sealer::Curve(sealer) => seal_wrapped(rest, sealer),
            sealer => seal_tagged(rest, sealer),
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

fn seal_tagged(mut rest: &mut [u8], sealer: &mut Sealer) {
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
    pub(super) fn new(header: Header, payload: Bytes, sealed: bool) -> Self {
        let header = header.encode();
        if !sealed {
            return Self {
                header,
                body: Body::Ready(payload),
                tag: ArrayVec::new(),
            };
        }
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
            if let Sealer::Curve(sealer) = sealer {
                sealer.seal([&mut body[..]]);
                self.body = Body::Ready(body.freeze());
                return;
            }
            let mut tag = [0; TAG_SIZE];
            sealer.seal(&mut [SealJob {
                nonce: [0; 24],
                aad: &self.header,
                buffer: &mut body,
                tag: &mut tag,
            }]);
            self.tag = ArrayVec::from(tag);
            self.body = Body::Ready(body.freeze());
        }
    }
}
