//! The side that listens.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sealwire::account::{SpareDescriptor, is_exhaustion};
use sealwire_fork::Birth;

use super::gate::{Entry, Gate};
use super::{Event, Hooks, LIMIT, Message, Role, UnauthenticatedConn};
use crate::guard::{LogGate, log};
use crate::hub::lock;

/// How long nothing is accepted after that failed for want of something that does not come back
/// at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers peers that have proved nothing, under nonces that repeat. Closed when it is dropped.
pub struct UnauthenticatedServer {
    birth: Birth,
    address: SocketAddr,
    over: Arc<AtomicBool>,
    conns: Arc<Mutex<Vec<UnauthenticatedConn>>>,
}

impl UnauthenticatedServer {
    /// Listens. `handler` answers, on the thread that reads the connection.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn bind(
        address: impl ToSocketAddrs,
        handler: impl Fn(&Message<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::bind_with_events(address, handler, |_| {})
    }

    /// The same, with a function that hears what happens to connections. Must not block.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn bind_with_events(
        address: impl ToSocketAddrs,
        handler: impl Fn(&Message<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
        on_event: impl Fn(&Event) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let server = UnauthenticatedServer {
            birth: Birth::now(),
            address: listener.local_addr()?,
            over: Arc::default(),
            conns: Arc::default(),
        };
        let (over, conns) = (server.over.clone(), server.conns.clone());
        let hooks = Hooks::new(handler, on_event);
        let gate = Gate::new();
        let mut spare = SpareDescriptor::new();
        let complaints = LogGate::default();
        thread::Builder::new()
            .name("sealwire-monte-accept".into())
            .spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let (stream, address) = match listener.accept() {
                        Ok(accepted) => accepted,
                        // That concerns one connection, and nobody else.
                        Err(error) if is_of_one(&error) => continue,
                        Err(error) => {
                            if let Some(times) = complaints.pass() {
                                log(|| {
                                    tracing::warn!(
                                        target: "sealwire::rpc", %error, times,
                                        "monte: cannot accept"
                                    );
                                });
                            }
                            if is_exhaustion(&error) {
                                gate.make_room();
                                refuse_one(&listener, &mut spare);
                            }
                            thread::sleep(PAUSE);
                            continue;
                        }
                    };
                    let stream = Arc::new(stream);
                    // Those beyond the limits are closed.
                    let Some(entry) = gate.enter(&stream, address) else {
                        continue;
                    };
                    let (hooks, conns, over) = (hooks.clone(), conns.clone(), over.clone());
                    // A key that does not come must not keep others waiting. Without a thread the
                    // connection is closed.
                    let _ = thread::Builder::new()
                        .name("sealwire-monte-key".into())
                        .spawn(move || serve(stream, hooks, &conns, entry, &over));
                }
            })?;
        Ok(server)
    }

    /// Connections that are there.
    pub fn connections(&self) -> Vec<UnauthenticatedConn> {
        if !self.birth.is_here() {
            return Vec::new();
        }
        let mut conns = lock(&self.conns);
        conns.retain(|conn| !conn.is_over());
        conns.clone()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Whether a failure is that of a connection which ended before it was accepted.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// Takes a connection off the backlog and closes it, if there is one.
fn refuse_one(listener: &TcpListener, spare: &mut SpareDescriptor) {
    if listener.set_nonblocking(true).is_ok() {
        // No connection, or no descriptor even so: nothing is refused then.
        let _ = spare.refuse(|| listener.accept());
    }
    while listener.set_nonblocking(false).is_err() {
        thread::sleep(PAUSE);
    }
}

fn serve(
    stream: Arc<TcpStream>,
    hooks: Arc<Hooks>,
    conns: &Mutex<Vec<UnauthenticatedConn>>,
    entry: Entry,
    over: &AtomicBool,
) {
    match UnauthenticatedConn::start(stream, Role::Server, hooks.clone(), Some(entry)) {
        Ok(conn) => {
            let mut conns = lock(conns);
            conns.retain(|conn| !conn.is_over());
            if !over.load(Ordering::SeqCst) {
                conns.push(conn);
            }
        }
        Err(error) => {
            if let Some(times) = hooks.failures.pass() {
                log(|| {
                    tracing::warn!(
                        target: "sealwire::rpc", %error, times, "monte: handshake failed"
                    );
                });
            }
            let reason = error.to_string();
            hooks.tell(&Event::HandshakeFailed { reason });
        }
    }
}

impl Drop for UnauthenticatedServer {
    fn drop(&mut self) {
        if !self.birth.is_here() {
            return;
        }
        self.over.store(true, Ordering::SeqCst);
        lock(&self.conns).clear();
        // The thread that accepts looks up once more.
        drop(TcpStream::connect_timeout(&self.address, LIMIT));
    }
}
