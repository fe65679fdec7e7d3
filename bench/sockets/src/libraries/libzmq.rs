use std::sync::LazyLock;

use bytes::Bytes;

use super::{Kind, first_byte, run_blocking};
use crate::Outcome;
use crate::contender::{Library, Mechanism};
use crate::task::Task;

/// One for both threads, which `inproc` needs.
static CONTEXT: LazyLock<zmq::Context> = LazyLock::new(zmq::Context::new);

pub(crate) struct Node {
    mechanism: Mechanism,
    queue: i32,
    keys: zmq::CurveKeyPair,
}

impl Node {
    fn socket(&self, kind: Kind) -> Outcome<zmq::Socket> {
        let socket = CONTEXT.socket(match kind {
            Kind::Push => zmq::PUSH,
            Kind::Pull => zmq::PULL,
            Kind::Pub => zmq::PUB,
            Kind::Sub => zmq::SUB,
            Kind::Req => zmq::REQ,
            Kind::Rep => zmq::REP,
            Kind::Dealer => zmq::DEALER,
            Kind::Router => zmq::ROUTER,
        })?;
        // A sender looks for what was read of its queue once in 3 million ticks of the processor's
        // clock. Until then a publisher drops what does not fit, although its subscribers have read
        // all; what is under way is bounded by their acknowledgements here.
        let send_queue = if kind == Kind::Pub { 0 } else { self.queue };
        socket.set_sndhwm(send_queue)?;
        socket.set_rcvhwm(self.queue)?;
        socket.set_linger(0)?;
        Ok(socket)
    }
}

impl super::Node for Node {
    type Socket = Socket;

    fn new(task: &Task) -> Outcome<Self> {
        let ours = zmq::has("sealwire") == Some(true);
        if ours != (task.library == Library::SealwireAsLibzmq) {
            return Err("the loader found the other libzmq.so.5".into());
        }
        Ok(Node {
            mechanism: task.mechanism,
            queue: task.queue() as i32,
            keys: zmq::CurveKeyPair::new()?,
        })
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        run_blocking(work)
    }

    fn public_key(&self) -> String {
        zmq::z85_encode(&self.keys.public_key).unwrap_or_default()
    }

    fn server(&self, kind: Kind) -> Outcome<Socket> {
        let socket = self.socket(kind)?;
        if self.mechanism == Mechanism::Curve {
            socket.set_curve_server(true)?;
            socket.set_curve_secretkey(&self.keys.secret_key)?;
        }
        Ok(Socket(socket))
    }

    fn client(&self, kind: Kind, key: &str) -> Outcome<Socket> {
        let socket = self.socket(kind)?;
        if self.mechanism == Mechanism::Curve {
            socket.set_curve_serverkey(&zmq::z85_decode(key)?)?;
            socket.set_curve_publickey(&self.keys.public_key)?;
            socket.set_curve_secretkey(&self.keys.secret_key)?;
        }
        Ok(Socket(socket))
    }
}

pub(crate) struct Socket(zmq::Socket);

impl super::Socket for Socket {
    type Messages<'a> = &'a mut Self;

    fn messages(&mut self) -> &mut Self {
        self
    }

    async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
        self.0.bind(endpoint)?;
        let bound = self.0.get_last_endpoint()?;
        bound.map_err(|_| "libzmq bound to what is no text".into())
    }

    async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
        Ok(self.0.connect(endpoint)?)
    }

    async fn subscribe(&mut self) -> Outcome<()> {
        Ok(self.0.set_subscribe(b"")?)
    }

    async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
        Ok(self.0.send(&payload[..], 0)?)
    }

    async fn receive(&mut self) -> Outcome<u8> {
        Ok(first_byte(&self.0.recv_msg(0)?))
    }

    async fn echo(&mut self) -> Outcome<()> {
        loop {
            let part = self.0.recv_msg(0)?;
            let more = part.get_more();
            self.0.send(part, if more { zmq::SNDMORE } else { 0 })?;
            if !more {
                return Ok(());
            }
        }
    }

    async fn close(self) -> Outcome<()> {
        Ok(())
    }
}
