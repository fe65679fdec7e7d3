//! PLAIN: a name and a password, readable by anyone on the path.
//!
//! Source: ZMTP PLAIN (RFC 24). Nothing is encrypted and nothing authenticated but the password:
//! only for connections that stay on one machine, or inside something that protects them.
//!
//! ```text
//! client                                     server
//!    |  HELLO     username, password            |
//!    | ---------------------------------------> |  asks the application
//!    |  WELCOME                                 |
//!    | <--------------------------------------- |
//!    |  INITIATE  metadata                      |
//!    | ---------------------------------------> |
//!    |  READY     metadata                      |
//!    | <--------------------------------------- |
//! ```

mod client;
mod password;
mod server;

pub(crate) use self::client::Client;
pub use self::password::{PasswordTable, PlainCredentials};
pub(crate) use self::server::Server;

use crate::mechanism::{Established, Opener, Sealer};
use crate::wire::metadata::Metadata;

/// The mechanism's name in the greeting.
pub const NAME: &str = "PLAIN";

/// Longest username and longest password, in bytes.
pub const MAX_CREDENTIAL: usize = 255;

const HELLO: &str = "HELLO";
const WELCOME: &str = "WELCOME";
const INITIATE: &str = "INITIATE";
const READY: &str = "READY";

/// The data of ERROR as libzmq 4.3 spells it in PLAIN: a `5e` where the name's length and the `E`
/// should be.
pub(crate) fn misspelt_error(body: &[u8]) -> Option<&[u8]> {
    body.strip_prefix(b"\x5eRROR")
}

fn established(metadata: Metadata) -> Established {
    Established {
        metadata,
        public_key: None,
        sealer: Sealer::Plain,
        opener: Opener::Plain,
    }
}
