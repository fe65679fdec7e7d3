//! Options of a socket: kept until it is made, at its first `bind`, `connect` or the like.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{Error, Float, RArray, RHash, RString, Ruby, TryConvert, Value};
use sealwire::auth::Guest;
use sealwire::options::{
    self, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAXIMUM, ReconnectStop, SocksProxy,
    TcpKeepAlive,
};
use sealwire::{Message, SocketBuilder, SocketType};
use zeroize::Zeroizing;

use crate::desk::Callback;
use crate::message::outgoing;
use crate::security::Authenticator;
use crate::tls::{TlsIdentity, TlsTrust};
use crate::{bytes, errors};

/// The value of an option.
#[derive(Clone)]
pub(crate) enum Setting {
    Count(usize),
    Flag(bool),
    Time(Duration),
    Bytes(Vec<u8>),
    Secret(Zeroizing<Vec<u8>>),
    Text(String),
    Message(Message),
    Names(Vec<String>),
    Pairs(Vec<(String, Vec<u8>)>),
    Rate(u32, Duration),
    Admission(Arc<Callback>),
    Identity(options::TlsIdentity),
    Trust(options::TlsTrust),
}

/// How the value of an option is read, and what becomes of it.
#[derive(Clone, Copy)]
enum Kind {
    Count(fn(SocketBuilder, usize) -> SocketBuilder),
    Flag(fn(SocketBuilder, bool) -> SocketBuilder),
    Time(fn(SocketBuilder, Duration) -> SocketBuilder),
    Bytes(fn(SocketBuilder, Vec<u8>) -> SocketBuilder),
    Text(fn(SocketBuilder, String) -> SocketBuilder),
    Message(fn(SocketBuilder, Message) -> SocketBuilder),
    /// Means something together with others: [`combined`].
    Part(fn(&Ruby, &str, Value) -> Result<Setting, Error>),
}

type Builder = SocketBuilder;

/// Every option that is given to the socket when it is made.
const OPTIONS: &[(&str, Kind)] = &[
    ("send_hwm", Kind::Count(Builder::send_high_water_mark)),
    ("recv_hwm", Kind::Count(Builder::receive_high_water_mark)),
    ("send_byte_budget", Kind::Count(Builder::send_byte_budget)),
    (
        "recv_byte_budget",
        Kind::Count(Builder::receive_byte_budget),
    ),
    ("max_message_size", Kind::Count(Builder::max_message_size)),
    ("max_handshakes", Kind::Count(Builder::max_handshakes)),
    ("max_connections", Kind::Count(Builder::max_connections)),
    (
        "max_connections_per_address",
        Kind::Count(Builder::max_connections_per_address),
    ),
    (
        "max_connections_per_key",
        Kind::Count(Builder::max_connections_per_key),
    ),
    (
        "max_handshakes_per_address",
        Kind::Count(Builder::max_handshakes_per_address),
    ),
    ("send_buffer", Kind::Count(Builder::send_buffer)),
    ("recv_buffer", Kind::Count(Builder::receive_buffer)),
    ("immediate", Kind::Flag(Builder::immediate)),
    (
        "queue_per_endpoint",
        Kind::Flag(Builder::queue_per_endpoint),
    ),
    ("io_affinity", Kind::Part(count)),
    ("ipv6", Kind::Flag(Builder::ipv6)),
    ("reuse_port", Kind::Flag(Builder::reuse_port)),
    ("conflate", Kind::Flag(Builder::conflate)),
    ("req_correlate", Kind::Flag(Builder::req_correlate)),
    ("req_relaxed", Kind::Flag(Builder::req_relaxed)),
    ("probe_router", Kind::Flag(Builder::probe_router)),
    ("router_mandatory", Kind::Flag(Builder::router_mandatory)),
    ("router_handover", Kind::Flag(Builder::router_handover)),
    (
        "routing_id_is_user_id",
        Kind::Flag(Builder::routing_id_is_user_id),
    ),
    ("omit_routing_id", Kind::Flag(Builder::omit_routing_id)),
    ("connection_events", Kind::Flag(Builder::connection_events)),
    ("stream_notify", Kind::Flag(Builder::stream_notify)),
    ("xpub_verbose", Kind::Flag(Builder::xpub_verbose)),
    ("xpub_verboser", Kind::Flag(Builder::xpub_verboser)),
    ("xpub_manual", Kind::Flag(Builder::xpub_manual)),
    (
        "xpub_manual_last_value",
        Kind::Flag(Builder::xpub_manual_last_value),
    ),
    (
        "xsub_verbose_unsubscribe",
        Kind::Flag(Builder::xsub_verbose_unsubscribe),
    ),
    ("xpub_no_drop", Kind::Flag(Builder::xpub_no_drop)),
    ("invert_matching", Kind::Flag(Builder::invert_matching)),
    ("multicast_loop", Kind::Flag(Builder::multicast_loop)),
    ("linger", Kind::Time(Builder::linger)),
    ("handshake_timeout", Kind::Time(Builder::handshake_timeout)),
    ("connect_timeout", Kind::Time(Builder::connect_timeout)),
    ("zap_timeout", Kind::Time(Builder::zap_timeout)),
    (
        "tcp_max_retransmit",
        Kind::Time(Builder::tcp_max_retransmit),
    ),
    ("spin", Kind::Time(Builder::spin)),
    ("busy_poll", Kind::Time(Builder::busy_poll)),
    ("routing_id", Kind::Bytes(Builder::routing_id)),
    ("zap_domain", Kind::Text(Builder::zap_domain)),
    ("bind_to_device", Kind::Text(Builder::bind_to_device)),
    ("hello_message", Kind::Message(Builder::hello_message)),
    (
        "disconnect_message",
        Kind::Message(Builder::disconnect_message),
    ),
    ("hiccup_message", Kind::Message(Builder::hiccup_message)),
    (
        "xpub_welcome_message",
        Kind::Message(Builder::xpub_welcome_message),
    ),
    ("backlog", Kind::Part(count)),
    ("ipc_mode", Kind::Part(count)),
    ("type_of_service", Kind::Part(count)),
    ("packet_priority", Kind::Part(count)),
    ("multicast_hops", Kind::Part(count)),
    ("reconnect_interval", Kind::Part(time)),
    ("reconnect_interval_max", Kind::Part(time)),
    ("reconnect_stop", Kind::Part(names)),
    ("heartbeat_interval", Kind::Part(time)),
    ("heartbeat_timeout", Kind::Part(time)),
    ("heartbeat_ttl", Kind::Part(time)),
    ("router_notify", Kind::Part(names)),
    ("metadata", Kind::Part(pairs)),
    ("connection_rate_per_address", Kind::Part(rate)),
    ("tcp_keepalive", Kind::Part(flag)),
    ("tcp_keepalive_idle", Kind::Part(time)),
    ("tcp_keepalive_interval", Kind::Part(time)),
    ("tcp_keepalive_count", Kind::Part(count)),
    (
        "ws_allow_any_origin",
        Kind::Flag(Builder::ws_allow_any_origin),
    ),
    ("ws_allow_origins", Kind::Part(names)),
    ("ws_allow_hosts", Kind::Part(names)),
    ("admit", Kind::Part(admission)),
    ("tls_identity", Kind::Part(tls_identity)),
    ("tls_trust", Kind::Part(tls_trust)),
    ("socks_proxy", Kind::Part(text)),
    ("socks_username", Kind::Part(text)),
    ("socks_password", Kind::Part(secret)),
];

/// The names of all options.
pub(crate) fn names_of_options() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|(name, _)| *name)
}

/// Options that were given, by name.
#[derive(Clone, Default)]
pub(crate) struct Options(BTreeMap<&'static str, Setting>);

impl Options {
    /// Takes a value, or with `nil` the default again.
    pub(crate) fn set(&mut self, ruby: &Ruby, name: &str, value: Value) -> Result<(), Error> {
        let (name, kind) = find(ruby, name)?;
        if value.is_nil() {
            self.0.remove(name);
            return Ok(());
        }
        let setting = match kind {
            Kind::Count(_) => count(ruby, name, value)?,
            Kind::Flag(_) => flag(ruby, name, value)?,
            Kind::Time(_) => time(ruby, name, value)?,
            Kind::Bytes(_) => octets(ruby, name, value)?,
            Kind::Text(_) => text(ruby, name, value)?,
            Kind::Message(_) => Setting::Message(outgoing(value)?),
            Kind::Part(read) => read(ruby, name, value)?,
        };
        self.0.insert(name, setting);
        Ok(())
    }

    /// Takes what `other` has for one option: its value, or that it has none.
    pub(crate) fn merge(&mut self, name: &str, mut other: Self) {
        match other.0.remove_entry(name) {
            Some((name, setting)) => drop(self.0.insert(name, setting)),
            None => drop(self.0.remove(name)),
        }
    }

    /// The value that was given for this option.
    pub(crate) fn setting(&self, ruby: &Ruby, name: &str) -> Result<Option<Setting>, Error> {
        let (name, _) = find(ruby, name)?;
        Ok(self.0.get(name).cloned())
    }

    /// A builder with all options that were given.
    pub(crate) fn builder(
        &self,
        ruby: &Ruby,
        socket_type: SocketType,
    ) -> Result<SocketBuilder, Error> {
        let mut builder = sealwire::Socket::builder(socket_type);
        for (name, kind) in OPTIONS {
            let Some(setting) = self.0.get(name) else {
                continue;
            };
            builder = match (kind, setting.clone()) {
                (Kind::Count(apply), Setting::Count(value)) => apply(builder, value),
                (Kind::Flag(apply), Setting::Flag(value)) => apply(builder, value),
                (Kind::Time(apply), Setting::Time(value)) => apply(builder, value),
                (Kind::Bytes(apply), Setting::Bytes(value)) => apply(builder, value),
                (Kind::Text(apply), Setting::Text(value)) => apply(builder, value),
                (Kind::Message(apply), Setting::Message(value)) => apply(builder, value),
                _ => builder,
            };
        }
        self.combined(ruby, builder)
    }

    fn time(&self, name: &str) -> Option<Duration> {
        match self.0.get(name) {
            Some(Setting::Time(time)) => Some(*time),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Setting::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A number within the range of a smaller type.
    fn small<N: TryFrom<usize>>(&self, ruby: &Ruby, name: &str) -> Result<Option<N>, Error> {
        match self.0.get(name) {
            Some(Setting::Count(count)) => N::try_from(*count)
                .map(Some)
                .map_err(|_| errors::option(ruby, format!("{name} is too large: {count}"))),
            _ => Ok(None),
        }
    }

    fn names(&self, name: &str) -> Option<&[String]> {
        match self.0.get(name) {
            Some(Setting::Names(names)) => Some(names),
            _ => None,
        }
    }

    /// Options that the builder takes together, or in types of its own.
    fn combined(&self, ruby: &Ruby, mut builder: SocketBuilder) -> Result<SocketBuilder, Error> {
        if let Some(mode) = self.small(ruby, "ipc_mode")? {
            builder = builder.ipc_mode(mode);
        }
        if let Some(threads) = self.small(ruby, "io_affinity")? {
            builder = builder.io_affinity(threads);
        }
        if let Some(backlog) = self.small(ruby, "backlog")? {
            builder = builder.backlog(backlog);
        }
        if let Some(octet) = self.small(ruby, "type_of_service")? {
            builder = builder.type_of_service(octet);
        }
        if let Some(priority) = self.small(ruby, "packet_priority")? {
            builder = builder.packet_priority(priority);
        }
        if let Some(hops) = self.small(ruby, "multicast_hops")? {
            builder = builder.multicast_hops(hops);
        }
        let first = self.time("reconnect_interval");
        let longest = self.time("reconnect_interval_max");
        if first.is_some() || longest.is_some() {
            builder = builder.reconnect(
                first.unwrap_or(DEFAULT_RECONNECT_INTERVAL),
                longest.unwrap_or(DEFAULT_RECONNECT_MAXIMUM),
            );
        }
        if let Some(interval) = self.time("heartbeat_interval") {
            builder = builder.heartbeat(interval);
            if let Some(timeout) = self.time("heartbeat_timeout") {
                builder = builder.heartbeat_timeout(timeout);
            }
            if let Some(ttl) = self.time("heartbeat_ttl") {
                builder = builder.heartbeat_ttl(ttl);
            }
        }
        if let Some(reasons) = self.names("reconnect_stop") {
            builder = builder.reconnect_stop(reconnect_stop(ruby, reasons)?);
        }
        if let Some(events) = self.names("router_notify") {
            if let Some(other) = events
                .iter()
                .find(|event| !matches!(event.as_str(), "connect" | "disconnect"))
            {
                let problem = format!("router_notify takes :connect and :disconnect, not {other}");
                return Err(errors::option(ruby, problem));
            }
            let wanted = |name| events.iter().any(|event| event == name);
            builder = builder.router_notify(wanted("connect"), wanted("disconnect"));
        }
        if let Some(Setting::Pairs(properties)) = self.0.get("metadata") {
            for (name, value) in properties {
                builder = builder.metadata(name, value.as_slice());
            }
        }
        if let Some(Setting::Rate(connections, period)) = self.0.get("connection_rate_per_address")
        {
            builder = builder.connection_rate_per_address(*connections, *period);
        }
        if let Some(Setting::Flag(on)) = self.0.get("tcp_keepalive") {
            let keep_alive = TcpKeepAlive {
                idle: self.time("tcp_keepalive_idle"),
                interval: self.time("tcp_keepalive_interval"),
                count: self.small(ruby, "tcp_keepalive_count")?,
            };
            builder = builder.tcp_keep_alive(on.then_some(keep_alive));
        }
        for origin in self.names("ws_allow_origins").into_iter().flatten() {
            builder = builder.ws_allow_origin(origin);
        }
        for host in self.names("ws_allow_hosts").into_iter().flatten() {
            builder = builder.ws_allow_host(host);
        }
        if let Some(Setting::Admission(callback)) = self.0.get("admit") {
            let callback = callback.clone();
            builder = builder.admit(move |guest: &Guest<'_>| callback.decide_guest(guest));
        }
        if let Some(Setting::Identity(identity)) = self.0.get("tls_identity") {
            builder = builder.tls_identity(identity.clone());
        }
        if let Some(Setting::Trust(trust)) = self.0.get("tls_trust") {
            builder = builder.tls_trust(trust.clone());
        }
        if let Some(proxy) = self.text("socks_proxy") {
            builder = builder.socks_proxy(self.socks_proxy(ruby, proxy)?);
        }
        Ok(builder)
    }

    fn socks_proxy(&self, ruby: &Ruby, address: &str) -> Result<SocksProxy, Error> {
        let parts = address.rsplit_once(':');
        let parts = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts.ok_or_else(|| {
            let problem = format!("socks_proxy is HOST:PORT, this is {address:?}");
            errors::option(ruby, problem)
        })?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let proxy = SocksProxy::new(host, port);
        Ok(
            match (self.text("socks_username"), self.0.get("socks_password")) {
                (Some(username), Some(Setting::Secret(password))) => {
                    proxy.with_login(username, password.as_slice())
                }
                (Some(username), _) => proxy.with_login(username, ""),
                (None, _) => proxy,
            },
        )
    }
}

fn find(ruby: &Ruby, name: &str) -> Result<(&'static str, Kind), Error> {
    let found = OPTIONS.iter().find(|(option, _)| *option == name);
    found
        .copied()
        .ok_or_else(|| errors::argument(ruby, format!("sockets have no option {name}")))
}

fn reconnect_stop(ruby: &Ruby, reasons: &[String]) -> Result<ReconnectStop, Error> {
    let mut stop = ReconnectStop::default();
    for reason in reasons {
        match reason.as_str() {
            "connection_refused" => stop.connection_refused = true,
            "handshake_failed" => stop.handshake_failed = true,
            "after_disconnect" => stop.after_disconnect = true,
            "unreachable" => stop.unreachable = true,
            _ => {
                let problem = format!(
                    "reconnect_stop takes :connection_refused, :handshake_failed, \
                     :after_disconnect and :unreachable, not {reason}"
                );
                return Err(errors::option(ruby, problem));
            }
        }
    }
    Ok(stop)
}

/// Seconds, as Ruby counts time; `None` for `nil`.
pub(crate) fn seconds(ruby: &Ruby, name: &str, value: Value) -> Result<Option<Duration>, Error> {
    if value.is_nil() {
        return Ok(None);
    }
    let seconds = f64::try_convert(value)?;
    if seconds == f64::INFINITY {
        return Ok(None);
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => Ok(Some(time)),
        Err(_) if seconds > 0.0 => Ok(Some(Duration::MAX)),
        Err(_) => {
            let problem = format!("{name} is in seconds, 0 or more, this is {seconds}");
            Err(errors::argument(ruby, problem))
        }
    }
}

fn count(ruby: &Ruby, name: &str, value: Value) -> Result<Setting, Error> {
    let count = usize::try_convert(value);
    let problem = |_| errors::argument(ruby, format!("{name} is a number, 0 or more"));
    count.map(Setting::Count).map_err(problem)
}

fn flag(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    Ok(Setting::Flag(value.to_bool()))
}

fn time(ruby: &Ruby, name: &str, value: Value) -> Result<Setting, Error> {
    let time = seconds(ruby, name, value)?;
    Ok(Setting::Time(time.unwrap_or(Duration::MAX)))
}

fn octets(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let octets = bytes::with(RString::try_convert(value)?, <[u8]>::to_vec);
    Ok(Setting::Bytes(octets))
}

fn secret(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let secret = bytes::with(RString::try_convert(value)?, <[u8]>::to_vec);
    Ok(Setting::Secret(Zeroizing::new(secret)))
}

fn text(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    Ok(Setting::Text(String::try_convert(value)?))
}

/// One symbol, or an array of them.
fn names(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let name = |value: Value| value.funcall::<_, _, String>("to_s", ());
    // One by one out of the array: the collector may move what lies in a vector.
    let names = match RArray::to_ary(value) {
        Ok(values) => values.into_iter().map(name).collect::<Result<_, Error>>()?,
        Err(_) => vec![name(value)?],
    };
    Ok(Setting::Names(names))
}

fn pairs(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let mut pairs = Vec::new();
    RHash::try_convert(value)?.foreach(|name: String, value: RString| {
        pairs.push((name, bytes::with(value, <[u8]>::to_vec)));
        Ok(ForEach::Continue)
    })?;
    Ok(Setting::Pairs(pairs))
}

fn admission(ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    match &*<Obj<Authenticator>>::try_convert(value)? {
        Authenticator::Callback(callback) => Ok(Setting::Admission(callback.clone())),
        _ => Err(errors::argument(ruby, "admit takes a callable")),
    }
}

fn tls_identity(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let identity = <Obj<TlsIdentity>>::try_convert(value)?;
    Ok(Setting::Identity(identity.0.clone()))
}

fn tls_trust(_ruby: &Ruby, _name: &str, value: Value) -> Result<Setting, Error> {
    let trust = <Obj<TlsTrust>>::try_convert(value)?;
    Ok(Setting::Trust(trust.0.clone()))
}

/// A number of connections and a number of seconds.
fn rate(ruby: &Ruby, name: &str, value: Value) -> Result<Setting, Error> {
    let (connections, period) = <(u32, Value)>::try_convert(value)?;
    let period = seconds(ruby, name, period)?.unwrap_or(Duration::MAX);
    Ok(Setting::Rate(connections, period))
}

fn in_seconds(ruby: &Ruby, time: Duration) -> Float {
    let seconds = if time == Duration::MAX {
        f64::INFINITY
    } else {
        time.as_secs_f64()
    };
    ruby.float_from_f64(seconds)
}

impl Setting {
    /// As Ruby sees it.
    pub(crate) fn shown(&self, ruby: &Ruby) -> Value {
        match self {
            Setting::Count(count) => ruby.integer_from_u64(*count as u64).as_value(),
            Setting::Flag(flag) => ruby.into_value(*flag),
            Setting::Time(time) => in_seconds(ruby, *time).as_value(),
            Setting::Bytes(octets) => ruby.str_from_slice(octets).as_value(),
            // A secret is not shown.
            Setting::Secret(_) => ruby.qtrue().as_value(),
            Setting::Text(text) => ruby.str_new(text).as_value(),
            Setting::Message(message) => {
                let frames = message.frames().iter();
                let frames = frames.map(|frame| ruby.str_from_slice(frame));
                ruby.ary_from_iter(frames).as_value()
            }
            Setting::Names(names) => {
                let names = names.iter().map(|name| ruby.to_symbol(name));
                ruby.ary_from_iter(names).as_value()
            }
            Setting::Pairs(pairs) => {
                let pairs = pairs.iter();
                let pairs = pairs.map(|(name, value)| (name.as_str(), ruby.str_from_slice(value)));
                ruby.hash_from_iter(pairs).as_value()
            }
            Setting::Admission(callback) => {
                Authenticator::of_callback(ruby, callback.clone()).as_value()
            }
            Setting::Identity(identity) => TlsIdentity::wrap(ruby, identity.clone()).as_value(),
            Setting::Trust(trust) => TlsTrust::wrap(ruby, trust.clone()).as_value(),
            Setting::Rate(connections, period) => {
                ruby.into_value((*connections, in_seconds(ruby, *period)))
            }
        }
    }
}
