//! Sockets bound to what somebody else opened and listens already.
#![cfg(unix)]

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path as FilePath, PathBuf};

use sealwire::blocking::Socket;
use sealwire::{
    Endpoint, Error, Event, Listener, ListenerError, PeerAddress, SocketType, Unusable,
};

use crate::support::{Path, await_event, eventually, has_ipv6, options};

fn exchange(path: &Path, pull: &Socket, endpoint: &Endpoint) {
    let push = path.client(SocketType::Push).build_blocking().unwrap();
    push.connect(endpoint).unwrap();
    push.send("hello").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    push.close().unwrap();
}

fn bound(path: &Path, listener: impl Into<Listener>) -> (Socket, Endpoint, Option<PeerAddress>) {
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind_listener(listener).unwrap();
    assert_eq!(pull.bound_endpoints(), std::slice::from_ref(&endpoint));
    let local = await_event(&monitor, "that it listens", |event| match event {
        Event::Listening {
            endpoint: told,
            given,
            local_address,
            descriptor,
        } => {
            assert_eq!((told, given), (&endpoint, &endpoint));
            assert!(descriptor.is_some());
            Some(local_address.clone())
        }
        _ => None,
    });
    (pull, endpoint, local)
}

fn port_of(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

#[test]
fn messages_come_through_tcp_that_somebody_else_opened() {
    let ipv6 = has_ipv6().then_some("[::1]");
    for host in ["127.0.0.1"].into_iter().chain(ipv6) {
        for path in [Path::encrypted(), plain()] {
            let listener = TcpListener::bind(format!("{host}:0")).unwrap();
            let address = listener.local_addr().unwrap();
            let (pull, endpoint, local) = bound(&path, listener);
            assert_eq!(endpoint.to_string(), format!("tcp://{address}"));
            assert_eq!(local, Some(PeerAddress::Tcp(address)));
            exchange(&path, &pull, &endpoint);
            // It is the socket's own, so nobody listens there any more.
            pull.unbind(&endpoint).unwrap();
            eventually("the listener is closed", || {
                TcpStream::connect(address).is_err()
            });
        }
    }
}

fn plain() -> Path {
    Path {
        transport: "tcp",
        keys: None,
    }
}

#[test]
fn a_file_that_somebody_else_made_stays() {
    let folder = tempfile::tempdir().unwrap();
    for (number, path) in [Path::encrypted(), plain()].into_iter().enumerate() {
        let file = folder.path().join(number.to_string());
        let listener = UnixListener::bind(&file).unwrap();
        let (pull, endpoint, local) = bound(&path, listener);
        assert_eq!(endpoint, Endpoint::Ipc(file.clone()));
        assert_eq!(local, Some(PeerAddress::Ipc(file.clone())));
        exchange(&path, &pull, &endpoint);
        pull.close().unwrap();
        eventually("the listener is closed", || {
            UnixStream::connect(&file).is_err()
        });
        assert!(file.exists(), "{}", file.display());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn abstract_names_are_those_of_the_system() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;

    let name = format!("sealwire-listener-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let (pull, endpoint, local) = bound(&plain(), listener);
    assert_eq!(endpoint, Endpoint::IpcAbstract(name.clone()));
    assert_eq!(
        local,
        Some(PeerAddress::Ipc(PathBuf::from(format!("@{name}"))))
    );
    exchange(&plain(), &pull, &endpoint);

    let no_text = [b"\xff", name.as_bytes()].concat();
    let address = SocketAddr::from_abstract_name(no_text).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    assert_eq!(refused(listener), ListenerError::Name);
}

#[cfg(feature = "ws")]
#[test]
fn websocket_is_spoken_where_it_is_asked_for() {
    for path in [Path::encrypted(), plain()] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = port_of(&listener);
        let listener = Listener::from(listener).over_ws("/chat");
        let (pull, endpoint, _) = bound(&path, listener);
        assert_eq!(endpoint.to_string(), format!("ws://127.0.0.1:{port}/chat"));
        exchange(&path, &pull, &endpoint);
    }
    let listener = Listener::from(TcpListener::bind("127.0.0.1:0").unwrap());
    let error = attempt(listener.over_ws("no slash"));
    assert!(matches!(error, Error::Endpoint(_)), "{error}");
}

/// A certificate is asked for as where the endpoint is text.
#[cfg(feature = "wss")]
#[test]
fn tls_needs_a_certificate() {
    let listener = Listener::from(TcpListener::bind("127.0.0.1:0").unwrap());
    let error = attempt(listener.over_wss("/"));
    let reason = match error {
        Error::UnusableEndpoint { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason, Unusable::NoTlsIdentity);
}

fn attempt(listener: impl Into<Listener>) -> Error {
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    pull.bind_listener(listener).unwrap_err()
}

fn refused(listener: impl Into<Listener>) -> ListenerError {
    match attempt(listener) {
        Error::Listener(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn what_cannot_be_listened_on_is_told_apart() {
    let file = OwnedFd::from(tempfile::tempfile().unwrap());
    assert!(matches!(refused(file), ListenerError::NotASocket(_)));
    let datagrams = OwnedFd::from(UdpSocket::bind("127.0.0.1:0").unwrap());
    assert!(matches!(refused(datagrams), ListenerError::NotAStream(_)));
    let (connected, _other) = UnixStream::pair().unwrap();
    let connected = OwnedFd::from(connected);
    assert!(matches!(refused(connected), ListenerError::NotListening(_)));
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&address.into()).unwrap();
    let error = refused(OwnedFd::from(socket));
    assert!(matches!(error, ListenerError::NotListening(_)));
    #[cfg(feature = "ws")]
    {
        let folder = tempfile::tempdir().unwrap();
        let unix = UnixListener::bind(folder.path().join("socket")).unwrap();
        let error = refused(Listener::from(unix).over_ws("/"));
        assert!(matches!(error, ListenerError::Family(_)));
    }
}

/// Where the system says that it listens, not what anybody wrote.
#[test]
fn plain_text_stays_on_the_machine() {
    let error = attempt(TcpListener::bind("0.0.0.0:0").unwrap());
    assert!(matches!(
        error,
        Error::UnusableEndpoint {
            reason: Unusable::NoSecurity,
            ..
        }
    ));
}

#[test]
fn options_of_connections_count() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let same = listener.try_clone().unwrap();
    assert!(!rustix::net::sockopt::socket_keepalive(&same).unwrap());
    let (_pull, ..) = bound(&plain(), listener);
    assert!(rustix::net::sockopt::socket_keepalive(&same).unwrap());
}

/// The flags of a descriptor, as the system shows them.
#[cfg(target_os = "linux")]
fn flags_of(descriptor: i32) -> u32 {
    let shown = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = shown.lines().find_map(|line| line.strip_prefix("flags:"));
    u32::from_str_radix(flags.unwrap().trim(), 8).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn programs_that_are_started_do_not_get_it() {
    use std::os::fd::AsRawFd as _;

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::io::fcntl_setfd(listener.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    let number = listener.as_raw_fd();
    assert_eq!(flags_of(number) & libc::O_CLOEXEC as u32, 0);
    let (_pull, ..) = bound(&plain(), listener);
    assert_ne!(flags_of(number) & libc::O_CLOEXEC as u32, 0);
}

#[test]
fn a_listener_says_where_it_is_before_it_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file: &FilePath = &folder.path().join("socket");
    let listener = Listener::from(UnixListener::bind(file).unwrap());
    assert_eq!(listener.endpoint(), Ok(Endpoint::Ipc(file.into())));
    assert_eq!(listener.name(), None);
}

/// The poller goes on with a socket as long as anybody has a descriptor of it.
#[test]
fn a_socket_that_somebody_else_has_too_is_bound_again_and_again() {
    let path = Path::encrypted();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for _ in 0..20 {
        let same = OwnedFd::from(listener.try_clone().unwrap());
        let (pull, endpoint, _) = bound(&path, same);
        exchange(&path, &pull, &endpoint);
        pull.close().unwrap();
    }
}
