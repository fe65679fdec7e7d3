//! Options of a socket under pyzmq's names, collected until it is made.

mod table;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString};
use sealwire::SocketBuilder;
use sealwire::options::{self, ReconnectStop, SocksProxy, TcpKeepAlive};

use crate::tls::{TlsIdentity, TlsTrust};
use table::{Kind, OPTIONS, Spec};

#[derive(Clone)]
pub(crate) enum Value {
    Int(i64),
    Flag(bool),
    Bytes(Vec<u8>),
    Text(String),
    Callable(Arc<Py<PyAny>>),
    Identity(options::TlsIdentity),
    Trust(options::TlsTrust),
    Nothing,
}

fn find(name: &str) -> PyResult<&'static Spec> {
    OPTIONS
        .iter()
        .find(|option| option.name == name)
        .ok_or_else(|| PyAttributeError::new_err(format!("a socket has no option '{name}'")))
}

type Setter<T> = fn(SocketBuilder, T) -> SocketBuilder;

/// Options that were set.
#[derive(Clone, Default)]
pub(crate) struct Options {
    set: BTreeMap<&'static str, Value>,
    metadata: Vec<(String, Vec<u8>)>,
}

impl Options {
    pub(crate) fn set(&mut self, name: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
        let option = find(name)?;
        let wrong = |wanted: &str| PyTypeError::new_err(format!("{name} takes {wanted}"));
        let value = match option.kind {
            Kind::Int(least) => {
                let number: i64 = given
                    .cast::<PyInt>()
                    .map_err(|_| wrong("a whole number"))?
                    .extract()?;
                if number < least {
                    return Err(PyValueError::new_err(format!(
                        "{name} is {least} or more, not {number}"
                    )));
                }
                Value::Int(number)
            }
            Kind::Flag => match given.cast::<PyBool>() {
                Ok(flag) => Value::Flag(flag.is_true()),
                // As pyzmq writes it.
                Err(_) => match given.extract::<i64>() {
                    Ok(number @ (0 | 1)) => Value::Flag(number == 1),
                    _ => return Err(wrong("True or False")),
                },
            },
            Kind::Bytes => Value::Bytes(crate::auth::text_or_bytes(given)?),
            Kind::Text => match given.cast::<PyString>() {
                Ok(text) => Value::Text(text.to_cow()?.into_owned()),
                Err(_) => return Err(wrong("text")),
            },
            Kind::Callable | Kind::Identity | Kind::Trust if given.is_none() => Value::Nothing,
            Kind::Identity => match given.cast::<TlsIdentity>() {
                Ok(identity) => Value::Identity(identity.get().inner.clone()),
                Err(_) => return Err(wrong("a TlsIdentity or None")),
            },
            Kind::Trust => match given.cast::<TlsTrust>() {
                Ok(trust) => Value::Trust(trust.get().inner.clone()),
                Err(_) => return Err(wrong("a TlsTrust or None")),
            },
            Kind::Callable if given.is_callable() => {
                Value::Callable(Arc::new(given.clone().unbind()))
            }
            Kind::Callable => return Err(wrong("a callable or None")),
        };
        self.set.insert(option.name, value.clone());
        Ok(value)
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let option = find(name)?;
        let value = self.set.get(option.name).unwrap_or(&option.default);
        Ok(match value {
            Value::Int(number) => number.into_pyobject(py)?.into_any(),
            Value::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
            Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
            Value::Text(text) => PyString::new(py, text).into_any(),
            Value::Callable(callable) => callable.bind(py).clone(),
            Value::Identity(identity) => {
                let inner = identity.clone();
                Bound::new(py, TlsIdentity { inner })?.into_any()
            }
            Value::Trust(trust) => {
                let inner = trust.clone();
                Bound::new(py, TlsTrust { inner })?.into_any()
            }
            Value::Nothing => py.None().into_bound(py),
        })
    }

    pub(crate) fn add_metadata(&mut self, name: String, value: Vec<u8>) {
        self.metadata.push((name, value));
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.set.get(name) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// Unless it is -1, or not set.
    fn count(&self, name: &str) -> Option<usize> {
        self.number(name)
            .and_then(|number| usize::try_from(number).ok())
    }

    fn time(&self, name: &str) -> Option<Duration> {
        self.number(name).map(milliseconds)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.set.get(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        match self.set.get(name) {
            Some(Value::Bytes(bytes)) => Some(bytes.clone()),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.set.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Gives all of them to a builder.
    pub(crate) fn apply(&self, builder: SocketBuilder) -> PyResult<SocketBuilder> {
        let builder = self.apply_queues(builder);
        let builder = self.apply_behaviour(builder);
        let builder = self.apply_connections(builder)?;
        self.apply_transport(builder)
    }

    fn apply_queues(&self, builder: SocketBuilder) -> SocketBuilder {
        let mut builder = builder;
        let counts: [(_, Setter<usize>); 9] = [
            ("sndhwm", SocketBuilder::send_high_water_mark),
            ("rcvhwm", SocketBuilder::receive_high_water_mark),
            ("snd_byte_budget", SocketBuilder::send_byte_budget),
            ("rcv_byte_budget", SocketBuilder::receive_byte_budget),
            ("max_handshakes", SocketBuilder::max_handshakes),
            ("max_connections", SocketBuilder::max_connections),
            (
                "max_connections_per_address",
                SocketBuilder::max_connections_per_address,
            ),
            (
                "max_connections_per_key",
                SocketBuilder::max_connections_per_key,
            ),
            (
                "max_handshakes_per_address",
                SocketBuilder::max_handshakes_per_address,
            ),
        ];
        for (name, apply) in counts {
            if let Some(count) = self.count(name) {
                builder = apply(builder, count);
            }
        }
        if let Some(size) = self.number("maxmsgsize") {
            // -1 is libzmq's "no limit".
            builder = builder.max_message_size(usize::try_from(size).unwrap_or(usize::MAX));
        }
        if let Some(linger) = self.time("linger") {
            builder = builder.linger(linger);
        }
        for (name, value) in &self.metadata {
            builder = builder.metadata(name, value.clone());
        }
        builder
    }

    fn apply_behaviour(&self, builder: SocketBuilder) -> SocketBuilder {
        let mut builder = builder;
        let flags: [(_, Setter<bool>); 23] = [
            ("immediate", SocketBuilder::immediate),
            ("queue_per_endpoint", SocketBuilder::queue_per_endpoint),
            ("conflate", SocketBuilder::conflate),
            ("ipv6", SocketBuilder::ipv6),
            ("reuse_port", SocketBuilder::reuse_port),
            ("multicast_loop", SocketBuilder::multicast_loop),
            ("probe_router", SocketBuilder::probe_router),
            ("router_mandatory", SocketBuilder::router_mandatory),
            ("router_handover", SocketBuilder::router_handover),
            (
                "routing_id_is_user_id",
                SocketBuilder::routing_id_is_user_id,
            ),
            ("omit_routing_id", SocketBuilder::omit_routing_id),
            ("connection_events", SocketBuilder::connection_events),
            ("req_correlate", SocketBuilder::req_correlate),
            ("req_relaxed", SocketBuilder::req_relaxed),
            ("xpub_verbose", SocketBuilder::xpub_verbose),
            ("xpub_verboser", SocketBuilder::xpub_verboser),
            ("xpub_manual", SocketBuilder::xpub_manual),
            (
                "xpub_manual_last_value",
                SocketBuilder::xpub_manual_last_value,
            ),
            (
                "xsub_verbose_unsubscribe",
                SocketBuilder::xsub_verbose_unsubscribe,
            ),
            ("xpub_nodrop", SocketBuilder::xpub_no_drop),
            ("invert_matching", SocketBuilder::invert_matching),
            ("stream_notify", SocketBuilder::stream_notify),
            ("ws_allow_any_origin", SocketBuilder::ws_allow_any_origin),
        ];
        for (name, apply) in flags {
            if let Some(flag) = self.flag(name) {
                builder = apply(builder, flag);
            }
        }
        let messages: [(_, Setter<Vec<u8>>); 5] = [
            ("routing_id", SocketBuilder::routing_id),
            ("xpub_welcome_msg", SocketBuilder::xpub_welcome_message),
            ("hello_msg", SocketBuilder::hello_message),
            ("disconnect_msg", SocketBuilder::disconnect_message),
            ("hiccup_msg", SocketBuilder::hiccup_message),
        ];
        for (name, apply) in messages {
            if let Some(message) = self.bytes(name) {
                builder = apply(builder, message);
            }
        }
        if let Some(bits) = self.number("router_notify") {
            builder = builder.router_notify(bits & 1 != 0, bits & 2 != 0);
        }
        builder
    }

    fn apply_connections(&self, builder: SocketBuilder) -> PyResult<SocketBuilder> {
        let mut builder = builder;
        if let Some(threads) = self.number("affinity") {
            builder = builder.io_affinity(threads.cast_unsigned());
        }
        if let Some(limit) = self.time("handshake_ivl") {
            builder = builder.handshake_timeout(limit);
        }
        if let Some(limit) = self
            .time("connect_timeout")
            .filter(|limit| !limit.is_zero())
        {
            builder = builder.connect_timeout(limit);
        }
        let first = self.number("reconnect_ivl");
        let longest = self.number("reconnect_ivl_max");
        let never = first == Some(-1);
        if !never && (first.is_some() || longest.is_some()) {
            builder = builder.reconnect(
                milliseconds(first.unwrap_or(100)),
                milliseconds(longest.unwrap_or(10_000)),
            );
        }
        let stop = reconnect_stop(self.number("reconnect_stop").unwrap_or_default())?;
        builder = builder.reconnect_stop(if never { ReconnectStop::ALWAYS } else { stop });
        if let Some(interval) = self
            .time("heartbeat_ivl")
            .filter(|interval| !interval.is_zero())
        {
            builder = builder.heartbeat(interval);
            let said = |name| self.number(name).filter(|&time| time != -1);
            if let Some(timeout) = said("heartbeat_timeout") {
                builder = builder.heartbeat_timeout(milliseconds(timeout));
            }
            if let Some(ttl) = said("heartbeat_ttl") {
                builder = builder.heartbeat_ttl(milliseconds(ttl));
            }
        }
        if let Some(Value::Callable(callable)) = self.set.get("admit") {
            builder = crate::guest::admit(builder, callable);
        }
        if let Some(connections) = self.count("connection_rate_per_address") {
            let connections = u32::try_from(connections).unwrap_or(u32::MAX);
            let period = self.time("connection_rate_period");
            let period = period.unwrap_or(Duration::from_secs(1));
            builder = builder.connection_rate_per_address(connections, period);
        }
        if let Some(domain) = self.text("zap_domain") {
            builder = builder.zap_domain(domain);
        }
        if let Some(limit) = self.time("zap_timeout") {
            builder = builder.zap_timeout(limit);
        }
        if let Some(spin) = self.count("spin_us") {
            builder = builder.spin(Duration::from_micros(spin as u64));
        }
        if let Some(proxy) = self.text("socks_proxy").filter(|proxy| !proxy.is_empty()) {
            builder = builder.socks_proxy(self.socks_proxy(proxy)?);
        }
        let words = |name| self.text(name).unwrap_or_default().split_whitespace();
        builder = words("ws_allow_origins").fold(builder, SocketBuilder::ws_allow_origin);
        builder = words("ws_allow_hosts").fold(builder, SocketBuilder::ws_allow_host);
        Ok(builder)
    }

    fn socks_proxy(&self, address: &str) -> PyResult<SocksProxy> {
        let (host, port) = address
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host, port.parse().ok()?)))
            .ok_or_else(|| {
                PyValueError::new_err(format!("socks_proxy is HOST:PORT, not '{address}'"))
            })?;
        let proxy = SocksProxy::new(host.trim_start_matches('[').trim_end_matches(']'), port);
        Ok(match self.text("socks_username") {
            None | Some("") => proxy,
            Some(username) => {
                proxy.with_login(username, self.text("socks_password").unwrap_or_default())
            }
        })
    }

    fn apply_transport(&self, builder: SocketBuilder) -> PyResult<SocketBuilder> {
        let mut builder = builder;
        if let Some(Value::Identity(identity)) = self.set.get("tls_identity") {
            builder = builder.tls_identity(identity.clone());
        }
        if let Some(Value::Trust(trust)) = self.set.get("tls_trust") {
            builder = builder.tls_trust(trust.clone());
        }
        let octet = |name: &str| {
            self.count(name)
                .map(|number| {
                    u8::try_from(number)
                        .map_err(|_| PyValueError::new_err(format!("{name} is at most 255")))
                })
                .transpose()
        };
        if let Some(octet) = octet("tos")? {
            builder = builder.type_of_service(octet);
        }
        if let Some(priority) = self.count("priority") {
            builder = builder.packet_priority(u32::try_from(priority).unwrap_or(u32::MAX));
        }
        if let Some(limit) = self.count("busy_poll") {
            builder = builder.busy_poll(Duration::from_micros(limit as u64));
        }
        if let Some(hops) = octet("multicast_hops")? {
            builder = builder.multicast_hops(hops);
        }
        if let Some(mode) = self.count("ipc_mode") {
            let mode = u32::try_from(mode).ok().filter(|&mode| mode <= 0o777);
            let wrong = || PyValueError::new_err("ipc_mode is at most 0o777");
            builder = builder.ipc_mode(mode.ok_or_else(wrong)?);
        }
        if let Some(connections) = self.count("backlog") {
            builder = builder.backlog(u32::try_from(connections).unwrap_or(u32::MAX));
        }
        if let Some(size) = self.count("sndbuf") {
            builder = builder.send_buffer(size);
        }
        if let Some(size) = self.count("rcvbuf") {
            builder = builder.receive_buffer(size);
        }
        if let Some(limit) = self.time("tcp_maxrt").filter(|limit| !limit.is_zero()) {
            builder = builder.tcp_max_retransmit(limit);
        }
        if let Some(device) = self
            .text("bindtodevice")
            .filter(|device| !device.is_empty())
        {
            builder = builder.bind_to_device(device);
        }
        Ok(match self.number("tcp_keepalive") {
            Some(0) => builder.tcp_keep_alive(None),
            Some(1) => {
                let whole = |name| {
                    self.count(name)
                        .map(|count| Duration::from_secs(count as u64))
                };
                builder.tcp_keep_alive(Some(TcpKeepAlive {
                    idle: whole("tcp_keepalive_idle"),
                    interval: whole("tcp_keepalive_intvl"),
                    count: self
                        .count("tcp_keepalive_cnt")
                        .and_then(|count| u32::try_from(count).ok()),
                }))
            }
            _ => builder,
        })
    }
}

/// The reasons for which connecting ends, from bits.
fn reconnect_stop(bits: i64) -> PyResult<ReconnectStop> {
    if bits > 15 {
        let problem = "reconnect_stop is a sum of 1, 2, 4 and 8";
        return Err(PyValueError::new_err(problem));
    }
    Ok(ReconnectStop {
        connection_refused: bits & 1 != 0,
        handshake_failed: bits & 2 != 0,
        after_disconnect: bits & 4 != 0,
        unreachable: bits & 8 != 0,
    })
}

/// Negative is "no limit".
fn milliseconds(number: i64) -> Duration {
    u64::try_from(number).map_or(Duration::MAX, Duration::from_millis)
}
