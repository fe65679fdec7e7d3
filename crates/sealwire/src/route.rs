//! The numbers by which SERVER and PEER sockets know their peers.
//!
//! They have 32 bits on the wire, fewer than there may be connections over the life of a context. So
//! only a connection that is ready gets one, and none that another peer still has.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sealwire_fork::Birth;

/// The numbers of one context.
#[derive(Debug)]
pub(crate) struct Routes {
    birth: Birth,
    state: Mutex<State>,
}

impl Default for Routes {
    fn default() -> Self {
        Routes {
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

impl Routes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next number that no peer has; never 0, which is none to libzmq.
    pub(crate) fn assign(self: &Arc<Self>) -> Route {
        let mut state = self.lock();
        loop {
            state.last = state.last.wrapping_add(1);
            let number = state.last;
            if number != 0 && state.live.insert(number) {
                let routes = Some(self.clone());
                return Route { number, routes };
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
pub(crate) struct Route {
    number: u32,
    routes: Option<Arc<Routes>>,
}

impl Route {
    /// For a peer that nobody sends to by number.
    pub(crate) fn none() -> Self {
        Route {
            number: 0,
            routes: None,
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        // In a child of a fork the lock may be held for ever.
        if let Some(routes) = &self.routes
            && routes.birth.is_here()
        {
            routes.lock().live.remove(&self.number);
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
        let routes = Arc::new(Routes::default());
        let first = routes.assign();
        routes.continue_after(u32::MAX - 1);
        let last = routes.assign();
        assert_eq!((first.number(), last.number()), (1, u32::MAX));
        let next = routes.assign();
        assert_eq!(next.number(), 2);
        drop(first);
        routes.continue_after(u32::MAX);
        assert_eq!(routes.assign().number(), 1);
    }

    /// A SERVER that lives longer than the numbers last answers old clients and new ones.
    #[test]
    fn a_server_outlives_its_numbers() {
        // Each has numbers of its own, so the clients take none of the server's.
        let [context, of_clients] = [(); 2].map(|()| Context::new().unwrap());
        let socket = |socket_type, context| -> blocking::Socket {
            let builder = crate::Socket::builder(socket_type).context(context);
            // What is sent to a server that turns the client away is lost.
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
            let route = question.route().unwrap();
            server
                .send(Message::to_route(route, question.as_bytes().to_vec()))
                .unwrap();
            assert_eq!(client.recv().unwrap().as_bytes(), text.as_bytes());
            route
        };
        let old = client();
        let first = exchange(&old, "old");
        // Connections that never became ready use none up, so this takes 2^32 that did.
        context
            .core()
            .routes()
            .continue_after(first.wrapping_sub(2));
        let young: Vec<_> = (0..3).map(|_| client()).collect();
        let mut routes: Vec<_> = young.iter().map(|young| exchange(young, "young")).collect();
        assert_eq!(exchange(&old, "old again"), first);
        routes.push(first);
        routes.sort_unstable();
        routes.dedup();
        assert_eq!(routes.len(), 4, "{routes:?}");
        // Nobody was turned away for a number that is in use.
        for client in young.iter().chain([&old]) {
            assert_eq!(client.counters().handshakes_completed, 1);
        }
    }
}
