//! Whom a socket for datagrams reaches from the address that it is bound to.

use std::net::SocketAddr;

use crate::message::{AddressError, canonical};
use crate::reach::is_loopback;

/// Says why a socket that is bound to `local` does not send to `target`.
pub(crate) fn check_reach(local: SocketAddr, target: SocketAddr) -> Result<(), AddressError> {
    let local = canonical(local);
    let serves_both = local.is_ipv6() && local.ip().is_unspecified();
    if local.is_ipv4() != target.is_ipv4() && !serves_both {
        return Err(AddressError::IpVersion);
    }
    if is_loopback(local.ip()) && !is_loopback(target.ip()) {
        return Err(AddressError::LeavesTheMachine);
    }
    Ok(())
}

/// The address as a socket of IPv6 has it, or one of IPv4.
pub(crate) fn for_socket(target: SocketAddr, is_ipv6: bool) -> SocketAddr {
    match target {
        SocketAddr::V4(four) if is_ipv6 => (four.ip().to_ipv6_mapped(), four.port()).into(),
        target => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_socket_reaches_what_is_of_its_kind() {
        use AddressError::{IpVersion, LeavesTheMachine};
        for (local, target, reached) in [
            ("127.0.0.1:1", "127.9.9.9:2", Ok(())),
            ("127.0.0.1:1", "192.0.2.1:2", Err(LeavesTheMachine)),
            ("127.0.0.1:1", "[::1]:2", Err(IpVersion)),
            ("0.0.0.0:1", "127.0.0.1:2", Ok(())),
            ("0.0.0.0:1", "192.0.2.1:2", Ok(())),
            ("0.0.0.0:1", "[::1]:2", Err(IpVersion)),
            ("192.0.2.7:1", "192.0.2.1:2", Ok(())),
            ("192.0.2.7:1", "127.0.0.1:2", Ok(())),
            ("[::1]:1", "[::1]:2", Ok(())),
            ("[::1]:1", "[2001:db8::1]:2", Err(LeavesTheMachine)),
            ("[::1]:1", "127.0.0.1:2", Err(IpVersion)),
            ("[::]:1", "127.0.0.1:2", Ok(())),
            ("[::]:1", "[2001:db8::1]:2", Ok(())),
            ("[2001:db8::7]:1", "192.0.2.1:2", Err(IpVersion)),
            ("[::ffff:127.0.0.1]:1", "127.0.0.1:2", Ok(())),
            ("[::ffff:127.0.0.1]:1", "192.0.2.1:2", Err(LeavesTheMachine)),
        ] {
            let found = check_reach(address(local), address(target));
            assert_eq!(found, reached, "{local} to {target}");
        }
    }

    #[test]
    fn a_socket_of_ipv6_gets_addresses_of_ipv6() {
        let (four, six) = (address("192.0.2.1:7"), address("[2001:db8::1]:7"));
        assert_eq!(for_socket(four, false), four);
        assert_eq!(for_socket(four, true), address("[::ffff:192.0.2.1]:7"));
        assert_eq!(for_socket(six, true), six);
        assert_eq!(canonical(for_socket(four, true)), four);
    }
}
