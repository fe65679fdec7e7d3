//! Devices: everything that arrives on one socket goes out on another, both ways.

mod forwarding;
mod refusals;
mod steering;

use std::sync::Arc;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::error::Error;
use crate::socket::blocking::Socket;

pub(crate) use forwarding::Forwarding;
#[cfg(test)]
pub(crate) use forwarding::Step;
pub(crate) use steering::Steering;

/// Connects two sockets until one of them is closed: ROUTER and DEALER (a queue), XSUB and XPUB (a
/// forwarder), PULL and PUSH (a streamer), or any other pair that can talk to each other. Blocks;
/// the sockets may use different mechanisms.
///
/// A message that the other side does not take (a routing id that no peer has, a cancellation of
/// what nobody subscribed to) is dropped, counted in [`Counters::dropped_at_send`] of that side and
/// logged; the device goes on.
///
/// Messages keep their frames, not their [peer](crate::Message::peer): the other side sees this process.
///
/// # Errors
///
/// [`Error::Closed`] when a socket is closed, which is how to stop it; [`Error::System`] when the
/// system refuses a thread, or something that a socket needs; [`Error::State`] for socket types that
/// no device has (REQ, REP).
///
/// [`Counters::dropped_at_send`]: crate::Counters::dropped_at_send
///
/// ```
/// use sealwire::{SocketType, blocking::Socket, proxy};
///
/// let frontend = Socket::new(SocketType::Router)?;
/// let backend = Socket::new(SocketType::Dealer)?;
/// frontend.bind("inproc://front")?;
/// backend.bind("inproc://back")?;
/// let (client, worker) = (Socket::new(SocketType::Req)?, Socket::new(SocketType::Rep)?);
/// client.connect("inproc://front")?;
/// worker.connect("inproc://back")?;
///
/// let device = std::thread::spawn({
///     let (frontend, backend) = (frontend.clone(), backend.clone());
///     move || proxy(&frontend, &backend)
/// });
/// client.send("question")?;
/// assert_eq!(worker.recv()?.as_bytes(), b"question");
/// worker.send("answer")?;
/// assert_eq!(client.recv()?.as_bytes(), b"answer");
///
/// frontend.close()?;
/// assert!(device.join().unwrap().is_err());
/// # Ok::<(), sealwire::Error>(())
/// ```
pub fn proxy(frontend: &Socket, backend: &Socket) -> Result<(), Error> {
    Proxy::new(frontend, backend).run()
}

/// A [`proxy`] with a socket that sees everything, a socket that steers it, or both.
///
/// ```
/// use sealwire::{Proxy, SocketType, blocking::Socket};
///
/// let (frontend, backend) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
/// let (capture, control) = (Socket::new(SocketType::Push)?, Socket::new(SocketType::Rep)?);
/// control.bind("inproc://control")?;
/// let device = std::thread::spawn(move || {
///     Proxy::new(&frontend, &backend).capture(&capture).control(&control).run()
/// });
///
/// let operator = Socket::new(SocketType::Req)?;
/// operator.connect("inproc://control")?;
/// for command in ["PAUSE", "RESUME", "STATISTICS", "TERMINATE"] {
///     operator.send(command)?;
///     let answer = operator.recv()?;
///     assert_eq!(answer.len(), if command == "STATISTICS" { 8 } else { 1 });
/// }
/// device.join().unwrap()?;
/// # Ok::<(), sealwire::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Proxy<'a> {
    frontend: &'a Socket,
    backend: &'a Socket,
    capture: Option<&'a Socket>,
    control: Option<&'a Socket>,
}

impl<'a> Proxy<'a> {
    /// Makes a proxy between these two sockets.
    pub fn new(frontend: &'a Socket, backend: &'a Socket) -> Self {
        Proxy {
            frontend,
            backend,
            capture: None,
            control: None,
        }
    }

    /// Sends a copy of every message to this socket (PUB, PUSH, PAIR or DEALER). It never holds
    /// the others up: what it has no room for it misses.
    pub fn capture(mut self, capture: &'a Socket) -> Self {
        self.capture = Some(capture);
        self
    }

    /// Handles the commands that this socket (REP, PAIR, PULL or SUB) receives, as libzmq's
    /// `zmq_proxy_steerable` does:
    ///
    /// | command | does |
    /// |---|---|
    /// | `PAUSE` | takes no more messages; those taken still go out |
    /// | `RESUME` | goes on |
    /// | `TERMINATE` | ends the proxy; its sockets stay open, and what was taken and cannot be sent at once is lost |
    /// | `STATISTICS` | answers with 8 frames of 8 bytes, in the machine's byte order: messages and bytes received, messages and bytes sent, of the frontend, then of the backend |
    ///
    /// REP answers every command, with an empty message where nothing else is to be said and with an error in
    /// words to anything else. PAIR answers `STATISTICS`.
    pub fn control(mut self, control: &'a Socket) -> Self {
        self.control = Some(control);
        self
    }

    /// Runs until it is terminated. Blocks.
    ///
    /// # Errors
    ///
    /// * [`Error::Closed`] if another handle closes one of the sockets.
    /// * [`Error::System`] if the system refuses a thread, or something that a socket needs.
    /// * [`Error::State`] for socket types that no device has (REQ, REP).
    ///
    /// Both sockets are closed then.
    pub fn run(self) -> Result<(), Error> {
        let steering = Arc::<Steering>::default();
        let [forth, back] = self.directions(&steering);
        thread::scope(|scope| {
            let sockets = [self.frontend, self.backend];
            let back = spawn(scope, || back.run());
            let control = self.control.map(|control| {
                let steering = &steering;
                spawn(scope, move || steering.run(control, &sockets))
            });
            let (back, control) = match (back, control.transpose()) {
                (Ok(back), Ok(control)) => (back, control),
                // A thread that was started ends with the sockets and what it is told.
                (Err(refused), control) => {
                    self.give_up(&steering);
                    drop(control);
                    return Err(refused);
                }
                (_, Err(refused)) => {
                    self.give_up(&steering);
                    return Err(refused);
                }
            };
            let forth = forth.run();
            let back = back
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            steering.terminate();
            if let (Some(socket), Some(thread)) = (self.control, control) {
                socket.wake();
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            forth.and(back)
        })
    }

    /// From the frontend to the backend, and back.
    pub(crate) fn directions(&self, steering: &Arc<Steering>) -> [Forwarding<'a>; 2] {
        let (front, back) = (self.frontend, self.backend);
        let [forth, reverse] = steering.directions();
        [
            Forwarding::new(self, [front, back], forth),
            Forwarding::new(self, [back, front], reverse),
        ]
    }

    /// Has the threads end that were started.
    fn give_up(&self, steering: &Steering) {
        for socket in [self.frontend, self.backend] {
            socket.begin_close();
        }
        steering.terminate();
        if let Some(control) = self.control {
            control.wake();
        }
    }
}

/// Starts a thread, which the system may refuse.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    action: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Error> {
    Ok(Builder::new().spawn_scoped(scope, action)?)
}
