//! What the values mean to a socket of Sealwire.

use std::time::Duration;

use libc::c_int;
use sealwire::auth::{AllowAnyone, Guest};
use sealwire::options::{ReconnectStop, SocksProxy, TcpKeepAlive};
use sealwire::{
    KeyPair, PeerAddress, PublicKey, SecretKey, Security, SocketBuilder, SocketType, embed,
};

use super::{Mechanism, Settings, Value, number};
use crate::errno::Errno;

/// For libzmq's "none": no socket waits as long.
const FOR_EVER: Duration = Duration::MAX;

fn milliseconds(value: c_int) -> Duration {
    Duration::from_millis(u64::try_from(value).unwrap_or(0))
}

fn positive(value: c_int) -> Option<Duration> {
    (value > 0).then(|| milliseconds(value))
}

/// `[SOURCE;]HOST:PORT`, as `ZMQ_SOCKS_PROXY` has it.
pub(crate) struct ProxyAddress<'a> {
    pub(crate) source: Option<&'a str>,
    proxy: SocksProxy,
}

/// The proxy that an option names, if it does.
///
/// # Errors
///
/// `EINVAL` for text that is not an address.
pub(crate) fn socks_proxy(option: &[u8]) -> Result<Option<ProxyAddress<'_>>, Errno> {
    if option.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(option).map_err(|_| Errno::INVAL)?;
    let (source, address) = match text.split_once(';') {
        Some((source, address)) => (Some(source), address),
        None => (None, text),
    };
    let proxy = address.parse().map_err(|_| Errno::INVAL)?;
    Ok(Some(ProxyAddress { source, proxy }))
}

impl Settings {
    /// The linger time.
    pub(crate) fn linger(&self) -> Duration {
        match self.int(number::LINGER) {
            -1 => FOR_EVER,
            limit => milliseconds(limit),
        }
    }

    /// How long a call may take; `None` for any time.
    pub(crate) fn time_limit(&self, option: c_int) -> Option<Duration> {
        match self.int(option) {
            -1 => None,
            limit => Some(milliseconds(limit)),
        }
    }

    /// The mechanism of endpoints, with its keys and names.
    pub(super) fn security(&self) -> Result<Security, Errno> {
        Ok(match (self.mechanism(), self.is_server()) {
            (Mechanism::Null, _) => Security::plain_text(),
            (Mechanism::Plain, true) => Security::plain_server(AllowAnyone),
            (Mechanism::Plain, false) => {
                let name = self.bytes(number::PLAIN_USERNAME).to_vec();
                let name = String::from_utf8(name).map_err(|_| Errno::INVAL)?;
                Security::plain_client(name, self.bytes(number::PLAIN_PASSWORD))
            }
            (Mechanism::Blake3, _) => self.blake3()?,
            (Mechanism::Curve, true) => {
                let secret = self.key(number::CURVE_SECRETKEY);
                let keys = KeyPair::from_secret(SecretKey::from_bytes(*secret));
                Security::curve_server(keys, AllowAnyone)
            }
            (Mechanism::Curve, false) => {
                let server = self.public_key(number::CURVE_SERVERKEY)?;
                // As given: halves that do not fit are refused by the server, as libzmq's clients are.
                let public = self.public_key(number::CURVE_PUBLICKEY)?;
                let secret = SecretKey::from_bytes(*self.key(number::CURVE_SECRETKEY));
                Security::curve_client(server, KeyPair::from_halves(public, secret))
            }
        })
    }

    fn public_key(&self, option: c_int) -> Result<PublicKey, Errno> {
        let mut key = *self.key(option);
        // X25519 does not read the highest bit (RFC 7748, section 5); libzmq takes keys that have it.
        key[31] &= 0x7f;
        PublicKey::from_bytes(key).map_err(|_| Errno::INVAL)
    }

    /// Gives a builder all values, as far as its type has them. `ruled` takes the place of the mechanism among them.
    ///
    /// # Errors
    ///
    /// `EINVAL` for keys that are none.
    pub(crate) fn apply(
        &self,
        socket_type: SocketType,
        builder: SocketBuilder,
        ruled: Option<Security>,
    ) -> Result<SocketBuilder, Errno> {
        // libzmq lets everybody in where there is no handler; what it does not have needs no such habit.
        let zap_enforced = self.flag(number::ZAP_ENFORCE_DOMAIN)
            || (ruled.is_none() && self.leaves_blake3_to_zap());
        let builder = embed::as_libzmq(builder, zap_enforced);
        let builder = self.apply_limits(builder);
        let builder = self.apply_transport(builder)?;
        let builder = self.apply_behaviour(socket_type, builder);
        if socket_type == SocketType::Stream {
            return Ok(builder.security(Security::plain_text()));
        }
        let builder = builder.security(match ruled {
            Some(security) => security,
            None => self.security()?,
        });
        let builder = match positive(self.int(number::HEARTBEAT_IVL)) {
            None => builder,
            Some(interval) => self.apply_heartbeat(builder.heartbeat(interval), interval),
        };
        let builder = builder.routing_id(self.bytes(number::ROUTING_ID));
        let mut builder = builder;
        for (name, value) in self.properties() {
            builder = builder.metadata(name.as_str(), value.as_slice());
        }
        let builder = match self.filter() {
            Some(filter) => builder.admit(filter),
            None => builder,
        };
        Ok(match self.bytes(number::ZAP_DOMAIN) {
            [] => builder,
            domain => builder.zap_domain(String::from_utf8_lossy(domain)),
        })
    }

    /// The peers that are let in by address or process; `None` where that was not said.
    fn filter(&self) -> Option<impl Fn(&Guest<'_>) -> bool + Send + Sync + 'static> {
        let ranges = self.addresses(number::TCP_ACCEPT_FILTER).to_vec();
        let [processes, users, groups] = [
            number::IPC_FILTER_PID,
            number::IPC_FILTER_UID,
            number::IPC_FILTER_GID,
        ]
        .map(|option| self.numbers(option).to_vec());
        let all = [&processes, &users, &groups];
        if ranges.is_empty() && all.iter().all(|numbers| numbers.is_empty()) {
            return None;
        }
        Some(move |guest: &Guest<'_>| match guest.address() {
            PeerAddress::Tcp(address) => {
                ranges.is_empty() || ranges.iter().any(|range| range.contains(address.ip()))
            }
            PeerAddress::Ipc(_) => {
                let any = processes.is_empty() && users.is_empty() && groups.is_empty();
                any || guest.process().is_some_and(|it| {
                    let is = |numbers: &[c_int], number: u32| {
                        numbers.iter().any(|one| u32::try_from(*one) == Ok(number))
                    };
                    let is_in = |group: &u32| is(&groups, *group);
                    processes.contains(&it.process)
                        || is(&users, it.user)
                        || is_in(&it.group)
                        || guest.groups().iter().any(is_in)
                })
            }
            _ => true,
        })
    }

    fn apply_heartbeat(&self, builder: SocketBuilder, interval: Duration) -> SocketBuilder {
        let timeout = match self.int(number::HEARTBEAT_TIMEOUT) {
            -1 => interval,
            timeout => milliseconds(timeout),
        };
        builder
            .heartbeat_timeout(timeout)
            .heartbeat_ttl(milliseconds(self.int(number::HEARTBEAT_TTL)))
    }

    fn apply_limits(&self, builder: SocketBuilder) -> SocketBuilder {
        let messages = |option| usize::try_from(self.int(option)).unwrap_or(0);
        let bytes = |option| usize::try_from(self.bits(option)).unwrap_or(usize::MAX);
        let connections = |option| match messages(option) {
            0 => usize::MAX,
            limit => limit,
        };
        let builder = match messages(number::MAX_HANDSHAKES) {
            0 => builder,
            limit => builder.max_handshakes(limit),
        };
        let largest = usize::try_from(self.long(number::MAXMSGSIZE)).unwrap_or(usize::MAX);
        let handshake = positive(self.int(number::HANDSHAKE_IVL)).unwrap_or(FOR_EVER);
        builder
            .send_high_water_mark(messages(number::SNDHWM))
            .receive_high_water_mark(messages(number::RCVHWM))
            .send_byte_budget(bytes(number::SND_BYTE_BUDGET))
            .receive_byte_budget(bytes(number::RCV_BYTE_BUDGET))
            .max_message_size(largest.max(1))
            .handshake_timeout(handshake)
            .max_connections(connections(number::MAX_CONNECTIONS))
            .max_connections_per_address(connections(number::MAX_CONNECTIONS_PER_ADDRESS))
            .max_connections_per_key(usize::MAX)
            .linger(self.linger())
            .io_affinity(self.bits(number::AFFINITY))
            .immediate(self.flag(number::IMMEDIATE))
    }

    fn apply_transport(&self, builder: SocketBuilder) -> Result<SocketBuilder, Errno> {
        let interval = self.int(number::RECONNECT_IVL);
        let first = positive(interval).unwrap_or(Duration::from_millis(1));
        let most = positive(self.int(number::RECONNECT_IVL_MAX)).unwrap_or(first);
        let builder = builder
            .reconnect(first, most.max(first))
            .ipv6(self.flag(number::IPV6))
            .backlog(u32::try_from(self.int(number::BACKLOG)).unwrap_or(0).max(1))
            .tcp_keep_alive(self.keep_alive());
        let builder = match (interval, self.int(number::RECONNECT_STOP)) {
            // As libzmq, which takes 0 for that too.
            (-1 | 0, _) => builder.reconnect_stop(ReconnectStop::ALWAYS),
            (_, stop) => builder.reconnect_stop(ReconnectStop {
                connection_refused: stop & 1 != 0,
                handshake_failed: stop & 2 != 0,
                after_disconnect: stop & 4 != 0,
                ..ReconnectStop::default()
            }),
        };
        let builder = match positive(self.int(number::CONNECT_TIMEOUT)) {
            Some(limit) => builder.connect_timeout(limit),
            None => builder,
        };
        let builder = match positive(self.int(number::TCP_MAXRT)) {
            Some(limit) => builder.tcp_max_retransmit(limit),
            None => builder,
        };
        // The system has an octet for it, and takes the last one.
        let builder = match self.int(number::TOS) & 0xff {
            0 => builder,
            octet => builder.type_of_service(octet as u8),
        };
        let builder = match usize::try_from(self.int(number::SNDBUF)) {
            Ok(size) if size > 0 => builder.send_buffer(size),
            _ => builder,
        };
        let builder = match usize::try_from(self.int(number::RCVBUF)) {
            Ok(size) if size > 0 => builder.receive_buffer(size),
            _ => builder,
        };
        let builder = match u32::try_from(self.int(number::PRIORITY)) {
            Ok(0) | Err(_) => builder,
            Ok(priority) => builder.packet_priority(priority),
        };
        let builder = match u64::try_from(self.int(number::BUSY_POLL)) {
            Ok(0) | Err(_) => builder,
            Ok(limit) => builder.busy_poll(Duration::from_micros(limit)),
        };
        let builder = match self.bytes(number::BINDTODEVICE) {
            [] => builder,
            device => builder.bind_to_device(String::from_utf8_lossy(device)),
        };
        match socks_proxy(self.bytes(number::SOCKS_PROXY))? {
            None => Ok(builder),
            Some(ProxyAddress { proxy, .. }) => {
                let name = String::from_utf8_lossy(self.bytes(number::SOCKS_USERNAME));
                Ok(builder.socks_proxy(match name.is_empty() {
                    true => proxy,
                    false => proxy.with_login(name, self.bytes(number::SOCKS_PASSWORD)),
                }))
            }
        }
    }

    fn keep_alive(&self) -> Option<TcpKeepAlive> {
        let seconds = |option| {
            u64::try_from(self.int(option))
                .ok()
                .map(Duration::from_secs)
        };
        (self.int(number::TCP_KEEPALIVE) == 1).then(|| TcpKeepAlive {
            idle: seconds(number::TCP_KEEPALIVE_IDLE),
            interval: seconds(number::TCP_KEEPALIVE_INTVL),
            count: u32::try_from(self.int(number::TCP_KEEPALIVE_CNT)).ok(),
        })
    }

    /// Options of single types. libzmq takes those of others and does nothing with them.
    fn apply_behaviour(&self, socket_type: SocketType, builder: SocketBuilder) -> SocketBuilder {
        use SocketType::{
            Dealer, Dgram, Pub, Pull, Push, Radio, Req, Router, Stream, Sub, XPub, XSub,
        };
        let flag = |option, types: &[SocketType]| types.contains(&socket_type) && self.flag(option);
        let builder = builder
            .req_correlate(flag(number::REQ_CORRELATE, &[Req]))
            .req_relaxed(flag(number::REQ_RELAXED, &[Req]))
            .probe_router(flag(number::PROBE_ROUTER, &[Req, Dealer, Router]))
            .router_mandatory(flag(number::ROUTER_MANDATORY, &[Router]))
            .router_handover(flag(number::ROUTER_HANDOVER, &[Router]))
            .xpub_verbose(flag(number::XPUB_VERBOSE, &[XPub]))
            .xpub_verboser(flag(number::XPUB_VERBOSER, &[XPub]))
            .xpub_manual(flag(number::XPUB_MANUAL, &[XPub]))
            .xpub_manual_last_value(flag(number::XPUB_MANUAL_LAST_VALUE, &[XPub]))
            .xsub_verbose_unsubscribe(flag(number::XSUB_VERBOSE_UNSUBSCRIBE, &[XSub]))
            .xpub_no_drop(flag(number::XPUB_NODROP, &[XPub, Pub, Radio]))
            .invert_matching(flag(number::INVERT_MATCHING, &[Pub, XPub, Sub]))
            .conflate(flag(number::CONFLATE, &[Pull, Push, Sub, Pub, Dealer]));
        let builder = self.apply_messages(socket_type, builder);
        match socket_type {
            Router => {
                let notify = self.int(number::ROUTER_NOTIFY);
                builder.router_notify(notify & 1 != 0, notify & 2 != 0)
            }
            Stream => builder.stream_notify(self.flag(number::STREAM_NOTIFY)),
            Radio | Dgram => self.apply_multicast(builder),
            XPub | Pub if !self.bytes(number::XPUB_WELCOME_MSG).is_empty() => {
                builder.xpub_welcome_message(self.bytes(number::XPUB_WELCOME_MSG))
            }
            _ => builder,
        }
    }

    /// Messages for peers that come, and about those that go, in the types that have them in libzmq.
    fn apply_messages(&self, socket_type: SocketType, builder: SocketBuilder) -> SocketBuilder {
        use SocketType::{Client, Dealer, Peer, Router, Server};
        let text = |option, types: &[SocketType]| match self.bytes(option) {
            [] => None,
            text => types.contains(&socket_type).then_some(text),
        };
        let builder = match text(number::HELLO_MSG, &[Dealer, Router, Client, Server, Peer]) {
            Some(text) => builder.hello_message(text),
            None => builder,
        };
        let builder = match text(number::DISCONNECT_MSG, &[Router, Server, Peer]) {
            Some(text) => builder.disconnect_message(text),
            None => builder,
        };
        match text(number::HICCUP_MSG, &[Dealer, Client, Peer]) {
            Some(text) => builder.hiccup_message(text),
            None => builder,
        }
    }

    /// How far datagrams of a RADIO or DGRAM go.
    fn apply_multicast(&self, builder: SocketBuilder) -> SocketBuilder {
        let hops = self.int(number::MULTICAST_HOPS);
        builder
            .multicast_hops(u8::try_from(hops).unwrap_or(u8::MAX))
            .multicast_loop(self.flag(number::MULTICAST_LOOP))
    }

    /// The defaults of a type, where they differ.
    pub(crate) fn of_type(socket_type: SocketType, ipv6: bool, blocky: bool) -> Self {
        let mut settings = Settings::default();
        // Nothing that those send is worth waiting for.
        let silent = matches!(
            socket_type,
            SocketType::Sub | SocketType::XSub | SocketType::Dish
        );
        if silent || !blocky {
            settings.put(number::LINGER, Value::Int(0));
        }
        if ipv6 {
            settings.put(number::IPV6, Value::Int(1));
            settings.put(number::IPV4ONLY, Value::Int(0));
        }
        settings
    }
}

#[cfg(test)]
mod tests;
