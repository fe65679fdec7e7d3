//! Listening sockets that somebody else opened: a service manager, or the program itself.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;

use socket2::{SockAddr, SockRef, Socket, Type};

use super::listen::BoundListener;
use super::listener_error::ListenerError;
use crate::endpoint::Endpoint;
use crate::options::SocketOptions;
use crate::peer::PeerAddress;

/// A listening socket that somebody else opened, for [`Socket::bind_listener`](crate::Socket::bind_listener): of the
/// standard library, a descriptor, or one that a service manager [passed](Listener::passed) to this process. It is closed
/// when it is dropped, and by the socket that was bound to it.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use std::net::TcpListener;
///
/// use sealwire::{Socket, SocketType};
///
/// let pull = Socket::new(SocketType::Pull)?;
/// let endpoint = pull.bind_listener(TcpListener::bind("127.0.0.1:0")?)?;
/// # let push = Socket::new(SocketType::Push)?;
/// # push.connect(endpoint)?;
/// # push.send("work").await?;
/// # assert_eq!(pull.recv().await?.as_bytes(), b"work");
/// # Ok::<(), sealwire::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
    name: Option<String>,
    #[cfg(feature = "ws")]
    web: Option<(Web, String)>,
}

/// The layer between TCP and ZMTP.
#[cfg(feature = "ws")]
#[derive(Debug, Clone, Copy)]
enum Web {
    Ws,
    #[cfg(feature = "wss")]
    Wss,
}

impl Listener {
    /// Takes the sockets that a service manager opened for this process, in the order in which it names them: `LISTEN_FDS`,
    /// `LISTEN_PID` and `LISTEN_FDNAMES` of systemd. None where it passed none.
    ///
    /// Call it once, before anything closes descriptors that it did not open.
    ///
    /// ```no_run
    /// use sealwire::{Listener, Socket, SocketType};
    ///
    /// let socket = Socket::new(SocketType::Rep)?;
    /// for listener in Listener::passed()? {
    ///     socket.bind_listener(listener)?;
    /// }
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ListenerError::OtherProcess`], [`ListenerError::Variable`], [`ListenerError::NotOpen`], and
    /// [`ListenerError::Taken`] at the second call.
    pub fn passed() -> Result<Vec<Self>, ListenerError> {
        let passed = sealwire_unix::activation::take()?.into_iter();
        Ok(passed
            .map(|one| Listener {
                name: one.name,
                ..Listener::from(one.descriptor)
            })
            .collect())
    }

    /// Returns the name that a service manager gave to a socket that it [passed](Listener::passed):
    /// `FileDescriptorName=` of its unit.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Sets a path, which begins with a slash: the socket speaks WebSocket over this TCP socket, as at an endpoint `ws://`.
    #[cfg(feature = "ws")]
    pub fn over_ws(mut self, path: impl Into<String>) -> Self {
        self.web = Some((Web::Ws, path.into()));
        self
    }

    /// Sets a path, which begins with a slash: the socket speaks WebSocket over TLS over this TCP socket, as at an endpoint
    /// `wss://`.
    #[cfg(feature = "wss")]
    pub fn over_wss(mut self, path: impl Into<String>) -> Self {
        self.web = Some((Web::Wss, path.into()));
        self
    }

    /// Returns where it listens, as the system says it: what [`bind_listener`](crate::Socket::bind_listener) returns.
    ///
    /// # Errors
    ///
    /// [`ListenerError::NotASocket`], [`ListenerError::NotAStream`], [`ListenerError::NotListening`],
    /// [`ListenerError::Family`], [`ListenerError::Name`] for what cannot be listened on.
    pub fn endpoint(&self) -> Result<Endpoint, ListenerError> {
        let (socket, number) = (SockRef::from(&self.descriptor), self.descriptor.as_raw_fd());
        let of_socket = |_| ListenerError::NotASocket(number);
        if socket.r#type().map_err(of_socket)? != Type::STREAM {
            return Err(ListenerError::NotAStream(number));
        }
        if !listens(&socket).map_err(of_socket)? {
            return Err(ListenerError::NotListening(number));
        }
        let address = socket.local_addr().map_err(of_socket)?;
        let endpoint = endpoint_of(&address).ok_or(ListenerError::Family(number))?;
        match endpoint? {
            Endpoint::Tcp { host, port } => Ok(self.over_tcp(host, port)),
            #[cfg(feature = "ws")]
            _ if self.web.is_some() => Err(ListenerError::Family(number)),
            endpoint => Ok(endpoint),
        }
    }

    #[cfg(feature = "ws")]
    fn over_tcp(&self, host: String, port: u16) -> Endpoint {
        match &self.web {
            None => Endpoint::Tcp { host, port },
            Some((Web::Ws, path)) => Endpoint::Ws {
                host,
                port,
                path: path.clone(),
            },
            #[cfg(feature = "wss")]
            Some((Web::Wss, path)) => Endpoint::Wss {
                host,
                port,
                path: path.clone(),
            },
        }
    }

    #[cfg(not(feature = "ws"))]
    fn over_tcp(&self, host: String, port: u16) -> Endpoint {
        Endpoint::Tcp { host, port }
    }

    /// Begins to accept there.
    pub(crate) fn take_over(self, options: &SocketOptions) -> io::Result<BoundListener> {
        let socket = Socket::from(self.descriptor);
        socket.set_cloexec(true)?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        if let Some(address) = address.as_socket() {
            options.tcp.prepare_listener(&socket, address)?;
            return Ok(BoundListener::Tcp {
                listener: mio::net::TcpListener::from_std(socket.into()),
                is_passed: true,
            });
        }
        let address = match endpoint_of(&address) {
            Some(Ok(Endpoint::IpcAbstract(name))) => PeerAddress::Ipc(format!("@{name}").into()),
            Some(Ok(Endpoint::Ipc(path))) => PeerAddress::Ipc(path),
            _ => PeerAddress::Unknown,
        };
        Ok(BoundListener::Unix {
            file: None,
            listener: mio::net::UnixListener::from_std(socket.into()),
            address,
            is_passed: true,
            _directory: None,
        })
    }
}

/// Where the system says that a socket is; `None` for a family that has no transport here.
fn endpoint_of(address: &SockAddr) -> Option<Result<Endpoint, ListenerError>> {
    if let Some(address) = address.as_socket() {
        let (host, port) = (address.ip().to_string(), address.port());
        return Some(Ok(Endpoint::Tcp { host, port }));
    }
    if let Some(path) = address.as_pathname() {
        return Some(Ok(Endpoint::Ipc(path.into())));
    }
    let name = abstract_name(address)?.to_vec();
    let name = String::from_utf8(name).map_err(|_| ListenerError::Name);
    Some(name.map(Endpoint::IpcAbstract))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn abstract_name(address: &SockAddr) -> Option<&[u8]> {
    address.as_abstract_namespace()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn abstract_name(_address: &SockAddr) -> Option<&[u8]> {
    None
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn listens(socket: &Socket) -> io::Result<bool> {
    socket.is_listener()
}

/// Elsewhere accepting tells.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn listens(_socket: &Socket) -> io::Result<bool> {
    Ok(true)
}

/// Nobody has looked at what it is: [`endpoint`](Listener::endpoint) does, and binding.
impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Self {
        Listener {
            descriptor,
            name: None,
            #[cfg(feature = "ws")]
            web: None,
        }
    }
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        OwnedFd::from(listener).into()
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        OwnedFd::from(listener).into()
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.descriptor
    }
}
