//! The server's keys: new ones for each round, which both processes know from the seed.

use sealwire::auth::AllowAnyone;
use sealwire::keys::key_pair_from_seed;
use sealwire::{Generate as _, KeyPair, Security};

#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub(crate) seed: u64,
}

impl Keys {
    fn of_server(self, round: u64) -> KeyPair {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&round.to_le_bytes());
        key_pair_from_seed(&seed)
    }

    /// A server with the key of this round and, during an overlap, the one before it.
    pub(crate) fn server(self, round: u64, overlap: bool) -> Security {
        let server = Security::blake3_server(self.of_server(round), AllowAnyone);
        match round.checked_sub(1).filter(|_| overlap) {
            Some(before) => server.with_additional_keys(self.of_server(before)).into(),
            None => server.into(),
        }
    }

    /// A client with a key of its own.
    pub(crate) fn client(self, round: u64) -> Security {
        Security::blake3_client_with_keys(self.of_server(round).public(), KeyPair::generate())
            .into()
    }
}
