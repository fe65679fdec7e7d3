//! The contenders behind one interface. Each sends and receives single messages, as a program
//! would that knows nothing about batches; but for one, which gathers what it is to send.

pub(crate) mod libzmq;
pub(crate) mod omq;
pub(crate) mod sealwire;
pub(crate) mod tcp;
pub(crate) mod tls;
pub(crate) mod zmq_rs;

use bytes::Bytes;

use crate::Outcome;
use crate::task::Task;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Push,
    Pull,
    Pub,
    Sub,
    Req,
    Rep,
    Dealer,
    Router,
}

/// A library in this process.
pub(crate) trait Node: Sized {
    type Socket: Socket;

    fn new(task: &Task) -> Outcome<Self>;

    /// Runs what waits for this library's sockets.
    fn run<T>(&self, work: impl Future<Output = T>) -> T;

    /// The key that clients need, as text.
    fn public_key(&self) -> String;

    /// A socket that binds.
    fn server(&self, kind: Kind) -> Outcome<Self::Socket>;

    /// A socket that connects.
    fn client(&self, kind: Kind, key: &str) -> Outcome<Self::Socket>;
}

/// Runs on one thread; libraries without async calls block in them.
#[allow(async_fn_in_trait)]
pub(crate) trait Socket {
    type Messages<'a>: Messages
    where
        Self: 'a;

    /// Its messages, one after the other, for a socket that does nothing but receive.
    fn messages(&mut self) -> Self::Messages<'_>;

    /// Says where it is bound.
    async fn bind(&mut self, endpoint: &str) -> Outcome<String>;

    async fn connect(&mut self, endpoint: &str) -> Outcome<()>;

    /// To everything.
    async fn subscribe(&mut self) -> Outcome<()>;

    async fn send(&mut self, payload: &Bytes) -> Outcome<()>;

    /// Receives one message and says its first byte.
    async fn receive(&mut self) -> Outcome<u8>;

    /// Receives one message and sends it back to where it came from.
    async fn echo(&mut self) -> Outcome<()>;

    async fn close(self) -> Outcome<()>;
}

/// Messages one after the other.
#[allow(async_fn_in_trait)]
pub(crate) trait Messages {
    /// Waits for the next one and says its first byte.
    async fn next(&mut self) -> Outcome<u8>;
}

/// A library that has nothing for it but to receive one and again one.
impl<S: Socket> Messages for &mut S {
    async fn next(&mut self) -> Outcome<u8> {
        self.receive().await
    }
}

/// Runs a future whose calls block, so that it is ready at once.
fn run_blocking<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match work.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => unreachable!("blocking calls are never pending"),
    }
}

fn first_byte(payload: &[u8]) -> u8 {
    payload.first().copied().unwrap_or_default()
}
