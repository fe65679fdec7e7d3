//! Options of sockets, by number.

mod numbers;

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::time::Duration;

use sealwire::options::{ReconnectStop, SocksProxy, TcpKeepAlive, TlsIdentity, TlsTrust};
use sealwire::{Context, SocketBuilder};

pub use numbers::*;

use crate::context::sealwire_context;
use crate::guest::Admission;
use crate::panics::{free, guard};
use crate::pointers::{bytes, give, optional_text, output, required, text};
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_OPTION, sealwire_status};
use crate::time::duration_ms;

/// Options of sockets, clients and servers: a list that may be used for any number of them and freed
/// once they are made. An option that is not set has the default of libzmq or a safer one.
///
/// Threads: any number may use it at once, as long as none changes it.
#[derive(Default)]
pub struct sealwire_options {
    numbers: BTreeMap<i32, i64>,
    values: BTreeMap<i32, Vec<u8>>,
    metadata: Vec<(String, Vec<u8>)>,
    socks_proxy: Option<SocksProxy>,
    ws_origins: Vec<String>,
    ws_any_origin: bool,
    ws_hosts: Vec<String>,
    tls_identity: Option<TlsIdentity>,
    tls_trust: Option<TlsTrust>,
    connection_rate: Option<(u32, Duration)>,
    context: Option<Context>,
    admission: Option<Admission>,
}

/// No options yet. Free them with `sealwire_options_free`.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_new(out: *mut *mut sealwire_options) -> sealwire_status {
    guard(|| {
        output(out, "out")?.write(give(sealwire_options::default()));
        Ok(())
    })
}

/// Sets an option that is a number, a time in the unit of its name, or a switch (0 or 1): one of
/// `SEALWIRE_OPTION_...` below 100. Whether the type of a socket has it is told when one is made.
///
/// Errors: `SEALWIRE_ERROR_OPTION` for an unknown option or one that has bytes,
/// `SEALWIRE_ERROR_ARGUMENT` for a value out of range, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set(
    options: Option<&mut sealwire_options>,
    option: i32,
    value: i64,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let Some(range) = range(option) else {
            let text = format!("there is no option {option} with a number");
            return Err(Failure::new(SEALWIRE_ERROR_OPTION, text));
        };
        if !range.contains(&value) {
            let (low, high) = (range.start(), range.end());
            let text = format!("option {option} can be {low} to {high}, not {value}");
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        options.numbers.insert(option, value);
        Ok(())
    })
}

/// Sets an option that has bytes, which are copied: one of `SEALWIRE_OPTION_...` from 100 on.
///
/// Errors: `SEALWIRE_ERROR_OPTION` for an unknown option or one that is a number,
/// `SEALWIRE_ERROR_ARGUMENT` where text in UTF-8 is wanted, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_bytes(
    options: Option<&mut sealwire_options>,
    option: i32,
    data: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let data = bytes(data.cast(), size, "data")?;
        if !(SEALWIRE_OPTION_ROUTING_ID..=SEALWIRE_OPTION_XPUB_WELCOME_MESSAGE).contains(&option) {
            let text = format!("there is no option {option} with bytes");
            return Err(Failure::new(SEALWIRE_ERROR_OPTION, text));
        }
        let is_text = matches!(
            option,
            SEALWIRE_OPTION_ZAP_DOMAIN | SEALWIRE_OPTION_BIND_TO_DEVICE
        );
        if is_text && std::str::from_utf8(data).is_err() {
            let text = format!("option {option} is not text in UTF-8");
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        options.values.insert(option, data.to_vec());
        Ok(())
    })
}

/// Adds a property that peers are told in the handshake. libzmq's `ZMQ_METADATA`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_add_metadata(
    options: Option<&mut sealwire_options>,
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let name = text(name, "name")?.to_owned();
        let value = bytes(data.cast(), size, "data")?.to_vec();
        options.metadata.push((name, value));
        Ok(())
    })
}

/// Connects through a SOCKS5 proxy, with a username and a password where `username` is not NULL.
/// libzmq's `ZMQ_SOCKS_PROXY`, `_USERNAME` and `_PASSWORD`.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what does not fit a proxy is told when a
/// socket is made.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_socks_proxy(
    options: Option<&mut sealwire_options>,
    host: *const c_char,
    port: u16,
    username: *const c_char,
    password: *const c_void,
    password_size: usize,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        let mut proxy = SocksProxy::new(text(host, "host")?, port);
        if let Some(username) = optional_text(username, "username")? {
            proxy = proxy.with_login(username, bytes(password.cast(), password_size, "password")?);
        }
        options.socks_proxy = Some(proxy);
        Ok(())
    })
}

/// Accepts WebSockets of web pages of this origin, `SCHEME://HOST` or `SCHEME://HOST:PORT`, where the
/// socket binds `ws` or `wss`; may be called for several. By default a request with an `Origin` is
/// refused with status 403, since any page that somebody visits could connect.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what is not an origin is told when a
/// socket is made.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_allow_ws_origin(
    options: Option<&mut sealwire_options>,
    origin: *const c_char,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.ws_origins.push(text(origin, "origin")?.to_owned());
        Ok(())
    })
}

/// Accepts web pages of every origin: whatever page somebody visits can then speak to the socket.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_allow_any_ws_origin(
    options: Option<&mut sealwire_options>,
) -> sealwire_status {
    guard(|| {
        required(options, "options")?.ws_any_origin = true;
        Ok(())
    })
}

/// Accepts a name or address, without port, in the field `Host` of WebSocket requests to loopback
/// addresses; may be called for several. By default only `localhost` and loopback addresses are.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`; what is not a name is told when a socket
/// is made.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_allow_ws_host(
    options: Option<&mut sealwire_options>,
    host: *const c_char,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.ws_hosts.push(text(host, "host")?.to_owned());
        Ok(())
    })
}

/// Limits how many connections are taken from one address in each period.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for a period below 0, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_connection_rate(
    options: Option<&mut sealwire_options>,
    connections: u32,
    period_ms: i64,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.connection_rate = Some((connections, duration_ms(period_ms, "period_ms")?));
        Ok(())
    })
}

/// Names the context; the object may be freed after that.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_set_context(
    options: Option<&mut sealwire_options>,
    context: Option<&sealwire_context>,
) -> sealwire_status {
    guard(|| {
        let options = required(options, "options")?;
        options.context = Some(required(context, "context")?.context.clone());
        Ok(())
    })
}

/// Frees options. Sockets that were made with them keep theirs. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_options_free(options: Option<Box<sealwire_options>>) {
    free(options);
}

/// A time that was checked when it was set; -1 stands for no end.
fn time(milliseconds: i64) -> Duration {
    u64::try_from(milliseconds).map_or(Duration::MAX, Duration::from_millis)
}

impl sealwire_options {
    pub(crate) fn set_admission(&mut self, admission: Admission) {
        self.admission = Some(admission);
    }

    pub(crate) fn set_tls_identity(&mut self, identity: TlsIdentity) {
        self.tls_identity = Some(identity);
    }

    pub(crate) fn set_tls_trust(&mut self, trust: TlsTrust) {
        self.tls_trust = Some(trust);
    }

    /// Whether signal handlers end calls.
    pub(crate) fn is_interruptible(&self) -> bool {
        let switch = self.numbers.get(&SEALWIRE_OPTION_INTERRUPTIBLE);
        switch.is_some_and(|&on| on != 0)
    }

    /// Sets these options in a builder.
    pub(crate) fn apply(&self, mut builder: SocketBuilder) -> SocketBuilder {
        for (&option, &value) in &self.numbers {
            builder = set_number(builder, option, value);
        }
        for (&option, value) in &self.values {
            builder = apply_bytes(builder, option, value);
        }
        for (name, value) in &self.metadata {
            builder = builder.metadata(name.clone(), value.clone());
        }
        if let Some(proxy) = &self.socks_proxy {
            builder = builder.socks_proxy(proxy.clone());
        }
        let origins = self.ws_origins.iter();
        builder = origins.fold(builder, SocketBuilder::ws_allow_origin);
        let hosts = self.ws_hosts.iter();
        builder = hosts.fold(builder, SocketBuilder::ws_allow_host);
        if self.ws_any_origin {
            builder = builder.ws_allow_any_origin(true);
        }
        if let Some(identity) = &self.tls_identity {
            builder = builder.tls_identity(identity.clone());
        }
        if let Some(trust) = &self.tls_trust {
            builder = builder.tls_trust(trust.clone());
        }
        if let Some((connections, period)) = self.connection_rate {
            builder = builder.connection_rate_per_address(connections, period);
        }
        if let Some(context) = &self.context {
            builder = builder.context(context);
        }
        if let Some(admission) = &self.admission {
            builder = admission.apply(builder);
        }
        self.apply_groups(builder)
    }

    /// Options that one method of the builder takes together.
    fn apply_groups(&self, mut builder: SocketBuilder) -> SocketBuilder {
        let number = |option| self.numbers.get(&option).copied();
        let interval = number(SEALWIRE_OPTION_RECONNECT_INTERVAL_MS);
        let maximum = number(SEALWIRE_OPTION_RECONNECT_MAXIMUM_MS);
        if interval.is_some() || maximum.is_some() {
            let or = |value: Option<i64>, otherwise| value.map_or(otherwise, time);
            builder = builder.reconnect(
                or(interval, sealwire::options::DEFAULT_RECONNECT_INTERVAL),
                or(maximum, sealwire::options::DEFAULT_RECONNECT_MAXIMUM),
            );
        }
        if let Some(interval) = number(SEALWIRE_OPTION_HEARTBEAT_INTERVAL_MS) {
            builder = builder.heartbeat(time(interval));
            if let Some(timeout) = number(SEALWIRE_OPTION_HEARTBEAT_TIMEOUT_MS) {
                builder = builder.heartbeat_timeout(time(timeout));
            }
            if let Some(ttl) = number(SEALWIRE_OPTION_HEARTBEAT_TTL_MS) {
                builder = builder.heartbeat_ttl(time(ttl));
            }
        }
        let seconds =
            |option| number(option).map(|value| Duration::from_secs(value.unsigned_abs()));
        let details = TcpKeepAlive {
            idle: seconds(SEALWIRE_OPTION_TCP_KEEP_ALIVE_IDLE_S),
            interval: seconds(SEALWIRE_OPTION_TCP_KEEP_ALIVE_INTERVAL_S),
            count: number(SEALWIRE_OPTION_TCP_KEEP_ALIVE_COUNT)
                .and_then(|count| count.try_into().ok()),
        };
        match number(SEALWIRE_OPTION_TCP_KEEP_ALIVE) {
            Some(0) => builder.tcp_keep_alive(None),
            Some(_) => builder.tcp_keep_alive(Some(details)),
            None => builder,
        }
    }
}

fn apply_bytes(builder: SocketBuilder, option: i32, value: &[u8]) -> SocketBuilder {
    let text = || String::from_utf8_lossy(value).into_owned();
    match option {
        SEALWIRE_OPTION_ROUTING_ID => builder.routing_id(value),
        SEALWIRE_OPTION_ZAP_DOMAIN => builder.zap_domain(text()),
        SEALWIRE_OPTION_BIND_TO_DEVICE => builder.bind_to_device(text()),
        SEALWIRE_OPTION_HELLO_MESSAGE => builder.hello_message(value),
        SEALWIRE_OPTION_DISCONNECT_MESSAGE => builder.disconnect_message(value),
        SEALWIRE_OPTION_HICCUP_MESSAGE => builder.hiccup_message(value),
        SEALWIRE_OPTION_XPUB_WELCOME_MESSAGE => builder.xpub_welcome_message(value),
        _ => builder,
    }
}

/// The reasons for which connecting ends, from bits.
fn reconnect_stop(bits: i64) -> ReconnectStop {
    ReconnectStop {
        connection_refused: bits & 1 != 0,
        handshake_failed: bits & 2 != 0,
        after_disconnect: bits & 4 != 0,
        unreachable: bits & 8 != 0,
    }
}
