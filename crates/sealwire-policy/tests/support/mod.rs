//! A folder with keys, and rules over it.

#![allow(dead_code, reason = "each test crate uses some of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use sealwire::{Generate as _, KeyPair, keys};
use sealwire_policy::{Fault, Policy};
use tempfile::TempDir;

pub(crate) struct Folder {
    folder: TempDir,
    pub(crate) server: KeyPair,
    pub(crate) client: KeyPair,
}

impl Folder {
    /// `server`, `old` and `client`, each with `.pub` and `.key`, and the list `clients` with the client's key.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [server, old, client] = [(); 3].map(|()| KeyPair::generate());
        for (name, pair) in [("server", &server), ("old", &old), ("client", &client)] {
            keys::write_key_pair(folder.path().join(name), pair).unwrap();
        }
        fs::write(
            folder.path().join("clients"),
            format!("{} alice\n", client.public()),
        )
        .unwrap();
        Folder {
            folder,
            server,
            client,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn parse(&self, text: &str) -> Result<Policy, Fault> {
        Policy::parse(&self.path("rules"), text, false)
    }
}

/// A server and a client with all keys that each can have.
pub(crate) const SERVER: &str = r#"
[[rule]]
bind = "tcp://*:5555"
types = ["ROUTER", "REP"]
mechanism = "blake3"
secret_key_file = "server.key"
additional_secret_key_file = "old.key"
allow = "clients"
override = true
"#;
pub(crate) const CLIENT: &str = r#"
[[rule]]
connect = "tcp://db.example:*"
mechanism = "blake3"
server_key_file = "server.pub"
secret_key_file = "client.key"
"#;
pub(crate) const ANONYMOUS: &str = r#"
[[rule]]
connect = "tcp://db.example:*"
mechanism = "blake3"
server_key_file = "server.pub"
anonymous = true
"#;
pub(crate) const HEAD: &str = "version = 1\ndefault = \"refuse\"\n";
