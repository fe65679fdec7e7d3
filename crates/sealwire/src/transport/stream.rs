//! A connected (or connecting) byte stream.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
#[cfg(unix)]
use std::sync::Arc;

use mio::event::Source as _;
use mio::net::TcpStream;
#[cfg(unix)]
use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
#[cfg(unix)]
use rustix::buffer::spare_capacity;
#[cfg(unix)]
use socket2::SockRef;

#[cfg(any(test, feature = "simulation"))]
use super::simulated::SimulatedStream;
use super::source;
use super::target::Target;
#[cfg(target_os = "linux")]
use super::target::abstract_address;
#[cfg(feature = "wss")]
use super::tls::Tls;
#[cfg(feature = "ws")]
use super::websocket::{Carrier, WebSocket};
#[cfg(feature = "ws")]
use super::zws::{Address, Role, Terms};
#[cfg(feature = "ws")]
use crate::endpoint::Endpoint;
use crate::endpoint::TcpSource;
#[cfg(feature = "ws")]
use crate::options::SocketOptions;
use crate::options::TcpOptions;
use crate::peer::ProcessCredentials;

/// What to poll for a peer's bytes.
#[cfg(unix)]
pub(crate) type Polled = Arc<std::os::fd::OwnedFd>;
#[cfg(not(unix))]
pub(crate) type Polled = std::convert::Infallible;

/// Whether the peer has ended its side of the stream, before which there may be bytes.
#[cfg(unix)]
pub(crate) fn has_ended(polled: &Polled) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const ENDED: PollFlags = PollFlags::RDHUP;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const ENDED: PollFlags = PollFlags::HUP;
    let mut fds = [PollFd::new(polled, ENDED)];
    let at_once = Timespec::default();
    let ends = ENDED | PollFlags::HUP | PollFlags::ERR;
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().intersects(ends)
}

#[cfg(not(unix))]
pub(crate) fn has_ended(polled: &Polled) -> bool {
    match *polled {}
}

/// Loopback gets two to three times slower from 65,536 on.
const TCP_WRITE_SIZE: usize = 65_472;
/// Of a long payload it does not: 1 MiB with what its frame has beside it.
const TCP_LONG_WRITE_SIZE: usize = 16 * TCP_WRITE_SIZE;
#[cfg(unix)]
const UNIX_WRITE_SIZE: usize = 256 << 10;

/// Bytes that a Unix socket may hold, where nobody says otherwise and the system allows it.
#[cfg(unix)]
const UNIX_SEND_BUFFER: usize = 256 << 10;

/// How many bytes one write should carry at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteSize {
    pub(crate) usual: usize,
    /// Where a payload begins or goes on in it that has at least half as many left.
    pub(crate) of_long: usize,
}

impl WriteSize {
    /// Of whatever is written.
    pub(crate) fn of_all(bytes: usize) -> Self {
        WriteSize {
            usual: bytes,
            of_long: bytes,
        }
    }
}

pub(crate) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    #[cfg(feature = "ws")]
    WebSocket(Box<WebSocket>),
    #[cfg(any(test, feature = "simulation"))]
    Simulated(SimulatedStream),
}

/// Calls the same method on the system's socket, whichever it is.
macro_rules! on_stream {
    ($self:expr, $stream:ident => $call:expr) => {
        match $self {
            Stream::Tcp($stream) => $call,
            #[cfg(unix)]
            Stream::Unix($stream) => $call,
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => {
                let $stream = &layer.tcp;
                $call
            }
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated($stream) => $call,
        }
    };
    ($self:expr, mut $stream:ident => $call:expr) => {
        match $self {
            Stream::Tcp($stream) => $call,
            #[cfg(unix)]
            Stream::Unix($stream) => $call,
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => {
                let $stream = &mut layer.tcp;
                $call
            }
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated($stream) => $call,
        }
    };
}

fn connect_tcp(
    address: SocketAddr,
    source: Option<&TcpSource>,
    options: &TcpOptions,
) -> io::Result<TcpStream> {
    if !options.admits(&address) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "IPv6 is switched off for this socket",
        ));
    }
    let socket = options.socket(address)?;
    if let Some(source) = source {
        source::bind(&socket, source, address)?;
    }
    match socket.connect(&address.into()) {
        Err(error) if !under_way(&error) => Err(error),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

/// Whether connecting goes on in the background.
fn under_way(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}

/// What the endpoint asks for between WebSocket and TCP.
#[cfg(all(feature = "ws", not(feature = "wss")))]
fn carrier(_endpoint: &Endpoint, _role: Role, _options: &SocketOptions) -> Carrier {
    Carrier::Nothing
}

/// What the endpoint asks for between WebSocket and TCP.
#[cfg(feature = "wss")]
fn carrier(endpoint: &Endpoint, role: Role, options: &SocketOptions) -> Carrier {
    let Endpoint::Wss { host, .. } = endpoint else {
        return Carrier::Nothing;
    };
    let missing = "bind and connect ask for it";
    let tls = match role {
        Role::Server => Tls::server(options.tls_identity.as_ref().expect(missing)),
        Role::Client => {
            let trust = options.tls_trust.as_ref().expect(missing);
            Tls::client(trust, trust.server_name(host).expect(missing))
        }
    };
    Carrier::Tls(Box::new(tls))
}

/// A Unix socket's buffer is not adapted by the system, as TCP's are. Linux then wakes the sender only
/// when three quarters are free again, so the receiver soon finds it empty.
#[cfg(unix)]
fn set_unix_send_buffer(stream: &UnixStream, wanted: Option<usize>) -> io::Result<()> {
    let socket = SockRef::from(stream);
    match wanted {
        Some(bytes) => socket.set_send_buffer_size(bytes),
        None if socket.send_buffer_size()? >= UNIX_SEND_BUFFER => Ok(()),
        None => socket.set_send_buffer_size(UNIX_SEND_BUFFER),
    }
}

/// Reads into memory that nobody has written to yet.
#[cfg(unix)]
fn read_unwritten(stream: &impl std::os::fd::AsFd, buffer: &mut Vec<u8>) -> io::Result<usize> {
    uninterrupted(|| Ok(rustix::io::read(stream, spare_capacity(buffer))?))
}

/// Again while signals come between.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

impl Stream {
    /// Begins to connect; [`Stream::connected`] tells the outcome once the stream is writable.
    pub(crate) fn connect(
        target: &Target,
        source: Option<&TcpSource>,
        tcp: &TcpOptions,
    ) -> io::Result<Stream> {
        match target {
            Target::Tcp(address) | Target::Proxied { proxy: address, .. } => {
                connect_tcp(*address, source, tcp).map(Stream::Tcp)
            }
            #[cfg(unix)]
            Target::Ipc(path) => UnixStream::connect(path).map(Stream::Unix),
            #[cfg(target_os = "linux")]
            Target::IpcAbstract(name) => {
                let address = abstract_address(name)?;
                UnixStream::connect_addr(&address).map(Stream::Unix)
            }
            #[allow(unreachable_patterns, reason = "all targets exist on Linux")]
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Whether connecting succeeded; `None` while it is still under way.
    pub(crate) fn connected(&self) -> Option<io::Result<()>> {
        let (error, peer) = match self {
            Stream::Tcp(stream) => (stream.take_error(), stream.peer_addr().map(drop)),
            #[cfg(unix)]
            Stream::Unix(stream) => (stream.take_error(), stream.peer_addr().map(drop)),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => (layer.tcp.take_error(), layer.tcp.peer_addr().map(drop)),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(stream) => return stream.connected(),
        };
        match (error, peer) {
            (Err(error) | Ok(Some(error)), _) => Some(Err(error)),
            (_, Err(error)) if error.kind() == io::ErrorKind::NotConnected => None,
            (_, outcome) => Some(outcome),
        }
    }

    /// A stream that is already broken fails here; reading will tell why.
    pub(crate) fn tune(&self, options: &TcpOptions) {
        match self {
            // Small messages must not wait for the acknowledgement of earlier ones.
            Stream::Tcp(stream) => {
                let _ = stream.set_nodelay(true);
                let _ = options.complete(SockRef::from(stream));
            }
            #[cfg(unix)]
            Stream::Unix(stream) => drop(set_unix_send_buffer(stream, options.send_buffer)),
            #[cfg(feature = "ws")]
            Stream::WebSocket(_) => {}
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => {}
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        on_stream!(self, mut stream => stream.register(registry, token, Interest::READABLE | Interest::WRITABLE))
    }

    pub(crate) fn reregister(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        on_stream!(self, mut stream => stream.reregister(registry, token, Interest::READABLE | Interest::WRITABLE))
    }

    /// Registers for writing only: somebody else polls for reading.
    pub(crate) fn watch_writing(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        on_stream!(self, mut stream => stream.reregister(registry, token, Interest::WRITABLE))
    }

    /// A descriptor to poll for reading.
    #[cfg(unix)]
    pub(crate) fn polled(&self) -> io::Result<Polled> {
        use std::os::fd::AsFd as _;
        match self {
            Stream::Tcp(stream) => stream.as_fd().try_clone_to_owned().map(Arc::new),
            Stream::Unix(stream) => stream.as_fd().try_clone_to_owned().map(Arc::new),
            // Its bytes may be above the descriptor, or there is none.
            #[allow(unreachable_patterns, reason = "there may be no other stream")]
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn polled(&self) -> io::Result<Polled> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn deregister(&mut self, registry: &Registry) {
        // Closing the stream takes it out of the poll anyhow.
        let _ = on_stream!(self, mut stream => stream.deregister(registry));
    }

    /// Reads once. [`Interrupted`](io::ErrorKind::Interrupted) says that something was read, but
    /// nothing for the protocol.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => uninterrupted(|| stream.read(buffer)),
            #[cfg(unix)]
            Stream::Unix(stream) => uninterrupted(|| stream.read(buffer)),
            // Read behind a buffer alone.
            #[cfg(feature = "ws")]
            Stream::WebSocket(_) => Err(io::ErrorKind::Unsupported.into()),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(stream) => stream.read(buffer),
        }
    }

    /// The same into the room that the buffer has left, which must be some; or into another buffer in
    /// its place, where it is empty.
    pub(crate) fn read_behind(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        debug_assert!(buffer.len() < buffer.capacity(), "nothing read is the end");
        match self {
            #[cfg(unix)]
            Stream::Tcp(stream) => read_unwritten(stream, buffer),
            #[cfg(unix)]
            Stream::Unix(stream) => read_unwritten(stream, buffer),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.read_behind(buffer),
            #[allow(unreachable_patterns, reason = "there may be no other stream")]
            stream => {
                let before = buffer.len();
                buffer.resize(buffer.capacity(), 0);
                let outcome = stream.read(&mut buffer[before..]);
                buffer.truncate(before + *outcome.as_ref().unwrap_or(&0));
                outcome
            }
        }
    }

    /// What one write should carry at most, for the fewest calls.
    pub(crate) fn write_size(&self) -> WriteSize {
        match self {
            Stream::Tcp(_) => WriteSize {
                usual: TCP_WRITE_SIZE,
                of_long: TCP_LONG_WRITE_SIZE,
            },
            #[cfg(unix)]
            Stream::Unix(_) => WriteSize::of_all(UNIX_WRITE_SIZE),
            #[allow(unreachable_patterns, reason = "there may be no other stream")]
            _ => WriteSize::of_all(TCP_WRITE_SIZE),
        }
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        uninterrupted(|| match self {
            Stream::Tcp(stream) => stream.write_vectored(slices),
            #[cfg(unix)]
            Stream::Unix(stream) => stream.write_vectored(slices),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.write_vectored(slices),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(stream) => stream.write_vectored(slices),
        })
    }

    /// Puts what the endpoint asks for between the protocol and the transport.
    #[cfg(feature = "ws")]
    pub(crate) fn layered(
        self,
        endpoint: &Endpoint,
        role: Role,
        terms: Terms,
        options: &SocketOptions,
    ) -> Stream {
        match (self, endpoint) {
            (
                Stream::Tcp(tcp),
                Endpoint::Ws { host, port, path } | Endpoint::Wss { host, port, path },
            ) => {
                // Small messages must not wait here either.
                let _ = tcp.set_nodelay(true);
                let address = Address::new(host, *port, path);
                let carrier = carrier(endpoint, role, options);
                Stream::WebSocket(Box::new(WebSocket::new(tcp, carrier, role, terms, address)))
            }
            (stream, _) => stream,
        }
    }

    /// Whether bytes may be held above the system's socket: then it cannot be polled for them,
    /// has not been emptied by a short read, and may be written to after any read.
    pub(crate) fn buffers(&self) -> bool {
        match self {
            Stream::Tcp(_) => false,
            #[cfg(unix)]
            Stream::Unix(_) => false,
            #[cfg(feature = "ws")]
            Stream::WebSocket(_) => true,
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => false,
        }
    }

    /// Whether bytes that were written wait above the system's socket.
    pub(crate) fn holds_output(&self) -> bool {
        match self {
            Stream::Tcp(_) => false,
            #[cfg(unix)]
            Stream::Unix(_) => false,
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.holds_output(),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => false,
        }
    }

    /// Moves them on.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tcp(_) => Ok(()),
            #[cfg(unix)]
            Stream::Unix(_) => Ok(()),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.flush(),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => Ok(()),
        }
    }

    /// Whether it asks the peer for signs of life itself, because ZMTP does not over it.
    pub(crate) fn has_heartbeat(&self) -> bool {
        match self {
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.has_heartbeat(),
            _ => false,
        }
    }

    /// Asks for a sign of life.
    pub(crate) fn ping(&mut self) {
        #[cfg(feature = "ws")]
        if let Stream::WebSocket(layer) = self {
            layer.ping();
        }
    }

    /// Whether anything came since the last call, where it [asks itself](Stream::has_heartbeat).
    pub(crate) fn take_heard(&mut self) -> bool {
        match self {
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.take_heard(),
            _ => false,
        }
    }

    /// The handshake is done: the peer may send as much as the socket allows.
    pub(crate) fn trust(&mut self) {
        match self {
            Stream::Tcp(_) => {}
            #[cfg(unix)]
            Stream::Unix(_) => {}
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.trust(),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(_) => {}
        }
    }

    /// Counts what the protocol holds of an unfinished message as a part of that message, where the
    /// stream puts messages together.
    pub(crate) fn leave_room_for(&mut self, held: usize) {
        #[cfg(feature = "ws")]
        if let Stream::WebSocket(layer) = self {
            layer.leave_room_for(held);
        }
        #[cfg(not(feature = "ws"))]
        let _ = held;
    }

    /// Bytes of memory for what has come and the protocol has not got.
    pub(crate) fn arriving(&self) -> usize {
        match self {
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.arriving(),
            _ => 0,
        }
    }

    /// Ends both directions, even if others hold a descriptor of the stream.
    pub(crate) fn shut_down(&self) {
        let _ = on_stream!(self, stream => stream.shutdown(Shutdown::Both));
    }

    /// The process at the other end of a Unix socket, as the system knows it.
    #[cfg(target_os = "linux")]
    pub(crate) fn process(&self) -> Option<ProcessCredentials> {
        let Stream::Unix(stream) = self else {
            return None;
        };
        let credentials = rustix::net::sockopt::socket_peercred(stream).ok()?;
        Some(ProcessCredentials {
            process: credentials.pid.as_raw_nonzero().get(),
            user: credentials.uid.as_raw(),
            group: credentials.gid.as_raw(),
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn process(&self) -> Option<ProcessCredentials> {
        None
    }

    /// The supplementary groups of that process.
    #[cfg(target_os = "linux")]
    pub(crate) fn groups(&self) -> Vec<u32> {
        match self {
            Stream::Unix(stream) => sealwire_unix::peer_groups(stream).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn groups(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Tells the peer that nothing more will come.
    pub(crate) fn finish_writing(&mut self) {
        match self {
            Stream::Tcp(stream) => drop(stream.shutdown(Shutdown::Write)),
            #[cfg(unix)]
            Stream::Unix(stream) => drop(stream.shutdown(Shutdown::Write)),
            #[cfg(feature = "ws")]
            Stream::WebSocket(layer) => layer.finish_writing(),
            #[cfg(any(test, feature = "simulation"))]
            Stream::Simulated(stream) => drop(stream.shutdown(Shutdown::Write)),
        }
    }
}
