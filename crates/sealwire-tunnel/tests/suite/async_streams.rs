//! Streams for tasks, over a pipe that takes and gives a byte at a time.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};
use sealwire_tunnel::stream::StreamError;
use sealwire_tunnel::{AsyncStream, Reason, stream::BrokenOff};

use crate::link::identity;
use crate::streams::content;

#[derive(Default)]
struct Way {
    bytes: VecDeque<u8>,
    closed: bool,
}

/// One end of a pipe. Every second call is not ready, and no call moves more than some bytes.
struct End {
    ways: [Arc<Mutex<Way>>; 2],
    most: usize,
    turn: usize,
}

fn pipe(most: usize) -> [End; 2] {
    let [there, back] = [(); 2].map(|()| Arc::<Mutex<Way>>::default());
    let end = |ways| End {
        ways,
        most,
        turn: 0,
    };
    [end([there.clone(), back.clone()]), end([back, there])]
}

impl End {
    /// A caller that polls all tasks again and again needs no waker.
    fn is_ready(&mut self) -> bool {
        self.turn += 1;
        self.turn.is_multiple_of(2)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.ways[0].lock().unwrap().closed = true;
    }
}

impl AsyncRead for End {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_ready() {
            return Poll::Pending;
        }
        let most = self.most.min(into.len());
        let mut way = self.ways[1].lock().unwrap();
        if way.bytes.is_empty() && !way.closed {
            return Poll::Pending;
        }
        let count = most.min(way.bytes.len());
        for (place, byte) in into.iter_mut().zip(way.bytes.drain(..count)) {
            *place = byte;
        }
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_ready() {
            return Poll::Pending;
        }
        let count = self.most.min(bytes.len());
        self.ways[0].lock().unwrap().bytes.extend(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_ready() {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.ways[0].lock().unwrap().closed = true;
        Poll::Ready(Ok(()))
    }
}

/// Polls both until both are done.
fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut done_one, mut done_other) = (None, None);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10_000_000 {
        if done_one.is_none()
            && let Poll::Ready(done) = one.as_mut().poll(&mut context)
        {
            done_one = Some(done);
        }
        if done_other.is_none()
            && let Poll::Ready(done) = other.as_mut().poll(&mut context)
        {
            done_other = Some(done);
        }
        if done_one.is_some() && done_other.is_some() {
            break;
        }
    }
    (done_one.expect("it ends"), done_other.expect("it ends"))
}

async fn write_all(stream: &mut AsyncStream<End>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = poll_fn(|context| Pin::new(&mut *stream).poll_write(context, bytes)).await?;
        bytes = &bytes[count..];
    }
    Ok(())
}

async fn read_to_end(stream: &mut AsyncStream<End>) -> io::Result<Vec<u8>> {
    let (mut all, mut part) = (Vec::new(), [0; 1_000]);
    loop {
        let count = poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut part)).await?;
        if count == 0 {
            return Ok(all);
        }
        all.extend(&part[..count]);
    }
}

#[test]
fn a_stream_goes_on_wherever_it_had_to_wait() {
    for (most, size) in [(1, 3_000), (7, 70_000), (100_000, 300_000)] {
        let (alice, server) = (identity(), identity());
        let [ours, theirs] = pipe(most);
        let text = content(size);
        let connecting = async {
            let mut stream = AsyncStream::connect(ours, &alice, *server.public_key()).await?;
            write_all(&mut stream, &text).await?;
            stream.finish().await?;
            let back = read_to_end(&mut stream).await?;
            poll_fn(|context| Pin::new(&mut stream).poll_close(context)).await?;
            Ok::<_, StreamError>(back)
        };
        let accepting = async {
            let mut stream = AsyncStream::accept(theirs, &server, |_| true).await?;
            let there = read_to_end(&mut stream).await?;
            write_all(&mut stream, &there).await?;
            stream.finish().await?;
            Ok::<_, StreamError>(*stream.peer())
        };
        let (back, peer) = both(connecting, accepting);
        assert!(back.unwrap() == text);
        assert_eq!(peer.unwrap(), *alice.public_key());
    }
}

#[test]
fn who_is_not_let_in_is_told_and_a_cut_is_an_error() {
    let (alice, server) = (identity(), identity());
    for admitted in [false, true] {
        let [ours, theirs] = pipe(64);
        let connecting = async {
            let mut stream = AsyncStream::connect(ours, &alice, *server.public_key())
                .await
                .unwrap();
            read_to_end(&mut stream).await.unwrap_err()
        };
        // The stream is dropped as soon as it is accepted.
        let accepting = async {
            AsyncStream::accept(theirs, &server, |_| admitted)
                .await
                .err()
        };
        let (error, refused) = both(connecting, accepting);
        if admitted {
            assert!(refused.is_none());
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        } else {
            assert!(matches!(refused, Some(StreamError::Refused(_))));
            let reason = error.get_ref().and_then(|error| error.downcast_ref());
            assert_eq!(reason, Some(&BrokenOff(Reason::Refused)));
        }
    }
}
