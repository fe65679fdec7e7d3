//! Addresses of datagrams as text, as libzmq's DGRAM has them: `192.0.2.1:5555`, and `[2001:db8::1]:5555`, which libzmq does
//! not have. Names are none: a message waits for no look-up. No I/O.

use std::net::{IpAddr, SocketAddr};
use std::str;

/// A DGRAM socket cannot send to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is not the text of an IP address and a port.
    #[error("the first frame is an IP address and a port, as 192.0.2.1:5555 or [2001:db8::1]:5555")]
    Unreadable,
    /// Its port is 0, where nobody receives.
    #[error("a port is a number from 1 to 65535, not 0")]
    NoPort,
    /// It has another IP version than the address that the socket is bound to.
    #[error(
        "the socket is bound to an address of the other IP version; bind it to an address of the same one, or with \
         ipv6 to udp://*:PORT for both"
    )]
    IpVersion,
    /// The socket is bound to a loopback address, from which nothing leaves the machine.
    #[error(
        "the socket is bound to a loopback address, and this one leaves the machine: bind to another, with \
         Security's plain_text, as anyone on the way may read and change everything"
    )]
    LeavesTheMachine,
}

/// Reads an address. One of IPv4 in IPv6's clothes becomes one of IPv4.
pub(crate) fn parse_address(text: &[u8]) -> Result<SocketAddr, AddressError> {
    let text = str::from_utf8(text).map_err(|_| AddressError::Unreadable)?;
    let address: SocketAddr = text.parse().map_err(|_| AddressError::Unreadable)?;
    match address.port() {
        0 => Err(AddressError::NoPort),
        _ => Ok(canonical(address)),
    }
}

/// An address of IPv4 that a socket of IPv6 has as one of its own.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(four) => (four, address.port()).into(),
        // With its scope, without which a link-local address leads nowhere.
        IpAddr::V6(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV6;

    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let scoped = SocketAddrV6::new("fe80::1".parse().unwrap(), 5555, 0, 3);
        for address in [
            address("127.0.0.1:1"),
            address("255.255.255.255:65535"),
            address("[2001:db8::1]:5555"),
            scoped.into(),
        ] {
            assert_eq!(parse_address(address.to_string().as_bytes()), Ok(address));
        }
        let mapped = parse_address(b"[::ffff:192.0.2.1]:7");
        assert_eq!(mapped, Ok(address("192.0.2.1:7")));
    }

    #[test]
    fn what_is_none_is_named() {
        for text in [
            &b""[..],
            b":",
            b"127.0.0.1",
            b"127.0.0.1:",
            b"127.0.0.1:65536",
            b"127.0.0.1:-1",
            b"127.0.0.1:5555\0",
            b" 127.0.0.1:5555",
            b"127.1:5555",
            b"*:5555",
            b"localhost:5555",
            b"udp://127.0.0.1:5555",
            b"::1:5555",
            b"[::1]",
            b"[127.0.0.1]:5555",
            b"\xff:5555",
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(
                parse_address(text),
                Err(AddressError::Unreadable),
                "{shown}"
            );
        }
        for text in [&b"127.0.0.1:0"[..], b"[::1]:0"] {
            assert_eq!(parse_address(text), Err(AddressError::NoPort));
        }
    }
}
