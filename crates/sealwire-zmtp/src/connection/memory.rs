//! What [`blocks`](super::blocks) consists of. It stands by itself, so that tests can run that file over memory
//! which tells who uses it when.

pub(super) use bytes::{Bytes, BytesMut};

pub(super) use crate::limits::{MAX_PAYLOAD_BLOCKS, PAYLOAD_BLOCK};
