//! CLIENT, SERVER, RADIO, DISH, GATHER, SCATTER, PEER and CHANNEL: their messages have one part and an address beside it,
//! and threads may share them. So nothing is kept between two calls, and none waits for another's.

use libc::c_int;
use sealwire::{Frame, Message, SocketType};

use super::{SNDMORE, Socket};
use crate::errno::Errno;
use crate::message::{Address, Msg};

impl Socket {
    /// Whether it is one of these types.
    pub(crate) fn is_thread_safe(&self) -> bool {
        is_thread_safe(self.socket_type)
    }

    /// Sends a part to an address. One that was not taken is given back.
    ///
    /// # Errors
    ///
    /// `EINVAL` where more parts are to follow, `EHOSTUNREACH` for a routing id that no peer has, `EAGAIN`, `ENOTSUP`,
    /// `EINTR`, `ETERM`.
    pub(crate) fn send_to(
        &self,
        part: Frame,
        address: &Address,
        flags: c_int,
    ) -> Result<(), (Errno, Frame)> {
        if let Err(error) = self.check() {
            return Err((error, part));
        }
        if flags & SNDMORE != 0 && self.sends() {
            return Err((Errno::INVAL, part));
        }
        let message = match self.socket_type {
            SocketType::Server | SocketType::Peer => {
                Message::with_routing_id(address.routing_id, part)
            }
            SocketType::Radio => match &address.group {
                Some(group) if !group.is_empty() => Message::to_group(group.as_bytes(), part),
                // No DISH can join a group without a name.
                _ => return Ok(()),
            },
            _ => Message::from(part),
        };
        self.send_message(message, flags)
            .map_err(|(error, message)| {
                let part = message.into_frames().into_frames().last();
                (error, part.unwrap_or_default())
            })
    }

    fn sends(&self) -> bool {
        !matches!(self.socket_type, SocketType::Dish | SocketType::Gather)
    }

    /// Receives a message, with whom it came from.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EINTR`, `ETERM`.
    pub(super) fn receive_single(&self, flags: c_int) -> Result<Msg, Errno> {
        let mut message = self.next_message(flags)?;
        let address = match self.socket_type {
            SocketType::Server | SocketType::Peer => Address {
                routing_id: message.routing_id().unwrap_or(0),
                group: None,
            },
            SocketType::Dish => Address {
                routing_id: 0,
                group: message.group().and_then(text),
            },
            _ => Address::default(),
        };
        if message.len() > 1 {
            message.pop_front();
        }
        let peer = message.peer().cloned();
        let part = message.pop_front().unwrap_or_default();
        let mut received = Msg::received(part, peer, false);
        received.set_address(address);
        Ok(received)
    }
}

pub(super) fn is_thread_safe(socket_type: SocketType) -> bool {
    use SocketType::{Channel, Client, Dish, Gather, Peer, Radio, Scatter, Server};
    matches!(
        socket_type,
        Client | Server | Radio | Dish | Gather | Scatter | Peer | Channel
    )
}

/// As C reads it: up to a zero octet.
fn text(group: &[u8]) -> Option<std::ffi::CString> {
    let end = group.iter().position(|octet| *octet == 0);
    std::ffi::CString::new(&group[..end.unwrap_or(group.len())]).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::context::Context;
    use crate::socket::DONTWAIT;

    /// Where one thread waits in a call, another's goes on: nothing of these types is behind the locks that a call of the
    /// others holds until it ends.
    #[test]
    fn a_call_waits_for_none_of_another_thread() {
        let context = Context::without_rules();
        let [server, client] =
            [SocketType::Server, SocketType::Client].map(|it| context.open_briefly(it));
        server.bind("inproc://shared").unwrap();
        client.connect("inproc://shared").unwrap();
        let (done, ended) = mpsc::channel();
        let (_inbound, _outbound) = (client.inbound(), client.outbound());
        let of_thread = client.clone();
        thread::spawn(move || {
            let nothing = of_thread.receive(DONTWAIT).map(|_| ());
            let sent = of_thread.send("text".into(), 0).map_err(|it| it.0);
            let _ = done.send((nothing, sent));
        });
        let ended = ended.recv_timeout(Duration::from_secs(30));
        assert_eq!(ended, Ok((Err(Errno::AGAIN), Ok(()))));
        assert_eq!(server.receive(0).unwrap().as_bytes(), b"text");
    }
}
