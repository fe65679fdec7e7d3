//! Where a connection over TCP begins.

use std::fmt;

use super::{Authority, EndpointError, host_and_port};

/// The own end of a connection over TCP: `192.0.2.7:0` in `tcp://192.0.2.7:0;example.org:5555`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TcpSource {
    /// IP address without brackets, the name of a network interface (Unix), or `*` for any address.
    pub host: String,
    /// Port; 0 for any.
    pub port: u16,
}

impl TcpSource {
    /// The source before the semicolon of the endpoint `text`.
    pub(super) fn parse(text: &str, source: &str) -> Result<Self, EndpointError> {
        let (host, port) =
            host_and_port(text, source).map_err(|_| EndpointError::Source(text.into()))?;
        Ok(TcpSource { host, port })
    }
}

impl fmt::Display for TcpSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Authority(&self.host, self.port).fmt(f)
    }
}
