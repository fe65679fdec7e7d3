//! What lies between clients and a server: passes bytes on until it is told otherwise.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use sealwire::Endpoint;
use sealwire_relay::{Act, Format, Relay, Script};

#[derive(Default)]
struct State {
    /// Bytes until the connection that carries the next is cut; `None` for ever.
    left: Option<u64>,
    /// How many bytes each further cut comes after.
    random: Option<Random>,
    /// Nothing is passed on.
    held: bool,
    cuts: usize,
}

/// A generator whose seed says all that will come (xorshift64*).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Random(seed.max(1))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits while nothing is passed on. Whether to cut the connection that brings these bytes.
    fn cuts_now(&self, bytes: u64) -> bool {
        let mut state = self.state();
        while state.held {
            state = self.changed.wait(state).unwrap();
        }
        match &mut state.left {
            None => false,
            Some(left) if *left > bytes => {
                *left -= bytes;
                false
            }
            Some(_) => {
                state.left = state
                    .random
                    .as_mut()
                    .map(|random| random.below(MOST_BETWEEN));
                state.cuts += 1;
                true
            }
        }
    }
}

/// Bytes between two cuts at most.
const MOST_BETWEEN: u64 = 100_000;

pub(crate) struct Network {
    endpoint: String,
    shared: Arc<Shared>,
}

impl Network {
    pub(crate) fn before(server: &Endpoint) -> Self {
        let server = server.to_string();
        let address = server.trim_start_matches("tcp://").parse().unwrap();
        let relay = Relay::before(address, Format::Pieces);
        let endpoint = relay.endpoint();
        let shared = Arc::new(Shared::default());
        let passing = shared.clone();
        let script = move || -> Script {
            let shared = passing.clone();
            Box::new(move |_, bytes| match shared.cuts_now(bytes.len() as u64) {
                true => Act::forward_and_cut([]),
                false => Act::forward(bytes),
            })
        };
        relay.carry_all(move || [script(), script()]);
        Network { endpoint, shared }
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Cuts one connection once these bytes have passed.
    pub(crate) fn cut_after(&self, bytes: u64) {
        self.shared.state().left = Some(bytes);
    }

    /// Cuts again and again, whichever connection carries the byte that is one too many.
    pub(crate) fn cut_at_random(&self, seed: u64) {
        let mut state = self.shared.state();
        let mut random = Random::new(seed);
        state.left = Some(random.below(MOST_BETWEEN));
        state.random = Some(random);
    }

    pub(crate) fn stop_cutting(&self) {
        let mut state = self.shared.state();
        (state.left, state.random) = (None, None);
    }

    pub(crate) fn cuts(&self) -> usize {
        self.shared.state().cuts
    }

    /// Neither passes anything on nor reads more, until [`go_on`](Network::go_on).
    pub(crate) fn hold(&self) {
        self.shared.state().held = true;
    }

    pub(crate) fn go_on(&self) {
        self.shared.state().held = false;
        self.shared.changed.notify_all();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.go_on();
    }
}
