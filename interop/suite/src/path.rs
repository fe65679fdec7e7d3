//! How the two sides of a test reach and protect each other.

use std::fmt;

use sealwire::auth::{AllowAnyone, AllowedKeys, PasswordTable};
use sealwire::{Generate as _, KeyPair, PublicKey, Security};
use tempfile::TempDir;

use crate::program::{OMQ_CODEC, Program};

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Sealwire.
    Ours,
    /// The published implementation.
    Theirs,
}

/// What carries the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP on the loopback interface.
    Tcp,
    /// A Unix socket in the file system.
    Ipc,
    /// A Unix socket with an abstract name.
    Abstract,
}

/// The mechanism and who plays which part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// None.
    Null,
    /// BLAKE3ZMQ.
    Blake3 {
        /// The side that is the server.
        server: Side,
        /// Whether the client has no key of its own.
        anonymous: bool,
        /// Whether messages are sealed with the continuous keystream.
        continuous: bool,
    },
    /// CURVE, with a known client.
    Curve {
        /// The side that is the server.
        server: Side,
    },
    /// PLAIN.
    Plain {
        /// The side that is the server.
        server: Side,
    },
    /// Ours is a server with BLAKE3ZMQ and CURVE, the peer a known client.
    Either {
        /// Whether the client uses CURVE.
        curve: bool,
    },
}

/// What PLAIN's client shows.
const USERNAME: &str = "admin";
const PASSWORD: &str = "s3cret";

/// What each side is given for a protection, with fresh keys.
#[derive(Debug)]
pub struct Sides {
    /// For our socket.
    pub ours: Security,
    /// For the peer's command line.
    pub theirs: Vec<String>,
    /// The key by which we must know the peer; `None` where it has none that lasts.
    pub their_key: Option<PublicKey>,
}

impl Protection {
    /// Makes keys and hands them out.
    pub fn sides(self) -> Sides {
        match self {
            Protection::Null => Sides {
                ours: Security::plain_text(),
                theirs: Vec::new(),
                their_key: None,
            },
            Protection::Blake3 {
                server,
                anonymous,
                continuous,
            } => blake3(server, anonymous, continuous),
            Protection::Curve { server } => curve(server),
            Protection::Plain { server } => plain(server),
            Protection::Either { curve } => either(curve),
        }
    }

    /// The mechanism's name on the wire.
    pub(crate) fn mechanism(self) -> &'static str {
        match self {
            Protection::Null => "NULL",
            Protection::Blake3 { .. } | Protection::Either { curve: false } => "BLAKE3",
            Protection::Curve { .. } | Protection::Either { curve: true } => "CURVE",
            Protection::Plain { .. } => "PLAIN",
        }
    }

    /// Whether our side has to warn about it.
    pub(crate) fn is_continuous(self) -> bool {
        matches!(
            self,
            Protection::Blake3 {
                continuous: true,
                ..
            }
        )
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(String::from).to_vec()
}

fn curve(server: Side) -> Sides {
    let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
    let (server_key, client_key) = (server_keys.public(), client_keys.public());
    let mut theirs = words(["--mechanism", "curve", "--secret-key"]);
    let (ours, their_key) = if server == Side::Ours {
        let secret = client_keys.secret().to_hex().to_string();
        theirs.extend([secret, "--server-key".into(), server_key.to_hex()]);
        let allowed = AllowedKeys::new().allow_as(client_key, "the peer");
        (Security::curve_server(server_keys, allowed), client_key)
    } else {
        let secret = server_keys.secret().to_hex().to_string();
        theirs.extend([secret, "--allow".into(), client_key.to_hex()]);
        theirs.push("--server".into());
        (Security::curve_client(server_key, client_keys), server_key)
    };
    Sides {
        ours,
        theirs,
        their_key: Some(their_key),
    }
}

fn either(curve: bool) -> Sides {
    let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
    let allowed = AllowedKeys::new().allow_as(client_keys.public(), "the peer");
    let mechanism = if curve { "curve" } else { "blake3" };
    let secret = client_keys.secret().to_hex();
    let mut theirs = words(["--mechanism", mechanism, "--secret-key", &secret]);
    theirs.extend(["--server-key".into(), server_keys.public().to_hex()]);
    Sides {
        ours: Security::blake3_server(server_keys.clone(), allowed.clone())
            .or_curve_server(server_keys, allowed),
        theirs,
        their_key: Some(client_keys.public()),
    }
}

fn plain(server: Side) -> Sides {
    let mut theirs = words(["--mechanism", "plain", "--username", USERNAME]);
    theirs.extend(words(["--password", PASSWORD]));
    let ours = if server == Side::Ours {
        let mut table = PasswordTable::new();
        table.insert(USERNAME, PASSWORD);
        Security::plain_server(table)
    } else {
        theirs.push("--server".into());
        Security::plain_client(USERNAME, PASSWORD)
    };
    Sides {
        ours,
        theirs,
        their_key: None,
    }
}

fn blake3(server: Side, anonymous: bool, continuous: bool) -> Sides {
    let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
    let mut theirs = vec!["--mechanism".into(), "blake3".into()];
    let mut option = |name: &str, value: &str| theirs.extend([name.into(), value.into()]);
    let (ours, their_key) = if server == Side::Ours {
        option("--server-key", &server_keys.public().to_hex());
        let (server, their_key) = if anonymous {
            (Security::blake3_server(server_keys, AllowAnyone), None)
        } else {
            option("--secret-key", &client_keys.secret().to_hex());
            let allowed = AllowedKeys::new().allow_as(client_keys.public(), "the peer");
            let server = Security::blake3_server(server_keys, allowed);
            (server, Some(client_keys.public()))
        };
        let server = match continuous {
            true => server.with_continuous_keystream_unauthenticated_order(),
            false => server,
        };
        (server.into(), their_key)
    } else {
        let server_key = server_keys.public();
        option("--secret-key", &server_keys.secret().to_hex());
        theirs.push("--server".into());
        let client = if anonymous {
            Security::blake3_client(server_key)
        } else {
            theirs.extend(["--allow".into(), client_keys.public().to_hex()]);
            Security::blake3_client_with_keys(server_key, client_keys)
        };
        let client = match continuous {
            true => client.with_continuous_keystream_unauthenticated_order(),
            false => client,
        };
        (client.into(), Some(server_key))
    };
    Sides {
        ours,
        theirs,
        their_key,
    }
}

impl Transport {
    /// An endpoint to bind to that nobody else uses, with the folder it needs.
    pub(crate) fn endpoint(self) -> (String, TempDir) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().join("socket");
        let endpoint = match self {
            Transport::Tcp => "tcp://127.0.0.1:0".into(),
            Transport::Ipc => format!("ipc://{}", name.display()),
            // Unique because the folder is.
            Transport::Abstract => format!("ipc://@{}", name.display()),
        };
        (endpoint, folder)
    }
}

/// How our socket and a peer's reach and protect each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// The peer.
    pub program: Program,
    /// What carries the bytes.
    pub transport: Transport,
    /// The side that binds; the other connects.
    pub binds: Side,
    /// The mechanism.
    pub protection: Protection,
}

impl Path {
    /// A path over TCP.
    pub const fn tcp(program: Program, binds: Side, protection: Protection) -> Self {
        Path {
            program,
            transport: Transport::Tcp,
            binds,
            protection,
        }
    }

    /// A path with NULL.
    pub const fn null(program: Program, transport: Transport, binds: Side) -> Self {
        Path {
            program,
            transport,
            binds,
            protection: Protection::Null,
        }
    }

    /// A path with CURVE over TCP.
    pub const fn curve(program: Program, binds: Side, server: Side) -> Self {
        Path::tcp(program, binds, Protection::Curve { server })
    }

    /// A path over TCP to a server of ours with two mechanisms.
    pub const fn either(program: Program, curve: bool) -> Self {
        Path::tcp(program, Side::Ours, Protection::Either { curve })
    }

    /// A path with PLAIN over TCP.
    pub const fn plain(program: Program, binds: Side, server: Side) -> Self {
        Path::tcp(program, binds, Protection::Plain { server })
    }

    /// A path with BLAKE3, a known client, and the data phase that the peer speaks.
    pub fn blake3(program: Program, binds: Side, server: Side) -> Self {
        let protection = Protection::Blake3 {
            server,
            anonymous: false,
            continuous: program == OMQ_CODEC,
        };
        Path::tcp(program, binds, protection)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Path {
            program,
            transport,
            binds,
            protection,
        } = self;
        write!(
            f,
            "{}, {transport:?}, bound: {binds:?}, {protection:?}",
            program.what
        )
    }
}
