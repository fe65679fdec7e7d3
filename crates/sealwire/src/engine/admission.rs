//! How many connections one address may have at a listener, and how fast it may make them.
//!
//! IPv6 addresses are counted by their first 64 bits, which is what one customer usually has.
//! Peers without an IP address (`ipc`) count as one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::monitor::AddressLimit;
use crate::options::AddressLimits;
use crate::peer::PeerAddress;

/// Addresses remembered for their rate alone. When there are more, those whose allowance is whole
/// again are forgotten, and if that is not enough all of them.
const MAX_IDLE_ADDRESSES: usize = 16_384;

type Source = Option<IpAddr>;

/// The accounts of the addresses that have connections, or had some lately.
#[derive(Default)]
pub(super) struct Admission {
    accounts: HashMap<Source, Account>,
    /// Connections by their number.
    connections: HashMap<u64, Admitted>,
}

struct Admitted {
    source: Source,
    handshaking: bool,
}

struct Account {
    connections: usize,
    handshakes: usize,
    /// Connections that may still be made at once, in units of the rate's period.
    allowance: f64,
    counted_at: Duration,
}

impl Admission {
    /// Whether one more connection from there may begin now.
    pub(super) fn check(
        &mut self,
        limits: &AddressLimits,
        address: &PeerAddress,
        now: Duration,
    ) -> Result<(), AddressLimit> {
        if !limits.any() {
            return Ok(());
        }
        self.forget_idle(limits, now);
        let account = self
            .accounts
            .entry(source(address))
            .or_insert_with(|| Account {
                connections: 0,
                handshakes: 0,
                allowance: limits.rate.map_or(0.0, |(count, _)| f64::from(count)),
                counted_at: now,
            });
        if limits
            .connections
            .is_some_and(|most| account.connections >= most)
        {
            return Err(AddressLimit::Connections);
        }
        if limits
            .handshakes
            .is_some_and(|most| account.handshakes >= most)
        {
            return Err(AddressLimit::Handshakes);
        }
        if let Some(rate) = limits.rate {
            account.refill(rate, now);
            if account.allowance < 1.0 {
                return Err(AddressLimit::Rate);
            }
            account.allowance -= 1.0;
        }
        Ok(())
    }

    /// A connection that was checked begins its handshake.
    pub(super) fn began(&mut self, limits: &AddressLimits, number: u64, address: &PeerAddress) {
        if !limits.any() {
            return;
        }
        let source = source(address);
        if let Some(account) = self.accounts.get_mut(&source) {
            account.connections += 1;
            account.handshakes += 1;
            let handshaking = true;
            self.connections.insert(
                number,
                Admitted {
                    source,
                    handshaking,
                },
            );
        }
    }

    pub(super) fn became_ready(&mut self, number: u64) {
        let Some(admitted) = self.connections.get_mut(&number) else {
            return;
        };
        if std::mem::take(&mut admitted.handshaking)
            && let Some(account) = self.accounts.get_mut(&admitted.source)
        {
            account.handshakes -= 1;
        }
    }

    pub(super) fn ended(&mut self, limits: &AddressLimits, number: u64) {
        self.became_ready(number);
        let Some(Admitted { source, .. }) = self.connections.remove(&number) else {
            return;
        };
        if let Some(account) = self.accounts.get_mut(&source) {
            account.connections -= 1;
            if account.connections == 0 && limits.rate.is_none() {
                self.accounts.remove(&source);
            }
        }
    }

    fn forget_idle(&mut self, limits: &AddressLimits, now: Duration) {
        if self.accounts.len() < self.connections.len() + MAX_IDLE_ADDRESSES {
            return;
        }
        let Some(rate) = limits.rate else { return };
        self.accounts.retain(|_, account| {
            account.refill(rate, now);
            account.connections > 0 || account.allowance < f64::from(rate.0)
        });
        if self.accounts.len() >= self.connections.len() + MAX_IDLE_ADDRESSES {
            self.accounts.retain(|_, account| account.connections > 0);
        }
    }
}

impl Account {
    fn refill(&mut self, (count, period): (u32, Duration), now: Duration) {
        let elapsed = now.saturating_sub(self.counted_at).as_secs_f64();
        let most = f64::from(count);
        self.allowance = (self.allowance + most * elapsed / period.as_secs_f64()).min(most);
        self.counted_at = now;
    }
}

fn source(address: &PeerAddress) -> Source {
    match address {
        PeerAddress::Tcp(address) => Some(match address.ip() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) & !u128::from(u64::MAX);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            ip => ip,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> PeerAddress {
        PeerAddress::Tcp(text.parse().unwrap())
    }

    #[test]
    fn connections_and_handshakes_are_counted_by_address() {
        let limits = AddressLimits {
            connections: Some(2),
            handshakes: Some(1),
            rate: None,
        };
        let mut admission = Admission::default();
        let (one, other) = (address("10.0.0.1:1"), address("10.0.0.2:1"));
        let now = Duration::ZERO;
        assert_eq!(admission.check(&limits, &one, now), Ok(()));
        admission.began(&limits, 1, &one);
        assert_eq!(
            admission.check(&limits, &one, now),
            Err(AddressLimit::Handshakes)
        );
        assert_eq!(admission.check(&limits, &other, now), Ok(()));
        admission.became_ready(1);
        assert_eq!(admission.check(&limits, &one, now), Ok(()));
        admission.began(&limits, 2, &one);
        admission.became_ready(2);
        assert_eq!(
            admission.check(&limits, &one, now),
            Err(AddressLimit::Connections)
        );
        admission.ended(&limits, 1);
        assert_eq!(admission.check(&limits, &one, now), Ok(()));
        admission.ended(&limits, 2);
        assert!(admission.connections.is_empty());
    }

    #[test]
    fn a_rate_allows_a_burst_and_then_its_pace() {
        let limits = AddressLimits {
            rate: Some((10, Duration::from_secs(1))),
            ..AddressLimits::default()
        };
        let mut admission = Admission::default();
        let mut now = Duration::ZERO;
        // All of one network of IPv6.
        let from = |number: u16| address(&format!("[2001:db8::{number:x}]:1"));
        for number in 0..10 {
            assert_eq!(admission.check(&limits, &from(number), now), Ok(()));
        }
        assert_eq!(
            admission.check(&limits, &from(10), now),
            Err(AddressLimit::Rate)
        );
        for _ in 0..5 {
            now += Duration::from_millis(101);
            assert_eq!(admission.check(&limits, &from(11), now), Ok(()));
            assert_eq!(
                admission.check(&limits, &from(12), now),
                Err(AddressLimit::Rate)
            );
        }
    }

    #[test]
    fn a_flood_of_addresses_does_not_grow_the_accounts_without_bound() {
        let limits = AddressLimits {
            rate: Some((1, Duration::from_secs(3_600))),
            ..AddressLimits::default()
        };
        let mut admission = Admission::default();
        for number in 0..100_000_u32 {
            let ip = std::net::Ipv4Addr::from(number);
            let address = PeerAddress::Tcp((ip, 1).into());
            assert_eq!(admission.check(&limits, &address, Duration::ZERO), Ok(()));
        }
        assert!(admission.accounts.len() <= MAX_IDLE_ADDRESSES);
    }
}
