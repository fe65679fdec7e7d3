//! Messages: a [`Frames`] of one or more [`Frame`]s.
//!
//! Both are made so that a small message costs no allocation and no reference count: a frame holds
//! up to [`Frame::INLINE`] bytes in place, and a message of one frame holds no list.

mod frame;
mod multipart;

pub use frame::Frame;
pub use multipart::{Frames, IntoFrames};
