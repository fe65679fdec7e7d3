//! PLAIN: a name and a password, readable by anyone on the path.
//!
//! Source: ZMTP PLAIN (RFC 24). It encrypts nothing and authenticates only by the password: use it
//! for connections that stay on one machine, or inside something that protects them.
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
mod password_table;
mod server;
mod settings;

pub use self::password_table::PasswordTable;
pub use self::settings::PlainClient;
pub(crate) use self::settings::PlainServer;

use alloc::vec::Vec;

pub use crate::limits::MAX_CREDENTIAL;
pub use crate::mechanism::PlainCredentials;
use crate::mechanism::{Established, PeerMetadata, Unprotected};
use crate::wire::frame::{COMMAND, Header};

const HELLO: &str = "HELLO";
const WELCOME: &str = "WELCOME";
const INITIATE: &str = "INITIATE";
const READY: &str = "READY";

/// ERROR as libzmq 4.3 spells it in PLAIN: a `5e` where the name's length and the `E` should be. Its
/// clients know no other spelling.
const MISSPELT_ERROR: &[u8] = b"\x5eRROR";

/// The data of a misspelt ERROR.
pub(crate) fn misspelt_error(body: &[u8]) -> Option<&[u8]> {
    body.strip_prefix(MISSPELT_ERROR)
}

/// ERROR for libzmq's clients.
pub(crate) fn misspelt_error_frame(reason: &str) -> Vec<u8> {
    let length = [reason.len() as u8];
    let body = [MISSPELT_ERROR, &length, reason.as_bytes()].concat();
    [&Header::new(COMMAND, body.len()).encode()[..], &body].concat()
}

fn established<P: From<Unprotected>>(metadata: PeerMetadata) -> Established<P> {
    Established {
        metadata,
        public_key: None,
        local_key: None,
        protection: Unprotected.into(),
    }
}
