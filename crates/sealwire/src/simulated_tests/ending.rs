//! Sockets that close while a run goes on.

use super::*;

/// A socket that is used, and then closes.
pub(super) enum Ending {
    Open(Socket),
    Closing(Pin<Box<dyn Future<Output = Result<(), Error>>>>),
    Closed { unsent: usize },
}

impl Ending {
    /// The socket, while it is open.
    pub(super) fn open(&self) -> Option<&Socket> {
        match self {
            Ending::Open(socket) => Some(socket),
            Ending::Closing(_) | Ending::Closed { .. } => None,
        }
    }

    /// Goes on with closing it.
    pub(super) fn close(&mut self) {
        let mut closing = match std::mem::replace(self, Ending::Closed { unsent: 0 }) {
            Ending::Open(socket) => Box::pin(socket.close()) as Pin<Box<_>>,
            Ending::Closing(closing) => closing,
            closed @ Ending::Closed { .. } => return *self = closed,
        };
        let mut context = TaskContext::from_waker(Waker::noop());
        *self = match closing.as_mut().poll(&mut context) {
            Poll::Ready(Ok(())) => Ending::Closed { unsent: 0 },
            Poll::Ready(Err(Error::Unsent(unsent))) => Ending::Closed { unsent },
            Poll::Ready(Err(error)) => panic!("{error}"),
            Poll::Pending => Ending::Closing(closing),
        };
    }

    /// Once it is closed, how many messages it counted as lost.
    pub(super) fn unsent(&self) -> Option<usize> {
        match self {
            Ending::Closed { unsent } => Some(*unsent),
            Ending::Open(_) | Ending::Closing(_) => None,
        }
    }
}

/// What stays of a socket that is open, also once it is closed.
pub(super) fn core_of(socket: &Ending) -> Arc<SocketCore> {
    let socket = socket.open().expect("an open socket");
    socket.core().unwrap().clone()
}
