//! RADIO to DISH over `udp`, where datagrams are lost, come twice and out of order, buffers are full, strangers send
//! what is not a message, and sockets are exchanged. A plan says of each trouble how much there is: with
//! datagrams a cut stands for those that are lost, and so on ([`faults`]).
//!
//! `udp` promises little, and that is what holds: what a DISH hands out is what a RADIO has sent, whole, to a group that the
//! DISH had joined, no more often and in no other order than the network brought it. Each message of a RADIO left the
//! host or is counted, and so is each that a DISH took from the network.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;

use super::everything::{DELIVERY, settle, try_recv, wait};
use super::*;
use crate::PeerAddress;
use crate::account::Kind;
use crate::limits::DATAGRAMS_PER_TIME_SLICE;
use crate::simulation::{DatagramFaults, Exchanges, SimulatedDatagrams};
use crate::transport::MAX_DATAGRAM;

/// The first sends to each DISH, the second to the group that all are members of.
const RADIOS: usize = 2;
const DISHES: usize = 3;
const GROUPS: usize = 4;
/// Where each of the RADIOs is heard.
const PORTS: [u16; RADIOS] = [5_555, 5_556];
/// A multicast group.
const MEMBERS: [u8; 4] = [239, 0, 0, 1];
/// Messages of one RADIO at once: more than a socket reads or writes in a row, and less than the network holds for a socket.
const BURST: u64 = 90;
/// Messages in a RADIO's queue.
const SEND_QUEUE: usize = 100;
/// Those in a DISH's, by the seed: it is often full, or never.
const RECEIVE_QUEUES: [usize; 2] = [4, 200];
const BUDGET: usize = 32 << 10;
/// What a queued message costs beside its payload.
const COST: usize = 16;
/// A queue takes a message while it holds less than its budget.
const MAX_HELD: usize = BUDGET + MAX_DATAGRAM + COST * RECEIVE_QUEUES[1];

/// How much of the trouble there is, as a share of the datagrams.
pub(super) fn faults(trouble: Trouble) -> DatagramFaults {
    DatagramFaults {
        lost: 8 * trouble.cuts,
        repeated: 8 * trouble.half_open,
        held_up: 12 * trouble.stalls,
        refused: 2 * trouble.rotations,
    }
}

/// What sockets of a run are made with, by the seed.
#[derive(Clone, Copy)]
struct Settings {
    linger: Duration,
    receive_queue: usize,
}

impl Settings {
    fn new(seed: u64) -> Self {
        Settings {
            // Nothing more, or all that there is, is sent by those that close.
            linger: [Duration::ZERO, HOUR][seed as usize % 2],
            receive_queue: RECEIVE_QUEUES[seed as usize / 2 % 2],
        }
    }

    fn build(self, context: &Context, socket_type: SocketType) -> Socket {
        let builder = Socket::builder(socket_type)
            .context(context)
            .security(Security::plain_text())
            .linger(self.linger);
        let builder = match socket_type {
            SocketType::Radio => builder
                .send_high_water_mark(SEND_QUEUE)
                .send_byte_budget(BUDGET),
            _ => builder
                .receive_high_water_mark(self.receive_queue)
                .receive_byte_budget(BUDGET),
        };
        builder.build().unwrap()
    }
}

fn radio_host(radio: usize) -> IpAddr {
    address(1 + radio as u8)
}

fn dish_host(dish: usize) -> IpAddr {
    address(10 + dish as u8)
}

fn datagram(radio: usize, group: usize, number: u64, most: u64, scene: &Scene) -> Message {
    let mut body: Vec<u8> = [radio as u64, group as u64, number]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    body.resize(body.len() + scene.below(most) as usize, body[0]);
    Message::to_group(group.to_string(), body)
}

/// Datagrams of somebody else, none of which is a message for anybody here.
fn nonsense(scene: &Scene) -> Vec<u8> {
    match scene.below(5) {
        0 => Vec::new(),
        1 => vec![0; 9],
        2 => vec![200; 9],
        3 => vec![1; MAX_DATAGRAM + 1],
        _ => b"\x06nobodyhears".to_vec(),
    }
}

/// A DISH that is closed now and then, with another bound in its place.
struct Dish {
    context: Context,
    number: usize,
    socket: Ending,
    /// All that it has had, also the present one.
    cores: Vec<Arc<SocketCore>>,
    exchanges: Exchanges,
    joined: [bool; GROUPS],
    was_in: [bool; GROUPS],
    /// Of each RADIO, as datagrams.
    received: [Vec<Bytes>; RADIOS],
    /// Before, it does not try to bind again.
    binds_from: Duration,
    settings: Settings,
}

impl Dish {
    fn new(scene: &mut Scene, number: usize, settings: Settings) -> Self {
        let context = scene.context(10 + number as u8);
        let socket = settings.build(&context, SocketType::Dish);
        let mut dish = Dish {
            context,
            number,
            socket: Ending::Open(socket),
            cores: Vec::new(),
            exchanges: Exchanges::one_in(100),
            joined: [false; GROUPS],
            was_in: [false; GROUPS],
            received: Default::default(),
            binds_from: Duration::ZERO,
            settings,
        };
        dish.bind(dish.socket.open().expect("it was just made"))
            .unwrap();
        dish.cores.push(core_of(&dish.socket));
        dish
    }

    /// Its own addresses, in the order of the RADIOs that are heard there.
    fn addresses(&self) -> [SocketAddr; RADIOS] {
        PORTS.map(|port| SocketAddr::new(dish_host(self.number), port))
    }

    fn bind(&self, socket: &Socket) -> Result<(), Error> {
        socket.bind(format!("udp://{}", self.addresses()[0]))?;
        let group = SocketAddr::from((MEMBERS, PORTS[1]));
        socket.bind(format!("udp://{group}"))?;
        Ok(())
    }

    /// The socket, unless it is being exchanged. Begins that now and then.
    fn open(&mut self, scene: &mut Scene) -> Option<&Socket> {
        if self.socket.open().is_some() && self.exchanges.begins(scene) {
            self.socket.close();
        }
        if self.socket.open().is_none() {
            if self.socket.unsent().is_none() {
                self.socket.close();
                return None;
            }
            if scene.network.now() < self.binds_from {
                return None;
            }
            self.binds_from = scene.network.now() + PAUSE;
            let socket = self.settings.build(&self.context, SocketType::Dish);
            for group in (0..GROUPS).filter(|group| self.joined[*group]) {
                socket.join(group.to_string()).unwrap();
            }
            let is_bound = self.bind(&socket).is_ok();
            self.socket = Ending::Open(socket);
            self.cores.push(core_of(&self.socket));
            if !is_bound {
                // It may have one of the two.
                self.socket.close();
                return None;
            }
        }
        self.socket.open()
    }

    fn change(&mut self, group: usize) {
        self.joined[group] ^= true;
        self.was_in[group] |= self.joined[group];
        if let Some(socket) = self.socket.open() {
            match self.joined[group] {
                true => socket.join(group.to_string()).unwrap(),
                false => socket.leave(group.to_string()).unwrap(),
            }
        }
    }

    fn receive(&mut self, scene: &mut Scene) {
        while let Some(message) = self.open(scene).and_then(try_recv) {
            let [radio, group, _] = numbers(message.as_bytes()).map(|number| number as usize);
            assert!(self.was_in[group], "{group} was never joined");
            assert_eq!(message.group(), Some(group.to_string().as_bytes()));
            let PeerAddress::Udp(from) = *message.peer().expect("somebody").address() else {
                panic!("{:?}", message.peer());
            };
            assert_eq!(from.ip(), radio_host(radio));
            let mut datagram = vec![1];
            datagram.extend_from_slice(group.to_string().as_bytes());
            datagram.extend_from_slice(message.as_bytes());
            self.received[radio].push(datagram.into());
        }
    }

    /// Messages that were taken from the network, and those of which the sockets say what became of them.
    fn account(&self, scene: &Scene) -> (usize, usize) {
        let read = self
            .addresses()
            .map(|at| scene.network.datagrams_read(at).len());
        let received = self.received.iter().map(Vec::len).sum::<usize>();
        let counters = self.cores.iter().map(|core| core.counters());
        let dropped =
            counters.map(|counters| counters.dropped_at_receive + counters.dropped_unread);
        (read.iter().sum(), received + dropped.sum::<u64>() as usize)
    }

    /// What it holds is bounded, whatever comes.
    fn check_what_is_held(&self, scene: &Scene) {
        let (read, known) = self.account(scene);
        // Its queues, and those that were taken from the network before these were full. One that is exchanged has ended
        // before the next one begins.
        let most = RADIOS * (self.settings.receive_queue + DATAGRAMS_PER_TIME_SLICE);
        assert!(known <= read && read <= known + most, "{known} of {read}");
        if let Some(socket) = self.socket.open() {
            check_accounts(socket, Kind::Received);
        }
    }

    /// Nothing was handed out more often than the network brought it, or in another order.
    fn check_order(&self, scene: &Scene) {
        for (at, received) in self.addresses().into_iter().zip(&self.received) {
            let mut read = scene.network.datagrams_read(at).into_iter();
            for datagram in received {
                assert!(read.any(|read| read == *datagram), "twice, or out of order");
            }
        }
    }
}

fn check_accounts(socket: &Socket, kind: Kind) {
    for peer in socket.accounts() {
        let held = peer.account().held(kind);
        assert!(held <= MAX_HELD, "{kind:?}: {held} of {MAX_HELD} bytes");
    }
}

struct Radio {
    _context: Context,
    socket: Ending,
    core: Arc<SocketCore>,
    /// Endpoints that a message goes to, each a datagram.
    endpoints: u64,
    sent: u64,
}

impl Radio {
    fn new(scene: &mut Scene, number: usize, settings: Settings) -> Self {
        let context = scene.context(1 + number as u8);
        let socket = settings.build(&context, SocketType::Radio);
        let group = SocketAddr::from((MEMBERS, PORTS[1]));
        let targets = match number {
            0 => (0..DISHES)
                .map(|dish| SocketAddr::new(dish_host(dish), PORTS[0]))
                .collect(),
            _ => vec![group],
        };
        for target in &targets {
            socket.connect(format!("udp://{target}")).unwrap();
        }
        let socket = Ending::Open(socket);
        Radio {
            _context: context,
            core: core_of(&socket),
            socket,
            endpoints: targets.len() as u64,
            sent: 0,
        }
    }

    /// Sends a message with fewer bytes than `most` beside its numbers.
    fn send(&mut self, number: usize, group: usize, most: u64, scene: &Scene) {
        let message = datagram(number, group, self.sent, most, scene);
        let socket = self.socket.open().expect("it is closed at the end");
        // Never waits: what there is no room for is dropped.
        socket.try_send(message).map_err(Error::from).unwrap();
        self.sent += 1;
        check_accounts(socket, Kind::Queued);
    }
}

/// Sends more than fits into one time slice at either end, and lets all arrive at once.
fn burst(radio: &mut Radio, number: usize, group: usize, scene: &mut Scene) {
    let host = radio_host(number);
    let left = scene.network.datagrams_sent(host) + BURST * radio.endpoints;
    for _ in 0..BURST {
        radio.send(number, group, 64, scene);
    }
    while scene.network.datagrams_sent(host) < left {
        scene.pass(Duration::ZERO);
    }
    scene.network.advance(scene.network.now() + PAUSE * 100);
}

/// Some of what is sent arrives.
fn broadcast(plan: Plan) -> usize {
    let mut scene = scene(plan.seed, plan.trouble);
    scene.network.set_datagram_faults(faults(plan.trouble));
    let settings = Settings::new(plan.seed);
    let mut dishes: Vec<_> = (0..DISHES)
        .map(|number| Dish::new(&mut scene, number, settings))
        .collect();
    let mut radios: Vec<_> = (0..RADIOS)
        .map(|number| Radio::new(&mut scene, number, settings))
        .collect();
    let stranger: SimulatedDatagrams = (scene.network).open_datagrams(address(99)).unwrap();
    let mut attempts = [0; RADIOS];
    while attempts.iter().any(|attempts| *attempts < plan.messages) {
        let dish = scene.below(DISHES as u64) as usize;
        match scene.below(12) {
            0..3 => {
                let radio = scene.below(RADIOS as u64) as usize;
                let most = [1, 64, 1_400, 8_000][scene.below(4) as usize];
                let times = [1, 30][usize::from(scene.below(8) == 0)];
                for _ in 0..times {
                    let group = scene.below(GROUPS as u64) as usize;
                    radios[radio].send(radio, group, most, &scene);
                }
                attempts[radio] += 1;
            }
            3 if !scene.is_stalled() && scene.below(4) == 0 => dishes[dish].receive(&mut scene),
            4 => {
                let group = scene.below(GROUPS as u64) as usize;
                dishes[dish].change(group);
            }
            5 if plan.trouble.strangers > 0 => {
                let at = dishes[dish].addresses()[0];
                // What there is no room for is lost, as anything.
                drop(stranger.send_to(&nonsense(&scene), at));
            }
            _ => scene.step(),
        }
        dishes[dish].check_what_is_held(&scene);
    }
    scene.network.set_datagram_faults(DatagramFaults::default());
    settle(&mut scene, |scene| {
        dishes.iter_mut().for_each(|dish| dish.receive(scene));
    });
    // One whose exchange began with the quiet, or whose host had no descriptors before, is bound by then.
    while dishes
        .iter_mut()
        .any(|dish| dish.open(&mut scene).is_none())
    {
        wait(&mut scene, PAUSE, |_| ());
    }
    for group in 0..GROUPS {
        for (number, radio) in radios.iter_mut().enumerate() {
            let before: Vec<_> = dishes
                .iter()
                .map(|dish| dish.received[number].len())
                .collect();
            burst(radio, number, group, &mut scene);
            wait(&mut scene, DELIVERY, |scene| {
                dishes.iter_mut().for_each(|dish| dish.receive(scene));
            });
            for (dish, before) in dishes.iter().zip(before) {
                let arrived = dish.received[number].len() - before;
                let expected = BURST as usize * usize::from(dish.joined[group]);
                assert_eq!(arrived, expected, "group {group}");
            }
        }
    }
    // Nobody reads any more, so that queues are full as all close: what is in them is accounted for as well.
    for _ in 0..3 {
        for (number, radio) in radios.iter_mut().enumerate() {
            burst(radio, number, number, &mut scene);
            wait(&mut scene, DELIVERY, |_| ());
        }
        for dish in &dishes {
            dish.check_what_is_held(&scene);
        }
    }
    scene.network.set_datagram_faults(faults(plan.trouble));
    for (number, radio) in radios.iter_mut().enumerate() {
        (0..20).for_each(|_| radio.send(number, 0, 1_400, &scene));
    }
    let mut left = radios
        .iter_mut()
        .map(|radio| &mut radio.socket)
        .collect::<Vec<_>>();
    left.extend(dishes.iter_mut().map(|dish| &mut dish.socket));
    while left.iter().any(|socket| socket.unsent().is_none()) {
        let chosen = scene.below(left.len() as u64) as usize;
        match scene.below(8) {
            0 => left[chosen].close(),
            _ => scene.step(),
        }
    }
    for (number, radio) in radios.iter().enumerate() {
        let counters = radio.core.counters();
        let left = scene.network.datagrams_sent(radio_host(number));
        let known = left + counters.dropped_at_send + counters.dropped_unsent;
        assert_eq!(
            radio.endpoints * radio.sent,
            known,
            "{left} left, {counters:?}"
        );
    }
    for dish in &dishes {
        dish.check_order(&scene);
        let (read, known) = dish.account(&scene);
        assert_eq!(read, known, "of what was taken from the network");
    }
    let received = dishes.iter().flat_map(|dish| &dish.received);
    let received = received.map(Vec::len).sum();
    let network = scene.network.clone();
    drop((radios, dishes, stranger));
    scene.end();
    assert_eq!(network.datagram_sockets(), 0, "sockets are left");
    received
}

#[test]
fn a_dish_gets_what_was_sent_and_everything_is_counted() {
    let received = std::cell::Cell::new(0);
    check(&[], seeds(100), |plan| {
        received.set(received.get() + broadcast(plan))
    });
    assert!(received.get() > 0, "nothing was tried");
}
