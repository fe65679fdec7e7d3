//! The life of one client: it connects, pushes messages and reads the news, and leaves.

use std::time::{Duration, Instant};

use fastrand::Rng;
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Error as SocketError, Security, SocketType};

use crate::Error;
use crate::ledger::Left;
use crate::message::{self, Header};

/// Seconds that a client stays.
const STAYS: std::ops::Range<u64> = 5..90;
/// Messages pushed at a time, at most.
const BURST: u64 = 8;
/// News read at a time, at most.
const READ: usize = 64;
/// How long a client that leaves in order waits for what it has sent.
const LINGER: Duration = Duration::from_secs(60);

pub(crate) struct Endpoints {
    pub(crate) intake: String,
    pub(crate) news: String,
}

/// How one reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    All,
    /// Its queues fill up.
    Nothing,
}

pub(crate) struct Slot {
    client: u64,
    push: Socket,
    news: Socket,
    reads: Reads,
    in_order: bool,
    until: Instant,
    sent: u64,
    /// Drawn, and not sent for want of room.
    waiting: Option<usize>,
    pub(crate) seen: Seen,
}

/// The news that came.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) news: u64,
    pub(crate) missed: u64,
    /// Out of order, or not as it was published.
    pub(crate) wrong: u64,
    last: Option<(u64, u64)>,
}

impl Seen {
    fn note(&mut self, connection: u64, bytes: &[u8]) {
        let Some(header) = message::read(bytes) else {
            self.wrong += 1;
            return;
        };
        if let Some((before, last)) = self.last
            && before == connection
        {
            match header.number.checked_sub(last + 1) {
                Some(missed) => self.missed += missed,
                None => self.wrong += 1,
            }
        }
        self.last = Some((connection, header.number));
        self.news += 1;
    }
}

/// What both of a client's sockets have.
fn socket(socket_type: SocketType, security: Security) -> sealwire::SocketBuilder {
    Socket::builder(socket_type)
        .security(security)
        .heartbeat(Duration::from_secs(10))
        .heartbeat_timeout(Duration::from_secs(60))
}

impl Slot {
    pub(crate) fn new(
        client: u64,
        random: &mut Rng,
        endpoints: &Endpoints,
        security: impl Fn() -> Security,
    ) -> Result<Self, Error> {
        let push = socket(SocketType::Push, security()).send_high_water_mark(100);
        let push = push.build_blocking()?;
        push.connect(&*endpoints.intake)?;
        let reads = match random.u8(..20) {
            0 => Reads::Nothing,
            _ => Reads::All,
        };
        let news = socket(SocketType::Sub, security()).receive_high_water_mark(100);
        let news = news.build_blocking()?;
        news.subscribe("")?;
        news.connect(&*endpoints.news)?;
        Ok(Slot {
            client,
            push,
            news,
            reads,
            in_order: random.u8(..10) < 7,
            until: Instant::now() + Duration::from_secs(random.u64(STAYS)),
            sent: 0,
            waiting: None,
            seen: Seen::default(),
        })
    }

    pub(crate) fn client(&self) -> u64 {
        self.client
    }

    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// Pushes a few messages, as long as there is room, and reads what has come.
    pub(crate) fn act(&mut self, random: &mut Rng) -> Result<(), Error> {
        for _ in 0..=random.u64(..BURST) {
            let size = self.waiting.take().unwrap_or_else(|| message::size(random));
            if !self.push(size, false)? {
                self.waiting = Some(size);
                break;
            }
        }
        if self.reads == Reads::All {
            for _ in 0..READ {
                match self.news.try_recv() {
                    Ok(message) => {
                        let connection = message.peer().map_or(0, |peer| peer.connection());
                        self.seen.note(connection, message.as_bytes());
                    }
                    Err(SocketError::WouldBlock) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    fn header(&self, is_last: bool) -> Header {
        Header {
            client: self.client,
            number: self.sent,
            is_last,
        }
    }

    /// Whether there was room.
    fn push(&mut self, size: usize, is_last: bool) -> Result<bool, Error> {
        let bytes = message::build(&self.header(is_last), size);
        let sent = match is_last {
            true => self.push.send_timeout(bytes, LINGER),
            false => self.push.try_send(bytes),
        };
        match sent.map_err(SocketError::from) {
            Ok(()) => {
                self.sent += 1;
                Ok(true)
            }
            Err(SocketError::WouldBlock) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Has other keys for what it is connected to.
    pub(crate) fn renew(
        &self,
        random: &mut Rng,
        security: impl Fn() -> Security,
    ) -> Result<(), Error> {
        let withdrawn = match random.bool() {
            true => Withdrawn::End,
            // It connects again as the server withdraws its key.
            false => Withdrawn::Stay,
        };
        for socket in [&self.push, &self.news] {
            for endpoint in socket.connected_endpoints() {
                let options = socket
                    .endpoint_options(endpoint.clone())?
                    .security(security());
                socket.reconfigure_endpoint(endpoint, options, withdrawn)?;
            }
        }
        Ok(())
    }

    /// Leaves, and says what became of its messages.
    pub(crate) fn leave(mut self) -> Result<(Left, Seen), Error> {
        if self.in_order {
            self.push(0, true)?;
        }
        let Slot {
            client,
            push,
            news,
            in_order,
            sent,
            seen,
            ..
        } = self;
        let handle = push.clone();
        let linger = if in_order { LINGER } else { Duration::ZERO };
        match push.close_with_linger(linger) {
            Ok(()) | Err(SocketError::Unsent(_)) => {}
            Err(error) => return Err(error.into()),
        }
        news.close_with_linger(Duration::ZERO)?;
        let counters = handle.counters();
        let left = Left {
            client,
            sent,
            unsent: counters.dropped_unsent,
            unconfirmed: counters.unconfirmed,
            in_order,
        };
        Ok((left, seen))
    }
}
