use bytes::Bytes;
use zeromq::{Socket as _, SocketRecv, SocketSend, ZmqMessage};

use super::{Kind, first_byte};
use crate::Outcome;
use crate::task::Task;

pub(crate) struct Node(tokio::runtime::Runtime);

impl super::Node for Node {
    type Socket = Socket;

    fn new(_: &Task) -> Outcome<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Node(runtime))
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.block_on(work)
    }

    fn public_key(&self) -> String {
        String::new()
    }

    fn server(&self, kind: Kind) -> Outcome<Socket> {
        let _inside = self.0.enter();
        Ok(match kind {
            Kind::Push => Socket::Push(zeromq::PushSocket::new()),
            Kind::Pull => Socket::Pull(zeromq::PullSocket::new()),
            Kind::Pub => Socket::Pub(zeromq::PubSocket::new()),
            Kind::Sub => Socket::Sub(zeromq::SubSocket::new()),
            Kind::Req => Socket::Req(zeromq::ReqSocket::new()),
            Kind::Rep => Socket::Rep(zeromq::RepSocket::new()),
            Kind::Dealer => Socket::Dealer(zeromq::DealerSocket::new()),
            Kind::Router => Socket::Router(zeromq::RouterSocket::new()),
        })
    }

    fn client(&self, kind: Kind, _: &str) -> Outcome<Socket> {
        self.server(kind)
    }
}

pub(crate) enum Socket {
    Push(zeromq::PushSocket),
    Pull(zeromq::PullSocket),
    Pub(zeromq::PubSocket),
    Sub(zeromq::SubSocket),
    Req(zeromq::ReqSocket),
    Rep(zeromq::RepSocket),
    Dealer(zeromq::DealerSocket),
    Router(zeromq::RouterSocket),
}

/// Calls the same method on the socket, whichever it is.
macro_rules! on_socket {
    ($self:expr, $socket:ident => $call:expr) => {
        match $self {
            Socket::Push($socket) => $call,
            Socket::Pull($socket) => $call,
            Socket::Pub($socket) => $call,
            Socket::Sub($socket) => $call,
            Socket::Req($socket) => $call,
            Socket::Rep($socket) => $call,
            Socket::Dealer($socket) => $call,
            Socket::Router($socket) => $call,
        }
    };
}

impl Socket {
    async fn send_message(&mut self, message: ZmqMessage) -> Outcome<()> {
        match self {
            Socket::Push(socket) => socket.send(message).await?,
            Socket::Pub(socket) => socket.send(message).await?,
            Socket::Req(socket) => socket.send(message).await?,
            Socket::Rep(socket) => socket.send(message).await?,
            Socket::Dealer(socket) => socket.send(message).await?,
            Socket::Router(socket) => socket.send(message).await?,
            Socket::Pull(_) | Socket::Sub(_) => return Err("it cannot send".into()),
        }
        Ok(())
    }

    async fn receive_message(&mut self) -> Outcome<ZmqMessage> {
        Ok(match self {
            Socket::Pull(socket) => socket.recv().await?,
            Socket::Sub(socket) => socket.recv().await?,
            Socket::Req(socket) => socket.recv().await?,
            Socket::Rep(socket) => socket.recv().await?,
            Socket::Dealer(socket) => socket.recv().await?,
            Socket::Router(socket) => socket.recv().await?,
            Socket::Push(_) | Socket::Pub(_) => return Err("it cannot receive".into()),
        })
    }
}

impl super::Socket for Socket {
    type Messages<'a> = &'a mut Self;

    fn messages(&mut self) -> &mut Self {
        self
    }

    async fn bind(&mut self, endpoint: &str) -> Outcome<String> {
        Ok(on_socket!(self, socket => socket.bind(endpoint).await)?.to_string())
    }

    async fn connect(&mut self, endpoint: &str) -> Outcome<()> {
        Ok(on_socket!(self, socket => socket.connect(endpoint).await)?)
    }

    async fn subscribe(&mut self) -> Outcome<()> {
        match self {
            Socket::Sub(socket) => Ok(socket.subscribe("").await?),
            _ => Err("it cannot subscribe".into()),
        }
    }

    async fn send(&mut self, payload: &Bytes) -> Outcome<()> {
        self.send_message(payload.clone().into()).await
    }

    async fn receive(&mut self) -> Outcome<u8> {
        let message = self.receive_message().await?;
        Ok(message.get(0).map_or(0, |frame| first_byte(frame)))
    }

    async fn echo(&mut self) -> Outcome<()> {
        let message = self.receive_message().await?;
        self.send_message(message).await
    }

    async fn close(self) -> Outcome<()> {
        let _ = on_socket!(self, socket => socket.close().await);
        Ok(())
    }
}
