//! The routing ids by which SERVER and PEER sockets know their peers.
//!
//! They have 32 bits on the wire, and a context may have more connections in its life. So only a
//! connection that is ready gets one, and never one that another peer still has.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_fork::Birth;

/// The numbers of one context.
#[derive(Debug)]
pub(crate) struct RoutingIds {
    birth: Birth,
    state: Mutex<State>,
}

impl Default for RoutingIds {
    fn default() -> Self {
        RoutingIds {
            birth: Birth::now(),
            state: Mutex::default(),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    last: u32,
    live: HashSet<u32>,
}

impl RoutingIds {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next number that no peer has; never 0, which is none to libzmq.
    pub(crate) fn assign(self: &Arc<Self>) -> RoutingId {
        let mut state = self.lock();
        loop {
            state.last = state.last.wrapping_add(1);
            let number = state.last;
            if number != 0 && state.live.insert(number) {
                let routing_ids = Some(self.clone());
                return RoutingId {
                    number,
                    routing_ids,
                };
            }
        }
    }

    /// Continues after this number.
    #[cfg(test)]
    pub(crate) fn continue_after(&self, number: u32) {
        self.lock().last = number;
    }
}

/// The number of one peer, which nobody else gets for as long as this exists.
#[derive(Debug)]
pub(crate) struct RoutingId {
    number: u32,
    routing_ids: Option<Arc<RoutingIds>>,
}

impl RoutingId {
    /// For a peer that nobody sends to by routing id.
    pub(crate) fn none() -> Self {
        RoutingId {
            number: 0,
            routing_ids: None,
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for RoutingId {
    fn drop(&mut self) {
        // In a child of a fork the lock may be held for ever.
        if let Some(routing_ids) = &self.routing_ids
            && routing_ids.birth.is_here()
        {
            routing_ids.lock().live.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::message::Message;
    use crate::{Context, blocking};

    #[test]
    fn numbers_come_round_and_skip_those_in_use() {
        let routing_ids = Arc::new(RoutingIds::default());
        let first = routing_ids.assign();
        routing_ids.continue_after(u32::MAX - 1);
        let last = routing_ids.assign();
        assert_eq!((first.number(), last.number()), (1, u32::MAX));
        let next = routing_ids.assign();
        assert_eq!(next.number(), 2);
        drop(first);
        routing_ids.continue_after(u32::MAX);
        assert_eq!(routing_ids.assign().number(), 1);
    }

    /// A SERVER that lives longer than the numbers last answers old clients and new ones.
    #[test]
    fn a_server_outlives_its_numbers() {
        // Each has numbers of its own, so the clients take none of the server's.
        let [context, of_clients] = [(); 2].map(|()| Context::new().unwrap());
        let socket = |socket_type, context| -> blocking::Socket {
            let builder = crate::Socket::builder(socket_type).context(context);
            // Messages to a server that turns the client away are lost.
            let builder = builder.receive_timeout(Duration::from_secs(30));
            builder.build_blocking().unwrap()
        };
        let server = socket(SocketType::Server, &context);
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let client = || {
            let client = socket(SocketType::Client, &of_clients);
            client.connect(&endpoint).unwrap();
            client
        };
        let exchange = |client: &blocking::Socket, text: &str| {
            client.send(text).unwrap();
            let question = server.recv().unwrap();
            let routing_id = question.routing_id().unwrap();
            server
                .send(Message::with_routing_id(
                    routing_id,
                    question.as_bytes().to_vec(),
                ))
                .unwrap();
            assert_eq!(client.recv().unwrap().as_bytes(), text.as_bytes());
            routing_id
        };
        let old = client();
        let first = exchange(&old, "old");
        // Connections that never became ready use none up, so this takes 2^32 that did.
        context
            .core()
            .routing_ids()
            .continue_after(first.wrapping_sub(2));
        let young: Vec<_> = (0..3).map(|_| client()).collect();
        let mut routing_ids: Vec<_> = young.iter().map(|young| exchange(young, "young")).collect();
        assert_eq!(exchange(&old, "old again"), first);
        routing_ids.push(first);
        routing_ids.sort_unstable();
        routing_ids.dedup();
        assert_eq!(routing_ids.len(), 4, "{routing_ids:?}");
        // Nobody was turned away for a number that is in use.
        for client in young.iter().chain([&old]) {
            assert_eq!(client.counters().handshakes_completed, 1);
        }
    }
}
