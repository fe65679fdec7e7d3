//! Memory for messages that do not fit a frame in place: cut from buffers that are used again once
//! all messages in them are gone.

use std::collections::VecDeque;

use bytes::BytesMut;
use sealwire::Frame;

use super::metadata::Content;
use super::wire::{HEADER, Header};

/// Bytes of one buffer.
const BUFFER: usize = 256 << 10;
/// Messages from this size on get memory of their own.
const LARGE: usize = BUFFER / 8;
/// Buffers kept for further use.
const KEPT: usize = 16;

#[derive(Default)]
pub(super) struct Buffers {
    current: BytesMut,
    used: VecDeque<BytesMut>,
}

impl Buffers {
    /// Header, metadata and body as one frame.
    pub(super) fn message(&mut self, mut header: Header, content: Content<'_>) -> Frame {
        header.has_metadata = !content.metadata.is_empty();
        let header = header.to_bytes();
        let (size, body) = (HEADER + content.size(), content.body);
        let body_at = size - body.len();
        if size <= Frame::INLINE {
            let mut bytes = [0; Frame::INLINE];
            bytes[..HEADER].copy_from_slice(&header);
            let mut at = HEADER;
            content.metadata.write(|part| {
                bytes[at..at + part.len()].copy_from_slice(part);
                at += part.len();
            });
            bytes[body_at..size].copy_from_slice(body);
            return Frame::copy_from_slice(&bytes[..size]);
        }
        let mut bytes = if size < LARGE {
            self.reserve(size);
            std::mem::take(&mut self.current)
        } else {
            BytesMut::with_capacity(size)
        };
        bytes.extend_from_slice(&header);
        content.metadata.write(|part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(body);
        let message = bytes.split().freeze();
        if size < LARGE {
            self.current = bytes;
        }
        message.into()
    }

    fn reserve(&mut self, size: usize) {
        if self.current.capacity() >= size {
            return;
        }
        if self.current.capacity() > 0 {
            self.used.push_back(std::mem::take(&mut self.current));
        }
        let oldest_is_free = self
            .used
            .front_mut()
            .is_some_and(|oldest| oldest.try_reclaim(BUFFER));
        if oldest_is_free || self.used.len() > KEPT {
            self.current = self.used.pop_front().unwrap_or_default();
        }
        if self.current.capacity() < size {
            self.current = BytesMut::with_capacity(BUFFER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Kind;
    use super::super::{Body, Metadata};
    use super::*;

    #[test]
    fn messages_of_every_size_are_header_and_body() {
        let mut buffers = Buffers::default();
        for size in [0, 1, 63, 64, 65, 1_400, LARGE - HEADER, LARGE, BUFFER + 1] {
            let body: Vec<u8> = (0..size).map(|i| i as u8).collect();
            let header = Header::new(Kind::Reply, 3, 5);
            let frame = buffers.message(header, Content::plain(&body));
            assert_eq!(frame[..HEADER], header.to_bytes());
            assert_eq!(frame[HEADER..], body[..]);
        }
    }

    #[test]
    fn metadata_stands_between_header_and_body_at_every_size() {
        let mut buffers = Buffers::default();
        for (value, body) in [
            (1, 0),
            (1, 20),
            (40, 4),
            (300, 1),
            (1, 1_400),
            (8_000, LARGE),
        ] {
            let mut metadata = Metadata::new();
            metadata.append("key", vec![7; value]).unwrap();
            let body = vec![9; body];
            let content = Content {
                metadata: &metadata,
                body: &body,
            };
            let frame = buffers.message(Header::new(Kind::Request, 3, 5), content);
            let header = Header::parse(&frame).unwrap();
            let read = Body::parse(frame, header).unwrap();
            assert_eq!(read.metadata(), metadata);
            assert_eq!(read[..], body[..]);
            assert_eq!(read.size(), content.size());
        }
    }

    #[test]
    fn a_buffer_is_used_again_when_its_messages_are_gone() {
        let mut buffers = Buffers::default();
        let header = Header::new(Kind::OneWay, 0, 0);
        let body = [7; 1_400];
        let mut seen = std::collections::HashSet::new();
        for _ in 0..10_000 {
            let frame = buffers.message(header, Content::plain(&body));
            seen.insert(frame.as_ptr() as usize / BUFFER);
        }
        assert!(seen.len() <= 6, "{} buffers", seen.len());
    }
}
