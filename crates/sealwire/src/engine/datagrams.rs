//! RADIO, DISH and DGRAM over UDP: messages between a pipe and a UDP socket, a datagram each. There is no
//! connection and no handshake, and no error reaches the peer.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mio::event::Source as _;
use mio::{Interest, Registry, Token};
use sealwire_zmtp::{Frame, Frames, SocketType};

use super::load::LoadShare;
use crate::account::LogLines;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::failure::DatagramDrop;
use crate::limits::{DATAGRAMS_PER_TIME_SLICE, MAX_DATAGRAM_SENDERS};
use crate::message::{address_frame, canonical, parse_address};
use crate::monitor::{Event, add};
use crate::pattern::{Item, PipeId, Room};
use crate::peer::{Peer, PeerAddress};
use crate::transport::udp::{self, DatagramError, DatagramSocket, MAX_DATAGRAM};

/// Bytes taken from the pipe at a time.
const SEND_BUDGET: usize = 128 << 10;

/// An endpoint of a socket over UDP.
pub(crate) struct Datagrams {
    pub(super) core: Arc<SocketCore>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    socket: DatagramSocket,
    role: Role,
    pipe: PipeId,
    /// Where in the I/O thread it is, as its link reads it.
    slot: Slot,
    /// Received, and not yet taken by the pipe.
    received: VecDeque<(Frames, Arc<Peer>)>,
    /// Taken from the pipe, and not yet sent.
    unsent: VecDeque<Item>,
    outgoing: Vec<u8>,
    senders: Box<[Option<Arc<Peer>>]>,
    drops: LogLines,
    failures: LogLines,
    finishing: bool,
    _share: LoadShare,
}

/// What an endpoint does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    /// It sends messages to groups, all to this address.
    Radio(SocketAddr),
    /// It receives them.
    Dish,
    /// It sends to any address and receives from any.
    Dgram {
        /// Whether its socket is one of IPv6.
        ipv6: bool,
    },
}

impl Role {
    /// That of a DGRAM which is bound to this address.
    pub(super) fn dgram(local: SocketAddr) -> Self {
        Role::Dgram {
            ipv6: local.is_ipv6(),
        }
    }

    /// The type of those at the other end.
    pub(super) fn of_others(self) -> SocketType {
        match self {
            Role::Radio(_) => SocketType::Dish,
            Role::Dish => SocketType::Radio,
            Role::Dgram { .. } => SocketType::Dgram,
        }
    }

    fn interest(self) -> Interest {
        match self {
            Role::Radio(_) => Interest::WRITABLE,
            Role::Dish => Interest::READABLE,
            Role::Dgram { .. } => Interest::READABLE | Interest::WRITABLE,
        }
    }

    /// The datagram of a message, and where it goes. `None` for one that has no datagram.
    fn datagram<'a>(
        self,
        message: &'a [Frame],
        into: &'a mut Vec<u8>,
    ) -> Option<(&'a [u8], SocketAddr)> {
        match (self, message) {
            (Role::Radio(target), [group, body]) => {
                into.clear();
                udp::encode(group, body, into);
                Some((into, target))
            }
            (Role::Dgram { ipv6 }, [address, body]) => {
                let target = parse_address(address).ok()?;
                Some((body, udp::for_socket(target, ipv6)))
            }
            _ => None,
        }
    }

    /// The message that a datagram is.
    fn message(self, datagram: &[u8], from: SocketAddr) -> Result<Frames, DatagramError> {
        let frames = match self {
            Role::Dgram { .. } => {
                udp::check_size(datagram)?;
                [address_frame(from), Frame::copy_from_slice(datagram)]
            }
            Role::Radio(_) | Role::Dish => {
                let (group, body) = udp::parse(datagram)?;
                [group, body].map(Frame::copy_from_slice)
            }
        };
        Ok(frames.into_iter().collect())
    }
}

/// The work that is left after a time slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing until the system, the pipe or the clock says so.
    Idle,
    /// There may be more to do at once.
    Again,
    /// It was to end once all is sent, and all is.
    Done,
}

/// The slot of an endpoint, once it has one. Before that nobody has to be told anything.
pub(super) type Slot = Arc<OnceLock<usize>>;

/// What an endpoint is made of.
pub(super) struct Opened {
    pub(super) core: Arc<SocketCore>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    pub(super) socket: DatagramSocket,
    pub(super) role: Role,
    pub(super) pipe: PipeId,
    pub(super) slot: Slot,
    pub(super) share: LoadShare,
}

impl Datagrams {
    pub(super) fn new(opened: Opened) -> Self {
        let Opened {
            core,
            id,
            endpoint,
            socket,
            role,
            pipe,
            slot,
            share,
        } = opened;
        Datagrams {
            core,
            id,
            endpoint,
            socket,
            role,
            pipe,
            slot,
            received: VecDeque::new(),
            unsent: VecDeque::new(),
            outgoing: Vec::new(),
            senders: vec![None; MAX_DATAGRAM_SENDERS].into(),
            drops: LogLines::default(),
            failures: LogLines::default(),
            finishing: false,
            _share: share,
        }
    }

    /// Begins to be served from this slot.
    pub(super) fn register(&mut self, registry: &Registry, slot: usize) -> io::Result<()> {
        let interest = self.role.interest();
        self.socket.register(registry, Token(slot), interest)?;
        // From here on messages are told of; those before are found by the first exchange.
        let _ = self.slot.set(slot);
        Ok(())
    }

    /// No more is wanted than to send what is queued. `false` when that has been said.
    pub(super) fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.finishing, true)
    }

    /// Sends and receives what can be at once.
    pub(super) fn exchange(&mut self, buffer: &mut Vec<u8>, now: Duration) -> Progress {
        let received = match self.role {
            Role::Radio(_) => Progress::Idle,
            Role::Dish | Role::Dgram { .. } => self.receive(buffer, now),
        };
        let sent = match self.role {
            Role::Dish => Progress::Done,
            Role::Radio(_) | Role::Dgram { .. } => self.send(now),
        };
        match (sent, received) {
            (Progress::Done, _) if self.finishing => Progress::Done,
            (Progress::Again, _) | (_, Progress::Again) => Progress::Again,
            _ => Progress::Idle,
        }
    }

    /// [`Progress::Done`] when nothing is left.
    fn send(&mut self, now: Duration) -> Progress {
        for _ in 0..DATAGRAMS_PER_TIME_SLICE {
            if self.unsent.is_empty() {
                let room = Room::of_bytes(SEND_BUDGET);
                let taken = (self.core).take_outbound(self.pipe, &mut self.unsent, room);
                if taken.untold {
                    self.core.notify_writable();
                }
            }
            let Some(item) = self.unsent.front() else {
                return Progress::Done;
            };
            let frames = match item {
                Item::Message(frames) => frames.frames(),
                _ => &[],
            };
            let Some((datagram, target)) = self.role.datagram(frames, &mut self.outgoing) else {
                self.unsent.pop_front();
                continue;
            };
            match self.socket.send_to(datagram, target) {
                Ok(_) => drop(self.unsent.pop_front()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Progress::Idle,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.unsent.pop_front();
                    add(&self.core.counters.dropped_unsent, 1);
                    let reason = DatagramDrop::Unsent(Arc::new(error));
                    self.dropped(canonical(target), reason, now);
                }
            }
        }
        Progress::Again
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, now: Duration) -> Progress {
        if let Role::Dish = self.role {
            self.forget_groups();
        }
        if !self.deliver() {
            return Progress::Idle;
        }
        // One byte more than may be, to see what is too large.
        buffer.resize(MAX_DATAGRAM + 1, 0);
        let mut progress = Progress::Again;
        for _ in 0..DATAGRAMS_PER_TIME_SLICE {
            let (length, from) = match self.socket.recv_from(&mut buffer[..]) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    progress = Progress::Idle;
                    break;
                }
                Err(error) if is_about_one_datagram(&error) => continue,
                Err(error) => {
                    if let Some(count) = self.failures.note(now) {
                        self.core.hub.emit(Event::AcceptFailed {
                            endpoint: self.endpoint.clone(),
                            reason: error.to_string(),
                            os_error: error.raw_os_error(),
                            count,
                        });
                    }
                    progress = Progress::Idle;
                    break;
                }
            };
            let from = canonical(from);
            match self.role.message(&buffer[..length], from) {
                Ok(message) => {
                    let sender = self.sender(from);
                    self.received.push_back((message, sender));
                }
                Err(error) => {
                    add(&self.core.counters.dropped_at_receive, 1);
                    self.dropped(from, error.into(), now);
                }
            }
        }
        if self.deliver() {
            progress
        } else {
            Progress::Idle
        }
    }

    /// Which groups are joined stays here: a RADIO does not hear of it. All is taken, so that the
    /// pipe tells of the next one.
    fn forget_groups(&mut self) {
        loop {
            self.core
                .take_outbound(self.pipe, &mut self.unsent, Room::of_bytes(usize::MAX));
            if self.unsent.is_empty() {
                return;
            }
            self.unsent.clear();
        }
    }

    /// Hands over what was received; `false` when the pipe is full, which will tell.
    fn deliver(&mut self) -> bool {
        let received = &mut self.received;
        let delivered = self
            .core
            .deliver_datagrams(self.pipe, &mut || received.pop_front());
        !delivered.full
    }

    fn sender(&mut self, address: SocketAddr) -> Arc<Peer> {
        let mut hasher = DefaultHasher::new();
        address.hash(&mut hasher);
        let place = (hasher.finish() % MAX_DATAGRAM_SENDERS as u64) as usize;
        let address = PeerAddress::Udp(address);
        match &self.senders[place] {
            Some(known) if *known.address() == address => known.clone(),
            _ => {
                let sender = Arc::new(Peer::datagram(
                    self.endpoint.clone(),
                    address,
                    self.id,
                    self.role.of_others(),
                ));
                self.senders[place].insert(sender).clone()
            }
        }
    }

    fn dropped(&mut self, address: SocketAddr, reason: DatagramDrop, now: Duration) {
        if let Some(count) = self.drops.note(now) {
            self.core.hub.emit(Event::DatagramsDropped {
                endpoint: self.endpoint.clone(),
                address: PeerAddress::Udp(address),
                count,
                reason,
            });
        }
    }

    /// Ends; what has not left, and what the pipe has not taken, is lost.
    pub(super) fn end(mut self: Box<Self>, registry: &Registry) {
        // Closing takes it out of the poll anyhow.
        let _ = self.socket.deregister(registry);
        let lost = self.unsent.iter();
        let lost = lost.filter(|item| matches!(item, Item::Message(_))).count();
        self.core.count_unsent(lost);
        add(&self.core.counters.dropped_unread, self.received.len());
        self.core.detach(self.pipe);
        self.core.remove_attachment();
    }
}

/// Whether more can be received at once.
fn is_about_one_datagram(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        Interrupted | ConnectionRefused | ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simulated network tells of everything, and the system has room for what goes to this machine.
    #[test]
    fn each_is_told_of_what_it_does() {
        let there: SocketAddr = "127.0.0.1:9".parse().unwrap();
        let both = Interest::READABLE | Interest::WRITABLE;
        for (role, interest) in [
            (Role::Radio(there), Interest::WRITABLE),
            (Role::Dish, Interest::READABLE),
            (Role::dgram(there), both),
        ] {
            assert_eq!(role.interest(), interest, "{role:?}");
        }
    }

    /// Linux takes others too.
    #[test]
    fn a_socket_of_ipv6_is_given_addresses_of_ipv6() {
        let message = ["192.0.2.1:9", "body"].map(Frame::from);
        for (local, target) in [
            ("0.0.0.0:1", "192.0.2.1:9"),
            ("[::]:1", "[::ffff:192.0.2.1]:9"),
        ] {
            let (role, mut outgoing) = (Role::dgram(local.parse().unwrap()), Vec::new());
            let target: SocketAddr = target.parse().unwrap();
            let datagram = role.datagram(&message, &mut outgoing);
            assert_eq!(datagram, Some((&b"body"[..], target)));
        }
    }
}
