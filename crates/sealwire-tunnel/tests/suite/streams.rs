//! Streams over TCP, and over what misbehaves.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use sealwire_newplex::schemes::aestream::OVERHEAD;
use sealwire_newplex::schemes::handshake::{CONFIRMATION_SIZE, REQUEST_SIZE};
use sealwire_tunnel::stream::{BrokenOff, StreamError};
use sealwire_tunnel::{
    HandshakeError, Identity, MAX_BLOCK_SIZE, PublicKey, Reason, Server, Stream,
};

use crate::link::identity;

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn content(size: usize) -> Vec<u8> {
    (0..size)
        .map(|at| (at ^ at >> 8 ^ at >> 16) as u8)
        .collect()
}

fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (theirs, _) = listener.accept().unwrap();
    for stream in [&ours, &theirs] {
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    }
    (ours, theirs)
}

/// The connector's stream and the listener's.
fn streams() -> (Stream<TcpStream>, Stream<TcpStream>) {
    let (alice, server) = (identity(), identity());
    let (ours, theirs) = tcp();
    let expected = *server.public_key();
    let accepting = thread::spawn(move || Stream::accept(theirs, &server, |_| true).unwrap());
    let connected = Stream::connect(ours, &alice, expected).unwrap();
    let accepted = accepting.join().unwrap();
    assert_eq!(accepted.peer(), alice.public_key());
    assert_eq!(*connected.peer(), expected);
    (connected, accepted)
}

#[test]
fn both_directions_carry_what_was_written_at_the_same_time() {
    let (alice, server) = (identity(), identity());
    let (ours, theirs) = tcp();
    let expected = *server.public_key();
    let text = content(3_000_000);
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = Stream::accept(theirs, &server, |_| true).unwrap();
            let (mut reader, mut writer) = stream.split(TcpStream::try_clone).unwrap();
            assert_eq!(io::copy(&mut reader, &mut writer).unwrap(), 3_000_000);
            writer.finish().unwrap();
        });
        let stream = Stream::connect(ours, &alice, expected).unwrap();
        let (mut reader, mut writer) = stream.split(TcpStream::try_clone).unwrap();
        let text = &text;
        scope.spawn(move || {
            for part in text.chunks(70_001) {
                writer.write_all(part).unwrap();
            }
            writer.finish().unwrap();
        });
        let mut back = Vec::new();
        reader.read_to_end(&mut back).unwrap();
        assert!(back == *text);
    });
}

#[test]
fn what_is_flushed_can_be_read_at_once_and_an_end_is_not_a_cut() {
    let (mut ours, mut theirs) = streams();
    for size in [1, MAX_BLOCK_SIZE - 1, MAX_BLOCK_SIZE, MAX_BLOCK_SIZE + 1] {
        let text = content(size);
        thread::scope(|scope| {
            scope.spawn(|| {
                ours.write_all(&text).unwrap();
                ours.flush().unwrap();
            });
            let mut there = vec![0; size];
            theirs.read_exact(&mut there).unwrap();
            assert!(there == text, "{size}");
        });
    }
    assert_eq!(ours.read(&mut []).unwrap(), 0, "nothing is asked for");
    ours.finish().unwrap();
    ours.finish().unwrap();
    assert_eq!(
        ours.write(b"more").unwrap_err().kind(),
        ErrorKind::BrokenPipe
    );
    for _ in 0..2 {
        assert_eq!(theirs.read(&mut [0; 8]).unwrap(), 0);
    }
    theirs.write_all(b"the other way").unwrap();
    drop(theirs.close().unwrap());
    let mut there = String::new();
    ours.read_to_string(&mut there).unwrap();
    assert_eq!(there, "the other way");
}

#[test]
fn what_ends_without_an_end_is_an_error() {
    let (mut ours, mut theirs) = streams();
    ours.write_all(b"not all").unwrap();
    ours.flush().unwrap();
    drop(ours);
    let mut there = [0; 7];
    theirs.read_exact(&mut there).unwrap();
    assert_eq!(
        theirs.read(&mut there).unwrap_err().kind(),
        ErrorKind::UnexpectedEof
    );
    let (ours, mut theirs) = streams();
    ours.break_off(Reason::Stopped).unwrap();
    let error = theirs.read(&mut there).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    let reason = error.get_ref().and_then(|error| error.downcast_ref());
    assert_eq!(reason, Some(&BrokenOff(Reason::Stopped)));
}

/// Changes a bit of what is read, behind this number of bytes.
#[derive(Debug)]
struct Flips(TcpStream, usize);

impl Read for Flips {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        if let Some(byte) = into[..count].get_mut(self.1) {
            *byte ^= 1;
        }
        self.1 = self.1.wrapping_sub(count);
        Ok(count)
    }
}

impl Write for Flips {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn no_byte_of_a_block_that_was_changed_is_read() {
    let mut outcomes = [0; 2];
    for at in 0..REQUEST_SIZE + CONFIRMATION_SIZE + OVERHEAD + 100 {
        let (alice, server) = (identity(), identity());
        let (ours, theirs) = tcp();
        let expected = *server.public_key();
        let accepting = thread::spawn(move || {
            let mut stream = Stream::accept(Flips(theirs, at), &server, |_| true)?;
            let mut there = Vec::new();
            let read = stream.read_to_end(&mut there);
            assert!(there.is_empty(), "at {at}");
            Ok::<_, StreamError>(read.unwrap_err().kind())
        });
        let connected = Stream::connect(ours, &alice, expected);
        if let Ok(mut stream) = connected {
            stream.write_all(&content(100)).unwrap();
            // The other side may have gone.
            let _ = stream.finish();
        }
        match accepting.join().unwrap() {
            Err(StreamError::Handshake(HandshakeError::Invalid(_)) | StreamError::Io(_)) => {
                outcomes[0] += 1;
            }
            // A length that was changed asks for more than there is.
            Ok(ErrorKind::InvalidData | ErrorKind::UnexpectedEof) => outcomes[1] += 1,
            other => panic!("at {at}: {other:?}"),
        }
    }
    assert!(outcomes.into_iter().all(|count| count > 50), "{outcomes:?}");
}

#[test]
fn who_is_not_let_in_is_told() {
    let (alice, server) = (identity(), identity());
    let (ours, theirs) = tcp();
    let expected = *server.public_key();
    let accepting = thread::spawn(move || Stream::accept(theirs, &server, |_| false));
    let mut stream = Stream::connect(ours, &alice, expected).unwrap();
    let refused = accepting.join().unwrap().unwrap_err();
    assert!(matches!(refused, StreamError::Refused(peer) if *peer == *alice.public_key()));
    let error = stream.read(&mut [0; 8]).unwrap_err();
    let reason = error.get_ref().and_then(|error| error.downcast_ref());
    assert_eq!(reason, Some(&BrokenOff(Reason::Refused)));
}

#[test]
fn another_listener_learns_nothing_of_us() {
    let (alice, server, other) = (identity(), identity(), identity());
    let (ours, theirs) = tcp();
    let accepting = thread::spawn(move || Stream::accept(theirs, &other, |_| panic!("asked")));
    let failed = Stream::connect(ours, &alice, *server.public_key()).unwrap_err();
    assert!(matches!(
        failed,
        StreamError::Handshake(HandshakeError::OtherListener(_))
    ));
    let failed = accepting.join().unwrap().unwrap_err();
    assert!(matches!(failed, StreamError::Io(error) if error.kind() == ErrorKind::UnexpectedEof));
}

#[test]
fn a_peer_that_is_silent_in_the_handshake_is_left() {
    let (ours, theirs) = tcp();
    theirs
        .set_read_timeout(Some(Duration::from_millis(10)))
        .unwrap();
    let failed = Stream::accept(theirs, &identity(), |_| true).unwrap_err();
    assert!(matches!(
        failed,
        StreamError::Io(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind())
    ));
    drop(ours);
}

/// Serves what is sent to it; `None` is a failure to accept.
fn served(
    limit: usize,
    admit: impl Fn(&PublicKey) -> bool + Send + Sync + 'static,
    handler: impl Fn(Stream<TcpStream>) -> io::Result<()> + Send + Sync + 'static,
) -> (
    Arc<Identity>,
    mpsc::Sender<Option<TcpStream>>,
    thread::JoinHandle<Vec<String>>,
) {
    let server = identity();
    let (sender, receiver) = mpsc::channel::<Option<TcpStream>>();
    let served = Server::new(server.clone()).with_limit(limit);
    let serving = thread::spawn(move || {
        let reports = Mutex::<Vec<String>>::default();
        let connections = receiver
            .into_iter()
            .map(|connection| connection.ok_or_else(|| io::Error::other("no descriptors")));
        served.serve(connections, admit, handler, |error| {
            reports.lock().unwrap().push(error.to_string());
        });
        reports.into_inner().unwrap()
    });
    (server, sender, serving)
}

#[test]
fn a_server_serves_a_listener_of_ones_own_until_it_ends() {
    let (alice, mallory) = (identity(), identity());
    let refused = *mallory.public_key();
    let (most, now) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let handler = move |mut stream: Stream<TcpStream>| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let mut question = Vec::new();
        stream.read_to_end(&mut question)?;
        now.fetch_sub(1, Ordering::SeqCst);
        assert!(question != b"trouble", "asked for");
        stream.write_all(&question)?;
        stream.finish()
    };
    let (server, connections, serving) = served(2, move |peer| *peer != refused, handler);
    let ask = |client: &Identity, question: &[u8]| {
        let (ours, theirs) = tcp();
        connections.send(Some(theirs)).unwrap();
        let mut stream = Stream::connect(ours, client, *server.public_key()).unwrap();
        stream.write_all(question)?;
        stream.finish()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        io::Result::Ok(answer)
    };
    assert_eq!(ask(&alice, b"one").unwrap(), b"one");
    // A handler that panics, a key that is not let in and a failure to accept end nothing else.
    assert!(ask(&alice, b"trouble").is_err());
    assert!(ask(&mallory, b"let me in").is_err());
    connections.send(None).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(ask(&alice, &content(100_000)).unwrap(), content(100_000)));
        }
    });
    drop(connections);
    let mut reports = serving.join().unwrap();
    reports.sort();
    assert_eq!(
        reports,
        [
            "the connection failed in the handshake: no descriptors",
            "the connector's key is not let in"
        ]
    );
    assert!(most.load(Ordering::SeqCst) <= 2);
}
