//! The settings of PLAIN.

use super::PlainCredentials;

/// The client of PLAIN.
#[derive(Clone, Debug)]
pub struct PlainClient {
    /// What the client shows to any server: PLAIN does not prove which one it is.
    pub credentials: PlainCredentials,
}

/// The server of PLAIN, which compares nothing itself.
#[derive(Debug)]
pub(crate) struct PlainServer;
