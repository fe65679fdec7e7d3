//! How many connections and handshakes one address has, and how fast it makes new ones.
//!
//! Before its handshake is done, a peer is known by its address only. So
//! [`Kind::Handshakes`](super::Kind::Handshakes) and
//! [`Kind::Connections`](super::Kind::Connections) are charged here.
//!
//! ```text
//! accepted ──▶ check ──▶ began ──▶ became_ready ──▶ ended
//!                │         └─▶ the handshake that gives way
//!                └─▶ refused
//! ```

use crate::limits::MAX_IDLE_ADDRESSES;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// What connections are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// An IPv4 address, also one that is mapped into IPv6.
    V4(Ipv4Addr),
    /// The first 64 bits of an IPv6 address, which is what one customer usually has.
    V6Network(u64),
    /// A user of this machine, by number (`ipc`).
    User(u32),
    /// Somebody on this machine whom the system does not name.
    Local,
}

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Source::V4(address),
            IpAddr::V6(address) => Source::V6Network((u128::from(address) >> 64) as u64),
        }
    }
}

impl From<SocketAddr> for Source {
    fn from(address: SocketAddr) -> Self {
        address.ip().into()
    }
}

/// What the addresses of one listener may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressLimits {
    /// Connections of one address, established ones included; `None` for no limit.
    pub connections: Option<usize>,
    /// Handshakes of one address. One more ends the oldest of them.
    pub handshakes: usize,
    /// Handshakes of all addresses. One more ends the oldest of the address that has most.
    pub all_handshakes: usize,
    /// How many connections one address may make in each period; `None` for no limit.
    pub rate: Option<(u32, Duration)>,
}

impl AddressLimits {
    /// The limits for `all` handshakes, of which one address holds a quarter, at least one. Neither
    /// connections nor their rate are limited by address.
    pub fn for_handshakes(all: usize) -> Self {
        AddressLimits {
            connections: None,
            handshakes: (all / 4).max(1),
            all_handshakes: all.max(1),
            rate: None,
        }
    }
}

/// What the addresses of peers may have only so much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressLimit {
    /// Connections at the same time.
    Connections,
    /// Handshakes at the same time.
    Handshakes,
    /// Connections in a period.
    Rate,
}

impl fmt::Display for AddressLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressLimit::Connections => "connections (max_connections_per_address)",
            AddressLimit::Handshakes => "handshakes (max_handshakes_per_address)",
            AddressLimit::Rate => "connections in a period (connection_rate_per_address)",
        })
    }
}

/// A handshake that has to give way to a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eviction {
    /// The id of its connection.
    pub connection: u64,
    /// Whether its own address has more than its share; otherwise there are too many in all.
    pub over_share: bool,
}

/// The connections and handshakes of a listener, by the address they come from.
///
/// Times are since any moment that stays the same. Connections have numbers that grow: of two
/// handshakes the one with the smaller number is older.
#[derive(Debug, Default)]
pub struct Addresses {
    accounts: HashMap<Source, AddressAccount>,
    connections: HashMap<u64, Source>,
    /// The addresses with handshakes, by their number and the oldest of them. The last one gives
    /// way first: that with most, among equals that with the oldest.
    by_handshakes: BTreeSet<(usize, Reverse<u64>)>,
    handshakes: usize,
    /// The addresses without a connection, by their last use.
    idle: BTreeMap<u64, Source>,
    uses: u64,
}

#[derive(Debug)]
struct AddressAccount {
    connections: usize,
    handshakes: BTreeSet<u64>,
    /// Of the rate, once there is one.
    allowance: Option<Allowance>,
    /// Its place in `idle`, while it has no connection.
    last_use: u64,
}

#[derive(Debug)]
struct Allowance {
    /// Connections that may be made at once.
    left: f64,
    counted_at: Duration,
}

impl AddressAccount {
    /// How many handshakes there are, and the oldest.
    fn rank(&self) -> (usize, Option<u64>) {
        (self.handshakes.len(), self.handshakes.first().copied())
    }

    /// Takes one connection from what the rate allows by now; `false` when that is used up.
    fn spend(&mut self, (count, period): (u32, Duration), now: Duration) -> bool {
        let most = f64::from(count);
        let allowance = self.allowance.get_or_insert(Allowance {
            left: most,
            counted_at: now,
        });
        let elapsed = now.saturating_sub(allowance.counted_at).as_secs_f64();
        allowance.left = (allowance.left + most * elapsed / period.as_secs_f64()).min(most);
        allowance.counted_at = now;
        let within = allowance.left >= 1.0;
        if within {
            allowance.left -= 1.0;
        }
        within
    }
}

impl Addresses {
    /// Checks whether one more connection may begin, and counts it for the rate.
    ///
    /// # Errors
    ///
    /// The limit that the address has reached. Never that of handshakes: [`began`](Self::began) names one
    /// that gives way.
    pub fn check(
        &mut self,
        source: Source,
        limits: &AddressLimits,
        now: Duration,
    ) -> Result<(), AddressLimit> {
        let connections = self.connections_of(source);
        if limits.connections.is_some_and(|most| connections >= most) {
            return Err(AddressLimit::Connections);
        }
        let Some(rate) = limits.rate else {
            return Ok(());
        };
        let within = self.account(source).spend(rate, now);
        if connections == 0 {
            self.became_idle(source);
        }
        if within {
            Ok(())
        } else {
            Err(AddressLimit::Rate)
        }
    }

    /// Counts a connection that begins its handshake, and names the one that has to end for it. It
    /// is counted until [`ended`](Self::ended) says that it has.
    pub fn began(
        &mut self,
        connection: u64,
        source: Source,
        limits: &AddressLimits,
    ) -> Option<Eviction> {
        self.connections.insert(connection, source);
        let account = self.account(source);
        account.connections += 1;
        let last_use = account.last_use;
        self.idle.remove(&last_use);
        self.change_handshakes(source, |handshakes| handshakes.insert(connection));
        let (own, oldest) = self.accounts[&source].rank();
        if own > limits.handshakes {
            let over_share = true;
            return oldest.map(|connection| Eviction {
                connection,
                over_share,
            });
        }
        if self.handshakes <= limits.all_handshakes {
            return None;
        }
        let over_share = false;
        self.first_to_give_way().map(|(connection, _)| Eviction {
            connection,
            over_share,
        })
    }

    /// Counts the handshake of this connection as done.
    pub fn became_ready(&mut self, connection: u64) {
        if let Some(&source) = self.connections.get(&connection) {
            self.change_handshakes(source, |handshakes| handshakes.remove(&connection));
        }
    }

    /// Forgets this connection, which has ended.
    pub fn ended(&mut self, connection: u64) {
        self.became_ready(connection);
        let Some(source) = self.connections.remove(&connection) else {
            return;
        };
        let account = self.account(source);
        account.connections -= 1;
        if account.connections > 0 {
            return;
        }
        if account.allowance.is_some() {
            self.became_idle(source);
        } else {
            self.accounts.remove(&source);
        }
    }

    /// The oldest handshake of the address that has most, and how many that has. Among addresses
    /// with as many, the oldest of all.
    pub fn first_to_give_way(&self) -> Option<(u64, usize)> {
        let &(handshakes, Reverse(oldest)) = self.by_handshakes.last()?;
        Some((oldest, handshakes))
    }

    /// Returns the number of connections of one address, those in their handshake included.
    pub fn connections_of(&self, source: Source) -> usize {
        self.accounts
            .get(&source)
            .map_or(0, |account| account.connections)
    }

    /// Returns the number of connections of all addresses, those in their handshake included.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Returns the number of handshakes of one address.
    pub fn handshakes_of(&self, source: Source) -> usize {
        self.accounts
            .get(&source)
            .map_or(0, |account| account.handshakes.len())
    }

    /// Returns the number of handshakes of all addresses.
    pub fn handshakes(&self) -> usize {
        self.handshakes
    }

    fn account(&mut self, source: Source) -> &mut AddressAccount {
        self.accounts.entry(source).or_insert(AddressAccount {
            connections: 0,
            handshakes: BTreeSet::new(),
            allowance: None,
            last_use: 0,
        })
    }

    /// Changes the handshakes of an address, and its place among the others.
    fn change_handshakes(
        &mut self,
        source: Source,
        change: impl FnOnce(&mut BTreeSet<u64>) -> bool,
    ) {
        let Some(account) = self.accounts.get_mut(&source) else {
            return;
        };
        if let (before, Some(oldest)) = account.rank() {
            self.by_handshakes.remove(&(before, Reverse(oldest)));
            self.handshakes -= before;
        }
        change(&mut account.handshakes);
        if let (after, Some(oldest)) = account.rank() {
            self.by_handshakes.insert((after, Reverse(oldest)));
            self.handshakes += after;
        }
    }

    /// Remembers an address that has no connection, as the one used last.
    fn became_idle(&mut self, source: Source) {
        self.uses += 1;
        let uses = self.uses;
        let before = std::mem::replace(&mut self.account(source).last_use, uses);
        self.idle.remove(&before);
        self.idle.insert(uses, source);
        if self.idle.len() > MAX_IDLE_ADDRESSES
            && let Some((_, forgotten)) = self.idle.pop_first()
        {
            self.accounts.remove(&forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        text.parse::<IpAddr>().unwrap().into()
    }

    fn limits(handshakes: usize, all_handshakes: usize) -> AddressLimits {
        AddressLimits {
            connections: None,
            handshakes,
            all_handshakes,
            rate: None,
        }
    }

    #[test]
    fn one_network_of_ipv6_is_one_source_and_mapped_addresses_are_ipv4() {
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:1:2:3"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
        assert_eq!(source("::ffff:10.0.0.1"), source("10.0.0.1"));
        assert_ne!(source("10.0.0.2"), source("10.0.0.1"));
    }

    #[test]
    fn connections_are_limited_by_address() {
        let limits = AddressLimits {
            connections: Some(2),
            ..limits(9, 9)
        };
        let (one, other) = (source("10.0.0.1"), source("10.0.0.2"));
        let (mut book, now) = (Addresses::default(), Duration::ZERO);
        for connection in 1..=2 {
            assert_eq!(book.check(one, &limits, now), Ok(()));
            assert_eq!(book.began(connection, one, &limits), None);
        }
        book.became_ready(1);
        let refused = book.check(one, &limits, now);
        assert_eq!(refused, Err(AddressLimit::Connections));
        assert_eq!(book.check(other, &limits, now), Ok(()));
        assert_eq!((book.connections(), book.handshakes()), (2, 1));
        book.ended(1);
        assert_eq!(book.check(one, &limits, now), Ok(()));
        book.ended(2);
        assert_eq!((book.connections(), book.handshakes()), (0, 0));
        assert!(book.accounts.is_empty());
    }

    #[test]
    fn an_address_over_its_share_loses_its_own_oldest_handshake() {
        let limits = limits(2, 100);
        let mut book = Addresses::default();
        let (one, other) = (source("10.0.0.1"), source("10.0.0.2"));
        assert_eq!(book.began(1, other, &limits), None);
        assert_eq!(book.began(2, one, &limits), None);
        assert_eq!(book.began(3, one, &limits), None);
        let evicted = book.began(4, one, &limits).unwrap();
        assert_eq!((evicted.connection, evicted.over_share), (2, true));
        book.ended(2);
        // A handshake that is done counts no more.
        book.became_ready(3);
        assert_eq!(book.began(5, one, &limits), None);
    }

    #[test]
    fn the_address_with_most_handshakes_gives_way_first() {
        let limits = limits(3, 4);
        let mut book = Addresses::default();
        let (good, bad) = (source("10.0.0.1"), source("2001:db8::1"));
        book.began(1, good, &limits);
        for connection in 2..=4 {
            assert_eq!(book.began(connection, bad, &limits), None);
        }
        let other = source("10.0.0.3");
        let evicted = book.began(5, other, &limits).unwrap();
        assert_eq!((evicted.connection, evicted.over_share), (2, false));
        book.ended(2);
        book.ended(3);
        book.ended(4);
        // Among equals it is the oldest.
        assert_eq!(book.first_to_give_way(), Some((1, 1)));
        book.became_ready(1);
        assert_eq!(book.first_to_give_way(), Some((5, 1)));
        book.ended(5);
        assert_eq!(book.first_to_give_way(), None);
        assert!(book.by_handshakes.is_empty());
    }

    #[test]
    fn an_account_allows_a_burst_and_then_its_rate() {
        let limits = AddressLimits {
            rate: Some((10, Duration::from_secs(1))),
            ..limits(9, 9)
        };
        let (mut book, mut now) = (Addresses::default(), Duration::ZERO);
        // All of one network of IPv6.
        let from = |number: u16| source(&format!("2001:db8::{number:x}"));
        for number in 0..10 {
            assert_eq!(book.check(from(number), &limits, now), Ok(()));
        }
        let refused = Err(AddressLimit::Rate);
        assert_eq!(book.check(from(10), &limits, now), refused);
        for _ in 0..5 {
            now += Duration::from_millis(101);
            assert_eq!(book.check(from(11), &limits, now), Ok(()));
            assert_eq!(book.check(from(12), &limits, now), refused);
        }
    }

    #[test]
    fn addresses_are_forgotten_one_by_one_and_those_in_use_never() {
        let limits = AddressLimits {
            rate: Some((2, Duration::from_secs(3_600))),
            ..limits(9, 9)
        };
        let (mut book, now) = (Addresses::default(), Duration::ZERO);
        let (busy, spent) = (source("192.0.2.1"), source("192.0.2.2"));
        for source in [busy, spent] {
            book.check(source, &limits, now).unwrap();
            book.check(source, &limits, now).unwrap();
        }
        book.began(1, busy, &limits);
        for number in 0..100_000_u32 {
            let source = Source::V4(Ipv4Addr::from(number));
            assert_eq!(book.check(source, &limits, now), Ok(()));
            assert_eq!(book.check(busy, &limits, now), Err(AddressLimit::Rate));
            // An address that keeps trying is not forgotten either.
            assert_eq!(book.check(spent, &limits, now), Err(AddressLimit::Rate));
        }
        assert_eq!(book.idle.len(), MAX_IDLE_ADDRESSES);
        assert_eq!(book.accounts.len(), MAX_IDLE_ADDRESSES + 1);
    }
}
