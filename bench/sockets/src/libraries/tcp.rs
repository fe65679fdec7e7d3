//! The system's own sockets, without messages: what is left when a library costs nothing.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use bytes::Bytes;

use super::{Kind, run_blocking};
use crate::Outcome;
use crate::task::Task;

/// Bytes of one write. Loopback gets two to three times slower from 65,536 on.
const WRITE_SIZE: usize = 65_472;
const READ_SIZE: usize = 64 << 10;

pub(crate) struct Node {
    size: usize,
}

impl super::Node for Node {
    type Socket = Socket;

    fn new(task: &Task) -> Outcome<Self> {
        Ok(Node { size: task.size })
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        run_blocking(work)
    }

    fn public_key(&self) -> String {
        String::new()
    }

    fn server(&self, kind: Kind) -> Outcome<Socket> {
        self.client(kind, "")
    }

    fn client(&self, kind: Kind, _: &str) -> Outcome<Socket> {
        Ok(Socket {
            gathers: kind == Kind::Push,
            size: self.size,
            ..Socket::default()
        })
    }
}

#[derive(Default)]
pub(crate) struct Socket {
    /// Payloads are gathered for writes of one size.
    gathers: bool,
    listener: Option<TcpListener>,
    stream: Option<TcpStream>,
    gathered: Vec<u8>,
    read: Vec<u8>,
    /// Size of a message.
    size: usize,
    /// Bytes of messages not yet counted.
    counted: usize,
}

impl Socket {
    fn stream(&mut self) -> Outcome<&mut TcpStream> {
        if let Some(listener) = self.listener.take() {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            self.stream = Some(stream);
        }
        self.stream.as_mut().ok_or_else(|| "not connected".into())
    }
}

impl super::Socket for Socket {
    type Messages<'a> = &'a mut Self;

    fn messages(&mut self) -> &mut Self {
        self
    }

    async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
        let listener = TcpListener::bind(endpoint.trim_start_matches("tcp://"))?;
        let bound = format!("tcp://{}", listener.local_addr()?);
        self.listener = Some(listener);
        Ok(bound)
    }

    async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
        let stream = TcpStream::connect(endpoint.trim_start_matches("tcp://"))?;
        stream.set_nodelay(true)?;
        self.stream = Some(stream);
        Ok(())
    }

    async fn subscribe(&mut self) -> Outcome<()> {
        Err("TCP has no subscriptions".into())
    }

    async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
        if !self.gathers {
            return Ok(self.stream()?.write_all(payload)?);
        }
        self.gathered.extend_from_slice(payload);
        let mut written = 0;
        while self.gathered.len() - written >= WRITE_SIZE {
            let gathered = std::mem::take(&mut self.gathered);
            self.stream()?
                .write_all(&gathered[written..written + WRITE_SIZE])?;
            self.gathered = gathered;
            written += WRITE_SIZE;
        }
        self.gathered.drain(..written);
        Ok(())
    }

    async fn receive(&mut self) -> Outcome<u8> {
        let mut buffer = std::mem::take(&mut self.read);
        buffer.resize(READ_SIZE, 0);
        while self.counted < self.size {
            let length = self.stream()?.read(&mut buffer)?;
            if length == 0 {
                return Err("the other side closed".into());
            }
            self.counted += length;
        }
        self.counted -= self.size;
        let first = buffer[0];
        self.read = buffer;
        Ok(first)
    }

    async fn echo(&mut self) -> Outcome<()> {
        let first = self.receive().await?;
        let answer = vec![first; self.size];
        Ok(self.stream()?.write_all(&answer)?)
    }

    async fn close(self) -> Outcome<()> {
        Ok(())
    }
}
