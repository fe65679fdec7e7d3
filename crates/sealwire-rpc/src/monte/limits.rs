//! What bounds a connection, as far as a program can choose.

use std::io;
use std::time::Duration;

use super::{DEFAULT_MAX_FRAME, OVERHEAD};
use crate::limits::monte::{HANDSHAKE_LIMIT, MAX_CALLS, WRITE_LIMIT};

/// What a connection of this wire may hold, and how long it waits. Peers are told none of it: both
/// sides have to choose the same `max_frame`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireLimits {
    /// Bytes of a frame in either direction, of which number and tag take 20: at least 20, at most
    /// 4,294,967,295. Default 4,096, as in Go.
    pub max_frame: usize,
    /// Calls of this side that may wait for answers at once. Default 65,536, at most 1,048,576.
    pub max_calls: usize,
    /// Time for the peer's key. Default 3 s.
    pub handshake: Duration,
    /// Time for TCP to take a part of what is written; then the connection ends. Default 3 s.
    pub write: Duration,
    /// A connection through which nothing came for this time ends; `None` for no limit. A peer with
    /// nothing to say says nothing on this wire, so this ends idle connections as well. Default `None`.
    pub read: Option<Duration>,
}

impl Default for WireLimits {
    fn default() -> Self {
        WireLimits {
            max_frame: DEFAULT_MAX_FRAME,
            max_calls: MAX_CALLS,
            handshake: HANDSHAKE_LIMIT,
            write: WRITE_LIMIT,
            read: None,
        }
    }
}

impl WireLimits {
    pub(super) fn check(&self) -> io::Result<()> {
        let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if self.max_frame < OVERHEAD || u32::try_from(self.max_frame).is_err() {
            let size = self.max_frame;
            return refuse(format!(
                "max_frame is {size} bytes: choose {OVERHEAD} (number and tag) to {}",
                u32::MAX
            ));
        }
        let times = [
            ("handshake", self.handshake),
            ("write", self.write),
            ("read", self.read.unwrap_or(Duration::MAX)),
        ];
        for (name, time) in times {
            if time.is_zero() {
                return refuse(format!(
                    "the time limit `{name}` is zero: nothing would ever be in time"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::thread;

    use super::super::{
        Exchange, FrameError, KEY, MonteError, UnauthenticatedConn, UnauthenticatedServer,
    };
    use super::*;

    /// Nothing here takes that long unless it is broken.
    const TIMEOUT: Duration = Duration::from_secs(60);

    fn echo(limits: WireLimits) -> UnauthenticatedServer {
        UnauthenticatedServer::builder(|message| message.is_request.then(|| message.body.to_vec()))
            .limits(limits)
            .bind("127.0.0.1:0")
            .unwrap()
    }

    fn connected(server: &UnauthenticatedServer, limits: WireLimits) -> UnauthenticatedConn {
        UnauthenticatedConn::builder(|_| None)
            .limits(limits)
            .connect(server.address())
            .unwrap()
    }

    /// A peer that has exchanged keys and then reads nothing.
    fn silent_peer(limits: WireLimits) -> (UnauthenticatedConn, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.read_exact(&mut [0; KEY]).unwrap();
            stream
                .write_all(&Exchange::random().unwrap().public())
                .unwrap();
            stream
        });
        let conn = UnauthenticatedConn::builder(|_| None)
            .limits(limits)
            .connect(address)
            .unwrap();
        (conn, peer.join().unwrap())
    }

    #[test]
    fn frames_are_as_large_as_both_sides_choose() {
        let limits = WireLimits {
            max_frame: 1 << 20,
            ..WireLimits::default()
        };
        let (server, largest) = (echo(limits), (1 << 20) - OVERHEAD);
        let conn = connected(&server, limits);
        let body = vec![7; largest];
        assert_eq!(conn.request(&body, TIMEOUT).unwrap(), body);
        let larger = conn.request(&vec![7; largest + 1], TIMEOUT);
        let expected = FrameError::TooLarge {
            size: (1 << 20) + 1,
            limit: 1 << 20,
        };
        assert!(matches!(larger, Err(MonteError::Frame(error)) if error == expected));
        // A side that chose less ends the connection.
        let conn = connected(&echo(WireLimits::default()), limits);
        assert!(matches!(
            conn.request(&body, TIMEOUT),
            Err(MonteError::Lost | MonteError::Io(_))
        ));
    }

    #[test]
    fn calls_that_wait_are_as_many_as_was_chosen() {
        let limits = WireLimits {
            max_calls: 2,
            ..WireLimits::default()
        };
        let (conn, mut silent) = silent_peer(limits);
        thread::scope(|scope| {
            let calls: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| conn.request(b"", TIMEOUT)))
                .collect();
            // Both wait once both frames are there: a length, and a message without a body.
            silent.read_exact(&mut [0; 2 * (4 + OVERHEAD)]).unwrap();
            let refused = conn.request(b"", TIMEOUT);
            drop(silent);
            assert!(matches!(refused, Err(MonteError::TooManyCalls)));
            for call in calls {
                assert!(matches!(call.join().unwrap(), Err(MonteError::Lost)));
            }
        });
    }

    #[test]
    fn a_connection_through_which_nothing_comes_ends_if_that_was_chosen() {
        let limits = WireLimits {
            read: Some(Duration::from_millis(50)),
            ..WireLimits::default()
        };
        let (conn, _silent) = silent_peer(limits);
        assert!(matches!(conn.request(b"", TIMEOUT), Err(MonteError::Lost)));
    }

    #[test]
    fn a_peer_that_reads_nothing_ends_the_connection_in_the_time_to_write() {
        let limits = WireLimits {
            write: Duration::from_millis(200),
            ..WireLimits::default()
        };
        let (conn, _silent) = silent_peer(limits);
        let body = [0; DEFAULT_MAX_FRAME - OVERHEAD];
        assert_eq!(conn.pending_writes(), 0);
        let writer = conn.clone();
        let writing = thread::spawn(move || {
            loop {
                if let Err(error) = writer.send(&body) {
                    break error;
                }
            }
        });
        // Its messages pile up before it ends.
        while conn.pending_writes() == 0 {
            thread::yield_now();
        }
        assert!(matches!(writing.join().unwrap(), MonteError::Io(_)));
        assert_eq!(conn.pending_writes(), 0);
        assert!(conn.send(&body).is_err());
    }

    #[test]
    fn a_server_has_as_many_connections_as_was_chosen() {
        let (told, events) = mpsc::channel();
        let server = UnauthenticatedServer::builder(|message| Some(message.body.to_vec()))
            .on_event(move |event| drop(told.send(event.clone())))
            .max_connections(1)
            .bind("127.0.0.1:0")
            .unwrap();
        let first = connected(&server, WireLimits::default());
        assert_eq!(first.request(b"in", TIMEOUT).unwrap(), b"in");
        let second = UnauthenticatedConn::builder(|_| None).connect(server.address());
        assert!(second.is_err());
        drop(first);
        while !matches!(
            events.recv_timeout(TIMEOUT).unwrap(),
            super::super::MonteEvent::Ended { .. }
        ) {}
        let third = connected(&server, WireLimits::default());
        assert_eq!(third.request(b"in", TIMEOUT).unwrap(), b"in");
    }

    #[test]
    fn limits_that_let_nothing_through_are_refused() {
        let fits = WireLimits::default();
        let cases = [
            WireLimits {
                max_frame: OVERHEAD - 1,
                ..fits
            },
            WireLimits {
                max_frame: usize::MAX,
                ..fits
            },
            WireLimits {
                handshake: Duration::ZERO,
                ..fits
            },
            WireLimits {
                write: Duration::ZERO,
                ..fits
            },
            WireLimits {
                read: Some(Duration::ZERO),
                ..fits
            },
        ];
        for limits in cases {
            let bound = UnauthenticatedServer::builder(|_| None)
                .limits(limits)
                .bind("127.0.0.1:0");
            let error = bound.err().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{limits:?}");
            let connected = UnauthenticatedConn::builder(|_| None)
                .limits(limits)
                .connect("127.0.0.1:1");
            let refused = matches!(&connected, Err(MonteError::Io(error)) if error.kind() == io::ErrorKind::InvalidInput);
            assert!(refused, "{limits:?}");
        }
        assert!(
            WireLimits {
                max_frame: OVERHEAD,
                ..fits
            }
            .check()
            .is_ok()
        );
    }
}
