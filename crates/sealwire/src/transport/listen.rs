//! Listening sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
#[cfg(unix)]
use std::path::Path;

use mio::event::Source as _;
use mio::net::TcpListener;
#[cfg(unix)]
use mio::net::UnixListener;
use mio::{Interest, Registry, Token};

#[cfg(unix)]
use super::private_directory::PrivateDirectory;
#[cfg(any(test, feature = "simulation"))]
use super::simulated::SimulatedListener;
#[cfg(unix)]
use super::socket_file::{self, Replace, SocketFile};
#[cfg(target_os = "linux")]
use super::target::abstract_address;
use super::{Stream, interfaces};
use crate::endpoint::Endpoint;
use crate::options::{SocketOptions, TcpOptions};
use crate::peer::PeerAddress;

/// A listening socket; closing it also removes the file of a Unix socket.
pub(crate) enum BoundListener {
    Tcp {
        listener: TcpListener,
        /// Somebody else opened it, and may go on accepting.
        is_passed: bool,
    },
    #[cfg(unix)]
    Unix {
        /// Removed before the socket is closed; none where somebody else made it.
        file: Option<SocketFile>,
        listener: UnixListener,
        address: PeerAddress,
        /// Somebody else opened it, and may go on accepting.
        is_passed: bool,
        /// Made for the file alone, and removed behind it.
        _directory: Option<PrivateDirectory>,
    },
    #[cfg(any(test, feature = "simulation"))]
    Simulated(SimulatedListener),
}

/// Begins to listen and returns the endpoint with the port that was chosen. May block to resolve
/// a name.
pub(crate) fn listen(
    endpoint: &Endpoint,
    options: &SocketOptions,
) -> io::Result<(BoundListener, Endpoint)> {
    match endpoint {
        Endpoint::Tcp { host, port } => {
            let (listener, host, port) = bind_tcp(host, *port, options)?;
            Ok((listener, Endpoint::Tcp { host, port }))
        }
        Endpoint::Ws { host, port, path } | Endpoint::Wss { host, port, path } => {
            let (listener, host, port) = bind_tcp(host, *port, options)?;
            let path = path.clone();
            let bound = match endpoint {
                Endpoint::Wss { .. } => Endpoint::Wss { host, port, path },
                _ => Endpoint::Ws { host, port, path },
            };
            Ok((listener, bound))
        }
        #[cfg(unix)]
        Endpoint::Ipc(_) if endpoint.is_ipc_wildcard() => listen_in_new_directory(options),
        #[cfg(unix)]
        Endpoint::Ipc(path) => Ok((listen_path(path, None, options)?, endpoint.clone())),
        #[cfg(target_os = "linux")]
        Endpoint::IpcAbstract(name) => {
            let listener = UnixListener::bind_addr(&abstract_address(name)?)?;
            let address = PeerAddress::Ipc(format!("@{name}").into());
            Ok((
                BoundListener::Unix {
                    file: None,
                    listener,
                    address,
                    is_passed: false,
                    _directory: None,
                },
                endpoint.clone(),
            ))
        }
        _ => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this system has no such transport",
        )),
    }
}

/// Gives host and port as they are bound too.
fn bind_tcp(
    host: &str,
    port: u16,
    options: &SocketOptions,
) -> io::Result<(BoundListener, String, u16)> {
    let listener = listen_tcp(host, port, options)?;
    let address = listener.local_addr()?;
    let host = match host {
        "*" => host.to_owned(),
        _ => host_of(&address),
    };
    let listener = BoundListener::Tcp {
        listener,
        is_passed: false,
    };
    Ok((listener, host, address.port()))
}

/// The address with the link that it is of, without which nobody can connect to it.
fn host_of(address: &SocketAddr) -> String {
    match address {
        SocketAddr::V6(it) if it.scope_id() != 0 => format!("{}%{}", it.ip(), it.scope_id()),
        address => address.ip().to_string(),
    }
}

fn listen_tcp(host: &str, port: u16, options: &SocketOptions) -> io::Result<TcpListener> {
    let (as_libzmq, options) = (options.as_libzmq, &options.tcp);
    if host == "*" {
        // One socket for both families where the system has IPv6, else IPv4 alone.
        let all_of_ipv4 = SocketAddr::from(([0_u8; 4], port));
        if !options.ipv6 {
            return listen_address(all_of_ipv4, options);
        }
        return listen_address(SocketAddr::from(([0_u16; 8], port)), options)
            .or_else(|_| listen_address(all_of_ipv4, options));
    }
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut addresses = addresses(host, port)?;
    if as_libzmq {
        // It listens with IPv6 wherever the option allows it.
        addresses.sort_by_key(SocketAddr::is_ipv4);
    }
    for address in addresses {
        if !options.admits(&address) {
            continue;
        }
        match listen_address(address, options) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The addresses of a host: its own, those of a network interface, or those that its name resolves to.
fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if host.parse::<IpAddr>().is_err() {
        let of_interface = interfaces::addresses_of(host, port)?;
        if !of_interface.is_empty() {
            return Ok(of_interface);
        }
    }
    Ok((host, port).to_socket_addrs()?.collect())
}

fn listen_address(address: SocketAddr, options: &TcpOptions) -> io::Result<TcpListener> {
    let socket = options.socket(address)?;
    // A restarted server gets its port back at once; elsewhere than on Unix the option would let
    // two processes share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if address.ip().is_unspecified() && address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    if options.reuse_port {
        share_port(&socket)?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog(options))?;
    Ok(TcpListener::from_std(socket.into()))
}

#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
fn share_port(socket: &socket2::Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

#[cfg(not(all(unix, not(any(target_os = "solaris", target_os = "illumos")))))]
fn share_port(_socket: &socket2::Socket) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system lets no two listeners share a port (reuse_port)",
    ))
}

fn backlog(options: &TcpOptions) -> i32 {
    i32::try_from(options.backlog).unwrap_or(i32::MAX)
}

/// Listens on a socket of a name that nobody can foresee, where nobody else can connect to it.
#[cfg(unix)]
fn listen_in_new_directory(options: &SocketOptions) -> io::Result<(BoundListener, Endpoint)> {
    let directory = PrivateDirectory::create()?;
    let endpoint = Endpoint::Ipc(directory.socket());
    endpoint
        .validate()
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let path = directory.socket();
    Ok((listen_path(&path, Some(directory), options)?, endpoint))
}

#[cfg(unix)]
fn listen_path(
    path: &Path,
    directory: Option<PrivateDirectory>,
    options: &SocketOptions,
) -> io::Result<BoundListener> {
    let backlog = backlog(&options.tcp);
    let replace = match options.as_libzmq {
        true => Replace::Any,
        false => Replace::Abandoned,
    };
    let (socket, file) = socket_file::listen(path, options.ipc_mode, backlog, replace)?;
    Ok(BoundListener::Unix {
        file: Some(file),
        listener: UnixListener::from_std(socket.into()),
        address: PeerAddress::Ipc(path.into()),
        is_passed: false,
        _directory: directory,
    })
}

impl BoundListener {
    pub(crate) fn accept(&self) -> io::Result<(Stream, PeerAddress)> {
        match self {
            BoundListener::Tcp { listener, .. } => {
                let (stream, address) = listener.accept()?;
                Ok((Stream::Tcp(stream), PeerAddress::Tcp(unmapped(address))))
            }
            #[cfg(unix)]
            BoundListener::Unix {
                listener, address, ..
            } => {
                let (stream, _) = listener.accept()?;
                Ok((Stream::Unix(stream), address.clone()))
            }
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(listener) => {
                let (stream, address) = listener.accept()?;
                Ok((Stream::Simulated(stream), PeerAddress::Tcp(address)))
            }
        }
    }

    /// Whether another process may go on accepting those who wait.
    pub(crate) fn is_passed(&self) -> bool {
        match self {
            BoundListener::Tcp { is_passed, .. } => *is_passed,
            #[cfg(unix)]
            BoundListener::Unix { is_passed, .. } => *is_passed,
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(_) => false,
        }
    }

    /// Removes the file of a Unix socket before the socket is closed: nobody finds it from then on, and those who have
    /// are still to be accepted.
    pub(crate) fn remove_file(&mut self) {
        #[cfg(unix)]
        if let BoundListener::Unix { file, .. } = self {
            *file = None;
        }
    }

    /// Whether a connection waits to be accepted, or an error to be read.
    #[cfg(unix)]
    pub(crate) fn has_waiting(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut polled = match self {
            BoundListener::Tcp { listener, .. } => [PollFd::new(listener, PollFlags::IN)],
            BoundListener::Unix { listener, .. } => [PollFd::new(listener, PollFlags::IN)],
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(_) => return true,
        };
        !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(0))
    }

    #[cfg(not(unix))]
    pub(crate) fn has_waiting(&self) -> bool {
        true
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            BoundListener::Tcp { listener, .. } => {
                listener.register(registry, token, Interest::READABLE)
            }
            #[cfg(unix)]
            BoundListener::Unix { listener, .. } => {
                listener.register(registry, token, Interest::READABLE)
            }
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(listener) => {
                listener.register(super::simulated::poller_of(registry), token);
                Ok(())
            }
        }
    }

    /// Takes it from the poller, which goes on to watch it where somebody else has a descriptor of the same socket.
    pub(crate) fn deregister(&mut self, registry: &Registry) {
        // Without an entry there is nothing to take away.
        let _ = match self {
            BoundListener::Tcp { listener, .. } => listener.deregister(registry),
            #[cfg(unix)]
            BoundListener::Unix { listener, .. } => listener.deregister(registry),
            #[cfg(any(test, feature = "simulation"))]
            BoundListener::Simulated(_) => Ok(()),
        };
    }
}

/// Peers over IPv4 on a socket for both families show up as IPv6; people know them as IPv4.
pub(super) fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(all(test, unix))]
mod tests {
    use std::net::SocketAddrV6;

    use sealwire_zmtp::SocketType;

    use super::*;

    #[test]
    fn an_address_of_one_link_is_written_with_it() {
        let address = |scope| SocketAddrV6::new("fe80::1".parse().unwrap(), 1, 0, scope).into();
        assert_eq!(host_of(&address(0)), "fe80::1");
        assert_eq!(host_of(&address(3)), "fe80::1%3");
        assert_eq!(host_of(&SocketAddr::from(([10, 0, 0, 1], 1))), "10.0.0.1");
        let endpoint: Endpoint = "tcp://[fe80::1%3]:1".parse().unwrap();
        assert_eq!(endpoint.to_string(), "tcp://[fe80::1%3]:1");
    }

    #[test]
    fn as_libzmq_an_interface_is_listened_on_with_ipv6_where_that_is_allowed() {
        let interfaces = nix::ifaddrs::getifaddrs().unwrap();
        let known = interfaces.filter_map(|it| Some((it.interface_name, it.address?)));
        let known: Vec<_> = known.collect();
        let is_loopback = |address: &nix::sys::socket::SockaddrStorage| {
            (address.as_sockaddr_in()).is_some_and(|it| it.ip().is_loopback())
        };
        let (loopback, _) = known.iter().find(|(_, it)| is_loopback(it)).unwrap();
        let of_loopback = known.iter().filter(|(name, _)| name == loopback);
        let has_ipv6 = of_loopback
            .clone()
            .any(|(_, address)| address.as_sockaddr_in6().is_some());
        for (as_libzmq, ipv6) in [(false, true), (true, false), (true, true)] {
            let mut options = SocketOptions::new(SocketType::Pull);
            options.as_libzmq = as_libzmq;
            options.tcp.ipv6 = ipv6;
            let listener = listen_tcp(loopback, 0, &options).unwrap();
            let is_ipv6 = listener.local_addr().unwrap().is_ipv6();
            assert_eq!(is_ipv6, as_libzmq && ipv6 && has_ipv6);
        }
    }
}
