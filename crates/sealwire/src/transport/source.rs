//! Giving a connection its own address before it is made.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::Socket;

use super::interfaces;
use crate::endpoint::TcpSource;

/// Binds a socket that is to connect to `destination`.
pub(super) fn bind(socket: &Socket, source: &TcpSource, destination: SocketAddr) -> io::Result<()> {
    bind_to_own(socket, source, destination)
        .map_err(|error| io::Error::new(error.kind(), format!("from {source}: {error}")))
}

fn bind_to_own(socket: &Socket, source: &TcpSource, destination: SocketAddr) -> io::Result<()> {
    let own = address(source, destination)?;
    // The port of the last connection, which the system remembers for a while.
    #[cfg(unix)]
    if source.port != 0 {
        socket.set_reuse_address(true)?;
    }
    socket.bind(&own.into())
}

/// The address of the source from which this destination can be reached.
fn address(source: &TcpSource, destination: SocketAddr) -> io::Result<SocketAddr> {
    let TcpSource { host, port } = source;
    let any: IpAddr = match destination {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    if host == "*" {
        return Ok(SocketAddr::new(any, *port));
    }
    let own = match host.parse::<IpAddr>() {
        Ok(own) => vec![SocketAddr::new(own, *port)],
        Err(_) => interfaces::addresses_of(host, *port)?,
    };
    if own.is_empty() {
        let text = "no network interface here has this name and an address";
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    own.into_iter()
        .filter(|own| own.is_ipv4() == destination.is_ipv4())
        // A link-local address leads to others of its link, and nowhere else.
        .max_by_key(|own| is_link_local(own) == is_link_local(&destination))
        .ok_or_else(|| {
            let family = if any.is_ipv4() { "IPv4" } else { "IPv6" };
            let text = format!("it has no address for {family}, which {destination} needs");
            io::Error::new(io::ErrorKind::AddrNotAvailable, text)
        })
}

fn is_link_local(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(address) if address.ip().is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(host: &str, port: u16, destination: &str) -> io::Result<SocketAddr> {
        let host = host.to_owned();
        address(&TcpSource { host, port }, destination.parse().unwrap())
    }

    #[test]
    fn a_source_has_the_family_of_its_destination() {
        for (host, destination, wanted) in [
            ("*", "192.0.2.1:1", "0.0.0.0:7"),
            ("*", "[2001:db8::1]:1", "[::]:7"),
            ("192.0.2.7", "192.0.2.1:1", "192.0.2.7:7"),
            ("2001:db8::7", "[2001:db8::1]:1", "[2001:db8::7]:7"),
        ] {
            let own = own(host, 7, destination).unwrap();
            assert_eq!(own, wanted.parse().unwrap(), "{host} to {destination}");
        }
        for (host, destination) in [("192.0.2.7", "[::1]:1"), ("::1", "192.0.2.1:1")] {
            let error = own(host, 7, destination).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
            assert!(error.to_string().contains(destination), "{error}");
        }
    }

    #[test]
    fn a_name_is_one_of_an_interface_and_of_no_host() {
        for host in ["no-such-interface", "localhost"] {
            let error = own(host, 0, "192.0.2.1:1").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound, "{host}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_interface_gives_its_address() {
        let loopback = own("lo", 0, "127.0.0.1:1").unwrap();
        assert_eq!(loopback, SocketAddr::from(([127, 0, 0, 1], 0)));
    }
}
