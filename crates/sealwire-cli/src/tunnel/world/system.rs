//! The operating system.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
#[cfg(unix)]
use sealwire::Listener;
#[cfg(unix)]
use socket2::{Domain, Socket, Type};
use socket2::{SockRef, TcpKeepalive};

use super::{PollEvent, Stream, World};
use crate::service::alive::Answers;
use crate::service::doors::ListeningOptions;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// Events taken from the poll at a time.
const EVENTS: usize = 256;
/// Connections that the system holds before they are accepted, as mio asks for.
#[cfg(unix)]
const BACKLOG: i32 = 1_024;
/// A side that is silent for this long is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Tells a server to stop.
#[derive(Debug, Clone)]
pub(in crate::tunnel) struct Stop {
    waker: Arc<Waker>,
    requested: Arc<AtomicBool>,
}

impl Stop {
    pub(in crate::tunnel) fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // If that fails, so does everything else.
        let _ = self.waker.wake();
    }
}

pub(in crate::tunnel) struct System {
    poll: Poll,
    events: Events,
    stop: Stop,
    /// Told each time it was woken.
    answers: Option<SyncSender<()>>,
    /// There from `listen` on, gone once the server is to stop.
    listener: Option<TcpListener>,
}

impl System {
    pub(in crate::tunnel) fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        Ok(System {
            stop: Stop {
                waker: Arc::new(Waker::new(poll.registry(), WAKER)?),
                requested: Arc::default(),
            },
            poll,
            events: Events::with_capacity(EVENTS),
            answers: None,
            listener: None,
        })
    }

    /// Listens on the first address that can be listened on, and says where that is.
    pub(in crate::tunnel) fn listen(
        &mut self,
        addresses: &[SocketAddr],
        options: ListeningOptions,
    ) -> io::Result<SocketAddr> {
        self.serve(bind(addresses, options)?)
    }

    /// Listens on a TCP socket that a service manager opened.
    #[cfg(unix)]
    pub(in crate::tunnel) fn take_over(&mut self, listener: Listener) -> io::Result<SocketAddr> {
        let socket = Socket::from(std::os::fd::OwnedFd::from(listener));
        socket.set_nonblocking(true)?;
        self.serve(TcpListener::from_std(socket.into()))
    }

    fn serve(&mut self, mut listener: TcpListener) -> io::Result<SocketAddr> {
        let bound = listener.local_addr()?;
        let registry = self.poll.registry();
        registry.register(&mut listener, LISTENER, Interest::READABLE)?;
        self.listener = Some(listener);
        Ok(bound)
    }

    pub(in crate::tunnel) fn stop_handle(&self) -> Stop {
        self.stop.clone()
    }

    /// Asks the thread that polls for an answer.
    pub(in crate::tunnel) fn sign_of_life(&mut self) -> Answers {
        let (tell, told) = mpsc::sync_channel(1);
        self.answers = Some(tell);
        let waker = self.stop.waker.clone();
        Box::new(move || {
            while told.try_recv().is_ok() {}
            waker.wake().is_ok() && told.recv().is_ok()
        })
    }

    /// Ends the poll that waits, or else the next one.
    pub(in crate::tunnel) fn waker(&self) -> &Arc<Waker> {
        &self.stop.waker
    }
}

impl World for System {
    type Stream = TcpStream;

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn poll(&mut self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()> {
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        ready.extend(self.events.iter().filter_map(|event| match event.token() {
            LISTENER => Some(PollEvent::Listener),
            WAKER => {
                // One that waits is enough.
                let _ = self.answers.as_ref().map(|answers| answers.try_send(()));
                None
            }
            Token(token) => Some(PollEvent::Connection((token - WAKER.0) as u64)),
        }));
        Ok(())
    }

    fn accept(&self) -> Option<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.listener.as_ref()?.accept();
        Some(accepted.map(|(socket, address)| (tuned(socket), address)))
    }

    fn stop_listening(&mut self) -> bool {
        self.listener.take().is_some()
    }

    fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(address).map(tuned)
    }

    fn register(&self, stream: &mut TcpStream, connection: u64) -> io::Result<()> {
        let token = Token(connection as usize + WAKER.0);
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(stream, token, interest)
    }

    fn is_to_stop(&self) -> bool {
        self.stop.requested.load(Ordering::Acquire)
    }
}

impl Stream for TcpStream {
    fn connected(&self) -> Option<io::Result<()>> {
        match self.take_error() {
            Ok(None) => match self.peer_addr() {
                Ok(_) => Some(Ok(())),
                Err(error) if error.kind() == ErrorKind::NotConnected => None,
                Err(error) => Some(Err(error)),
            },
            Ok(Some(error)) | Err(error) => Some(Err(error)),
        }
    }

    fn finish(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }

    fn reset(self) {
        let _ = SockRef::from(&self).set_linger(Some(Duration::ZERO));
    }
}

/// Listens on the first address that can be listened on.
fn bind(addresses: &[SocketAddr], options: ListeningOptions) -> io::Result<TcpListener> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        let listener = match options.shares_ports() {
            true => bind_shared(*address),
            false => TcpListener::bind(*address),
        };
        match listener {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Listens on a port that other processes may listen on as well.
#[cfg(unix)]
fn bind_shared(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

#[cfg(not(unix))]
fn bind_shared(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address)
}

/// Small writes go out at once, and a side that vanished is noticed. Both are wishes.
fn tuned(socket: TcpStream) -> TcpStream {
    let _ = socket.set_nodelay(true);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
    let _ = SockRef::from(&socket).set_tcp_keepalive(&keepalive);
    socket
}
