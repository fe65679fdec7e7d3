//! Endpoints: where a socket binds or connects, as ZeroMQ writes it.
//!
//! | form | meaning |
//! |---|---|
//! | `tcp://127.0.0.1:5555`, `tcp://[::1]:5555` | IP address and port |
//! | `tcp://example.org:5555` | name; resolved anew for each connection attempt |
//! | `tcp://*:5555`, `tcp://127.0.0.1:*`, `tcp://127.0.0.1:0` | any address, any free port (bind) |
//! | `tcp://192.0.2.7:0;example.org:5555`, `tcp://eth0:0;...` | from an address of one's own, an interface, a port (connect) |
//! | `tcp://eth0:5555`, `ws://eth0:8080/path` | an address of this network interface, IPv4 where it has one (bind, Unix) |
//! | `ws://127.0.0.1:8080/path` | WebSocket over TCP (RFC 45); feature `ws`; without a path it is `/` |
//! | `wss://example.org:443/path` | the same over TLS; feature `wss` |
//! | `udp://127.0.0.1:5555` | datagrams from RADIO, which connects, to DISH, which binds; of DGRAM, which binds |
//! | `udp://239.0.0.1:5555`, `udp://eth0;239.0.0.1:5555` | the same to a multicast group, through an interface |
//! | `ipc:///run/app.sock` | Unix socket in the file system |
//! | `ipc://*` | Unix socket in a new directory that only this user may enter (bind) |
//! | `ipc://@app` | Unix socket in Linux's abstract namespace |
//! | `inproc://name` | inside this process and [`Context`](crate::Context) |

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;

pub use source::TcpSource;

/// Longest `inproc` name, in bytes (as in libzmq).
pub const MAX_INPROC_NAME: usize = 256;

/// Longest path of a WebSocket, in bytes.
const MAX_PATH: usize = 1_024;

/// Longest `ipc` path or abstract name, in bytes: what `sockaddr_un` holds, less its terminator.
pub const MAX_IPC_NAME: usize = 107;

/// A parsed endpoint. `Display` gives the text form back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// TCP.
    Tcp {
        /// IP address without brackets, a name, where it is bound also that of a network interface, or `*`.
        host: String,
        /// Port; 0 asks for a free one when binding.
        port: u16,
    },
    /// TCP from a source of one's own. It can be connected, not bound.
    TcpFrom {
        /// Where connections begin.
        source: TcpSource,
        /// IP address without brackets, or a name.
        host: String,
        /// Port.
        port: u16,
    },
    /// WebSocket over TCP. Needs the feature `ws`.
    Ws {
        /// IP address without brackets, a name, or `*`.
        host: String,
        /// Port; 0 asks for a free one when binding.
        port: u16,
        /// Path of the request, from its slash on.
        path: String,
    },
    /// WebSocket over TLS.
    Wss {
        /// IP address without brackets, name, or `*`.
        host: String,
        /// Port; 0 asks for a free one when binding.
        port: u16,
        /// Path of the request, from its slash on.
        path: String,
    },
    /// UDP datagrams between RADIO and DISH, and of DGRAM.
    Udp {
        /// Name of the network interface for multicast, or its IPv4 address.
        interface: Option<String>,
        /// IP address without brackets, multicast or not, a name, or `*`.
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
    #[error(
        "'{}' is not an endpoint: write tcp://HOST:PORT, ws://HOST:PORT/PATH, udp://HOST:PORT, ipc://PATH or inproc://NAME",
        .0.escape_debug()
    )]
    NoTransport(String),
    /// A transport that is not supported.
    #[error(
        "'{}' is not a supported transport: use tcp, udp, ipc, inproc, ws or wss",
        .0.escape_debug()
    )]
    UnknownTransport(String),
    /// A transport that this build leaves out.
    #[error("{transport} endpoints need a build of sealwire with its feature '{transport}'")]
    NotBuiltIn {
        /// The transport, and the cargo feature of the same name.
        transport: &'static str,
    },
    /// TCP without a port, or with one that is no number from 0 to 65535 and not `*`.
    #[error(
        "'{}' has no valid port: write tcp://HOST:PORT with a port from 0 to 65535, or * to bind to a free one",
        .0.escape_debug()
    )]
    Port(String),
    /// No host, or one with spaces, control characters or others that hosts do not have.
    #[error(
        "'{}' has no valid host: write an address, a name, or * to bind to all addresses",
        .0.escape_debug()
    )]
    Host(String),
    /// A name or path with control characters.
    #[error("'{}' has control characters, which endpoints do not have", .0.escape_debug())]
    ControlCharacters(String),
    /// IPv6 needs brackets to tell the address from the port.
    #[error("'{}' looks like IPv6: write tcp://[ADDRESS]:PORT", .0.escape_debug())]
    Brackets(String),
    /// The path of a WebSocket has characters that a request cannot carry, or is too long.
    #[error(
        "'{}' has no valid path: begin with / and use up to 1,024 visible ASCII characters without ? and #",
        .0.escape_debug()
    )]
    Path(String),
    /// Empty or too long.
    #[error("'{}' must have 1 to {limit} bytes after the transport", name.escape_debug())]
    Length {
        /// The text that was given.
        name: String,
        /// How many bytes are allowed.
        limit: usize,
    },
    /// Something else than `SOURCE:PORT` before the semicolon of a TCP endpoint.
    #[error(
        "'{}' has no valid source: write tcp://SOURCE:PORT;HOST:PORT, where SOURCE is an address, a network interface or *, \
         and its port may be 0",
        .0.escape_debug()
    )]
    Source(String),
    /// A source where the endpoint is bound: it connects to nobody.
    #[error("'{}' cannot be bound: a source is for what connects; write tcp://HOST:PORT", .0.escape_debug())]
    SourceBound(String),
    /// `*` names no peer.
    #[error(
        "'{}' cannot be connected to: name one address and one port, or one path",
        .0.escape_debug()
    )]
    Wildcard(String),
}

impl Endpoint {
    /// Says whether it can be used. Text that was parsed can; binding and connecting check it for
    /// endpoints made by hand.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Host`] for a host, source or interface that is empty or has spaces, control characters
    /// or one of `/?#@[]\;`, and for one with a colon that is not an IPv6 address;
    /// [`EndpointError::Path`] for the path of a WebSocket; [`EndpointError::Length`] and
    /// [`EndpointError::ControlCharacters`] for names and paths.
    pub fn validate(&self) -> Result<(), EndpointError> {
        match self {
            Endpoint::Tcp { host, .. } => self.check_host(host),
            Endpoint::TcpFrom { source, host, .. } => {
                self.check_host(&source.host)?;
                self.check_host(host)
            }
            Endpoint::Ws { host, path, .. } | Endpoint::Wss { host, path, .. } => {
                // Both stand in the request.
                if !host.is_ascii() {
                    return Err(EndpointError::Host(self.to_string()));
                }
                if !path.starts_with('/') || !is_path(path) {
                    return Err(EndpointError::Path(self.to_string()));
                }
                self.check_host(host)
            }
            Endpoint::Udp {
                interface, host, ..
            } => {
                if let Some(interface) = interface {
                    self.check_host(interface)?;
                }
                self.check_host(host)
            }
            Endpoint::Ipc(path) => self.check_name(&path.to_string_lossy(), MAX_IPC_NAME),
            Endpoint::IpcAbstract(name) => self.check_name(name, MAX_IPC_NAME),
            Endpoint::Inproc(name) => self.check_name(name, MAX_INPROC_NAME),
        }
    }

    fn check_host(&self, host: &str) -> Result<(), EndpointError> {
        let refused = |c: char| c.is_control() || c.is_whitespace() || "/?#@[]\\;".contains(c);
        // An address with a zone, `fe80::1%eth0`, is one before it.
        let address = host.split('%').next().unwrap_or_default();
        let is_ipv6 = || address.parse::<Ipv6Addr>().is_ok();
        if host.is_empty() || host.contains(refused) || host.contains(':') && !is_ipv6() {
            return Err(EndpointError::Host(self.to_string()));
        }
        Ok(())
    }

    fn check_name(&self, name: &str, limit: usize) -> Result<(), EndpointError> {
        bounded(name, limit)?;
        if name.contains(char::is_control) {
            return Err(EndpointError::ControlCharacters(self.to_string()));
        }
        Ok(())
    }

    /// Whether binding makes up a path: `ipc://*`.
    pub(crate) fn is_ipc_wildcard(&self) -> bool {
        matches!(self, Endpoint::Ipc(path) if path.as_os_str() == "*")
    }

    /// Whether it can only be bound, not connected to.
    pub(crate) fn is_wildcard(&self) -> bool {
        self.is_ipc_wildcard()
            || matches!(self, Endpoint::Tcp { host, port } | Endpoint::TcpFrom { host, port, .. }
            | Endpoint::Ws { host, port, .. } | Endpoint::Wss { host, port, .. } | Endpoint::Udp { host, port, .. }
            if host == "*" || *port == 0)
    }

    /// Where TCP leads that a proxy can carry.
    pub(crate) fn over_tcp(&self) -> Option<(&str, u16)> {
        match self {
            Endpoint::Tcp { host, port }
            | Endpoint::TcpFrom { host, port, .. }
            | Endpoint::Ws { host, port, .. }
            | Endpoint::Wss { host, port, .. } => Some((host, *port)),
            _ => None,
        }
    }

    /// The source of what connects, if one was named.
    pub(crate) fn source(&self) -> Option<&TcpSource> {
        match self {
            Endpoint::TcpFrom { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let Some((transport, rest)) = text.split_once("://") else {
            return Err(EndpointError::NoTransport(text.into()));
        };
        let endpoint = match transport {
            "tcp" => parse_tcp(text, rest),
            "ws" => {
                let (host, port, path) = parse_ws("ws", cfg!(feature = "ws"), text, rest)?;
                Ok(Endpoint::Ws { host, port, path })
            }
            "wss" => {
                let (host, port, path) = parse_ws("wss", cfg!(feature = "wss"), text, rest)?;
                Ok(Endpoint::Wss { host, port, path })
            }
            "udp" => parse_udp(text, rest),
            "ipc" => parse_ipc(rest),
            "inproc" => {
                let name = bounded(rest, MAX_INPROC_NAME)?;
                Ok(Endpoint::Inproc(name.into()))
            }
            "" => Err(EndpointError::NoTransport(text.into())),
            other => Err(EndpointError::UnknownTransport(other.into())),
        }?;
        endpoint.validate()?;
        Ok(endpoint)
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
    let (source, rest) = match rest.rsplit_once(';') {
        Some((source, rest)) => (Some(TcpSource::parse(text, source)?), rest),
        None => (None, rest),
    };
    let (host, port) = host_and_port(text, rest)?;
    Ok(match source {
        Some(source) => Endpoint::TcpFrom { source, host, port },
        None => Endpoint::Tcp { host, port },
    })
}

fn parse_udp(text: &str, rest: &str) -> Result<Endpoint, EndpointError> {
    let (interface, rest) = match rest.rsplit_once(';') {
        Some(("", _)) => return Err(EndpointError::Host(text.into())),
        Some((interface, rest)) => (Some(interface.into()), rest),
        None => (None, rest),
    };
    let (host, port) = host_and_port(text, rest)?;
    Ok(Endpoint::Udp {
        interface,
        host,
        port,
    })
}

fn host_and_port(text: &str, rest: &str) -> Result<(String, u16), EndpointError> {
    let (host, port) = rest
        .rsplit_once(':')
        .ok_or_else(|| EndpointError::Port(text.into()))?;
    let port = match port {
        "*" => 0,
        digits => port_of(digits).ok_or_else(|| EndpointError::Port(text.into()))?,
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
    Ok((host.into(), port))
}

/// The port that these digits write. Rust's numbers may have a sign, ports have none.
pub(crate) fn port_of(digits: &str) -> Option<u16> {
    match digits.starts_with('+') {
        true => None,
        false => digits.parse().ok(),
    }
}

/// Host, port and path.
fn parse_ws(
    transport: &'static str,
    built_in: bool,
    text: &str,
    rest: &str,
) -> Result<(String, u16, String), EndpointError> {
    if !built_in {
        return Err(EndpointError::NotBuiltIn { transport });
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !is_path(path) {
        return Err(EndpointError::Path(text.into()));
    }
    let path = if path.is_empty() { "/" } else { path }.into();
    let (host, port) = host_and_port(text, authority)?;
    Ok((host, port, path))
}

/// Whether a request can carry it. An empty one becomes `/`.
fn is_path(path: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#');
    path.bytes().all(fits) && path.len() <= MAX_PATH
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

/// Host and port as text, with brackets around IPv6.
struct Authority<'a>(&'a str, u16);

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Authority(host, port) = self;
        match host.contains(':') {
            true => write!(f, "[{host}]:{port}"),
            false => write!(f, "{host}:{port}"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp { host, port } | Endpoint::TcpFrom { host, port, .. } => {
                f.write_str("tcp://")?;
                if let Some(source) = self.source() {
                    write!(f, "{source};")?;
                }
                write!(f, "{}", Authority(host, *port))
            }
            Endpoint::Ws { host, port, path } | Endpoint::Wss { host, port, path } => {
                let scheme = match self {
                    Endpoint::Wss { .. } => "wss",
                    _ => "ws",
                };
                write!(f, "{scheme}://{}{path}", Authority(host, *port))
            }
            Endpoint::Udp {
                interface,
                host,
                port,
            } => {
                f.write_str("udp://")?;
                if let Some(interface) = interface {
                    write!(f, "{interface};")?;
                }
                write!(f, "{}", Authority(host, *port))
            }
            Endpoint::Ipc(path) => write!(f, "ipc://{}", path.display()),
            Endpoint::IpcAbstract(name) => write!(f, "ipc://@{name}"),
            Endpoint::Inproc(name) => write!(f, "inproc://{name}"),
        }
    }
}

mod source;
#[cfg(test)]
mod tests;
