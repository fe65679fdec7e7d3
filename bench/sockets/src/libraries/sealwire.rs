use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Incoming;
use sealwire::{Frame, Generate as _, KeyPair, Message, PublicKey, Security, SocketType};

use super::{Kind, first_byte, run_blocking};
use crate::Outcome;
use crate::contender::{Library, Mechanism};
use crate::task::Task;

pub(crate) struct Node {
    mechanism: Mechanism,
    queue: usize,
    /// Messages that are sent with one call.
    batch: usize,
    keys: KeyPair,
}

impl Node {
    fn socket(&self, kind: Kind, security: Security) -> Outcome<Socket> {
        let socket_type = match kind {
            Kind::Push => SocketType::Push,
            Kind::Pull => SocketType::Pull,
            Kind::Pub => SocketType::Pub,
            Kind::Sub => SocketType::Sub,
            Kind::Req => SocketType::Req,
            Kind::Rep => SocketType::Rep,
            Kind::Dealer => SocketType::Dealer,
            Kind::Router => SocketType::Router,
        };
        let socket = sealwire::blocking::Socket::builder(socket_type)
            .security(security)
            .send_high_water_mark(self.queue)
            .receive_high_water_mark(self.queue)
            .linger(Duration::ZERO)
            .build_blocking()?;
        Ok(Socket {
            socket,
            batch: self.batch,
            unsent: VecDeque::with_capacity(self.batch),
        })
    }
}

impl super::Node for Node {
    type Socket = Socket;

    fn new(task: &Task) -> Outcome<Self> {
        Ok(Node {
            mechanism: task.mechanism,
            queue: task.queue(),
            batch: match task.library {
                Library::SealwireBatches => 64,
                _ => 1,
            },
            keys: KeyPair::generate(),
        })
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        run_blocking(work)
    }

    fn public_key(&self) -> String {
        self.keys.public().to_z85()
    }

    fn server(&self, kind: Kind) -> Outcome<Socket> {
        let keys = self.keys.clone();
        let security = match self.mechanism {
            Mechanism::Null => Security::plain_text(),
            Mechanism::Curve => Security::curve_server(keys, AllowAnyone),
            Mechanism::Blake3 => Security::blake3_server(keys, AllowAnyone).into(),
        };
        self.socket(kind, security)
    }

    fn client(&self, kind: Kind, key: &str) -> Outcome<Socket> {
        let keys = self.keys.clone();
        let security = match self.mechanism {
            Mechanism::Null => Security::plain_text(),
            Mechanism::Curve => Security::curve_client(key.parse::<PublicKey>()?, keys),
            Mechanism::Blake3 => {
                Security::blake3_client_with_keys(key.parse::<PublicKey>()?, keys).into()
            }
        };
        self.socket(kind, security)
    }
}

pub(crate) struct Socket {
    socket: sealwire::blocking::Socket,
    batch: usize,
    unsent: VecDeque<Message>,
}

impl super::Messages for Incoming<'_> {
    async fn next(&mut self) -> Outcome<u8> {
        let message = Iterator::next(self).ok_or("the socket is closed")??;
        Ok(first_byte(message.as_bytes()))
    }
}

impl super::Socket for Socket {
    type Messages<'a> = Incoming<'a>;

    fn messages(&mut self) -> Incoming<'_> {
        self.socket.incoming()
    }

    async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
        Ok(self.socket.bind(endpoint)?.to_string())
    }

    async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
        Ok(self.socket.connect(endpoint)?)
    }

    async fn subscribe(&mut self) -> Outcome<()> {
        Ok(self.socket.subscribe("")?)
    }

    async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
        // As a program would: what fits is copied, what is large is shared.
        let message = match payload.len() {
            0..=Frame::INLINE => Message::from(&payload[..]),
            _ => Message::from(payload.clone()),
        };
        if self.batch == 1 {
            return Ok(self.socket.send(message)?);
        }
        self.unsent.push_back(message);
        if self.unsent.len() == self.batch {
            self.socket.send_many(&mut self.unsent)?;
        }
        Ok(())
    }

    async fn receive(&mut self) -> Outcome<u8> {
        Ok(first_byte(self.socket.recv()?.as_bytes()))
    }

    async fn echo(&mut self) -> Outcome<()> {
        let request = self.socket.recv()?;
        Ok(self.socket.send(Message::from(request.into_frames()))?)
    }

    async fn close(self) -> Outcome<()> {
        Ok(self.socket.close()?)
    }
}
