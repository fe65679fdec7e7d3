//! Serving the connections of a listener of one's own.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Stream, StreamError};
use crate::{Identity, PublicKey};

/// Pause after a connection could not be accepted: what the system lacks does not come back at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections from anything that gives them, each on a thread of its own.
///
/// ```
/// use std::io::{Read as _, Write as _};
/// use std::net::{TcpListener, TcpStream};
/// use std::sync::Arc;
/// use std::time::Duration;
/// use sealwire_tunnel::{Identity, SecretKey, Server, Stream};
///
/// let server = Arc::new(Identity::new("com.example.link", SecretKey::generate()?));
/// let alice = Identity::new("com.example.link", SecretKey::generate()?);
/// let (expected, allowed) = (*server.public_key(), *alice.public_key());
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let address = listener.local_addr()?;
/// std::thread::spawn(move || {
///     let connections = listener.incoming().map(|connection| {
///         let connection = connection?;
///         connection.set_read_timeout(Some(Duration::from_secs(10)))?;
///         Ok(connection)
///     });
///     Server::new(server).with_limit(64).serve(
///         connections,
///         |peer| *peer == allowed,
///         |mut stream: Stream<TcpStream>| {
///             let mut question = String::new();
///             stream.read_to_string(&mut question)?;
///             write!(stream, "you said {question}")?;
///             stream.finish()
///         },
///         |error| eprintln!("{error}"),
///     );
/// });
/// let mut stream = Stream::connect(TcpStream::connect(address)?, &alice, expected)?;
/// stream.write_all(b"hello")?;
/// stream.finish()?;
/// let mut answer = String::new();
/// stream.read_to_string(&mut answer)?;
/// assert_eq!(answer, "you said hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    identity: Arc<Identity>,
    limit: usize,
}

impl Server {
    /// A server with this identity, for at most 1,024 connections at a time.
    #[must_use]
    pub const fn new(identity: Arc<Identity>) -> Self {
        Server {
            identity,
            limit: 1_024,
        }
    }

    /// Sets how many connections are served at the same time, at least one; those under way in their handshake count.
    /// Others wait in the listener.
    #[must_use]
    pub fn with_limit(mut self, connections: usize) -> Self {
        self.limit = connections.max(1);
        self
    }

    /// Serves `connections` until there are no more, and then until the last one has ended. `admit` says whose key is
    /// let in, `handler` has each stream to itself, and `report` is told what failed. Connections need time limits
    /// of their own before they come here, or a peer keeps its place for ever. A panic of the functions ends its
    /// connection alone.
    pub fn serve<S: Read + Write + Send>(
        &self,
        connections: impl IntoIterator<Item = io::Result<S>>,
        admit: impl Fn(&PublicKey) -> bool + Sync,
        handler: impl Fn(Stream<S>) -> io::Result<()> + Sync,
        report: impl Fn(StreamError) + Sync,
    ) {
        let semaphore = Semaphore::default();
        let serve_one = |connection: S| {
            let served = Stream::accept(connection, &self.identity, &admit)
                .and_then(|stream| Ok(handler(stream)?));
            if let Err(error) = served {
                report(error);
            }
        };
        thread::scope(|scope| {
            let mut connections = connections.into_iter();
            loop {
                semaphore.acquire(self.limit);
                let connection = match connections.next() {
                    Some(Ok(connection)) => connection,
                    Some(Err(error)) => {
                        semaphore.release();
                        report(error.into());
                        thread::sleep(PAUSE);
                        continue;
                    }
                    None => return,
                };
                let (semaphore, serve_one) = (&semaphore, &serve_one);
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    // The hook of panics has told of it.
                    let _ = catch_unwind(AssertUnwindSafe(|| serve_one(connection)));
                    semaphore.release();
                });
                if let Err(error) = started {
                    semaphore.release();
                    report(error.into());
                    thread::sleep(PAUSE);
                }
            }
        });
    }
}

/// How many connections are served.
#[derive(Default)]
struct Semaphore {
    taken: Mutex<usize>,
    released: Condvar,
}

impl Semaphore {
    /// Waits until there is one.
    fn acquire(&self, limit: usize) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self
            .released
            .wait_while(taken, |taken| *taken >= limit)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
    }

    fn release(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.released.notify_one();
    }
}
