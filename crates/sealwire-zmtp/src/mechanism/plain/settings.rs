//! What PLAIN is told at its start.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{PlainCredentials, client, misspelt_error, misspelt_error_frame, server};
use crate::error::{ConfigError, Error};
use crate::mechanism::{Entropy, Greetings, Local, Progress, Settings};
use crate::mechanism_type::Mechanism;

/// The client of PLAIN.
#[derive(Clone, Debug)]
pub struct PlainClient {
    /// What the client shows to any server: PLAIN does not prove which one it is.
    pub credentials: PlainCredentials,
}

/// The server of PLAIN, which compares nothing itself.
#[derive(Debug)]
pub(crate) struct PlainServer;

impl Settings for PlainClient {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Plain
    }

    fn other_error<'a>(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        misspelt_error(body)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        if self.credentials.fits() {
            return Ok(());
        }
        Err(ConfigError::CredentialTooLong)
    }

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress, Error> {
        Ok(client::start(&self))
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

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress, Error> {
        Ok(server::start())
    }
}
