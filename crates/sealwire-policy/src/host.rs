//! Hosts, and patterns of them. An address has many spellings, and a rule is for the address.

use std::net::{IpAddr, Ipv4Addr};

use crate::wildcard;

/// Whether a host fits, where `*` stands for any characters between two dots, and alone for any host.
pub(crate) fn fits(pattern: &str, host: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let theirs = address(host);
    if let Some(ours) = address(pattern) {
        let is_all = |it: IpAddr| it.is_unspecified();
        // A socket that binds to all addresses may say so in three ways.
        let alike = is_all(ours) && (host == "*" || theirs.is_some_and(is_all));
        return alike || theirs == Some(ours);
    }
    match (is_of_numbers(pattern), theirs) {
        (true, Some(address)) => wildcard::fits(pattern, address.to_string(), ".:"),
        // `10.0.0.*` means addresses: a name that looks like one is another's to give.
        (true, None) => false,
        (false, _) => wildcard::fits(name(pattern), name(host), ".:"),
    }
}

/// Whether a pattern can fit some host.
pub(crate) fn may_be(pattern: &str) -> bool {
    !is_of_numbers(pattern) || names_an_address(pattern)
}

/// Of IPv4 where IPv6 only says the same, and without the link that it is of.
fn address(text: &str) -> Option<IpAddr> {
    let of_link = text.split_once('%').map(|(address, _)| address.parse());
    if let Some(Ok(address)) = of_link {
        return Some(IpAddr::V6(address).to_canonical());
    }
    let address = text.parse().ok().map(|it: IpAddr| it.to_canonical());
    address.or_else(|| abbreviated(text).map(IpAddr::V4))
}

/// An address of IPv4 as `inet_aton` takes it, and so the system where it is given one: up to four numbers, also octal
/// and hexadecimal ones, of which the last has the rest of the octets.
fn abbreviated(text: &str) -> Option<Ipv4Addr> {
    let number = |part: &str| {
        let hexadecimal = part.strip_prefix("0x").or(part.strip_prefix("0X"));
        let (digits, radix) = match hexadecimal {
            Some(digits) => (digits, 16),
            None if part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        // No sign.
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, radix)
            .ok()
            .filter(|_| is_number)
    };
    let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (&last, leading) = numbers.split_last().filter(|(_, it)| it.len() < 4)?;
    let mut address = u64::from(last);
    if address >> (32 - 8 * leading.len()) != 0 {
        return None;
    }
    for (index, &octet) in leading.iter().enumerate() {
        address |= u64::from(u8::try_from(octet).ok()?) << (24 - 8 * index);
    }
    u32::try_from(address).ok().map(Ipv4Addr::from)
}

/// A name as it is compared: a dot at its end says that it is complete, which all are.
fn name(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Whether a host is meant to be an address of IPv4, or some of them.
fn is_of_numbers(host: &str) -> bool {
    host.bytes()
        .all(|octet| matches!(octet, b'0'..=b'9' | b'.' | b'*'))
}

/// Whether such a host names any address.
fn names_an_address(host: &str) -> bool {
    let is_octet = |part| (0..=u8::MAX).any(|octet| wildcard::fits(part, octet.to_string(), ""));
    host == "*" || (host.split('.').count() == 4 && host.split('.').all(is_octet))
}

#[cfg(test)]
mod tests {
    use std::net::ToSocketAddrs as _;

    use super::*;

    /// As the system reads them, which does not ask anybody about these.
    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for (text, octets) in [
            ("127.1", [127, 0, 0, 1]),
            ("127.0.1", [127, 0, 0, 1]),
            ("0177.0.0.1", [127, 0, 0, 1]),
            ("127.000.000.001", [127, 0, 0, 1]),
            ("2130706433", [127, 0, 0, 1]),
            ("0x7f000001", [127, 0, 0, 1]),
            ("0X7F.0x00.1", [127, 0, 0, 1]),
            ("10.256", [10, 0, 1, 0]),
            ("1.2.772", [1, 2, 3, 4]),
            ("4294967295", [255; 4]),
        ] {
            let address = IpAddr::from(octets);
            assert_eq!(super::address(text), Some(address), "{text}");
            assert!(fits(&address.to_string(), text));
            let systems = (text, 1).to_socket_addrs().unwrap().next().unwrap();
            assert_eq!(systems.ip(), address, "{text}");
        }
        for text in [
            "",
            ".",
            "1.",
            "1.2.3.4.5",
            "256.1",
            "1.2.65536",
            "4294967296",
            "08",
            "0x",
            "+1",
            "1.+2",
            "-1",
            "db",
            "0xg",
            "1.2.3.4.",
            "0x+1",
        ] {
            assert_eq!(abbreviated(text), None, "{text}");
        }
        // Names, which somebody else may give an address.
        for name in [
            "10.0.0.1%.evil.example",
            "10.0.0.1%lo",
            "0x+a000001",
            "10.0.0.0x+1",
            "10.1%x",
        ] {
            assert_eq!(address(name), None, "{name}");
            assert!(!fits("10.0.0.*", name) && !fits("10.0.0.1", name), "{name}");
        }
    }

    #[test]
    fn an_address_of_ipv4_by_way_of_ipv6_has_no_link() {
        for text in ["::ffff:127.0.0.1", "::ffff:7f00:1%lo", "::ffff:127.0.0.1%1"] {
            assert!(fits("127.0.0.1", text) && fits("127.0.0.*", text), "{text}");
        }
    }

    #[test]
    fn all_addresses_are_the_same_however_they_are_written() {
        for pattern in ["*", "0.0.0.0", "::"] {
            for host in ["*", "0.0.0.0", "0", "::", "::ffff:0.0.0.0"] {
                assert!(fits(pattern, host), "{pattern} {host}");
            }
        }
        for host in ["127.0.0.1", "::1", "db", "**"] {
            assert!(!fits("0.0.0.0", host) && !fits("::", host), "{host}");
        }
        assert!(!fits("127.0.0.1", "*") && !fits("10.0.0.*", "*"));
    }
}
