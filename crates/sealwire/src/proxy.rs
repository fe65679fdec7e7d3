//! Devices: everything that arrives on one socket goes out on another, both ways.

use std::thread;

use crate::blocking::Socket;
use crate::error::Error;
use crate::message::Message;

/// Messages moved at a time.
const BATCH: usize = 256;

/// Connects two sockets until one of them is closed: ROUTER and DEALER (a queue), XSUB and XPUB (a
/// forwarder), PULL and PUSH (a streamer), or any other pair that can talk to each other. Blocks;
/// the sockets may use different mechanisms.
///
/// Messages keep their frames, not their [peer](Message::peer): the other side sees this process.
///
/// # Errors
///
/// Whatever ends it: [`Error::Closed`] when a socket is closed, which is how to stop it.
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
    thread::scope(|scope| {
        let back = scope.spawn(|| forward(backend, frontend));
        let forth = forward(frontend, backend);
        let back = back
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        forth.and(back)
    })
}

/// One direction; closes both sockets at its end, so that the other direction ends as well.
fn forward(from: &Socket, to: &Socket) -> Result<(), Error> {
    let outcome = forward_until_closed(from, to);
    for socket in [from, to] {
        socket.begin_close();
    }
    outcome
}

fn forward_until_closed(from: &Socket, to: &Socket) -> Result<(), Error> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        match from.recv_many(&mut batch, BATCH) {
            // A direction that the socket types do not have (PUSH has nothing to receive).
            Err(Error::Unsupported(_)) => return from.wait_closed(),
            outcome => outcome?,
        };
        for message in batch.drain(..) {
            match to.send(Message::from(message.into_frames())) {
                Err(error) if matches!(error.error(), Error::Unsupported(_)) => {}
                outcome => outcome?,
            }
        }
    }
}
