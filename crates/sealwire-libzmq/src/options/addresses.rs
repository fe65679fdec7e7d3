//! Ranges of addresses, as `ZMQ_TCP_ACCEPT_FILTER` has them.

use std::net::IpAddr;
use std::str::FromStr;

/// All addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressRange {
    address: IpAddr,
    bits: u32,
}

impl AddressRange {
    /// Whether the address is one of them. An IPv4 address in IPv6 counts as what it is.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let all = |bits: u32, width: u32| u128::MAX.checked_shl(width - bits).unwrap_or(0);
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let differing = u128::from(ours.to_bits() ^ theirs.to_bits());
                differing & all(self.bits, 32) == 0
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                (ours.to_bits() ^ theirs.to_bits()) & all(self.bits, 128) == 0
            }
            _ => false,
        }
    }
}

/// The text is not an address, with or without a number of bits.
#[derive(Debug)]
pub(crate) struct NoRange;

impl FromStr for AddressRange {
    type Err = NoRange;

    fn from_str(text: &str) -> Result<Self, NoRange> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().map_err(|_| NoRange)?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NoRange)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        match bits.unwrap_or(width) {
            bits if bits <= width => Ok(AddressRange { address, bits }),
            _ => Err(NoRange),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_begins_alike() {
        for (range, inside, outside) in [
            ("10.1.2.3", "10.1.2.3", "10.1.2.2"),
            ("10.1.2.3/8", "10.255.0.1", "11.1.2.3"),
            ("10.1.2.3/31", "::ffff:10.1.2.2", "10.1.2.4"),
            ("0.0.0.0/0", "192.0.2.1", "::1"),
            ("2001:db8::/32", "2001:db8:1::1", "2001:db9::1"),
            ("::/0", "::1", "192.0.2.1"),
        ] {
            let parsed: AddressRange = range.parse().unwrap();
            assert!(parsed.contains(inside.parse().unwrap()), "{range} {inside}");
            assert!(
                !parsed.contains(outside.parse().unwrap()),
                "{range} {outside}"
            );
        }
    }
}
