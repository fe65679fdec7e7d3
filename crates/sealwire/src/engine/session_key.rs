//! The key by which the parts of the engine name a session, and the source that it came from.

use super::timers::Timer;

/// Names a session: its slot, and the connection id because slots are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionKey {
    pub(super) slot: usize,
    pub(super) connection: u64,
}

impl SessionKey {
    pub(super) fn timer(self) -> Timer {
        Timer::EventSource {
            slot: self.slot,
            number: self.connection,
        }
    }
}

/// Where a session came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The listener in this slot, with this id.
    Listener { slot: usize, id: u64 },
    /// The connector in this slot, with this id.
    Connector { slot: usize, id: u64 },
}

impl Origin {
    /// The number of the `connect` behind it.
    pub(super) fn connector(self) -> Option<u64> {
        match self {
            Origin::Connector { id, .. } => Some(id),
            Origin::Listener { .. } => None,
        }
    }

    /// The number of the `bind` or `connect` behind it.
    pub(super) fn endpoint(self) -> u64 {
        match self {
            Origin::Listener { id, .. } | Origin::Connector { id, .. } => id,
        }
    }

    /// The number of the `bind` behind it.
    pub(super) fn listener(self) -> Option<u64> {
        match self {
            Origin::Listener { id, .. } => Some(id),
            Origin::Connector { .. } => None,
        }
    }
}
