//! What a library with calls and waits of its own needs of a socket: calls that end when its program says so.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::Frames;

use super::{Socket, SocketBuilder};
use crate::context::Context;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::error::{Error, Operation};
use crate::message::Message;
use crate::monitor::Monitor;
pub use crate::monitor::{CONNECTIONS, LogLines, log_to};
pub use crate::pattern::PeerQueue;
use crate::peer::Peer;
use crate::standard_error;
use crate::text::printable;
use crate::waiting::Readiness;

/// Makes a socket do as libzmq where that does otherwise: a SUB tells publishers of a topic each time, an XSUB takes
/// what nobody subscribed to, an empty routing id is announced, types that do not fit each other are connected over `inproc`, a ZAP handler is told the
/// socket's own routing id and the process of a peer over `ipc`, generated routing ids begin with a random number, and without a ZAP handler only passwords are refused, unless `zap_enforced`. The peer is told
/// nothing where a handler gave no decision. What came from a peer is discarded as the socket disconnects from it. A peer that broke the protocol or turned the socket away is not connected to
/// again, nor is one within the process. `immediate` counts for the network only, a ROUTER with `router_mandatory` may send while some peer has room, a REP takes no
/// request without a frame behind its delimiter, and names and interfaces are listened on with IPv6 where that is allowed and there is an address.
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

/// Connects a PEER to an endpoint as [`Socket::connect_peer`], and does not wait: gives the number by which messages go
/// to the peer there from now on, and which it keeps.
///
/// # Errors
///
/// Those of [`Socket::connect`]; [`Error::Unsupported`] for other types, and where messages are not queued before the
/// peer is there.
pub fn connect_peer(socket: &Socket, endpoint: Endpoint) -> Result<u32, Error> {
    let connector = socket.start_connecting_to_peer(endpoint)?;
    let routing_id = socket.core()?.routing_id_of_connector(connector)?;
    routing_id.ok_or(Error::Unsupported(Operation::RoutingId))
}

/// Returns whether there is room for a message to the peer of a ROUTER that has this routing id.
///
/// # Errors
///
/// [`Error::Unsupported`] for other types, [`Error::Unroutable`] if no peer has it.
pub fn has_room_for(socket: &Socket, routing_id: &[u8]) -> Result<bool, Error> {
    socket.core()?.has_room_for(routing_id)
}

/// Returns how many messages wait for each peer, and from each.
///
/// # Errors
///
/// [`Error::Closed`] and the like.
pub fn queues(socket: &Socket) -> Result<Vec<PeerQueue>, Error> {
    socket.core()?.queues_of_peers()
}

/// Receives up to `most` messages, 1 or more, and appends them to `into`. Where there is none it waits for one, for up
/// to `limit`, which is asked then, and as long as `over` does not hold, which is asked at each [`wake`]. Signal
/// handlers interrupt it where the socket is interruptible.
///
/// # Errors
///
/// Those of a blocking receive; [`Error::Closed`] when it is over.
pub fn receive(
    socket: &Socket,
    into: &mut Vec<Message>,
    most: usize,
    limit: impl FnOnce() -> Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    let mut waited = None;
    let until = || {
        waited = limit();
        core.until(waited)
    };
    let done = core.wait_readable_until(until, || match over() {
        true => Err(Error::Closed),
        false => take(core, into, most),
    })?;
    done.map_err(|why| core.unfinished(why, Operation::Receive, waited))
}

/// The same without waiting.
///
/// # Errors
///
/// Those of [`receive`]; [`Error::WouldBlock`] where there is none.
pub fn try_receive(socket: &Socket, into: &mut Vec<Message>, most: usize) -> Result<(), Error> {
    let core = socket.core()?;
    if take(core, into, most)?.is_some() {
        return Ok(());
    }
    core.read_leased();
    take(core, into, most)?.ok_or(Error::WouldBlock)
}

fn take(core: &SocketCore, into: &mut Vec<Message>, most: usize) -> Result<Option<()>, Error> {
    if most == 1 {
        let message = core.try_receive()?;
        return Ok(message.map(|message| into.push(message)));
    }
    let taken = core.try_receive_many(into, most)?;
    Ok((taken > 0).then_some(()))
}

/// Takes messages back that were received and are to be received again, in this order.
pub fn give_back(socket: &Socket, messages: impl IntoIterator<Item = Message>) {
    if let Ok(core) = socket.core() {
        core.give_back(messages.into_iter().collect());
    }
}

/// The frames of a message, and whom it came from.
#[inline]
pub fn parts(message: &mut Message) -> (&mut Frames, &mut Option<Arc<Peer>>) {
    message.parts_mut()
}

/// Sends a message, or leaves it as it was. Where there is no room it waits for some, for up to `limit`, which is asked
/// then, and as long as `over` does not hold.
///
/// # Errors
///
/// Those of a blocking send; [`Error::Closed`] when it is over.
#[inline]
pub fn send(
    socket: &Socket,
    message: &mut Frames,
    limit: impl FnOnce() -> Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    once_there_is_room(core, limit, over, || core.send_or_leave(message))
}

/// Attempts it at once, and then whenever there may be room, until it is done.
#[inline]
fn once_there_is_room(
    core: &SocketCore,
    limit: impl FnOnce() -> Option<Duration>,
    over: impl Fn() -> bool,
    mut attempt: impl FnMut() -> Result<bool, Error>,
) -> Result<(), Error> {
    if attempt()? {
        return Ok(());
    }
    let limit = limit();
    let done = core.wait_for_room(limit, || match over() {
        true => Err(Error::Closed),
        false => attempt(),
    })?;
    done.map_err(|why| core.unfinished(why, Operation::Send, limit))
}

/// The same without waiting.
///
/// # Errors
///
/// Those of [`send`]; [`Error::WouldBlock`] where there is no room.
#[inline]
pub fn try_send(socket: &Socket, message: &mut Frames) -> Result<(), Error> {
    match socket.core()?.send_or_leave(message)? {
        true => Ok(()),
        false => Err(Error::WouldBlock),
    }
}

/// Sends messages from the front of the queue, each as [`send`] does.
///
/// # Errors
///
/// Those of [`send`] for the first message that is left.
pub fn send_many(
    socket: &Socket,
    messages: &mut VecDeque<Message>,
    limit: impl FnOnce() -> Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    once_there_is_room(core, limit, over, || {
        core.try_send_many(messages)?;
        Ok(messages.is_empty())
    })
}

/// Waits until a message that begins with `head` would be taken, or the error of sending it is known.
///
/// # Errors
///
/// Those of [`send`], but for those that the rest of the message brings.
pub fn wait_for_room(
    socket: &Socket,
    head: &[u8],
    limit: impl FnOnce() -> Option<Duration>,
    over: impl Fn() -> bool,
) -> Result<(), Error> {
    let core = socket.core()?;
    once_there_is_room(core, limit, over, || core.takes(head))
}

/// A descriptor as [`Socket::readiness`] gives it, for those who look before they wait: what comes while there is something
/// to receive may be told once that was received.
///
/// # Errors
///
/// Those of [`Socket::readiness`].
#[cfg(unix)]
pub fn readiness(socket: &Socket) -> io::Result<Readiness> {
    socket.core().map_err(io::Error::other)?.readiness()
}

/// Makes the descriptors of the socket tell each arrival at once, from now on.
#[cfg(unix)]
pub fn tell_each_arrival(socket: &Socket) {
    if let Ok(core) = socket.core() {
        core.pollers.tell_each_arrival();
        core.fetch_what_is_kept_back();
    }
}

/// Returns the address of a peer as libzmq has it: an IP address without port, or the user, group and process at the
/// other end of a Unix socket.
pub fn address(peer: &Peer) -> Option<String> {
    peer.address().as_libzmq(peer.process())
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

/// Returns the user id of a peer, empty where a ZAP handler let it in without one.
pub fn user_id(peer: &Peer) -> Option<&str> {
    let unnamed = || peer.is_vouched_for().then_some("");
    peer.user_id().or_else(unnamed)
}

/// Returns how many messages wait to be sent.
pub fn to_send(socket: &Socket) -> usize {
    socket.core().map_or(0, |core| core.to_send())
}

/// Writes a line on standard error, on this thread: it waits where nobody reads, and has to hold `SIGPIPE` back.
pub fn write_line(line: &str) {
    standard_error::write(format!("sealwire: {}\n", printable(line)).as_bytes());
}

/// Writes a line on standard error, as that about a failed handshake is written, and waits for it: the process may
/// end at once.
pub fn tell(line: &str) {
    if let Ok(writing) = standard_error::print(format!("sealwire: {}\n", printable(line))) {
        let _ = writing.join();
    }
}
