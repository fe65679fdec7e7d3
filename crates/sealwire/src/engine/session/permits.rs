//! The counts that an accepted connection is part of, until it is gone.

use crate::account::Place;
use crate::core::{Clients, Holder, Holding};

#[derive(Default)]
pub(super) struct Permits {
    /// The connections that the process accepted.
    place: Option<Place>,
    /// Those of its key, if it proved one.
    holding: Option<Holding>,
}

impl Permits {
    pub(super) fn take_place(&mut self, place: Place) {
        self.place = Some(place);
    }

    /// Its handshake is done.
    pub(super) fn became_ready(&mut self) {
        if let Some(place) = &mut self.place {
            place.became_ready();
        }
    }

    /// Counts it among the connections of this holder. `false` when the holder has `most`.
    pub(super) fn hold(&mut self, clients: &Clients, holder: Holder, most: usize) -> bool {
        self.holding = clients.hold(holder, most);
        self.holding.is_some()
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::account::DescriptorLimit;
    use crate::socket::Socket;

    #[test]
    fn a_place_counts_as_a_handshake_until_that_is_done() {
        let mut permits = Permits::default();
        permits.became_ready();
        permits.take_place(DescriptorLimit::current().place().unwrap());
        assert!(permits.place.as_ref().unwrap().is_handshaking());
        permits.became_ready();
        assert!(!permits.place.as_ref().unwrap().is_handshaking());
    }

    #[test]
    fn a_holder_has_no_more_connections_than_it_may_until_one_is_gone() {
        let socket = Socket::builder(SocketType::Pair).build().unwrap();
        let clients = &socket.core().unwrap().clients;
        let alice = || Holder::User("alice".into());
        let [mut first, mut second] = [Permits::default(), Permits::default()];
        assert!(first.hold(clients, alice(), 1));
        assert!(!second.hold(clients, alice(), 1));
        drop(first);
        assert!(second.hold(clients, alice(), 1));
    }
}
