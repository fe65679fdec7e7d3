//! The side that listens.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use sealwire::account::{SpareDescriptor, is_exhaustion, is_of_one_connection};
use sealwire_fork::Birth;

use super::conn::Role;
use super::event::Hooks;
use super::gate::{Entry, Gate};
use super::{MonteEvent, UnauthenticatedConn, WireLimits};
use crate::guard::{LogGate, log};
use crate::limits::monte::CONNECT_LIMIT;
use crate::lock::lock;
use crate::threads;

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
    pub(super) fn listen(
        address: impl ToSocketAddrs,
        hooks: Arc<Hooks>,
        limits: WireLimits,
        gate: Arc<Gate>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let server = UnauthenticatedServer {
            birth: Birth::now(),
            address: listener.local_addr()?,
            over: Arc::default(),
            conns: Arc::default(),
        };
        let (over, conns) = (server.over.clone(), server.conns.clone());
        let mut spare = SpareDescriptor::new();
        let complaints = LogGate::default();
        threads::start("sealwire-monte-accept", move || {
            let mut failed = |error: &io::Error| {
                cannot_accept(error, &listener, &mut spare, &gate, &complaints);
            };
            while let Some((stream, address)) = next(&over, || listener.accept(), &mut failed) {
                let stream = Arc::new(stream);
                // Those beyond the limits are closed.
                let Some(entry) = gate.enter(&stream, address) else {
                    continue;
                };
                let (hooks, conns, over) = (hooks.clone(), conns.clone(), over.clone());
                // A key that does not come must not keep others waiting. Without a thread the
                // connection is closed.
                let _ = threads::start("sealwire-monte-key", move || {
                    serve(stream, hooks, &limits, &conns, entry, &over);
                });
            }
        })?;
        Ok(server)
    }

    /// Returns the connections that stand.
    pub fn connections(&self) -> Vec<UnauthenticatedConn> {
        if !self.birth.is_here() {
            return Vec::new();
        }
        standing(&self.conns).clone()
    }

    /// Returns the address and port it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The connections, without those that are over.
fn standing(conns: &Mutex<Vec<UnauthenticatedConn>>) -> MutexGuard<'_, Vec<UnauthenticatedConn>> {
    let mut conns = lock(conns);
    conns.retain(|conn| !conn.is_over());
    conns
}

/// The next connection; `None` once the server is over. What `failed` is not told of concerns one
/// connection, and nobody else.
fn next<T>(
    over: &AtomicBool,
    mut accept: impl FnMut() -> io::Result<T>,
    mut failed: impl FnMut(&io::Error),
) -> Option<T> {
    while !over.load(Ordering::SeqCst) {
        match accept() {
            // The connection that ends the wait is nobody's.
            Ok(accepted) => return Some(accepted).filter(|_| !over.load(Ordering::SeqCst)),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => failed(&error),
        }
    }
    None
}

/// Makes room where descriptors or memory have run out, and pauses.
fn cannot_accept(
    error: &io::Error,
    listener: &TcpListener,
    spare: &mut SpareDescriptor,
    gate: &Gate,
    complaints: &LogGate,
) {
    if let Some(times) = complaints.pass() {
        log(|| {
            tracing::warn!(target: "sealwire::rpc", %error, times, "monte: cannot accept");
        });
    }
    if is_exhaustion(error) {
        gate.make_room();
        refuse_one(listener, spare);
    }
    thread::sleep(PAUSE);
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
    limits: &WireLimits,
    conns: &Mutex<Vec<UnauthenticatedConn>>,
    entry: Entry,
    over: &AtomicBool,
) {
    match UnauthenticatedConn::start(stream, Role::Server, hooks.clone(), limits, Some(entry)) {
        Ok(conn) => {
            let mut conns = standing(conns);
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
            hooks.tell(&MonteEvent::HandshakeFailed { reason });
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
        // Ends the wait of the thread that accepts.
        drop(TcpStream::connect_timeout(&self.address, CONNECT_LIMIT));
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, OutOfMemory};
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_connection_that_ended_before_it_was_accepted_holds_up_nobody() {
        let over = AtomicBool::new(false);
        let mut outcomes = [
            Err(ConnectionAborted),
            Err(OutOfMemory),
            Err(Interrupted),
            Err(ConnectionReset),
            Ok(7),
        ]
        .into_iter();
        let mut told = Vec::new();
        let mut accept = || outcomes.next().unwrap().map_err(io::Error::from);
        let accepted = next(&over, &mut accept, |error| told.push(error.kind()));
        assert_eq!((accepted, told), (Some(7), vec![OutOfMemory]));
    }

    #[test]
    fn what_is_accepted_at_the_end_is_nobodys() {
        let over = AtomicBool::new(false);
        let accept = || {
            over.store(true, Ordering::SeqCst);
            Ok(7)
        };
        assert_eq!(next(&over, accept, |_| {}), None);
    }

    #[test]
    fn nothing_is_accepted_for_a_while_after_that_failed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (gate, complaints) = (Gate::new(4, 4), LogGate::default());
        let mut spare = SpareDescriptor::new();
        let started = Instant::now();
        let error = OutOfMemory.into();
        cannot_accept(&error, &listener, &mut spare, &gate, &complaints);
        assert!(started.elapsed() >= PAUSE);
    }
}
