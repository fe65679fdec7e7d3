//! One side of a connection under attack: an honest peer takes some steps with it, and then somebody
//! else speaks.

use std::sync::Arc;

use arbitrary::Arbitrary;
use sealwire_zmtp::{Config, DefaultProvider, Provider, SocketType};

use crate::{Endpoint, Transparent, client, server};

/// The side that is attacked, and the peer that was honest with it.
pub struct Attack {
    /// Hears what the attacker says.
    pub side: Endpoint,
    /// Has valid keys, and has said so far what it should.
    pub peer: Endpoint,
}

impl Attack {
    /// Lets a client and a server, of which one is to be attacked, take `steps` together.
    pub fn after(
        steps: u8,
        attack_server: bool,
        [client, server]: [Config; 2],
        provider: &Arc<dyn Provider>,
    ) -> Self {
        let client = Endpoint::new(client, Arc::clone(provider), 1);
        let server = Endpoint::new(server, Arc::clone(provider), 2);
        let (mut side, mut peer) = if attack_server {
            (server, client)
        } else {
            (client, server)
        };
        for _ in 0..steps {
            side.feed(&peer.output());
            peer.feed(&side.output());
        }
        Attack { side, peer }
    }

    /// What it has to say is taken, and the attacker hangs up.
    pub fn end(mut self) {
        self.side.output();
        self.side.connection.end_of_stream();
    }
}

/// What an attacker of a BLAKE3 handshake does.
#[derive(Arbitrary, Debug)]
pub struct Blake3Attack<'a> {
    transparent: bool,
    /// How many steps an honest peer takes first.
    honest: u8,
    bytes: &'a [u8],
}

impl Blake3Attack<'_> {
    /// Attacks one side. With real cryptography it never gets ready and nobody is asked whether to
    /// let anyone in; without it everything behind the boxes is reached.
    pub fn run(self, attack_server: bool) {
        let provider: Arc<dyn Provider> = if self.transparent {
            Arc::new(Transparent)
        } else {
            Arc::new(DefaultProvider)
        };
        let configs = [
            client(SocketType::Dealer, Default::default(), &*provider),
            server(SocketType::Router, Default::default(), &*provider),
        ];
        let mut attack = Attack::after(self.honest % 3, attack_server, configs, &provider);
        attack.side.feed(self.bytes);
        if !self.transparent {
            assert!(!attack.side.connection.is_ready());
            assert!(attack.side.events.is_empty());
        }
        attack.end();
    }
}
