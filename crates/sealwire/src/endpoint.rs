//! Endpoints: where a socket binds or connects, as ZeroMQ writes it.
//!
//! | form | meaning |
//! |---|---|
//! | `tcp://127.0.0.1:5555`, `tcp://[::1]:5555` | IP address and port |
//! | `tcp://example.org:5555` | name; resolved anew for each connection attempt |
//! | `tcp://*:5555`, `tcp://127.0.0.1:*`, `tcp://127.0.0.1:0` | any address, any free port (bind) |
//! | `ipc:///run/app.sock` | Unix socket in the file system |
//! | `ipc://@app` | Unix socket in Linux's abstract namespace |
//! | `inproc://name` | inside this process and [`Context`](crate::Context) |

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Longest `inproc` name, in bytes (as in libzmq).
pub const MAX_INPROC_NAME: usize = 256;

/// Longest `ipc` path or abstract name, in bytes: what `sockaddr_un` holds, less its terminator.
pub const MAX_IPC_NAME: usize = 107;

/// A parsed endpoint. `Display` gives the text form back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// TCP.
    Tcp {
        /// IP address without brackets, a name, or `*`.
        host: String,
        /// Port; 0 asks for a free one when binding.
        port: u16,
    },
    /// Unix socket with a path.
    Ipc(PathBuf),
    /// Unix socket with an abstract name (Linux).
    IpcAbstract(String),
    /// Within the process.
    Inproc(String),
}

/// The text is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// No `transport://` in front.
    #[error("'{0}' is not an endpoint: write tcp://HOST:PORT, ipc://PATH or inproc://NAME")]
    NoTransport(String),
    /// A transport that is not supported.
    #[error("'{0}' is not a supported transport: use tcp, ipc or inproc")]
    UnknownTransport(String),
    /// TCP without a port, or with one that is no number from 0 to 65535 and not `*`.
    #[error(
        "'{0}' has no valid port: write tcp://HOST:PORT with a port from 0 to 65535, or * to bind to a free one"
    )]
    Port(String),
    /// TCP without a host.
    #[error("'{0}' has no host: write an address, a name, or * to bind to all addresses")]
    Host(String),
    /// IPv6 needs brackets to tell the address from the port.
    #[error("'{0}' looks like IPv6: write tcp://[ADDRESS]:PORT")]
    Brackets(String),
    /// Empty or too long.
    #[error("'{name}' must have 1 to {limit} bytes after the transport")]
    Length {
        /// What was given.
        name: String,
        /// How many bytes are allowed.
        limit: usize,
    },
    /// `*` names no peer.
    #[error("'{0}' cannot be connected to: name one address and one port")]
    Wildcard(String),
}

impl Endpoint {
    /// Whether it can only be bound, not connected to.
    pub(crate) fn is_wildcard(&self) -> bool {
        matches!(self, Endpoint::Tcp { host, port } if host == "*" || *port == 0)
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let Some((transport, rest)) = text.split_once("://") else {
            return Err(EndpointError::NoTransport(text.into()));
        };
        match transport {
            "tcp" => parse_tcp(text, rest),
            "ipc" => parse_ipc(rest),
            "inproc" => {
                let name = bounded(rest, MAX_INPROC_NAME)?;
                Ok(Endpoint::Inproc(name.into()))
            }
            other => Err(EndpointError::UnknownTransport(other.into())),
        }
    }
}

impl TryFrom<&str> for Endpoint {
    type Error = EndpointError;

    fn try_from(text: &str) -> Result<Self, EndpointError> {
        text.parse()
    }
}

impl TryFrom<String> for Endpoint {
    type Error = EndpointError;

    fn try_from(text: String) -> Result<Self, EndpointError> {
        text.parse()
    }
}

impl TryFrom<&String> for Endpoint {
    type Error = EndpointError;

    fn try_from(text: &String) -> Result<Self, EndpointError> {
        text.parse()
    }
}

impl From<&Endpoint> for Endpoint {
    fn from(endpoint: &Endpoint) -> Self {
        endpoint.clone()
    }
}

fn parse_tcp(text: &str, rest: &str) -> Result<Endpoint, EndpointError> {
    let (host, port) = rest
        .rsplit_once(':')
        .ok_or_else(|| EndpointError::Port(text.into()))?;
    let port = match port {
        "*" => 0,
        digits => digits
            .parse()
            .map_err(|_| EndpointError::Port(text.into()))?,
    };
    let host = match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(inner) => inner,
        None if host.contains(':') => return Err(EndpointError::Brackets(text.into())),
        None => host,
    };
    if host.is_empty() {
        return Err(EndpointError::Host(text.into()));
    }
    Ok(Endpoint::Tcp {
        host: host.into(),
        port,
    })
}

fn parse_ipc(rest: &str) -> Result<Endpoint, EndpointError> {
    match rest.strip_prefix('@') {
        Some(name) => Ok(Endpoint::IpcAbstract(bounded(name, MAX_IPC_NAME)?.into())),
        None => Ok(Endpoint::Ipc(bounded(rest, MAX_IPC_NAME)?.into())),
    }
}

fn bounded(name: &str, limit: usize) -> Result<&str, EndpointError> {
    if name.is_empty() || name.len() > limit || name.contains('\0') {
        return Err(EndpointError::Length {
            name: name.into(),
            limit,
        });
    }
    Ok(name)
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp { host, port } if host.contains(':') => {
                write!(f, "tcp://[{host}]:{port}")
            }
            Endpoint::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Endpoint::Ipc(path) => write!(f, "ipc://{}", path.display()),
            Endpoint::IpcAbstract(name) => write!(f, "ipc://@{name}"),
            Endpoint::Inproc(name) => write!(f, "inproc://{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_value_agree() {
        for text in [
            "tcp://127.0.0.1:5555",
            "tcp://[::1]:5555",
            "tcp://[fe80::1%eth0]:1",
            "tcp://example.org:65535",
            "tcp://*:0",
            "ipc:///run/app.sock",
            "ipc://relative.sock",
            "ipc://@app",
            "inproc://name",
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), text);
        }
        assert_eq!("tcp://a:*".parse(), "tcp://a:0".parse::<Endpoint>());
    }

    #[test]
    fn mistakes_are_named() {
        use EndpointError::*;
        let error = |text: &str| text.parse::<Endpoint>().unwrap_err();
        assert!(matches!(error("localhost:5555"), NoTransport(_)));
        assert!(matches!(error("http://a:1"), UnknownTransport(_)));
        assert!(matches!(error("tcp://localhost"), Port(_)));
        assert!(matches!(error("tcp://localhost:70000"), Port(_)));
        assert!(matches!(error("tcp://:5555"), Host(_)));
        assert!(matches!(error("tcp://::1:5555"), Brackets(_)));
        assert!(matches!(error("ipc://"), Length { .. }));
        assert!(matches!(
            error(&format!("ipc://{}", "x".repeat(108))),
            Length { .. }
        ));
        assert!(matches!(error("inproc://"), Length { .. }));
    }
}
