//! What sockets can do by libzmq's draft functions.

use libc::c_int;
use sealwire::{Error, MessageError, SocketType, StateError, embed};

use super::{POLLOUT, Socket};
use crate::errno::Errno;
use crate::monitor::Form;
use crate::options::number;

impl Socket {
    /// `zmq_join`.
    ///
    /// # Errors
    ///
    /// `EINVAL` for other types than DISH, for a group that it has joined, or whose name is empty or longer than 255
    /// bytes; `ETERM`.
    pub(crate) fn join(&self, group: &[u8]) -> Result<(), Errno> {
        self.check()?;
        self.of_group(self.inner.join(group))
    }

    /// `zmq_leave`.
    ///
    /// # Errors
    ///
    /// `EINVAL` for other types than DISH, and for a group that it has not joined; `ETERM`.
    pub(crate) fn leave(&self, group: &[u8]) -> Result<(), Errno> {
        self.check()?;
        self.of_group(self.inner.leave(group))
    }

    fn of_group(&self, changed: Result<(), Error>) -> Result<(), Errno> {
        changed.map_err(|error| match error {
            Error::Unsupported(_)
            | Error::Message(MessageError::NoGroup)
            | Error::State(StateError::JoinedAlready | StateError::NotJoined) => Errno::INVAL,
            error => self.errno(&error),
        })
    }

    /// `zmq_connect_peer`: connects, and gives the routing id by which messages go there, from now on.
    ///
    /// # Errors
    ///
    /// `ENOTSUP` for other types than PEER, `EFAULT` with `ZMQ_IMMEDIATE`, and those of `zmq_connect`.
    pub(crate) fn connect_peer(&self, text: &str) -> Result<u32, Errno> {
        self.check()?;
        if self.socket_type != SocketType::Peer {
            return Err(Errno::NOTSUP);
        }
        if self.settings().flag(number::IMMEDIATE) {
            return Err(Errno::FAULT);
        }
        let connect = |_: &mut _, endpoint| embed::connect_peer(&self.inner, endpoint);
        let routing_id = self.connect_by(text, false, connect)?;
        routing_id.ok_or(Errno::INVAL)
    }

    /// `zmq_socket_get_peer_state`: `POLLOUT` where there is room for a message to the peer.
    ///
    /// # Errors
    ///
    /// `ENOTSUP` for other types than ROUTER, `EHOSTUNREACH` for a routing id that no peer has.
    pub(crate) fn peer_state(&self, routing_id: &[u8]) -> Result<c_int, Errno> {
        if self.socket_type != SocketType::Router {
            return Err(Errno::NOTSUP);
        }
        let room = embed::has_room_for(&self.inner, routing_id);
        let room = room.map_err(|error| self.errno(&error))?;
        Ok(if room { POLLOUT.into() } else { 0 })
    }

    /// `zmq_socket_monitor_versioned`.
    ///
    /// # Errors
    ///
    /// `EINVAL` for events, versions and types that there are not, and those of `zmq_socket_monitor`.
    pub(crate) fn monitor_versioned(
        &self,
        endpoint: Option<&str>,
        events: u64,
        version: c_int,
        socket_type: c_int,
    ) -> Result<(), Errno> {
        let form = match version {
            1 if events >> 16 != 0 => return Err(Errno::INVAL),
            1 => Form::First,
            2 => Form::Second,
            _ => return Err(Errno::INVAL),
        };
        let by = super::type_of(socket_type).filter(|by| {
            use SocketType::{Pair, Pub, Push};
            matches!(by, Pair | Pub | Push)
        });
        self.monitor_in(form, endpoint, events, by.unwrap_or(SocketType::Dealer))
    }

    /// `zmq_socket_monitor_pipes_stats`: tells the monitor how much waits for each peer, and from each.
    ///
    /// # Errors
    ///
    /// `EINVAL` where no monitor wants that, `EAGAIN` where there are no peers, `ETERM`.
    pub(crate) fn tell_queues(&self) -> Result<(), Errno> {
        self.check()?;
        let observer = self.observer();
        let observer = observer.as_ref().filter(|it| it.wants_queues());
        let observer = observer.ok_or(Errno::INVAL)?;
        let queues = embed::queues(&self.inner).map_err(|error| self.errno(&error))?;
        if queues.is_empty() {
            return Err(Errno::AGAIN);
        }
        for queue in &queues {
            observer.tell_queue(queue);
        }
        Ok(())
    }
}
