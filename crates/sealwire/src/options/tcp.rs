//! Options of the TCP sockets under a ZeroMQ socket.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

/// Connections that the system may hold for a listener before they are accepted. Systems cap it
/// on their own.
pub const DEFAULT_BACKLOG: u32 = 4_096;

/// Unsent bytes up to which the system takes more from us. What the system keeps beyond a write or
/// two is transmitted when acknowledgements arrive, within one machine at the expense of the
/// receiver's core; and messages that wait there are out of reach of the high-water marks.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 128 << 10;

/// TCP keep-alive: probes that the system sends on an idle connection (libzmq's `TCP_KEEPALIVE`,
/// `TCP_KEEPALIVE_IDLE`, `_INTVL` and `_CNT`). `None` leaves a value to the system.
///
/// [Heartbeats](crate::SocketBuilder::heartbeat) see a dead *process* too, and are what most
/// programs want.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpKeepAlive {
    /// Silence before the first probe, in whole seconds.
    pub idle: Option<Duration>,
    /// Time between probes, in whole seconds.
    pub interval: Option<Duration>,
    /// Unanswered probes after which the connection is given up. Not settable on every system.
    pub count: Option<u32>,
}

/// The default: a peer that vanished is found out within eight minutes,
/// and its connection takes no place for ever.
pub const DEFAULT_KEEP_ALIVE: TcpKeepAlive = TcpKeepAlive {
    idle: Some(Duration::from_secs(300)),
    interval: Some(Duration::from_secs(30)),
    count: Some(6),
};

#[derive(Debug, Clone)]
pub(crate) struct TcpOptions {
    pub(crate) ipv6: bool,
    pub(crate) backlog: u32,
    pub(crate) reuse_port: bool,
    pub(crate) type_of_service: Option<u8>,
    pub(crate) send_buffer: Option<usize>,
    pub(crate) receive_buffer: Option<usize>,
    pub(crate) device: Option<String>,
    pub(crate) keep_alive: Option<TcpKeepAlive>,
    pub(crate) max_retransmit: Option<Duration>,
    pub(crate) priority: Option<u32>,
    pub(crate) busy_poll: Option<Duration>,
}

impl Default for TcpOptions {
    fn default() -> Self {
        TcpOptions {
            ipv6: true,
            backlog: DEFAULT_BACKLOG,
            reuse_port: false,
            type_of_service: None,
            send_buffer: None,
            receive_buffer: None,
            device: None,
            keep_alive: Some(DEFAULT_KEEP_ALIVE),
            max_retransmit: None,
            priority: None,
            busy_poll: None,
        }
    }
}

impl TcpOptions {
    /// Whether an address of this family may be used.
    pub(crate) fn admits(&self, address: &SocketAddr) -> bool {
        self.ipv6 || address.is_ipv4()
    }

    /// A socket that does not block, with everything set that has to be before it connects or
    /// listens. Accepted connections inherit it.
    pub(crate) fn socket(&self, address: SocketAddr) -> io::Result<Socket> {
        let socket = self.ip_socket(address, Type::STREAM, Protocol::TCP)?;
        self.prepare_stream(&socket)?;
        Ok(socket)
    }

    /// Sets in a listening socket that somebody else opened what accepted connections inherit.
    #[cfg(unix)]
    pub(crate) fn prepare_listener(&self, socket: &Socket, address: SocketAddr) -> io::Result<()> {
        self.prepare(socket, address)?;
        self.prepare_stream(socket)
    }

    fn prepare_stream(&self, socket: &Socket) -> io::Result<()> {
        match self.keep_alive {
            None => socket.set_keepalive(false)?,
            Some(keep_alive) => socket.set_tcp_keepalive(&parameters(keep_alive))?,
        }
        // A system without it works as well.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
        if let Some(limit) = self.max_retransmit {
            set_user_timeout(socket, limit)?;
        }
        Ok(())
    }

    /// A UDP socket that does not block, with what is not about TCP alone.
    pub(crate) fn datagram_socket(&self, address: SocketAddr) -> io::Result<Socket> {
        self.ip_socket(address, Type::DGRAM, Protocol::UDP)
    }

    fn ip_socket(&self, address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
        socket.set_nonblocking(true)?;
        self.prepare(&socket, address)?;
        Ok(socket)
    }

    fn prepare(&self, socket: &Socket, address: SocketAddr) -> io::Result<()> {
        // Buffers decide about the window scale that is offered while connecting.
        if let Some(bytes) = self.send_buffer {
            socket.set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(tos) = self.type_of_service {
            if address.is_ipv4() {
                socket.set_tos_v4(tos.into())?;
            } else {
                set_traffic_class(socket, tos)?;
            }
        }
        if let Some(device) = &self.device {
            bind_device(socket, device)?;
        }
        // Behind the type of service, which sets another priority.
        if let Some(priority) = self.priority {
            set_priority(SockRef::from(socket), priority)?;
        }
        if let Some(limit) = self.busy_poll {
            set_busy_poll(socket, limit)?;
        }
        Ok(())
    }

    /// Sets what a connection does not inherit from the listener that accepted it.
    pub(crate) fn complete(&self, stream: SockRef<'_>) -> io::Result<()> {
        match self.priority {
            Some(priority) => set_priority(stream, priority),
            None => Ok(()),
        }
    }
}

fn parameters(keep_alive: TcpKeepAlive) -> TcpKeepalive {
    let mut parameters = TcpKeepalive::new();
    if let Some(idle) = keep_alive.idle {
        parameters = parameters.with_time(idle);
    }
    if let Some(interval) = keep_alive.interval {
        parameters = parameters.with_interval(interval);
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    if let Some(count) = keep_alive.count {
        parameters = parameters.with_retries(count);
    }
    parameters
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn set_traffic_class(socket: &Socket, tos: u8) -> io::Result<()> {
    socket.set_tclass_v6(tos.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn set_traffic_class(_socket: &Socket, _tos: u8) -> io::Result<()> {
    Err(unsupported("a traffic class for IPv6"))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind_device(socket: &Socket, device: &str) -> io::Result<()> {
    socket.bind_device(Some(device.as_bytes()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bind_device(_socket: &Socket, _device: &str) -> io::Result<()> {
    Err(unsupported("binding to a device"))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_user_timeout(socket: &Socket, limit: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(limit))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_user_timeout(_socket: &Socket, _limit: Duration) -> io::Result<()> {
    Err(unsupported("a limit for retransmissions"))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_priority(socket: SockRef<'_>, priority: u32) -> io::Result<()> {
    socket.set_priority(priority)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_priority(_socket: SockRef<'_>, _priority: u32) -> io::Result<()> {
    Err(unsupported("a priority of packets"))
}

#[cfg(target_os = "linux")]
fn set_busy_poll(socket: &Socket, limit: Duration) -> io::Result<()> {
    let limit = u32::try_from(limit.as_micros()).unwrap_or(i32::MAX.cast_unsigned());
    socket.set_busy_poll(limit.min(i32::MAX.cast_unsigned()))
}

#[cfg(not(target_os = "linux"))]
fn set_busy_poll(_socket: &Socket, _limit: Duration) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no option for polling the network",
    ))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unsupported(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this system has no option for {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn both_ends_hold_little_that_is_unsent() {
        let options = TcpOptions::default();
        let listener = options.socket("127.0.0.1:0".parse().unwrap()).unwrap();
        listener
            .bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into())
            .unwrap();
        listener.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        let client = options.socket(address.as_socket().unwrap()).unwrap();
        client.set_nonblocking(false).unwrap();
        client.connect(&address).unwrap();
        listener.set_nonblocking(false).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        for socket in [client, accepted] {
            assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT);
        }
    }

    #[test]
    fn what_is_set_reaches_the_system() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let address: SocketAddr = address.parse().unwrap();
            let options = TcpOptions {
                type_of_service: Some(0x28),
                send_buffer: Some(64 << 10),
                receive_buffer: Some(40_000),
                keep_alive: Some(TcpKeepAlive {
                    idle: Some(Duration::from_secs(77)),
                    interval: Some(Duration::from_secs(11)),
                    count: Some(5),
                }),
                ..TcpOptions::default()
            };
            let plain = TcpOptions::default().socket(address).unwrap();
            let socket = options.socket(address).unwrap();
            let off = TcpOptions {
                keep_alive: None,
                ..TcpOptions::default()
            };
            assert!(plain.keepalive().unwrap() && socket.keepalive().unwrap());
            assert!(!off.socket(address).unwrap().keepalive().unwrap());
            // Linux doubles what is asked for, others may round.
            assert!(socket.recv_buffer_size().unwrap() >= 40_000);
            assert_ne!(
                socket.recv_buffer_size().unwrap(),
                plain.recv_buffer_size().unwrap()
            );
            if address.is_ipv4() {
                assert_eq!(socket.tos_v4().unwrap(), 0x28);
            }
            #[cfg(target_os = "linux")]
            {
                assert_eq!(
                    plain.tcp_keepalive_time().unwrap(),
                    Duration::from_secs(300)
                );
                assert_eq!(
                    socket.tcp_keepalive_time().unwrap(),
                    Duration::from_secs(77)
                );
                assert_eq!(
                    socket.tcp_keepalive_interval().unwrap(),
                    Duration::from_secs(11)
                );
                assert_eq!(socket.tcp_keepalive_retries().unwrap(), 5);
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_priority_is_that_of_accepted_connections_too() {
        let options = TcpOptions {
            // Which the system takes for a priority by itself.
            type_of_service: Some(0x10),
            priority: Some(3),
            ..TcpOptions::default()
        };
        let loopback: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listener = options.socket(loopback).unwrap();
        assert_eq!(listener.priority().unwrap(), 3);
        listener.bind(&loopback.into()).unwrap();
        listener.listen(1).unwrap();
        let client = options.socket(loopback).unwrap();
        client.set_nonblocking(false).unwrap();
        client.connect(&listener.local_addr().unwrap()).unwrap();
        listener.set_nonblocking(false).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        options.complete(SockRef::from(&accepted)).unwrap();
        for socket in [client, accepted] {
            assert_eq!(socket.priority().unwrap(), 3);
        }
        assert_eq!(
            TcpOptions::default()
                .socket(loopback)
                .unwrap()
                .priority()
                .unwrap(),
            0
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn polling_the_network_is_set_or_refused_for_want_of_a_privilege() {
        let options = TcpOptions {
            busy_poll: Some(Duration::from_micros(47)),
            ..TcpOptions::default()
        };
        match options.socket("127.0.0.1:0".parse().unwrap()) {
            Ok(socket) => assert_eq!(socket.busy_poll().unwrap(), 47),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
    }
}
