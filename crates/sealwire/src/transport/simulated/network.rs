//! The simulated network: its connections, the bytes under way, and the time.

mod datagrams;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use datagrams::Datagrams;
pub use datagrams::{DatagramFaults, SimulatedDatagrams};

/// How good the network is.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// How long bytes are under way, in microseconds.
    pub delay: RangeInclusive<u64>,
    /// Bytes that a direction of a connection holds, under way and unread.
    pub window: usize,
}

/// A network, and the clock of all hosts on it.
#[derive(Clone)]
pub struct Network(Arc<Mutex<State>>);

pub(super) struct State {
    now: Duration,
    random: Random,
    conditions: Conditions,
    /// Nothing comes through before.
    parted_until: Duration,
    /// Hosts that have no descriptors left, and until when.
    exhausted: BTreeMap<IpAddr, Duration>,
    names: BTreeMap<String, IpAddr>,
    /// By number. The two ends of a connection are neighbours: even and odd.
    pub(super) ends: BTreeMap<usize, End>,
    pub(super) listeners: BTreeMap<SocketAddr, Listening>,
    datagrams: Datagrams,
    next_end: usize,
    next_port: u16,
}

/// Splitmix64.
pub struct Random(u64);

impl Random {
    /// Makes a generator of the numbers that this seed gives.
    pub const fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A poll of a host, by a number that it chose; a host without threads has one without a number.
pub(crate) type Poller = Option<i32>;

/// What a poll has to tell of a transport, once it is registered.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) token: Option<usize>,
    pub(super) poller: Poller,
    pub(super) readable: bool,
    pub(super) writable: bool,
}

impl Watch {
    /// Whether this poll would tell of it.
    fn tells(&self, poller: Poller) -> bool {
        self.token.is_some() && self.poller == poller && (self.readable || self.writable)
    }
}

/// One end of a connection.
pub(super) struct End {
    pub(super) host: IpAddr,
    pub(super) remote: SocketAddr,
    pub(super) watch: Watch,
    pub(super) standing: Standing,
    /// Segments under way, with their time of arrival, in the order in which they were sent.
    incoming: VecDeque<(Duration, Segment)>,
    /// Bytes that have arrived and were not read.
    pub(super) unread: VecDeque<Bytes>,
    /// No bytes come after these.
    pub(super) ended: bool,
    pub(super) reset: bool,
    /// This end sends no more.
    pub(super) finished: bool,
    /// It was told that there is no room.
    pub(super) blocked: bool,
    /// Bytes that were lost silently so far, if all that it sends is lost.
    lost: Option<usize>,
    /// How soon it notices that.
    pub(super) keep_alive: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Connecting { until: Duration, refused: bool },
    Refused,
    Connected,
}

enum Segment {
    Bytes(Bytes),
    End,
    Reset,
}

#[derive(Default)]
pub(super) struct Listening {
    host: Option<IpAddr>,
    pub(super) watch: Watch,
    /// Ends that are to be accepted, with the time at which they can be.
    waiting: VecDeque<(Duration, usize)>,
    pub(super) ready: VecDeque<usize>,
}

impl Listening {
    /// Ends that were not accepted.
    pub(super) fn refused(self) -> Vec<usize> {
        let waiting = self.waiting.into_iter().map(|(_, number)| number);
        waiting.chain(self.ready).collect()
    }
}

/// What a poll tells: token, readable, writable, hung up.
pub type Told = (usize, bool, bool, bool);

impl Network {
    /// Makes a network without hosts, at the time zero.
    pub fn new(seed: u64, conditions: Conditions) -> Self {
        Network(Arc::new(Mutex::new(State {
            now: Duration::ZERO,
            random: Random::new(seed),
            exhausted: BTreeMap::new(),
            names: BTreeMap::new(),
            conditions,
            parted_until: Duration::ZERO,
            ends: BTreeMap::new(),
            listeners: BTreeMap::new(),
            datagrams: Datagrams::default(),
            next_end: 0,
            next_port: 49_152,
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since it began.
    pub fn now(&self) -> Duration {
        self.lock().now
    }

    /// A number below `bound`, by the seed.
    pub fn below(&self, bound: u64) -> u64 {
        self.lock().random.draw() % bound.max(1)
    }

    /// Fills it with bytes, by the seed.
    pub fn fill_random(&self, bytes: &mut [u8]) {
        let random = &mut self.lock().random;
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random.draw().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Returns when something happens next.
    pub fn next(&self) -> Option<Duration> {
        let state = self.lock();
        let connecting = state.ends.values().filter_map(|end| match end.standing {
            Standing::Connecting { until, .. } => Some(until),
            _ => None,
        });
        let arriving = state.ends.values().filter_map(|end| end.incoming.front());
        let waiting = state.listeners.values();
        let waiting = waiting.filter_map(|listening| listening.waiting.front());
        connecting
            .chain(arriving.map(|(at, _)| *at))
            .chain(waiting.map(|(at, _)| *at))
            .chain(state.datagrams.next())
            .min()
    }

    /// Lets time pass, and everything happen that is due by then.
    pub fn advance(&self, to: Duration) {
        let mut state = self.lock();
        state.now = state.now.max(to);
        let now = state.now;
        for end in state.ends.values_mut() {
            if let Standing::Connecting { until, refused } = end.standing
                && until <= now
            {
                end.standing = if refused {
                    Standing::Refused
                } else {
                    Standing::Connected
                };
                end.watch.writable = true;
                end.watch.readable |= refused;
            }
            while let Some((_, segment)) = pop_due(&mut end.incoming, now) {
                end.watch.readable = true;
                match segment {
                    Segment::Bytes(bytes) => end.unread.push_back(bytes),
                    Segment::End => end.ended = true,
                    Segment::Reset => {
                        end.reset = true;
                        end.watch.writable = true;
                        end.unread.clear();
                    }
                }
            }
        }
        for listening in state.listeners.values_mut() {
            while let Some((_, end)) = pop_due(&mut listening.waiting, now) {
                listening.ready.push_back(end);
                listening.watch.readable = true;
            }
        }
        state.datagrams.advance(now);
    }

    /// Returns whether this poll of this host would tell anything.
    pub fn has_ready(&self, host: IpAddr, poller: Poller) -> bool {
        let state = self.lock();
        let (mut ends, mut listeners) = (state.ends.values(), state.listeners.values());
        ends.any(|end| end.host == host && end.watch.tells(poller))
            || listeners
                .any(|listening| listening.host == Some(host) && listening.watch.tells(poller))
            || state.datagrams.has_ready(host, poller)
    }

    /// Takes the events that this poll of this host tells, each change once, in an order that the seed decides.
    pub fn take_ready(&self, host: IpAddr, poller: Poller) -> Vec<Told> {
        let mut state = self.lock();
        let mut told = Vec::new();
        let mut tell = |watch: &mut Watch, hung_up: bool| {
            if let Some(token) = watch.token.filter(|_| watch.tells(poller)) {
                told.push((token, watch.readable, watch.writable, hung_up));
                (watch.readable, watch.writable) = (false, false);
            }
        };
        for end in state.ends.values_mut().filter(|end| end.host == host) {
            let hung_up = end.ended || end.reset || end.standing == Standing::Refused;
            tell(&mut end.watch, hung_up);
        }
        for listening in state.listeners.values_mut() {
            if listening.host == Some(host) {
                tell(&mut listening.watch, false);
            }
        }
        for watch in state.datagrams.watches(host) {
            tell(watch, false);
        }
        for last in (1..told.len()).rev() {
            let other = state.random.draw() as usize % (last + 1);
            told.swap(last, other);
        }
        told
    }

    /// Cuts one of the connections, if there are any, chosen by the seed. Both ends notice at once, and what
    /// is under way is lost.
    pub fn cut(&self) {
        let mut state = self.lock();
        let now = state.now;
        for number in state.any_connection() {
            if let Some(end) = state.ends.get_mut(&number) {
                end.incoming.clear();
                end.incoming.push_back((now, Segment::Reset));
            }
        }
    }

    /// Silences one of the connections, if there are any: nothing comes through it from now on, and neither
    /// end is told before it has [asked](super::SimulatedStream::keep_alive).
    pub fn leave_half_open(&self) {
        let mut state = self.lock();
        let silenced = state.any_connection();
        state.silence(&silenced);
    }

    /// Silences all connections of this host, as [`leave_half_open`](Network::leave_half_open) does one.
    pub fn leave_all_half_open(&self, host: IpAddr) {
        let mut state = self.lock();
        let ends = state.ends.iter().filter(|(_, end)| end.host == host);
        let silenced: Vec<_> = ends.flat_map(|(&end, _)| [end, end ^ 1]).collect();
        state.silence(&silenced);
    }

    /// Gives this name to the host with this address from now on.
    pub fn set_name(&self, name: &str, address: IpAddr) {
        self.lock().names.insert(name.to_owned(), address);
    }

    /// Returns the address of the host that has this name.
    pub fn address_of(&self, name: &str) -> Option<IpAddr> {
        self.lock().names.get(name).copied()
    }

    /// Leaves a host without descriptors for this time.
    pub fn exhaust(&self, host: IpAddr, time: Duration) {
        let mut state = self.lock();
        let until = state.now + time;
        state.exhausted.insert(host, until);
    }

    /// Returns an address where somebody listens, chosen by the seed.
    pub fn any_listener(&self) -> Option<SocketAddr> {
        let mut state = self.lock();
        let chosen = state.random.draw() as usize % state.listeners.len().max(1);
        state.listeners.keys().nth(chosen).copied()
    }

    /// Parts all hosts from each other for this time. Bytes that are sent meanwhile arrive later.
    pub fn partition(&self, time: Duration) {
        let mut state = self.lock();
        state.parted_until = state.now + time;
    }

    /// Returns the number of connections of which an end is still held.
    pub fn connections(&self) -> usize {
        let state = self.lock();
        let mut numbers: Vec<_> = state.ends.keys().map(|number| number / 2).collect();
        numbers.dedup();
        numbers.len()
    }
}

/// The first of what comes, once it is there.
fn pop_due<T>(coming: &mut VecDeque<(Duration, T)>, now: Duration) -> Option<(Duration, T)> {
    let is_due = coming.front().is_some_and(|(at, _)| *at <= now);
    is_due.then(|| coming.pop_front()).flatten()
}

impl State {
    /// Begins to listen at this address, whose port may be zero. Returns it with the port.
    pub(super) fn listen(&mut self, mut address: SocketAddr) -> io::Result<SocketAddr> {
        self.has_descriptors(address.ip())?;
        if self.listeners.contains_key(&address) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        if address.port() == 0 {
            self.next_port += 1;
            address.set_port(self.next_port);
        }
        let listening = Listening {
            host: Some(address.ip()),
            ..Listening::default()
        };
        self.listeners.insert(address, listening);
        Ok(address)
    }

    /// Begins to connect from this host. Returns the number of its end.
    pub(super) fn connect(&mut self, host: IpAddr, remote: SocketAddr) -> io::Result<usize> {
        self.has_descriptors(host)?;
        self.next_port += 1;
        let local = SocketAddr::new(host, self.next_port);
        let (there, back) = (self.delay(), self.delay());
        let arrives = self.now + there;
        let number = self.next_end;
        self.next_end += 2;
        let refused = match self.listeners.get_mut(&remote) {
            Some(listening) => {
                // In the order in which they arrive.
                let before = |(at, _): &(Duration, usize)| *at <= arrives;
                let place = listening.waiting.partition_point(before);
                listening.waiting.insert(place, (arrives, number + 1));
                false
            }
            None => true,
        };
        let standing = Standing::Connecting {
            until: arrives + back,
            refused,
        };
        self.ends.insert(number, End::new(host, remote, standing));
        if !refused {
            let other = End::new(remote.ip(), local, Standing::Connected);
            self.ends.insert(number + 1, other);
        }
        Ok(number)
    }

    /// Both ends of one of the connections, chosen by the seed.
    fn any_connection(&mut self) -> Vec<usize> {
        let chosen = self.random.draw() as usize % self.ends.len().max(1);
        let number = self.ends.keys().nth(chosen);
        number.map_or_else(Vec::new, |number| vec![*number, *number ^ 1])
    }

    /// Has nothing come through these ends any more. Neither is told before it has asked.
    fn silence(&mut self, ends: &[usize]) {
        for number in ends {
            if let Some(end) = self.ends.get_mut(number) {
                end.lost.get_or_insert(0);
                end.incoming.clear();
                let noticed = end.keep_alive.map(|time| (self.now + time, Segment::Reset));
                end.incoming.extend(noticed);
            }
        }
    }

    /// Fails as the system does while this host has no descriptors left.
    pub(super) fn has_descriptors(&self, host: IpAddr) -> io::Result<()> {
        match self.exhausted.get(&host) {
            Some(until) if self.now < *until => Err(io::Error::from_raw_os_error(
                rustix::io::Errno::MFILE.raw_os_error(),
            )),
            _ => Ok(()),
        }
    }

    /// How long what is sent now is under way.
    fn delay(&mut self) -> Duration {
        let (least, most) = self.conditions.delay.clone().into_inner();
        let delay = Duration::from_micros(least + self.random.draw() % (most - least + 1));
        delay + self.parted_until.saturating_sub(self.now)
    }

    /// Bytes of this end that were lost; `None` while none are.
    fn lost(&self, number: usize) -> Option<usize> {
        self.ends.get(&number)?.lost
    }

    /// Room for bytes from this end to the other. `None` where there is no other.
    pub(super) fn room(&self, number: usize) -> Option<usize> {
        if let Some(lost) = self.lost(number) {
            // Nobody takes them, so the system keeps them.
            return Some(self.conditions.window.saturating_sub(lost));
        }
        let other = self.ends.get(&(number ^ 1)).filter(|other| !other.reset)?;
        Some(self.conditions.window.saturating_sub(other.held()))
    }

    /// Sends bytes on their way, mostly all of them.
    pub(super) fn send(&mut self, number: usize, bytes: &[u8]) -> usize {
        let sent = match self.random.draw() % 8 {
            0 => 1 + self.random.draw() as usize % bytes.len(),
            _ => bytes.len(),
        };
        if let Some(lost) = self.ends.get_mut(&number).and_then(|end| end.lost.as_mut()) {
            *lost += sent;
            return sent;
        }
        self.put(
            number,
            Segment::Bytes(Bytes::copy_from_slice(&bytes[..sent])),
        );
        sent
    }

    /// This end is gone, and so is what it has sent and what was sent to it.
    pub(super) fn reset(&mut self, number: usize) {
        let at = self.now + self.delay();
        if self.lost(number).is_some() {
            return;
        }
        if let Some(end) = self.ends.get_mut(&number) {
            end.finished = true;
        }
        if let Some(other) = self.ends.get_mut(&(number ^ 1)) {
            other.incoming.clear();
            other.incoming.push_back((at, Segment::Reset));
        }
    }

    /// This end sends no more.
    pub(super) fn finish(&mut self, number: usize) {
        if let Some(end) = self.ends.get_mut(&number)
            && !std::mem::replace(&mut end.finished, true)
        {
            self.put(number, Segment::End);
        }
    }

    fn put(&mut self, number: usize, segment: Segment) {
        let at = self.now + self.delay();
        if self.lost(number).is_some() {
            return;
        }
        if let Some(other) = self.ends.get_mut(&(number ^ 1)) {
            let last = other.incoming.back().map_or(at, |(last, _)| at.max(*last));
            other.incoming.push_back((last, segment));
        }
    }
}

impl End {
    fn new(host: IpAddr, remote: SocketAddr, standing: Standing) -> Self {
        End {
            host,
            remote,
            watch: Watch::default(),
            standing,
            incoming: VecDeque::new(),
            unread: VecDeque::new(),
            ended: false,
            reset: false,
            finished: false,
            blocked: false,
            lost: None,
            keep_alive: None,
        }
    }

    /// Bytes under way to it, and unread.
    fn held(&self) -> usize {
        let incoming = self.incoming.iter().map(|(_, segment)| match segment {
            Segment::Bytes(bytes) => bytes.len(),
            Segment::End | Segment::Reset => 0,
        });
        let unread = self.unread.iter().map(Bytes::len);
        incoming.chain(unread).sum()
    }
}
