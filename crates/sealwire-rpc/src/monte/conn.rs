//! One connection, for both sides: a thread that reads, and callers that write.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sealwire_fork::Birth;

use super::event::Hooks;
use super::gate::Entry;
use super::{
    Exchange, KEY, MonteError, MonteEvent, MonteMessage, NonceRepeatingSession, WireLimits,
};
use crate::guard::{contain, log};
use crate::limits::{MAX_CALLS, bounded};
use crate::lock::lock;
use crate::threads;

/// A connection to a peer that has proved nothing, under nonces that repeat. Clones are handles to
/// the same connection; when the last is dropped it is closed.
#[derive(Clone)]
pub struct UnauthenticatedConn {
    shared: Arc<ConnInner>,
    _handle: Option<Arc<Handle>>,
}

struct Handle(Arc<ConnInner>);

impl Drop for Handle {
    fn drop(&mut self) {
        // In a child of a fork the connection is the parent's.
        if self.0.birth.is_here() {
            self.0.shut_down();
        }
    }
}

struct ConnInner {
    birth: Birth,
    stream: Arc<TcpStream>,
    writer: Mutex<Writer>,
    /// Callers that write, or wait until others have written.
    writes: AtomicUsize,
    calls: Mutex<Calls>,
    max_calls: usize,
}

struct Writer {
    session: NonceRepeatingSession,
    buffer: Vec<u8>,
}

struct Calls {
    waiting: HashMap<u32, SyncSender<Vec<u8>>>,
    next: u32,
    over: bool,
}

/// Counts a message that is being written for as long as it lives.
struct PendingWrite<'a>(&'a AtomicUsize);

impl<'a> PendingWrite<'a> {
    fn begin(writes: &'a AtomicUsize) -> Self {
        writes.fetch_add(1, Ordering::Relaxed);
        PendingWrite(writes)
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

impl ConnInner {
    fn shut_down(&self) {
        // Closed already is as good.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn check(&self) -> Result<(), MonteError> {
        if self.birth.is_here() {
            Ok(())
        } else {
            Err(MonteError::Forked)
        }
    }

    fn write(&self, number: u32, body: &[u8]) -> Result<(), MonteError> {
        self.check()?;
        let _pending = PendingWrite::begin(&self.writes);
        let mut writer = lock(&self.writer);
        let Writer { session, buffer } = &mut *writer;
        buffer.clear();
        session.seal(number, body, buffer)?;
        (&*self.stream).write_all(buffer).map_err(|error| {
            // Half a frame may be out: nothing can follow it.
            self.shut_down();
            MonteError::Io(error)
        })
    }

    fn read(
        self: &Arc<Self>,
        mut session: NonceRepeatingSession,
        hooks: &Hooks,
    ) -> Result<(), MonteError> {
        let conn = UnauthenticatedConn {
            shared: self.clone(),
            _handle: None,
        };
        let mut frame = Vec::new();
        loop {
            let mut length = [0; 4];
            (&*self.stream).read_exact(&mut length)?;
            frame.resize(session.frame_size(length)?, 0);
            (&*self.stream).read_exact(&mut frame)?;
            let (number, body) = session.open(&frame)?;
            if let Some(waiting) = lock(&self.calls).waiting.remove(&number) {
                // The caller may have stopped waiting.
                let _ = waiting.try_send(body);
                continue;
            }
            let message = MonteMessage {
                conn: &conn,
                body: &body,
                is_request: number != 0,
            };
            if let Some(Some(reply)) = contain("a handler", || (hooks.handler)(&message)) {
                self.write(number, &reply)?;
            }
        }
    }
}

impl UnauthenticatedConn {
    pub(super) fn start(
        stream: Arc<TcpStream>,
        role: Role,
        hooks: Arc<Hooks>,
        limits: &WireLimits,
        mut entry: Option<Entry>,
    ) -> Result<Self, MonteError> {
        let deadline = Instant::now() + bounded(limits.handshake);
        let peer_address = stream.peer_addr()?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(bounded(limits.write)))?;
        let exchange = Exchange::random().map_err(io::Error::other)?;
        let mut peer = [0; KEY];
        if role == Role::Client {
            (&*stream).write_all(&exchange.public())?;
            read_key(&stream, &mut peer, deadline)?;
        } else {
            read_key(&stream, &mut peer, deadline)?;
            (&*stream).write_all(&exchange.public())?;
        }
        stream.set_read_timeout(limits.read.map(bounded))?;
        let (writing, reading) = exchange.establish(peer, limits.max_frame)?.split();
        if let Some(entry) = &mut entry {
            entry.became_ready();
        }
        hooks.warn(peer_address);
        let shared = Arc::new(ConnInner {
            birth: Birth::now(),
            stream,
            writer: Mutex::new(Writer {
                session: writing,
                buffer: Vec::new(),
            }),
            writes: AtomicUsize::new(0),
            max_calls: limits.max_calls.min(MAX_CALLS as usize),
            calls: Mutex::new(Calls {
                waiting: HashMap::new(),
                next: if role == Role::Client { 1 } else { 2 },
                over: false,
            }),
        });
        let reader = shared.clone();
        threads::start("sealwire-monte", move || {
            if let Err(error) = reader.read(reading, &hooks) {
                log(|| {
                    tracing::debug!(target: "sealwire::rpc", %error, "monte: connection over");
                });
            }
            reader.shut_down();
            let mut calls = lock(&reader.calls);
            calls.over = true;
            calls.waiting.clear();
            drop(calls);
            drop(entry);
            hooks.tell(&MonteEvent::Ended { peer: peer_address });
        })?;
        Ok(UnauthenticatedConn {
            _handle: Some(Arc::new(Handle(shared.clone()))),
            shared,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.shared.calls).over
    }

    /// Returns the number of messages that callers are writing, or wait to write behind others. There is no
    /// queue: each is written before its caller goes on.
    pub fn pending_writes(&self) -> usize {
        self.shared.writes.load(Ordering::Relaxed)
    }

    /// Sends a message that nobody answers.
    ///
    /// # Errors
    ///
    /// [`MonteError::Frame`] for more bytes than [`max_frame`](WireLimits::max_frame) has room for (4,076 unless chosen), [`MonteError::Io`] if the connection breaks,
    /// [`MonteError::Forked`] in a child of the process that made it.
    pub fn send(&self, body: &[u8]) -> Result<(), MonteError> {
        self.shared.write(0, body)
    }

    /// Calls the peer, and blocks until its answer is there, for up to `limit`. Not from a handler: the
    /// thread that reads cannot wait for itself.
    ///
    /// # Errors
    ///
    /// * [`MonteError::TimedOut`] if no answer comes within `limit`, [`MonteError::Lost`] if the connection
    ///   ends first. In both cases the peer may have acted.
    /// * [`MonteError::TooManyCalls`] if too many calls wait for answers.
    /// * [`MonteError::Frame`] for more bytes than [`max_frame`](WireLimits::max_frame) has room for (4,076 unless chosen), [`MonteError::Io`] if the connection breaks.
    /// * [`MonteError::Forked`] in a child of the process that made the connection.
    pub fn request(&self, body: &[u8], limit: Duration) -> Result<Vec<u8>, MonteError> {
        self.shared.check()?;
        let (sender, answer) = mpsc::sync_channel(1);
        let number = {
            let mut calls = lock(&self.shared.calls);
            if calls.over {
                return Err(MonteError::Lost);
            }
            if calls.waiting.len() >= self.shared.max_calls {
                return Err(MonteError::TooManyCalls);
            }
            // Over the end of the numbers 0 is left out, as are those in use.
            while calls.next == 0 || calls.waiting.contains_key(&calls.next) {
                calls.next = calls.next.wrapping_add(2);
            }
            let number = calls.next;
            calls.next = number.wrapping_add(2);
            calls.waiting.insert(number, sender);
            number
        };
        let forget = || lock(&self.shared.calls).waiting.remove(&number);
        if let Err(error) = self.shared.write(number, body) {
            forget();
            return Err(error);
        }
        answer.recv_timeout(limit).map_err(|error| {
            forget();
            match error {
                RecvTimeoutError::Timeout => MonteError::TimedOut,
                RecvTimeoutError::Disconnected => MonteError::Lost,
            }
        })
    }
}

/// Reads a public key, all of it by then, however its bytes come.
fn read_key(mut stream: &TcpStream, key: &mut [u8; KEY], deadline: Instant) -> io::Result<()> {
    let mut read = 0;
    while read < KEY {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut key[read..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => read += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::{
        DEFAULT_MAX_FRAME, FrameError, MonteEvent, OVERHEAD, UnauthenticatedServer, Warning,
    };
    use super::*;

    /// Nothing here takes that long unless it is broken.
    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn both_sides_call_each_other() {
        let server = UnauthenticatedServer::bind("127.0.0.1:0", |message| {
            message.is_request.then(|| message.body.to_vec())
        })
        .unwrap();
        let conn = UnauthenticatedConn::connect(server.address(), TIMEOUT, |message| {
            Some([message.body, b"!"].concat())
        })
        .unwrap();
        for size in [0, 1, DEFAULT_MAX_FRAME - OVERHEAD] {
            let body = vec![7; size];
            assert_eq!(conn.request(&body, TIMEOUT).unwrap(), body);
        }
        let back = loop {
            if let Some(conn) = server.connections().into_iter().next() {
                break conn;
            }
            thread::yield_now();
        };
        assert_eq!(back.request(b"back", TIMEOUT).unwrap(), b"back!");
        let large = conn.request(&[0; DEFAULT_MAX_FRAME], TIMEOUT);
        assert!(matches!(
            large,
            Err(MonteError::Frame(FrameError::TooLarge { .. }))
        ));
    }

    #[test]
    fn a_key_that_is_late_is_none() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(&[1; 2 * KEY]).unwrap();
        let mut key = [0; KEY];
        read_key(&server, &mut key, Instant::now() + TIMEOUT).unwrap();
        assert_eq!(key, [1; KEY]);
        // Its bytes are there, but its time is over.
        let late = read_key(&server, &mut key, Instant::now());
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_peer_that_vanishes_ends_its_calls() {
        let (asked, asks) = mpsc::channel();
        let server = UnauthenticatedServer::bind("127.0.0.1:0", move |_| {
            asked.send(()).unwrap();
            None
        })
        .unwrap();
        let conn = UnauthenticatedConn::connect(server.address(), TIMEOUT, |_| None).unwrap();
        let asking = conn.clone();
        let asker = thread::spawn(move || asking.request(b"", TIMEOUT));
        asks.recv_timeout(TIMEOUT).unwrap();
        drop(server);
        assert!(matches!(asker.join().unwrap(), Err(MonteError::Lost)));
    }

    #[test]
    fn programs_on_both_sides_hear_what_is_wrong_with_every_connection() {
        let (at_server, from_server) = mpsc::channel();
        let (at_client, from_client) = mpsc::channel();
        let server = UnauthenticatedServer::builder(|_| None)
            .on_event(move |event| drop(at_server.send(event.clone())))
            .bind("127.0.0.1:0")
            .unwrap();
        let conn = UnauthenticatedConn::builder(|_| None)
            .on_event(move |event| drop(at_client.send(event.clone())))
            .connect(server.address())
            .unwrap();
        for events in [&from_server, &from_client] {
            for expected in Warning::ALL {
                let event = events.recv_timeout(TIMEOUT).unwrap();
                assert!(
                    matches!(event, MonteEvent::Warning { warning, .. } if warning == expected)
                );
            }
        }
        drop(conn);
        for events in [&from_server, &from_client] {
            let event = events.recv_timeout(TIMEOUT).unwrap();
            assert!(matches!(event, MonteEvent::Ended { .. }), "{event:?}");
        }
        drop(TcpStream::connect(server.address()).unwrap());
        let event = from_server.recv_timeout(TIMEOUT).unwrap();
        assert!(
            matches!(event, MonteEvent::HandshakeFailed { .. }),
            "{event:?}"
        );
    }

    #[test]
    fn the_end_of_a_server_is_not_told_as_a_failure() {
        let (told, events) = mpsc::channel();
        let server = UnauthenticatedServer::builder(|_| None)
            .on_event(move |event| drop(told.send(event.clone())))
            .bind("127.0.0.1:0");
        drop(server.unwrap());
        // The function is dropped with the last thread of the server.
        let ended = events.recv_timeout(TIMEOUT);
        assert_eq!(ended.unwrap_err(), RecvTimeoutError::Disconnected);
    }
}
