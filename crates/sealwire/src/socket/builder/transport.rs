//! Options of connecting and of the TCP sockets below.

#[cfg(feature = "ws")]
use std::sync::Arc;
use std::time::Duration;

use super::SocketBuilder;
use crate::options::{ReconnectStop, SocksProxy, TcpKeepAlive, bounded};
#[cfg(feature = "wss")]
use crate::options::{TlsIdentity, TlsTrust};

impl SocketBuilder {
    /// Wait before connecting again; doubles up to `maximum`. Default 100 ms to 10 s.
    pub fn reconnect(mut self, interval: Duration, maximum: Duration) -> Self {
        self.options.reconnect.interval = bounded(interval);
        self.options.reconnect.maximum = bounded(maximum.max(interval));
        self
    }

    /// When an endpoint is given up instead of connected to again. Default: never.
    pub fn reconnect_stop(mut self, stop: ReconnectStop) -> Self {
        self.options.reconnect.stop = stop;
        self
    }

    /// How long one attempt to connect to one address may take. Default: as long as a
    /// [handshake](SocketBuilder::handshake_timeout). Systems give up on their own, often after
    /// two minutes.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.options.reconnect.connect_timeout = Some(bounded(limit));
        self
    }

    /// Makes `tcp`, `ws` and `wss` connections through this proxy, which also resolves their names; the
    /// time it takes counts as [connecting](SocketBuilder::connect_timeout). Default: none.
    pub fn socks_proxy(mut self, proxy: SocksProxy) -> Self {
        self.options.socks_proxy = Some(proxy);
        self
    }

    /// Accepts WebSockets of web pages of this origin at `ws` and `wss` endpoints that this socket
    /// binds. An origin is `SCHEME://HOST` or `SCHEME://HOST:PORT`, as browsers send it; it may be
    /// called for several. Default: none. A request with another `Origin` is answered with status 403,
    /// as any page that somebody visits can connect to any address that their machine reaches.
    /// Programs other than browsers send no `Origin`.
    #[cfg(feature = "ws")]
    pub fn ws_allow_origin(mut self, origin: impl Into<String>) -> Self {
        let access = Arc::make_mut(&mut self.options.web_access);
        access.origins.push(origin.into());
        self
    }

    /// Whether web pages of **every** origin may connect to `ws` and `wss` endpoints that this socket
    /// binds: whatever page somebody visits can then speak to it. Default: off.
    #[cfg(feature = "ws")]
    pub fn ws_allow_any_origin(mut self, allow: bool) -> Self {
        Arc::make_mut(&mut self.options.web_access).any_origin = allow;
        self
    }

    /// Accepts this name or address, without port, in the field `Host` of WebSocket requests to `ws`
    /// and `wss` endpoints bound to a loopback address; it may be called for several. Default: loopback
    /// addresses and `localhost` alone, since a web page can have its own name resolved to a loopback
    /// address. Endpoints bound to other addresses, and to `*`, take every `Host`.
    #[cfg(feature = "ws")]
    pub fn ws_allow_host(mut self, host: impl Into<String>) -> Self {
        let access = Arc::make_mut(&mut self.options.web_access);
        access.hosts.push(host.into());
        self
    }

    /// The certificate that `wss` endpoints show which this socket binds. They need one.
    #[cfg(feature = "wss")]
    pub fn tls_identity(mut self, identity: TlsIdentity) -> Self {
        self.options.tls_identity = Some(identity);
        self
    }

    /// Whom to believe at `wss` endpoints that this socket connects to. They need that.
    #[cfg(feature = "wss")]
    pub fn tls_trust(mut self, trust: TlsTrust) -> Self {
        self.options.tls_trust = Some(trust);
        self
    }

    /// Whether TCP over IPv6 is used, to bind to `*` and to connect to names. Default: on.
    pub fn ipv6(mut self, enabled: bool) -> Self {
        self.options.tcp.ipv6 = enabled;
        self
    }

    /// Sets who may connect to the files of `ipc` endpoints that this socket binds: a mode as of `chmod`,
    /// whatever the umask says. To connect takes the right to write. Default 0o600: this user alone.
    /// 0o660 lets the file's group in as well, 0o666 everybody who may enter the directory.
    pub fn ipc_mode(mut self, mode: u32) -> Self {
        self.options.ipc_mode = mode & 0o777;
        self
    }

    /// Connections the system holds before they are accepted. Default 4,096; systems cap it.
    pub fn backlog(mut self, connections: u32) -> Self {
        self.options.tcp.backlog = connections;
        self
    }

    /// RADIO over `udp`: networks that multicast passes through, from 1, its own, to 255. Default 1.
    pub fn multicast_hops(mut self, hops: u8) -> Self {
        self.options.multicast.hops = Some(hops);
        self
    }

    /// RADIO over `udp`: whether members on this machine get multicast as well. Default: they do.
    pub fn multicast_loop(mut self, looped: bool) -> Self {
        self.options.multicast.looped = Some(looped);
        self
    }

    /// The type-of-service octet of outgoing IP packets (DSCP in its upper six bits). Default:
    /// the system's.
    pub fn type_of_service(mut self, octet: u8) -> Self {
        self.options.tcp.type_of_service = Some(octet);
        self
    }

    /// Size of the system's send buffer of a TCP or Unix connection, in bytes; systems round it.
    /// Default: the system's for TCP, which adapts it; at least 256 KiB for `ipc`, or what the system
    /// allows.
    pub fn send_buffer(mut self, bytes: usize) -> Self {
        self.options.tcp.send_buffer = Some(bytes);
        self
    }

    /// Size of the system's receive buffer of a TCP connection, in bytes; systems round it.
    /// Default: the system's, which adapts it.
    pub fn receive_buffer(mut self, bytes: usize) -> Self {
        self.options.tcp.receive_buffer = Some(bytes);
        self
    }

    /// The network interface or VRF that TCP sockets are bound to, by name. Linux; may need
    /// privileges. Elsewhere binding and connecting fail.
    pub fn bind_to_device(mut self, device: impl Into<String>) -> Self {
        self.options.tcp.device = Some(device.into());
        self
    }

    /// TCP keep-alive: `Some` switches it on, `None` off. Default:
    /// [`DEFAULT_KEEP_ALIVE`](crate::options::DEFAULT_KEEP_ALIVE), which ends a connection whose other
    /// end has vanished within eight minutes. A peer that is there and silent keeps its connection;
    /// only [heartbeats](SocketBuilder::heartbeat) tell a dead process from a quiet one.
    pub fn tcp_keep_alive(mut self, keep_alive: Option<TcpKeepAlive>) -> Self {
        self.options.tcp.keep_alive = keep_alive;
        self
    }

    /// How long sent TCP data may stay unacknowledged before the system gives the connection up.
    /// Linux; elsewhere binding and connecting fail. Default: the system's.
    pub fn tcp_max_retransmit(mut self, limit: Duration) -> Self {
        self.options.tcp.max_retransmit = Some(limit);
        self
    }
}
