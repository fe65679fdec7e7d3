//! The states of a pipe: how frames go to its peer, how far it is on its way to its end, and the last
//! notification to its link about each queue.

use super::high_water_mark::HighWaterMarks;
use super::link::Link;
use crate::peer::Peer;

/// How messages go to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carriage {
    /// Each for itself.
    Single,
    /// As frames that others may get too.
    Frames,
    /// Only once the receiver has read what it has.
    KeptBack,
}

impl Carriage {
    pub(super) fn to(peer: &Peer, link: &dyn Link, high_water_marks: HighWaterMarks) -> Self {
        if link.keeps_output_back() {
            Carriage::KeptBack
        } else if peer.gets_frames_unsealed() && !high_water_marks.conflate {
            Carriage::Frames
        } else {
            Carriage::Single
        }
    }
}

/// Whether a pipe is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// The peer of a `connect` is not there yet. Its queue waits for it.
    Awaited,
    Live,
    /// The link was told that the peer is to go.
    Dismissed,
    /// The socket has left the peer. Its queue still goes out; nothing more is queued or taken from it.
    Left,
    /// The peer is gone; the pipe stays until its inbound queue has been read.
    Ended,
}

impl Life {
    #[inline]
    pub(super) fn has_ended(self) -> bool {
        self == Life::Ended
    }

    #[inline]
    pub(super) fn is_awaited(self) -> bool {
        self == Life::Awaited
    }

    /// Whether messages may be queued for the peer.
    #[inline]
    pub(super) fn takes_messages(self) -> bool {
        matches!(self, Life::Awaited | Life::Live | Life::Dismissed)
    }

    /// Whether the peer is one of the socket's.
    #[inline]
    pub(super) fn is_present(self) -> bool {
        matches!(self, Life::Live | Life::Dismissed)
    }

    /// Whether there is a connection.
    #[inline]
    pub(super) fn is_connected(self) -> bool {
        matches!(self, Life::Live | Life::Dismissed | Life::Left)
    }

    /// The peer that was awaited is there.
    pub(super) fn arrive(&mut self) {
        debug_assert!(self.is_awaited());
        *self = Life::Live;
    }

    /// Whether the socket has left the peer, whose connection goes on until its queue has gone out.
    #[inline]
    pub(super) fn was_left(self) -> bool {
        self == Life::Left
    }

    /// Whether the link is to be told to go: once, and not when the peer is gone. That of a peer that was
    /// left may be told several times.
    pub(super) fn dismiss(&mut self) -> bool {
        match self {
            Life::Live => {
                *self = Life::Dismissed;
                true
            }
            Life::Left => true,
            Life::Awaited | Life::Dismissed | Life::Ended => false,
        }
    }

    /// The socket leaves the peer. `false` when that was so, or the peer is gone.
    pub(super) fn leave(&mut self) -> bool {
        let present = self.is_present();
        if present {
            *self = Life::Left;
        }
        present
    }

    /// `false` when it had ended before.
    pub(super) fn end(&mut self) -> bool {
        !std::mem::replace(self, Life::Ended).has_ended()
    }
}

/// What a link was told of the outbound queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// Nothing since it last found the queue empty.
    Idle,
    Signalled,
}

impl Output {
    /// Something is in the queue: whether the link is to be told.
    #[inline]
    pub(super) fn signal(&mut self) -> bool {
        std::mem::replace(self, Output::Signalled) == Output::Idle
    }

    /// The link asked, and got something or found nothing.
    #[inline]
    pub(super) fn was_taken(&mut self, something: bool) {
        *self = match something {
            true => Output::Signalled,
            false => Output::Idle,
        };
    }
}

/// What a link was told of the inbound queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Open,
    /// That it is full.
    Paused,
}

impl Input {
    /// The queue is full. `false` when it was so before.
    pub(super) fn pause(&mut self) -> bool {
        std::mem::replace(self, Input::Paused) == Input::Open
    }

    #[inline]
    pub(super) fn is_paused(self) -> bool {
        self == Input::Paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_dismissed_once_and_not_when_it_is_gone() {
        let mut life = Life::Live;
        assert!(life.dismiss() && !life.dismiss());
        assert!(!life.has_ended());
        assert!(life.end() && !life.end());
        assert!(life.has_ended() && !life.dismiss());
    }

    #[test]
    fn a_peer_is_left_once_and_may_be_dismissed_after_that() {
        for mut life in [Life::Live, Life::Dismissed] {
            assert!(life.is_present() && !life.was_left());
            assert!(life.leave() && !life.leave());
            assert!(!life.is_present() && life.was_left() && !life.has_ended());
            assert!(life.dismiss() && life.dismiss());
            assert!(life.was_left() && life.end());
            assert!(!life.leave() && !life.was_left() && !life.dismiss());
        }
    }

    #[test]
    fn a_peer_that_is_awaited_gets_messages_and_is_none_before_it_arrives() {
        let mut life = Life::Awaited;
        assert!(life.takes_messages() && !life.is_present() && !life.is_connected());
        assert!(!life.dismiss() && !life.leave() && life.is_awaited());
        life.arrive();
        assert!(life.takes_messages() && life.is_present() && life.is_connected());
        let mut given_up = Life::Awaited;
        assert!(given_up.end() && given_up.has_ended() && !given_up.takes_messages());
    }

    #[test]
    fn a_link_is_told_of_output_once_until_it_found_nothing() {
        let mut output = Output::Idle;
        assert!(output.signal() && !output.signal());
        output.was_taken(true);
        assert!(!output.signal());
        output.was_taken(false);
        assert!(output.signal());
    }

    #[test]
    fn a_queue_that_is_full_pauses_once() {
        let mut input = Input::Open;
        assert!(input.pause() && !input.pause());
        assert!(input.is_paused());
    }
}
