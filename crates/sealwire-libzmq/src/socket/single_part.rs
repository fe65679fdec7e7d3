//! CLIENT, SERVER, RADIO, DISH, GATHER, SCATTER, PEER and CHANNEL: their messages have one part and an address beside it,
//! and threads may share them. So nothing is kept between two calls, and none waits for another's.

use std::sync::Arc;

use libc::c_int;
use sealwire::{Frame, Peer, SocketType, embed};
use sealwire_zmtp::Frames;

use super::{SNDMORE, Socket};
use crate::errno::Errno;
use crate::message::{Address, Msg};

impl Socket {
    /// Whether it is one of these types.
    pub(crate) fn is_thread_safe(&self) -> bool {
        is_thread_safe(self.socket_type)
    }

    /// Sends a part to an address. One that was not taken is left.
    ///
    /// # Errors
    ///
    /// `EINVAL` where more parts are to follow, `EHOSTUNREACH` for a routing id that no peer has, `EAGAIN`, `ENOTSUP`,
    /// `EINTR`, `ETERM`.
    pub(crate) fn send_to(
        &self,
        part: &mut Frames,
        address: &Address,
        flags: c_int,
    ) -> Result<(), Errno> {
        self.check()?;
        if flags & SNDMORE != 0 && self.sends() {
            return Err(Errno::INVAL);
        }
        let front = match self.socket_type {
            SocketType::Server | SocketType::Peer => {
                Some(Frame::copy_from_slice(&address.routing_id.to_be_bytes()))
            }
            SocketType::Radio => match &address.group {
                Some(group) if !group.is_empty() => Some(Frame::copy_from_slice(group.as_bytes())),
                // No DISH can join a group without a name.
                _ => return Ok(()),
            },
            _ => None,
        };
        let addressed = front.is_some();
        if let Some(front) = front {
            part.push_front(front);
        }
        let sent = self.send_message(part, flags);
        if sent.is_err() && addressed {
            part.pop_front();
        }
        sent
    }

    fn sends(&self) -> bool {
        !matches!(self.socket_type, SocketType::Dish | SocketType::Gather)
    }

    /// Receives a message, with whom it came from.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EINTR`, `ETERM`.
    pub(super) fn receive_single(&self, into: &mut Msg, flags: c_int) -> Result<(), Errno> {
        let address = self.receive_addressed(flags, |part, peer, _| into.fill(part, peer, false));
        into.set_address(address?.1);
        Ok(())
    }

    /// The same, without the address.
    ///
    /// # Errors
    ///
    /// Those of [`receive_single`](Self::receive_single).
    pub(super) fn receive_single_with<R>(
        &self,
        flags: c_int,
        to: impl FnOnce(&mut Frame, Option<Arc<Peer>>, bool) -> R,
    ) -> Result<R, Errno> {
        Ok(self.receive_addressed(flags, to)?.0)
    }

    fn receive_addressed<R>(
        &self,
        flags: c_int,
        to: impl FnOnce(&mut Frame, Option<Arc<Peer>>, bool) -> R,
    ) -> Result<(R, Address), Errno> {
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
        let (frames, peer) = embed::parts(&mut message);
        let peer = peer.take();
        let handed = match frames.first_mut() {
            Some(part) => to(part, peer, false),
            None => to(&mut Frame::new(), peer, false),
        };
        Ok((handed, address))
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
            let sent = of_thread.send(&mut Frames::single("text"), 0);
            let _ = done.send((nothing, sent));
        });
        let ended = ended.recv_timeout(Duration::from_secs(30));
        assert_eq!(ended, Ok((Err(Errno::AGAIN), Ok(()))));
        assert_eq!(server.receive(0).unwrap().as_bytes(), b"text");
    }
}
