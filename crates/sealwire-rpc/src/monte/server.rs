//! The side that listens.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use sealwire_fork::Birth;

use super::{Event, Hooks, LIMIT, Message, Role, UnauthenticatedConn};
use crate::hub::lock;

/// Connections at a time of one server.
const MAX_CONNECTIONS: usize = 1_024;

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
        let open = Arc::new(AtomicUsize::new(0));
        thread::Builder::new()
            .name("sealwire-monte-accept".into())
            .spawn(move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    // A failed accept concerns nobody else.
                    let Ok(stream) = stream else { continue };
                    if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                        open.fetch_sub(1, Ordering::SeqCst);
                        continue;
                    }
                    let (hooks, conns, open) = (hooks.clone(), conns.clone(), open.clone());
                    let over = over.clone();
                    // A key that does not come must not keep others waiting.
                    thread::spawn(move || serve(stream, hooks, &conns, open, &over));
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

fn serve(
    stream: TcpStream,
    hooks: Arc<Hooks>,
    conns: &Mutex<Vec<UnauthenticatedConn>>,
    open: Arc<AtomicUsize>,
    over: &AtomicBool,
) {
    let left = open.clone();
    let at_end = move || {
        left.fetch_sub(1, Ordering::SeqCst);
    };
    match UnauthenticatedConn::start(stream, Role::Server, hooks.clone(), at_end) {
        Ok(conn) => {
            let mut conns = lock(conns);
            conns.retain(|conn| !conn.is_over());
            if !over.load(Ordering::SeqCst) {
                conns.push(conn);
            }
        }
        Err(error) => {
            open.fetch_sub(1, Ordering::SeqCst);
            tracing::warn!(target: "sealwire::rpc", %error, "monte: handshake failed");
            let reason = error.to_string();
            (hooks.on_event)(&Event::HandshakeFailed { reason });
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
