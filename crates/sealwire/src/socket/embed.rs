//! What a library with calls and waits of its own needs of a socket: calls that end when its program says so.

use std::time::Duration;

use super::{Socket, SocketBuilder};
use crate::context::Context;
use crate::endpoint::Endpoint;
use crate::error::{Error, Operation, SendError};
use crate::message::Message;
use crate::monitor::{self, Monitor};
use crate::text::printable;

/// Makes a socket do as libzmq where that does otherwise: a SUB tells publishers of a topic each time, an XSUB takes
/// what nobody subscribed to, types that do not fit each other are connected over `inproc`, a ZAP handler is told the
/// socket's own routing id, and where there is none only passwords are refused, unless `zap_enforced`. The peer is told
/// nothing where a handler gave no decision. A peer that broke the protocol or turned the socket away is not connected to
/// again.
pub fn as_libzmq(builder: SocketBuilder, zap_enforced: bool) -> SocketBuilder {
    builder.doing_as_libzmq(zap_enforced)
}

/// Connects with a routing id for the peer that may begin with a zero octet, as libzmq's STREAM has them.
///
/// # Errors
///
/// Those of [`Socket::connect_with_routing_id`].
pub fn connect_as(socket: &Socket, endpoint: Endpoint, routing_id: &[u8]) -> Result<(), Error> {
    socket.connect_as(endpoint, routing_id)
}

/// Receives a message, for up to `limit` and as long as `over` does not hold, which is asked at each
/// [`wake`]. Signal handlers interrupt it where the socket is interruptible.
///
/// # Errors
///
/// Those of a blocking receive; [`Error::Closed`] when it is over.
pub fn receive(
    socket: &Socket,
    limit: Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<Message, Error> {
    let core = socket.core()?;
    core.wait_readable(limit, || match over() {
        true => Err(Error::Closed),
        false => core.try_receive(),
    })
}

/// Waits as [`receive`], and takes nothing.
///
/// # Errors
///
/// [`Error::TimedOut`], [`Error::Closed`] when it is over, [`Error::Interrupted`].
pub fn wait(
    socket: &Socket,
    limit: Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    core.wait_readable(limit, || match over() || core.closed().is_some() {
        true => Err(Error::Closed),
        false => Ok(None),
    })
}

/// Sends a message, waiting for room for up to `limit` and as long as `over` does not hold.
///
/// # Errors
///
/// Those of a blocking send; [`Error::Closed`] when it is over.
pub fn send(
    socket: &Socket,
    message: Message,
    limit: Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), SendError> {
    let core = match socket.core() {
        Ok(core) => core,
        Err(error) => return Err(SendError::new(error, message)),
    };
    core.send_unless(message, limit, over)
}

/// Waits until a message that begins with `head` would be taken, or the error of sending it is known.
///
/// # Errors
///
/// Those of [`send`], but for those that the rest of the message brings.
pub fn wait_for_room(
    socket: &Socket,
    head: &[u8],
    limit: Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    let done = core.wait_for_room(limit, || match over() {
        true => Err(Error::Closed),
        false => core.takes(head),
    })?;
    done.map_err(|why| core.unfinished(why, Operation::Send, limit))
}

/// Makes those who wait ask again whether it is over.
pub fn wake(socket: &Socket) {
    if let Ok(core) = socket.core() {
        core.notify_readable(usize::MAX);
        core.notify_writable();
    }
}

/// Blocks until there is an event to take, which another thread may do meanwhile. Returns `false` once no more will
/// come.
pub fn wait_for_event(monitor: &Monitor) -> bool {
    monitor.wait_for_one()
}

/// Begins to close the socket, with this linger time.
pub fn close(socket: &Socket, linger: Duration) {
    if socket.core().is_ok() {
        socket.handle.close(Some(linger));
    }
}

/// Makes closing sockets of the context wait no longer for one that binds their name of `inproc`: the program binds
/// none any more.
pub fn bind_no_more(context: &Context) {
    if context.check().is_ok() {
        context.inproc().end();
    }
}

/// Ends the threads of a context whose sockets have all ended, although there are handles of it still, and waits for that: where
/// handles live for as long as a collector of garbage leaves them. No socket may be made in it any more.
pub fn end(context: &Context) {
    if context.check().is_ok() {
        context.threads().end();
    }
}

/// Returns whether it is a socket of this context.
pub fn is_of(socket: &Socket, context: &Context) -> bool {
    socket.handle.context().is(context)
}

/// Returns whether nothing works for the closed socket any more.
pub fn has_ended(socket: &Socket) -> bool {
    socket.core().map_or(true, |core| core.has_ended())
}

/// Writes a line on standard error, as that about a failed handshake is written, and waits for it: the process may
/// end at once.
pub fn tell(line: &str) {
    if let Ok(writing) = monitor::print(format!("sealwire: {}\n", printable(line))) {
        let _ = writing.join();
    }
}
