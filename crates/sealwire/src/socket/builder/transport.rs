//! Options of connecting and of the TCP sockets below.

#[cfg(feature = "ws")]
use std::sync::Arc;
use std::time::Duration;

use super::SocketBuilder;
use crate::options::{ReconnectStop, SocksProxy, TcpKeepAlive, bounded};
#[cfg(feature = "wss")]
use crate::options::{TlsIdentity, TlsTrust};

/// # Options of connecting and of the transports
impl SocketBuilder {
    /// Sets the time before connecting again: `interval` first, doubled each time up to `maximum`. Default
    /// 100 ms and 10 s. An `interval` of zero is [`OptionsError::Zero`](crate::options::OptionsError::Zero);
    /// a `maximum` below it counts as `interval`.
    pub fn reconnect(mut self, interval: Duration, maximum: Duration) -> Self {
        self.options.reconnect.interval = bounded(interval);
        self.options.reconnect.maximum = bounded(maximum.max(interval));
        self
    }

    /// Sets after which failures an endpoint is given up instead of connected to again. Default: after none.
    pub fn reconnect_stop(mut self, stop: ReconnectStop) -> Self {
        self.options.reconnect.stop = stop;
        self
    }

    /// Sets how long one attempt to connect to one address may take. Default: as long as a
    /// [handshake](SocketBuilder::handshake_timeout). Systems give up on their own, often after two minutes.
    /// Zero is [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.options.reconnect.connect_timeout = Some(bounded(limit));
        self
    }

    /// Makes `tcp`, `ws` and `wss` connections through this proxy, which also resolves their names; the time
    /// it takes counts as [connecting](SocketBuilder::connect_timeout). Default: none. [`SocksProxy`] says
    /// which hosts, ports and logins are refused.
    pub fn socks_proxy(mut self, proxy: SocksProxy) -> Self {
        self.options.socks_proxy = Some(proxy);
        self
    }

    /// Accepts WebSockets of web pages of this origin at `ws` and `wss` endpoints that this socket binds. An
    /// origin is `SCHEME://HOST` or `SCHEME://HOST:PORT`, as browsers send it; anything else is
    /// [`OptionsError::Origin`](crate::options::OptionsError::Origin). May be called for several. Default:
    /// none. A request with another `Origin` is answered with status 403, as any page that somebody visits
    /// can connect to any address that their machine reaches. Programs other than browsers send no `Origin`.
    #[cfg(feature = "ws")]
    pub fn ws_allow_origin(mut self, origin: impl Into<String>) -> Self {
        let access = Arc::make_mut(&mut self.options.web_access);
        access.origins.push(origin.into());
        self
    }

    /// Accepts web pages of **every** origin at `ws` and `wss` endpoints that this socket binds: any page
    /// that somebody visits can then speak to it. Default: off.
    #[cfg(feature = "ws")]
    pub fn ws_allow_any_origin(mut self, allow: bool) -> Self {
        Arc::make_mut(&mut self.options.web_access).any_origin = allow;
        self
    }

    /// Accepts this name or address in the field `Host` of WebSocket requests to `ws` and `wss` endpoints
    /// bound to a loopback address. With a port or brackets it is
    /// [`OptionsError::HostName`](crate::options::OptionsError::HostName). May be called for several.
    /// Default: loopback addresses and `localhost` alone, since a web page can have its own name resolved to
    /// a loopback address. Endpoints bound to other addresses, and to `*`, take every `Host`.
    #[cfg(feature = "ws")]
    pub fn ws_allow_host(mut self, host: impl Into<String>) -> Self {
        let access = Arc::make_mut(&mut self.options.web_access);
        access.hosts.push(host.into());
        self
    }

    /// Sets the certificate and key of `wss` endpoints that this socket binds, which need one.
    #[cfg(feature = "wss")]
    pub fn tls_identity(mut self, identity: TlsIdentity) -> Self {
        self.options.tls_identity = Some(identity);
        self
    }

    /// Sets the authorities that this socket trusts at `wss` endpoints that it connects to, which need some.
    #[cfg(feature = "wss")]
    pub fn tls_trust(mut self, trust: TlsTrust) -> Self {
        self.options.tls_trust = Some(trust);
        self
    }

    /// Allows TCP over IPv6, to bind to `*` and to connect to names. Default: on.
    pub fn ipv6(mut self, enabled: bool) -> Self {
        self.options.tcp.ipv6 = enabled;
        self
    }

    /// Lets other sockets, also of other processes, listen on the TCP ports of this one, `SO_REUSEPORT`: all of them have to
    /// say so, and on Linux belong to the same user. A new process listens this way beside the one that it replaces.
    /// The system gives each new connection to one of them. [`unbind`](crate::Socket::unbind) accepts those that wait for
    /// this one before it closes the listener. Linux resets one that comes between, unless `net.ipv4.tcp_migrate_req` is
    /// set; peers connect again. For `tcp`, `ws` and `wss` endpoints
    /// that this socket binds; elsewhere than on Unix binding fails. Default: off.
    pub fn reuse_port(mut self, enabled: bool) -> Self {
        self.options.tcp.reuse_port = enabled;
        self
    }

    /// Sets who may connect to the files of `ipc` endpoints that this socket binds: a mode as of `chmod`,
    /// whatever the umask says. To connect takes the right to write. Default 0o600: this user alone.
    /// 0o660 lets the file's group in as well, 0o666 everybody who may enter the directory.
    pub fn ipc_mode(mut self, mode: u32) -> Self {
        self.options.ipc_mode = mode & 0o777;
        self
    }

    /// Sets how many connections the system holds before they are accepted. Default 4,096; systems cap it.
    /// Zero is [`OptionsError::Zero`](crate::options::OptionsError::Zero).
    pub fn backlog(mut self, connections: u32) -> Self {
        self.options.tcp.backlog = connections;
        self
    }

    /// Sets how many networks multicast of a RADIO over `udp` passes through: 1, its own, to 255. Default 1.
    /// Zero is [`OptionsError::Zero`](crate::options::OptionsError::Zero), another socket type
    /// [`OptionsError::NotApplicable`](crate::options::OptionsError::NotApplicable).
    pub fn multicast_hops(mut self, hops: u8) -> Self {
        self.options.multicast.hops = Some(hops);
        self
    }

    /// Sends multicast of a RADIO over `udp` to members on this machine as well. Default: on. Another socket
    /// type is [`OptionsError::NotApplicable`](crate::options::OptionsError::NotApplicable).
    pub fn multicast_loop(mut self, looped: bool) -> Self {
        self.options.multicast.looped = Some(looped);
        self
    }

    /// Sets the type-of-service octet of outgoing IP packets (DSCP in its upper six bits), 0 to 255. Default:
    /// the system's.
    pub fn type_of_service(mut self, octet: u8) -> Self {
        self.options.tcp.type_of_service = Some(octet);
        self
    }

    /// Sets the priority of outgoing packets within this machine, `SO_PRIORITY`: 0 to 6, or more with `CAP_NET_ADMIN`.
    /// [`type_of_service`](SocketBuilder::type_of_service) reaches further. Linux and Android; elsewhere binding and
    /// connecting fail. Default: the one that follows from the type of service, or 0.
    pub fn packet_priority(mut self, priority: u32) -> Self {
        self.options.tcp.priority = Some(priority);
        self
    }

    /// Sets for how long the system polls the network device for packets of a TCP connection before it sleeps,
    /// `SO_BUSY_POLL`, in whole microseconds; older kernels want `CAP_NET_ADMIN` for a longer time than the system's own. It spends a core
    /// to save microseconds. Linux; elsewhere binding and connecting fail. Default: the system's.
    pub fn busy_poll(mut self, limit: Duration) -> Self {
        self.options.tcp.busy_poll = Some(limit);
        self
    }

    /// Sets the size of the system's send buffer of a TCP or Unix connection, in bytes; systems round it.
    /// Default: the system's for TCP, which adapts it; at least 256 KiB for `ipc`, or what the system allows.
    pub fn send_buffer(mut self, bytes: usize) -> Self {
        self.options.tcp.send_buffer = Some(bytes);
        self
    }

    /// Sets the size of the system's receive buffer of a TCP connection, in bytes; systems round it. Default:
    /// the system's, which adapts it.
    pub fn receive_buffer(mut self, bytes: usize) -> Self {
        self.options.tcp.receive_buffer = Some(bytes);
        self
    }

    /// Binds TCP sockets to this network interface or VRF, by name. Linux; may need privileges. Elsewhere
    /// binding and connecting fail.
    pub fn bind_to_device(mut self, device: impl Into<String>) -> Self {
        self.options.tcp.device = Some(device.into());
        self
    }

    /// Switches TCP keep-alive on (`Some`) or off (`None`). Default:
    /// [`DEFAULT_KEEP_ALIVE`](crate::options::DEFAULT_KEEP_ALIVE), which ends a connection whose other end
    /// has vanished within eight minutes. A peer that is there and silent keeps its connection; only
    /// [heartbeats](SocketBuilder::heartbeat) tell a dead process from a quiet one.
    pub fn tcp_keep_alive(mut self, keep_alive: Option<TcpKeepAlive>) -> Self {
        self.options.tcp.keep_alive = keep_alive;
        self
    }

    /// Sets how long sent TCP data may stay unacknowledged before the system ends the connection, in whole
    /// milliseconds. Linux; elsewhere binding and connecting fail. Default: the system's.
    pub fn tcp_max_retransmit(mut self, limit: Duration) -> Self {
        self.options.tcp.max_retransmit = Some(limit);
        self
    }
}
