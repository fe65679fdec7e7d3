//! The addresses of network interfaces, by the interface's name.

use std::io;
use std::net::SocketAddr;

/// Where to listen on the interface of this name, IPv4 first; nowhere if there is no such interface or it has no
/// address.
#[cfg(unix)]
pub(super) fn addresses_of(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let interfaces = nix::ifaddrs::getifaddrs()?;
    let named = interfaces.filter(|interface| interface.interface_name == name);
    let mut addresses: Vec<_> = named
        .filter_map(|interface| {
            let address = interface.address?;
            let of_ipv4 = address
                .as_sockaddr_in()
                .map(|it| SocketAddr::from((it.ip(), 0)));
            // With its zone, without which nobody can listen on a link-local address.
            of_ipv4.or_else(|| Some(SocketAddr::V6((*address.as_sockaddr_in6()?).into())))
        })
        .collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses
        .iter_mut()
        .for_each(|address| address.set_port(port));
    Ok(addresses)
}

/// This system's interfaces are found by their addresses only.
#[cfg(not(unix))]
pub(super) fn addresses_of(_name: &str, _port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok(Vec::new())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_its_address_and_others_are_none() {
        let loopback = nix::ifaddrs::getifaddrs().unwrap().find(|interface| {
            let address = interface.address.as_ref();
            let of_ipv4 = address.and_then(|address| address.as_sockaddr_in());
            of_ipv4.is_some_and(|address| address.ip().is_loopback())
        });
        let loopback = loopback.expect("every system here has one").interface_name;
        let addresses = addresses_of(&loopback, 5555).unwrap();
        assert_eq!(addresses[0], SocketAddr::from(([127, 0, 0, 1], 5555)));
        assert!(addresses_of("no-such-interface", 5555).unwrap().is_empty());
    }
}
