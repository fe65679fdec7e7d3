//! Datagrams of the simulated network: each may be lost, arrive twice, or arrive behind those that were sent after
//! it, and nobody is told.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use mio::{Interest, Registry, Token};

use super::{Network, Poller, State, Watch};
use crate::transport::simulated::poller_of;

/// Datagrams that a socket holds before further ones are lost.
const RECEIVE_BUFFER: usize = 100;
/// What a number of [`DatagramFaults`] is a share of.
const SHARES: u64 = 64;

/// How much goes wrong with datagrams, each as a share of 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatagramFaults {
    /// Those that do not arrive at a receiver.
    pub lost: u64,
    /// Those that arrive twice.
    pub repeated: u64,
    /// Attempts to send for which the system has no room just then.
    pub held_up: u64,
    /// Attempts to send that the system refuses.
    pub refused: u64,
}

/// The sockets for datagrams, and what went through them.
#[derive(Default)]
pub(super) struct Datagrams {
    faults: DatagramFaults,
    /// By number.
    sockets: BTreeMap<usize, Socket>,
    opened: usize,
    sent: BTreeMap<IpAddr, u64>,
    read: BTreeMap<SocketAddr, Vec<Bytes>>,
}

struct Socket {
    /// Of its own, with which what it sends is marked.
    address: SocketAddr,
    /// It gets datagrams to this address, its own or that of a group. `None` for one that only sends.
    receives_at: Option<SocketAddr>,
    watch: Watch,
    /// Under way, by their time of arrival; those of one time in an order by the seed.
    incoming: BTreeMap<(Duration, u64), (SocketAddr, Bytes)>,
    unread: VecDeque<(SocketAddr, Bytes)>,
    /// The system has no room for what it sends before.
    held_up_until: Option<Duration>,
}

impl Datagrams {
    /// When something happens next.
    pub(super) fn next(&self) -> impl Iterator<Item = Duration> {
        self.sockets.values().flat_map(|socket| {
            let arrives = socket.incoming.keys().next().map(|(at, _)| *at);
            arrives.into_iter().chain(socket.held_up_until)
        })
    }

    /// Lets everything happen that is due by then.
    pub(super) fn advance(&mut self, now: Duration) {
        for socket in self.sockets.values_mut() {
            while let Some(first) = socket.incoming.first_entry()
                && first.key().0 <= now
            {
                let datagram = first.remove();
                if socket.unread.len() < RECEIVE_BUFFER {
                    socket.unread.push_back(datagram);
                    socket.watch.readable = true;
                }
            }
            if socket.held_up_until.is_some_and(|until| until <= now) {
                socket.held_up_until = None;
                socket.watch.writable = true;
            }
        }
    }

    /// What polls of a host tell of.
    pub(super) fn watches(&mut self, host: IpAddr) -> impl Iterator<Item = &mut Watch> {
        let sockets = self.sockets.values_mut();
        let of_host = sockets.filter(move |socket| socket.address.ip() == host);
        of_host.map(|socket| &mut socket.watch)
    }

    /// Whether this poll of a host would tell of one.
    pub(super) fn has_ready(&self, host: IpAddr, poller: Poller) -> bool {
        let mut sockets = self.sockets.values();
        sockets.any(|socket| socket.address.ip() == host && socket.watch.tells(poller))
    }

    fn open(&mut self, address: SocketAddr, receives_at: Option<SocketAddr>) -> usize {
        let number = self.opened;
        self.opened += 1;
        let socket = Socket {
            address,
            receives_at,
            watch: Watch::default(),
            incoming: BTreeMap::new(),
            unread: VecDeque::new(),
            held_up_until: None,
        };
        self.sockets.insert(number, socket);
        number
    }
}

impl State {
    fn happens(&mut self, share: u64) -> bool {
        self.random.draw() % SHARES < share
    }

    fn send_datagram(&mut self, number: usize, bytes: &[u8], to: SocketAddr) -> io::Result<usize> {
        let faults = self.datagrams.faults;
        let holds_up = self.happens(faults.held_up);
        let until = self.now + self.delay();
        let socket = self.datagrams.sockets.get_mut(&number).expect("it is held");
        if holds_up {
            socket.held_up_until.get_or_insert(until);
        }
        if socket.held_up_until.is_some() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let from = socket.address;
        if self.happens(faults.refused) {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        *self.datagrams.sent.entry(from.ip()).or_default() += 1;
        let is_parted = self.now < self.parted_until;
        let receivers = self.datagrams.sockets.iter();
        let receivers = receivers.filter(|(_, socket)| socket.receives_at == Some(to));
        for receiver in receivers.map(|(number, _)| *number).collect::<Vec<_>>() {
            let (is_lost, is_repeated) = (self.happens(faults.lost), self.happens(faults.repeated));
            let copies = match is_lost || is_parted {
                true => 0,
                false => 1 + u64::from(is_repeated),
            };
            for _ in 0..copies {
                let at = (self.now + self.delay(), self.random.draw());
                let datagram = (from, Bytes::copy_from_slice(bytes));
                let receiver = self.datagrams.sockets.get_mut(&receiver);
                receiver.expect("it is held").incoming.insert(at, datagram);
            }
        }
        Ok(bytes.len())
    }
}

impl Network {
    /// Decides what becomes of datagrams from now on.
    pub fn set_datagram_faults(&self, faults: DatagramFaults) {
        self.lock().datagrams.faults = faults;
    }

    /// Opens a socket of this host that gets what is sent to this address, which is its own or that of a group.
    ///
    /// # Errors
    ///
    /// Where another one has this address, or the host has no descriptors left.
    pub fn bind_datagrams(&self, host: IpAddr, at: SocketAddr) -> io::Result<SimulatedDatagrams> {
        let mut state = self.lock();
        state.has_descriptors(host)?;
        let address = SocketAddr::new(host, at.port());
        let mut sockets = state.datagrams.sockets.values();
        if sockets.any(|socket| socket.address == address) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        if at.ip() != host && !at.ip().is_multicast() {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        let number = state.datagrams.open(address, Some(at));
        drop(state);
        Ok(SimulatedDatagrams::new(self.clone(), number))
    }

    /// Opens a socket of this host that sends.
    ///
    /// # Errors
    ///
    /// Where the host has no descriptors left.
    pub fn open_datagrams(&self, host: IpAddr) -> io::Result<SimulatedDatagrams> {
        let mut state = self.lock();
        state.has_descriptors(host)?;
        state.next_port += 1;
        let address = SocketAddr::new(host, state.next_port);
        let number = state.datagrams.open(address, None);
        drop(state);
        Ok(SimulatedDatagrams::new(self.clone(), number))
    }

    /// Returns the number of sockets for datagrams that are held.
    pub fn datagram_sockets(&self) -> usize {
        self.lock().datagrams.sockets.len()
    }

    /// Returns how many datagrams this host has sent, whatever became of them.
    pub fn datagrams_sent(&self, host: IpAddr) -> u64 {
        let state = self.lock();
        state.datagrams.sent.get(&host).copied().unwrap_or_default()
    }

    /// Returns what sockets with this address of their own have taken, in this order, also those that are closed.
    pub fn datagrams_read(&self, address: SocketAddr) -> Vec<Bytes> {
        let state = self.lock();
        let read = state.datagrams.read.get(&address);
        read.cloned().unwrap_or_default()
    }
}

/// A socket for datagrams.
pub struct SimulatedDatagrams {
    network: Network,
    number: usize,
}

impl SimulatedDatagrams {
    fn new(network: Network, number: usize) -> Self {
        SimulatedDatagrams { network, number }
    }

    fn with<R>(&self, action: impl FnOnce(&mut State, &mut Socket) -> R) -> R {
        let mut state = self.network.lock();
        let mut socket = state.datagrams.sockets.remove(&self.number);
        let outcome = action(&mut state, socket.as_mut().expect("it is held"));
        state
            .datagrams
            .sockets
            .extend(socket.map(|socket| (self.number, socket)));
        outcome
    }

    /// Returns its own address.
    pub fn local_address(&self) -> SocketAddr {
        self.with(|_, socket| socket.address)
    }

    /// Sends a datagram.
    ///
    /// # Errors
    ///
    /// As of a socket that does not block.
    pub fn send_to(&self, bytes: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.network.lock().send_datagram(self.number, bytes, to)
    }

    /// Takes a datagram, as much of it as there is room for, and says who has sent it.
    ///
    /// # Errors
    ///
    /// As of a socket that does not block.
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.with(|state, socket| {
            let (from, datagram) = socket.unread.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
            let length = datagram.len().min(buffer.len());
            buffer[..length].copy_from_slice(&datagram[..length]);
            let read = state.datagrams.read.entry(socket.address).or_default();
            read.push(datagram);
            Ok((length, from))
        })
    }

    fn watch(&self, poller: Poller, token: Option<usize>) {
        self.with(|_, socket| {
            (socket.watch.poller, socket.watch.token) = (poller, token);
            // Registering tells what holds already.
            socket.watch.readable = !socket.unread.is_empty();
            socket.watch.writable = socket.held_up_until.is_none();
        });
    }
}

impl Drop for SimulatedDatagrams {
    fn drop(&mut self) {
        self.network.lock().datagrams.sockets.remove(&self.number);
    }
}

impl mio::event::Source for SimulatedDatagrams {
    fn register(&mut self, registry: &Registry, token: Token, _: Interest) -> io::Result<()> {
        self.watch(poller_of(registry), Some(token.0));
        Ok(())
    }

    fn reregister(&mut self, registry: &Registry, token: Token, _: Interest) -> io::Result<()> {
        self.watch(poller_of(registry), Some(token.0));
        Ok(())
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.watch(poller_of(registry), None);
        Ok(())
    }
}
