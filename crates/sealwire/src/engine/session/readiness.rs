//! The readiness of a transport, as the poll and the last calls reported it.

pub(super) struct TransportReadiness {
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// No more bytes will come after those it holds.
    pub(super) hung_up: bool,
}

impl TransportReadiness {
    /// Of a transport that nobody has written to.
    pub(super) fn new() -> Self {
        TransportReadiness {
            readable: false,
            writable: true,
            hung_up: false,
        }
    }

    /// What the poll says comes on top of what is known.
    pub(super) fn note(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.readable |= readable;
        self.writable |= writable;
        self.hung_up |= hung_up;
    }

    /// A read had room for more than came (`emptied`), or did not. The end of the stream may be
    /// behind what was there, and `buffered` bytes are here already.
    pub(super) fn was_read(&mut self, emptied: bool, buffered: bool) {
        self.readable = !emptied || self.hung_up || buffered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emptied_transport_is_read_again_only_for_its_end_or_what_is_here() {
        let mut readiness = TransportReadiness::new();
        readiness.note(true, false, false);
        // A poll that says less takes nothing back.
        readiness.note(false, false, false);
        assert!(readiness.readable && readiness.writable);
        readiness.was_read(false, false);
        assert!(readiness.readable);
        readiness.was_read(true, true);
        assert!(readiness.readable);
        readiness.was_read(true, false);
        assert!(!readiness.readable);
        readiness.note(false, false, true);
        assert!(!readiness.readable && readiness.writable);
        readiness.note(false, false, false);
        readiness.was_read(true, false);
        assert!(readiness.readable && readiness.writable);
    }
}
