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
        let left = limits.max_message_size - self.size.min(limits.max_message_size);
        if payload > left.min(limits.max_frame_size) as u64 {
            return Err(Error::MessageTooLarge {
                limit: limits.max_message_size.min(limits.max_frame_size),
            });
        }
        if self.frames >= limits.max_frames {
            return Err(Error::TooManyFrames {
                limit: limits.max_frames,
            });
        }
        if more {
            self.size = self.size.saturating_add(payload as usize);
            self.frames += 1;
        } else {
            *self = Self::default();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_and_each_of_its_frames_have_a_limit() {
        let limits = Limits {
            max_message_size: 100,
            max_frame_size: 60,
            ..Limits::default()
        };
        let mut extent = Extent::default();
        assert!(extent.announce(60, true, &limits).is_ok());
        assert!(extent.announce(41, true, &limits).is_err());
        assert!(extent.announce(40, false, &limits).is_ok());
        assert!(extent.announce(61, false, &limits).is_err());
        let by_frame = Limits {
            max_message_size: usize::MAX,
            ..limits
        };
        for _ in 0..1_000 {
            assert!(extent.announce(60, true, &by_frame).is_ok());
        }
        let refused = extent.announce(61, true, &by_frame);
        assert_eq!(refused, Err(Error::MessageTooLarge { limit: 60 }));
    }
}
