//! Where an endpoint leads: addresses to connect to.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use crate::endpoint::Endpoint;
use crate::options::{SocketOptions, SocksProxy};
use crate::peer::PeerAddress;

/// One address to connect to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Tcp(SocketAddr),
    /// Through a SOCKS5 proxy.
    Proxied {
        proxy: SocketAddr,
        host: String,
        port: u16,
    },
    Ipc(PathBuf),
    IpcAbstract(String),
}

impl Target {
    /// The addresses behind an endpoint. **May block** for as long as a name takes to resolve;
    /// see [`Target::immediate`].
    pub(crate) fn resolve(endpoint: &Endpoint, options: &SocketOptions) -> io::Result<Vec<Target>> {
        let proxy = options.socks_proxy.as_ref();
        let Some(destination) = Self::destination(endpoint, proxy) else {
            return Ok(Vec::new());
        };
        let addresses = destination.to_socket_addrs();
        let addresses = addresses.map_err(|error| match proxy {
            Some(proxy) => proxy.blame(error),
            None => error,
        })?;
        Ok(addresses
            .filter(|address| options.tcp.admits(address))
            .map(|address| Self::over(address, endpoint, proxy))
            .collect())
    }

    /// The addresses behind an endpoint that needs no look-up.
    pub(crate) fn immediate(
        endpoint: &Endpoint,
        proxy: Option<&SocksProxy>,
    ) -> Option<Vec<Target>> {
        Some(match endpoint {
            Endpoint::Ipc(path) => vec![Target::Ipc(path.clone())],
            Endpoint::IpcAbstract(name) => vec![Target::IpcAbstract(name.clone())],
            _ => match Self::destination(endpoint, proxy) {
                Some((host, port)) => {
                    let address = SocketAddr::new(host.parse().ok()?, port);
                    vec![Self::over(address, endpoint, proxy)]
                }
                None => Vec::new(),
            },
        })
    }

    /// What TCP connects to: the proxy where there is one, else what the endpoint names.
    fn destination<'a>(
        endpoint: &'a Endpoint,
        proxy: Option<&'a SocksProxy>,
    ) -> Option<(&'a str, u16)> {
        let there = endpoint.over_tcp()?;
        Some(proxy.map_or(there, SocksProxy::address))
    }

    /// The target of an endpoint whose destination has this address.
    fn over(address: SocketAddr, endpoint: &Endpoint, proxy: Option<&SocksProxy>) -> Target {
        match endpoint.over_tcp().filter(|_| proxy.is_some()) {
            Some((host, port)) => Target::Proxied {
                proxy: address,
                host: host.into(),
                port,
            },
            None => Target::Tcp(address),
        }
    }

    pub(crate) fn address(&self) -> PeerAddress {
        match self {
            Target::Tcp(address) => PeerAddress::Tcp(*address),
            Target::Proxied { host, port, .. } => PeerAddress::Proxied {
                host: host.clone(),
                port: *port,
            },
            Target::Ipc(path) => PeerAddress::Ipc(path.clone()),
            Target::IpcAbstract(name) => PeerAddress::Ipc(format!("@{name}").into()),
        }
    }
}

/// The address of a Unix socket without a file.
#[cfg(target_os = "linux")]
pub(super) fn abstract_address(name: &str) -> io::Result<std::os::unix::net::SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    std::os::unix::net::SocketAddr::from_abstract_name(name)
}
