//! The two ends of a connection that is to end in order: each side says that it goes away, and the
//! other one confirms that it asks nothing more.

/// In the `info` of GO_AWAY: it answers the other side's, and no more requests follow.
pub(super) const FAREWELL: u8 = 1;

/// Which side goes away, and what the other one has said to that.
#[derive(Debug, Default)]
pub(super) struct GoingAway {
    this_side: ThisSide,
    peer: Peer,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ThisSide {
    #[default]
    Stays,
    Announced,
    /// The peer has heard so and asks nothing more.
    Acknowledged,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Peer {
    #[default]
    Stays,
    GoesAway,
}

impl GoingAway {
    /// This side goes away. Whether the peer is to be told: once.
    pub(super) fn announce(&mut self) -> bool {
        let is_first = self.this_side == ThisSide::Stays;
        if is_first {
            self.this_side = ThisSide::Announced;
        }
        is_first
    }

    /// The peer has heard that this side goes away. Said without a reason it means nothing.
    pub(super) fn acknowledged(&mut self) {
        if self.this_side == ThisSide::Announced {
            self.this_side = ThisSide::Acknowledged;
        }
    }

    /// The peer goes away. Whether that is new.
    pub(super) fn peer_announced(&mut self) -> bool {
        std::mem::replace(&mut self.peer, Peer::GoesAway) == Peer::Stays
    }

    /// Whether this side takes no more requests.
    pub(super) fn is_announced(&self) -> bool {
        self.this_side != ThisSide::Stays
    }

    /// Whether all that the peer sent before it heard of it is here.
    pub(super) fn is_acknowledged(&self) -> bool {
        self.this_side == ThisSide::Acknowledged
    }

    /// Whether this side begins no more calls.
    pub(super) fn has_begun(&self) -> bool {
        self.is_announced() || self.peer == Peer::GoesAway
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_goes_away_once() {
        let mut going = GoingAway::default();
        assert!(!going.has_begun() && !going.is_announced());
        assert!(going.announce() && !going.announce());
        assert!(going.has_begun() && going.is_announced() && !going.is_acknowledged());

        let mut going = GoingAway::default();
        assert!(going.peer_announced() && !going.peer_announced());
        assert!(going.has_begun() && !going.is_announced());
    }

    #[test]
    fn only_what_was_announced_is_acknowledged() {
        let mut going = GoingAway::default();
        going.acknowledged();
        assert!(!going.is_acknowledged() && !going.has_begun());
        going.announce();
        assert!(!going.is_acknowledged(), "it was said too early to count");
        going.acknowledged();
        assert!(going.is_acknowledged() && !going.announce());
    }
}
