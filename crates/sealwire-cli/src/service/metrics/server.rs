//! The thread that serves the numbers: sockets that never block, few of them, each for a short time.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use sealwire::panics;

use super::Source;
use super::http::{self, Answer, HostNames, MAX_HEAD};

/// Connections at a time; a further one takes the place of the oldest.
const MAX_CONNECTIONS: usize = 8;

/// Time that a connection has for its request and its answer together.
const TIME: Duration = Duration::from_secs(10);

/// How long numbers count as new: several readers do not have them made anew.
const FRESH: Duration = Duration::from_millis(100);

/// Bytes behind the head of a request that are read, so that the answer to it arrives.
const MAX_REST: usize = 64 * 1024;

/// Pause after a connection that could not be accepted, such as for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

const LISTENER: Token = Token(0);

/// Listens, and has the connections.
pub(super) struct Server {
    poll: Poll,
    listener: TcpListener,
    names: HostNames,
    numbers: Numbers,
    /// The oldest first.
    connections: VecDeque<Connection>,
    next_token: usize,
    /// When to accept again without being told.
    accept_at: Option<Instant>,
}

/// Where the numbers come from, and the last ones.
struct Numbers {
    source: Source,
    last: Option<(Instant, Arc<str>)>,
}

impl Numbers {
    /// The text, not older than [`FRESH`]; `Err` is an answer in its place.
    fn text(&mut self, now: Instant) -> Result<Arc<str>, String> {
        if let Some((made, text)) = &self.last
            && now.saturating_duration_since(*made) < FRESH
        {
            return Ok(text.clone());
        }
        let source = &mut self.source;
        let text = panics::contain(source)
            .unwrap_or_else(|_| Err("a defect of this program; please report it".into()));
        let text: Arc<str> = text.map_err(|why| http::unavailable(&why))?.into();
        self.last = Some((now, text.clone()));
        Ok(text)
    }
}

/// Bytes that are yet to be written: a head, and a body that several connections share.
struct Output {
    head: Vec<u8>,
    body: Arc<str>,
    written: usize,
}

/// How far a connection has come.
enum Stage {
    /// The head, as far as it has come.
    Reading(Vec<u8>),
    Writing(Output),
    /// All is written: bytes of the request that were read since, until the reader closes.
    Closing(usize),
}

struct Connection {
    token: Token,
    stream: TcpStream,
    stage: Stage,
    ends_at: Instant,
}

impl Server {
    /// Binds the address, and returns it with the port that was chosen.
    pub(super) fn bind(
        address: SocketAddr,
        names: HostNames,
        source: Source,
    ) -> io::Result<(Self, SocketAddr)> {
        let mut listener = TcpListener::bind(address)?;
        let bound = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let server = Server {
            poll,
            listener,
            names,
            numbers: Numbers { source, last: None },
            connections: VecDeque::with_capacity(MAX_CONNECTIONS),
            next_token: LISTENER.0,
            accept_at: None,
        };
        Ok((server, bound))
    }

    /// Serves until the program ends.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(MAX_CONNECTIONS + 1);
        loop {
            match self.poll.poll(&mut events, self.timeout()) {
                Err(error) if error.kind() != ErrorKind::Interrupted => std::thread::sleep(PAUSE),
                _ => {}
            }
            let now = Instant::now();
            let is_due = self.accept_at.is_some_and(|at| at <= now);
            if is_due || events.iter().any(|event| event.token() == LISTENER) {
                self.accept(now);
            }
            for event in &events {
                self.drive(event.token(), now);
            }
            self.connections
                .retain(|connection| connection.ends_at > now);
        }
    }

    fn timeout(&self) -> Option<Duration> {
        let ends = self.connections.iter().map(|connection| connection.ends_at);
        let next = ends.chain(self.accept_at).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Takes the connections that wait. As many as there is room for, before those under way are served.
    fn accept(&mut self, now: Instant) {
        self.accept_at = None;
        for _ in 0..MAX_CONNECTIONS {
            match self.listener.accept() {
                Ok((stream, _)) => self.add(stream, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.accept_at = Some(now + PAUSE);
                    return;
                }
            }
        }
        // The poll does not tell of the others again.
        self.accept_at = Some(now);
    }

    fn add(&mut self, mut stream: TcpStream, now: Instant) {
        self.next_token = self.next_token.wrapping_add(1).max(LISTENER.0 + 1);
        let token = Token(self.next_token);
        let interest = Interest::READABLE | Interest::WRITABLE;
        if (self.poll.registry())
            .register(&mut stream, token, interest)
            .is_err()
        {
            return;
        }
        if self.connections.len() == MAX_CONNECTIONS {
            self.connections.pop_front();
        }
        self.connections.push_back(Connection {
            token,
            stream,
            stage: Stage::Reading(Vec::new()),
            ends_at: now + TIME,
        });
    }

    fn drive(&mut self, token: Token, now: Instant) {
        let is_it = |connection: &Connection| connection.token == token;
        let Some(at) = self.connections.iter().position(is_it) else {
            return;
        };
        let (connection, numbers, names) =
            (&mut self.connections[at], &mut self.numbers, self.names);
        // An error of the connection: nobody is there to be told.
        if !connection
            .drive(names, || numbers.text(now))
            .unwrap_or(false)
        {
            self.connections.remove(at);
        }
    }
}

impl Connection {
    /// Does what can be done without waiting. Whether it goes on.
    fn drive(
        &mut self,
        names: HostNames,
        mut numbers: impl FnMut() -> Result<Arc<str>, String>,
    ) -> io::Result<bool> {
        loop {
            match &mut self.stage {
                Stage::Reading(head) => {
                    let mut bytes = [0; 1024];
                    let room = bytes.len().min(MAX_HEAD - head.len());
                    let count = match self.stream.read(&mut bytes[..room]) {
                        Ok(0) => return Ok(false),
                        Ok(count) => count,
                        Err(error) => return waits(error),
                    };
                    head.extend_from_slice(&bytes[..count]);
                    if let Some(answer) = http::answer(head, names) {
                        self.stage = Stage::Writing(Output::new(answer, &mut numbers));
                    }
                }
                Stage::Writing(output) => match self.stream.write(output.rest()) {
                    Ok(count) => output.written += count,
                    Err(error) => return waits(error),
                },
                Stage::Closing(read) => match self.stream.read(&mut [0; 1024]) {
                    Ok(0) => return Ok(false),
                    Ok(_) if *read > MAX_REST => return Ok(false),
                    Ok(count) => *read += count,
                    Err(error) => return waits(error),
                },
            }
            if let Stage::Writing(output) = &self.stage
                && output.rest().is_empty()
            {
                self.stream.shutdown(Shutdown::Write)?;
                self.stage = Stage::Closing(0);
            }
        }
    }
}

/// Whether an error says no more than that there is nothing to do now.
fn waits(error: io::Error) -> io::Result<bool> {
    match error.kind() {
        ErrorKind::WouldBlock => Ok(true),
        _ => Err(error),
    }
}

impl Output {
    fn new(answer: Answer, numbers: &mut impl FnMut() -> Result<Arc<str>, String>) -> Self {
        let empty = || Arc::<str>::from("");
        let (head, body) = match answer {
            Answer::Refusal(refusal) => (http::refusal(refusal), empty()),
            Answer::Metrics { has_body } => match numbers() {
                Ok(text) => (
                    http::head_of_metrics(text.len()),
                    if has_body { text } else { empty() },
                ),
                Err(whole) => (whole, empty()),
            },
        };
        Output {
            head: head.into_bytes(),
            body,
            written: 0,
        }
    }

    /// A part that is yet to be written; empty once all is.
    fn rest(&self) -> &[u8] {
        match self.written.checked_sub(self.head.len()) {
            Some(of_body) => &self.body.as_bytes()[of_body..],
            None => &self.head[self.written..],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_connections_are_kept_and_none_is_forgotten() {
        let source = Box::new(|| Ok(String::new()));
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (mut server, bound) = Server::bind(any, HostNames::Any, source).unwrap();
        let connect = |_| std::net::TcpStream::connect(bound).unwrap();
        let clients: Vec<_> = (0..2 * MAX_CONNECTIONS + 1).map(connect).collect();
        let now = Instant::now();
        for _ in 0..2 {
            server.accept(now);
            // More wait, of which the poll does not tell again.
            assert_eq!(server.accept_at, Some(now));
            assert_eq!(server.connections.len(), MAX_CONNECTIONS);
        }
        server.accept(now);
        assert_eq!(server.accept_at, None);
        let kept = server.connections.iter();
        let kept: Vec<_> = kept.map(|it| it.stream.peer_addr().unwrap()).collect();
        let newest = clients[clients.len() - MAX_CONNECTIONS..].iter();
        let newest: Vec<_> = newest.map(|it| it.local_addr().unwrap()).collect();
        assert_eq!(kept, newest);
    }
}
