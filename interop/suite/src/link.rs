//! Our socket and a peer's, opened over a path.

use std::time::Instant;

use sealwire::blocking::Socket;
use sealwire::{Monitor, PublicKey, Security, SocketBuilder};
use tempfile::TempDir;

use crate::path::{Path, Side, Sides};
use crate::peer::Peer;

/// Our socket and a running peer, one of which is bound and the other connected to it.
#[derive(Debug)]
pub struct Link {
    /// Our socket.
    pub ours: Socket,
    /// What happens to it, from the beginning.
    pub monitor: Monitor,
    /// The peer.
    pub peer: Peer,
    /// When the second of the two was started or told to connect.
    pub begun: Instant,
    /// Where they meet.
    pub endpoint: String,
    /// What protects our socket, for another one in its place.
    pub security: Security,
    /// The key by which we must know the peer; `None` where it has none that lasts.
    pub their_key: Option<PublicKey>,
    /// Holds the name of a Unix socket.
    _folder: TempDir,
}

impl Path {
    /// Opens both sides. `ours` needs no security and `script` no place and no keys. The handshake
    /// may still be under way.
    ///
    /// # Panics
    ///
    /// When one of them cannot be opened.
    pub fn open(&self, ours: SocketBuilder, script: &[impl AsRef<str>]) -> Link {
        self.open_with(ours, script, self.protection.sides())
    }

    /// Opens both sides with these keys.
    ///
    /// # Panics
    ///
    /// When one of them cannot be opened.
    pub fn open_with(&self, ours: SocketBuilder, script: &[impl AsRef<str>], sides: Sides) -> Link {
        let ours = ours
            .security(sides.ours.clone())
            .build_blocking()
            .expect("options that work");
        let monitor = ours.monitor();
        let mut arguments: Vec<String> = script.iter().map(|word| word.as_ref().into()).collect();
        arguments.extend(sides.theirs);
        let (endpoint, folder) = self.transport.endpoint();
        let (peer, endpoint, begun) = match self.binds {
            Side::Ours => {
                let endpoint = ours.bind(endpoint).expect("a free endpoint").to_string();
                arguments.extend(["--connect".into(), endpoint.clone()]);
                let begun = Instant::now();
                (Peer::start(self.program, arguments), endpoint, begun)
            }
            Side::Theirs => {
                arguments.extend(["--bind".into(), endpoint]);
                let mut peer = Peer::start(self.program, arguments);
                let endpoint = peer.endpoint();
                let begun = Instant::now();
                ours.connect(endpoint.as_str()).expect("an endpoint");
                (peer, endpoint, begun)
            }
        };
        Link {
            ours,
            monitor,
            peer,
            begun,
            endpoint,
            security: sides.ours,
            their_key: sides.their_key,
            _folder: folder,
        }
    }
}

impl Link {
    /// Ends the peer at once, as a crash would, and starts it again in the same place.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn restart_peer(&mut self) {
        self.peer.restart(&self.endpoint);
    }
}
