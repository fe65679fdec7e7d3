//! What PLAIN is told at its start.

use alloc::vec::Vec;

use super::{PlainCredentials, misspelt_error, misspelt_error_frame};
use crate::mechanism::Settings;
use crate::mechanism_type::Mechanism;

/// The client of PLAIN.
#[derive(Clone, Debug)]
pub struct PlainClient {
    /// What the client shows to any server: PLAIN does not prove which one it is.
    pub credentials: PlainCredentials,
}

/// The server of PLAIN, which compares nothing itself.
pub(crate) struct PlainServer;

impl Settings for PlainClient {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Plain
    }

    fn other_error<'a>(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        misspelt_error(body)
    }
}

impl Settings for PlainServer {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Plain
    }

    fn as_server(&self) -> bool {
        true
    }

    /// libzmq's clients know no other spelling. They put a length there that is never 0, others leave
    /// zeros.
    fn other_error_frame(&self, padding: [u8; 8], reason: &str) -> Option<Vec<u8>> {
        (padding != [0; 8]).then(|| misspelt_error_frame(reason))
    }
}
