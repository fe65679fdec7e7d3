//! UDP sockets for RADIO, DISH and DGRAM: unicast, and multicast with its groups and interfaces.
//! [`datagram`] has the layout of a datagram of a RADIO.

mod datagram;
mod reach;
mod socket;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use mio::net::UdpSocket;
use sealwire_zmtp::SocketType;
use socket2::Socket;

pub use datagram::{DatagramError, MAX_DATAGRAM};
pub(crate) use datagram::{check_size, encode, parse, size};
pub(crate) use reach::{check_reach, for_socket};
pub(crate) use socket::DatagramSocket;

use crate::endpoint::Endpoint;
use crate::options::{MulticastOptions, SocketOptions, TcpOptions};

/// The network interface that multicast goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    /// Whichever the system takes.
    Any,
    /// By its address; IPv4 only.
    Address(Ipv4Addr),
    /// By its number.
    Index(Index),
}

/// The number of an interface; elsewhere there is none.
#[cfg(any(target_os = "linux", target_os = "android"))]
type Index = u32;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
type Index = std::convert::Infallible;

impl Interface {
    fn find(name: Option<&str>, ipv6: bool) -> io::Result<Self> {
        let name = match name {
            None | Some("*") => return Ok(Interface::Any),
            Some(name) => name,
        };
        match name.parse() {
            Ok(IpAddr::V4(address)) if !ipv6 => Ok(Interface::Address(address)),
            Ok(_) => Err(invalid(
                "name the interface, as eth0: an address stands for one with IPv4 multicast only",
            )),
            Err(_) => index_of(name).map(Interface::Index),
        }
    }

    fn index(self) -> u32 {
        match self {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Interface::Index(index) => index,
            #[cfg(not(any(target_os = "linux", target_os = "android")))]
            Interface::Index(index) => match index {},
            Interface::Any | Interface::Address(_) => 0,
        }
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn index_of(interface: &str) -> io::Result<Index> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    rustix::net::netdevice::name_to_index(&socket, interface).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("interface {interface}: {error}"))
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn index_of(_interface: &str) -> io::Result<Index> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system finds interfaces by their IPv4 address only",
    ))
}

/// Interface, host and port.
fn parts(endpoint: &Endpoint) -> io::Result<(Option<&str>, &str, u16)> {
    match endpoint {
        Endpoint::Udp {
            interface,
            host,
            port,
        } => Ok((interface.as_deref(), host, *port)),
        _ => Err(invalid("only udp has datagrams")),
    }
}

/// The first address behind a host that the socket may use. May block to resolve a name.
fn resolve(host: &str, port: u16, options: &TcpOptions) -> io::Result<SocketAddr> {
    if host == "*" {
        return Ok(if options.ipv6 {
            SocketAddr::from((Ipv6Addr::UNSPECIFIED, port))
        } else {
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))
        });
    }
    (host, port)
        .to_socket_addrs()?
        .find(|address| options.admits(address))
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "the name has no address of a family that is switched on",
            )
        })
}

/// A socket that receives at an address, or what is sent to a multicast group. That of a DGRAM sends too, as its options
/// say how far.
pub(crate) fn bind(endpoint: &Endpoint, options: &SocketOptions) -> io::Result<UdpSocket> {
    let (interface, host, port) = parts(endpoint)?;
    let address = resolve(host, port, &options.tcp)?;
    let socket = options.tcp.datagram_socket(address)?;
    let sends = options.socket_type == SocketType::Dgram;
    if !address.ip().is_multicast() {
        refuse_interface(interface)?;
        if host == "*" && address.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        socket.bind(&address.into())?;
        if sends {
            limit_multicast(&socket, address.is_ipv4(), options.multicast)?;
        }
        return Ok(UdpSocket::from_std(socket.into()));
    }
    let interface = Interface::find(interface, address.is_ipv6())?;
    if sends {
        direct(&socket, address, interface, options.multicast)?;
    }
    // Every member of a group on this machine gets what is sent to it.
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(true)?;
    join(&socket, address, interface)?;
    Ok(UdpSocket::from_std(socket.into()))
}

fn join(socket: &Socket, address: SocketAddr, interface: Interface) -> io::Result<()> {
    match address.ip() {
        IpAddr::V4(group) => {
            socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())).into())?;
            // Not what other processes have joined.
            #[cfg(target_os = "linux")]
            socket.set_multicast_all_v4(false)?;
            match interface {
                Interface::Any => socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED),
                Interface::Address(address) => socket.join_multicast_v4(&group, &address),
                Interface::Index(index) => join_v4_by_index(socket, group, index),
            }
        }
        IpAddr::V6(group) => {
            socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, address.port())).into())?;
            #[cfg(target_os = "linux")]
            socket.set_multicast_all_v6(false)?;
            socket.join_multicast_v6(&group, interface.index())
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn join_v4_by_index(socket: &Socket, group: Ipv4Addr, index: Index) -> io::Result<()> {
    let interface = socket2::InterfaceIndexOrAddress::Index(index);
    socket.join_multicast_v4_n(&group, &interface)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn join_v4_by_index(_socket: &Socket, _group: Ipv4Addr, index: Index) -> io::Result<()> {
    match index {}
}

/// A socket that sends, and where to.
pub(crate) fn connect(
    endpoint: &Endpoint,
    options: &SocketOptions,
) -> io::Result<(UdpSocket, SocketAddr)> {
    let (interface, host, port) = parts(endpoint)?;
    let target = resolve(host, port, &options.tcp)?;
    let socket = options.tcp.datagram_socket(target)?;
    if target.ip().is_multicast() {
        let interface = Interface::find(interface, target.is_ipv6())?;
        direct(&socket, target, interface, options.multicast)?;
    } else {
        refuse_interface(interface)?;
    }
    // Not connected: the system would tell of targets that are not there instead of sending.
    let any = match target {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    socket.bind(&any.into())?;
    Ok((UdpSocket::from_std(socket.into()), target))
}

/// Sets how multicast leaves.
fn direct(
    socket: &Socket,
    target: SocketAddr,
    interface: Interface,
    options: MulticastOptions,
) -> io::Result<()> {
    limit_multicast(socket, target.is_ipv4(), options)?;
    if target.is_ipv4() {
        match interface {
            Interface::Any => Ok(()),
            Interface::Address(address) => socket.set_multicast_if_v4(&address),
            Interface::Index(index) => leave_v4_by_index(socket, index),
        }
    } else {
        socket.set_multicast_if_v6(interface.index())
    }
}

/// Sets how far multicast goes, and whether it comes back to this machine.
fn limit_multicast(socket: &Socket, ipv4: bool, options: MulticastOptions) -> io::Result<()> {
    let hops = options.hops.unwrap_or(MulticastOptions::DEFAULT_HOPS);
    let looped = options.looped.unwrap_or(MulticastOptions::DEFAULT_LOOPED);
    if ipv4 {
        socket.set_multicast_ttl_v4(hops.into())?;
        return socket.set_multicast_loop_v4(looped);
    }
    // A socket of IPv6 that serves both has its own for each.
    #[cfg(target_os = "linux")]
    if !socket.only_v6()? {
        socket.set_multicast_ttl_v4(hops.into())?;
        socket.set_multicast_loop_v4(looped)?;
    }
    socket.set_multicast_hops_v6(hops.into())?;
    socket.set_multicast_loop_v6(looped)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn leave_v4_by_index(socket: &Socket, index: Index) -> io::Result<()> {
    let none = Ipv4Addr::UNSPECIFIED;
    Ok(rustix::net::sockopt::set_ip_multicast_if_with_ifindex(
        socket, &none, &none, index,
    )?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn leave_v4_by_index(_socket: &Socket, index: Index) -> io::Result<()> {
    match index {}
}

fn refuse_interface(interface: Option<&str>) -> io::Result<()> {
    match interface {
        None => Ok(()),
        Some(_) => Err(invalid("an interface goes with a multicast group only")),
    }
}

#[cfg(test)]
mod tests {
    use socket2::SockRef;

    use super::*;

    #[test]
    fn what_is_set_reaches_the_system() {
        let mut options = SocketOptions::new(SocketType::Radio);
        let default = (MulticastOptions::DEFAULT_HOPS, true);
        for (hops, looped) in [default, (7, false)] {
            if (hops, looped) != default {
                options.multicast.hops = Some(hops);
                options.multicast.looped = Some(looped);
            }
            let endpoint = "udp://127.0.0.1;239.0.0.1:9".parse().unwrap();
            let (socket, target) = connect(&endpoint, &options).unwrap();
            assert_eq!(target, "239.0.0.1:9".parse().unwrap());
            let socket = SockRef::from(&socket);
            assert_eq!(socket.multicast_ttl_v4().unwrap(), u32::from(hops));
            assert_eq!(socket.multicast_loop_v4().unwrap(), looped);
            assert_eq!(socket.multicast_if_v4().unwrap(), Ipv4Addr::LOCALHOST);
            let endpoint = "udp://[ff01::1]:9".parse().unwrap();
            let (socket, _) = connect(&endpoint, &options).unwrap();
            let socket = SockRef::from(&socket);
            assert_eq!(socket.multicast_hops_v6().unwrap(), u32::from(hops));
            assert_eq!(socket.multicast_loop_v6().unwrap(), looped);
        }
    }

    #[test]
    fn what_is_set_reaches_a_socket_that_receives_and_sends() {
        let mut options = SocketOptions::new(SocketType::Dgram);
        options.multicast.hops = Some(7);
        options.multicast.looped = Some(false);
        options.tcp.ipv6 = false;
        let (any, group) = ("udp://*:*", "udp://127.0.0.1;239.0.0.1:*");
        for endpoint in [any, group, "udp://127.0.0.1:*"] {
            let socket = bind(&endpoint.parse().unwrap(), &options).unwrap();
            let socket = SockRef::from(&socket);
            assert_eq!(socket.multicast_ttl_v4().unwrap(), 7, "{endpoint}");
            assert!(!socket.multicast_loop_v4().unwrap(), "{endpoint}");
            let through = socket.multicast_if_v4().unwrap();
            assert_eq!(through == Ipv4Addr::LOCALHOST, endpoint == group);
        }
        options.tcp.ipv6 = true;
        let socket = bind(&any.parse().unwrap(), &options).unwrap();
        let socket = SockRef::from(&socket);
        assert_eq!(socket.multicast_hops_v6().unwrap(), 7);
        assert!(!socket.multicast_loop_v6().unwrap());
        #[cfg(target_os = "linux")]
        assert!(socket.multicast_ttl_v4().unwrap() == 7 && !socket.multicast_loop_v4().unwrap());
    }
}
