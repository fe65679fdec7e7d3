//! The message in progress: frames wait here until the last one has arrived.

use crate::error::Error;
use crate::limits::Limits;
use crate::message::{Frame, Frames};

/// Frames of an unfinished message. Never delivered unless it gets finished.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    message: Frames,
    extent: Extent,
}

impl Assembly {
    /// Whether no message is in progress.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.extent.frames == 0
    }

    /// How far the message in progress has come.
    #[inline]
    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    /// Payload bytes of the message in progress.
    pub(super) fn size(&self) -> usize {
        self.extent.size
    }

    /// Adds a frame; gives the message when it was the last one.
    #[inline]
    pub(super) fn push(&mut self, frame: Frame, more: bool) -> Option<Frames> {
        self.extent.size += frame.len();
        self.extent.frames += 1;
        self.message.push_back(frame);
        if more {
            return None;
        }
        self.extent = Extent::default();
        Some(core::mem::take(&mut self.message))
    }
}

/// Size and frame count of a message in progress, to be compared with the limits as soon as a frame
/// is announced.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Extent {
    size: usize,
    frames: usize,
}

impl Extent {
    /// Grows by one announced frame.
    ///
    /// # Errors
    ///
    /// [`Error::MessageTooLarge`] and [`Error::TooManyFrames`].
    #[inline]
    pub(super) fn announce(
        &mut self,
        payload: u64,
        more: bool,
        limits: &Limits,
    ) -> Result<(), Error> {
        if payload > (limits.max_message_size - self.size.min(limits.max_message_size)) as u64 {
            return Err(Error::MessageTooLarge {
                limit: limits.max_message_size,
            });
        }
        if self.frames >= limits.max_frames {
            return Err(Error::TooManyFrames {
                limit: limits.max_frames,
            });
        }
        if more {
            self.size += payload as usize;
            self.frames += 1;
        } else {
            *self = Self::default();
        }
        Ok(())
    }
}
