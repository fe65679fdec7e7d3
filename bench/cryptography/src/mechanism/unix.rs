//! A handshake and messages over a Unix socket, a thread for each side.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::Times;
use super::pair::{End, Parties};
use crate::{Error, failed};

/// Longest that one side waits for the other.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Sealed bytes that make up one write, about.
const WRITE_SIZE: usize = 64 << 10;
const READ_SIZE: usize = 64 << 10;

/// Nanoseconds from connecting to the last message, for each mechanism.
pub(super) fn medians(
    parties: &[Parties],
    size: usize,
    messages: usize,
    turns: usize,
) -> Result<Times, Error> {
    let mut times = vec![Vec::new(); parties.len()];
    for _ in 0..turns {
        for (parties, times) in parties.iter().zip(&mut times) {
            times.push(one(parties, size, messages)?.as_nanos() as f64);
        }
    }
    Ok(super::medians(parties.iter().map(Parties::name), times))
}

fn one(parties: &Parties, size: usize, messages: usize) -> Result<Duration, Error> {
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let [mut client, mut server] = [
        Side::new(parties.client()?, ours)?,
        Side::new(parties.server()?, theirs)?,
    ];
    let payload = Bytes::from(vec![0x5a; size]);
    let started = Instant::now();
    thread::scope(|scope| {
        let receiving = scope.spawn(move || {
            server.shake_hands()?;
            server.receive(messages, size)
        });
        client.shake_hands()?;
        client.send(messages, &payload)?;
        receiving
            .join()
            .map_err(|_| failed("the server panicked"))?
    })?;
    Ok(started.elapsed())
}

struct Side {
    end: End,
    stream: UnixStream,
    output: BytesMut,
    buffer: Vec<u8>,
}

impl Side {
    fn new(end: End, stream: UnixStream) -> Result<Self, Error> {
        stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(failed)?;
        Ok(Side {
            end,
            stream,
            output: BytesMut::new(),
            buffer: vec![0; READ_SIZE],
        })
    }

    fn shake_hands(&mut self) -> Result<(), Error> {
        self.flush()?;
        while !self.end.is_ready() {
            self.read()?;
            self.flush()?;
        }
        Ok(())
    }

    fn send(&mut self, messages: usize, payload: &Bytes) -> Result<(), Error> {
        let at_once = (WRITE_SIZE / payload.len().max(1)).max(1);
        for sent in 1..=messages {
            // Each message is one of its own, as an application's would be.
            self.end.stage(Bytes::copy_from_slice(payload))?;
            if sent % at_once == 0 {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn receive(&mut self, messages: usize, size: usize) -> Result<(), Error> {
        let (mut count, mut bytes) = self.end.take_messages();
        while count < messages {
            self.read()?;
            let (more, with) = self.end.take_messages();
            (count, bytes) = (count + more, bytes + with);
        }
        if (count, bytes) != (messages, messages * size) {
            return Err(failed(format!("{count} messages arrived, not {messages}")));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.end.take_output(&mut self.output);
        self.stream.write_all(&self.output).map_err(failed)?;
        self.output.clear();
        Ok(())
    }

    fn read(&mut self) -> Result<(), Error> {
        let length = self.stream.read(&mut self.buffer).map_err(failed)?;
        if length == 0 {
            return Err(failed("the other side closed the connection"));
        }
        self.end.input().extend_from_slice(&self.buffer[..length]);
        self.end.open()
    }
}
