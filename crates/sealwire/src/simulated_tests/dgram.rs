//! DGRAM over `udp`: sockets that send to each other where datagrams are lost, come twice and out of order, buffers are full,
//! and strangers send what is too large. What makes trouble is as with RADIO and DISH ([`super::datagrams`]).
//!
//! What a socket hands out was sent to it, whole, by whom its address says, no more often and in no other order than the
//! network brought it. Each message left the host or is counted, and so is each datagram that was taken from the network.

use std::net::SocketAddr;

use bytes::Bytes;

use super::datagrams::faults;
use super::everything::{DELIVERY, settle, try_recv, wait};
use super::*;
use crate::limits::DATAGRAMS_PER_TIME_SLICE;
use crate::simulation::DatagramFaults;
use crate::transport::MAX_DATAGRAM;

const TALKERS: usize = 3;
const PORT: u16 = 5_555;
/// Messages at once: more than a socket reads or writes in a row, and less than the network holds for a socket.
const BURST: u64 = 90;
const SEND_QUEUE: usize = 100;
/// Messages that wait to be read, by the seed: the queue is often full, or never.
const RECEIVE_QUEUES: [usize; 2] = [4, 200];

fn at(talker: usize) -> SocketAddr {
    SocketAddr::new(address(1 + talker as u8), PORT)
}

struct Talker {
    _context: Context,
    number: usize,
    socket: Ending,
    core: Arc<SocketCore>,
    receive_queue: usize,
    sent: u64,
    received: Vec<Bytes>,
}

impl Talker {
    fn new(scene: &mut Scene, number: usize) -> Self {
        let context = scene.context(1 + number as u8);
        let receive_queue = RECEIVE_QUEUES[scene.seed as usize / 2 % 2];
        let socket = Socket::builder(SocketType::Dgram)
            .context(&context)
            .security(Security::plain_text())
            // Nothing more, or all that there is, is sent by those that close.
            .linger([Duration::ZERO, HOUR][scene.seed as usize % 2])
            .send_high_water_mark(SEND_QUEUE)
            .receive_high_water_mark(receive_queue)
            .build()
            .unwrap();
        socket.bind(format!("udp://{}", at(number))).unwrap();
        let socket = Ending::Open(socket);
        Talker {
            _context: context,
            number,
            core: core_of(&socket),
            socket,
            receive_queue,
            sent: 0,
            received: Vec::new(),
        }
    }

    /// Sends a message with fewer bytes than `most` beside its numbers, if there is room.
    fn send(&mut self, to: usize, most: u64, scene: &Scene) {
        let numbers = [self.number as u64, to as u64, self.sent];
        let mut body: Vec<u8> = numbers.map(u64::to_le_bytes).concat();
        body.resize(body.len() + scene.below(most) as usize, body[0]);
        let socket = self.socket.open().expect("it is closed at the end");
        let message = Message::to_address(at(to), body);
        if at_once(socket.try_send(message).map_err(Error::from)).is_some() {
            self.sent += 1;
        }
    }

    /// Sends more than fits into one time slice at either end, and lets all arrive at once.
    fn burst(&mut self, to: usize, scene: &mut Scene) {
        let left = scene.network.datagrams_sent(at(self.number).ip()) + BURST;
        (0..BURST).for_each(|_| self.send(to, 64, scene));
        while scene.network.datagrams_sent(at(self.number).ip()) < left {
            scene.pass(Duration::ZERO);
        }
        scene.network.advance(scene.network.now() + PAUSE * 100);
    }

    fn receive(&mut self) {
        while let Some(message) = self.socket.open().and_then(try_recv) {
            let [from, to, _] = numbers(message.as_bytes()).map(|number| number as usize);
            assert_eq!((message.address(), to), (Some(at(from)), self.number));
            self.received
                .push(Bytes::copy_from_slice(message.as_bytes()));
        }
    }

    /// Messages that were taken from the network, and those of which the socket says what became of them.
    fn account(&self, scene: &Scene) -> (usize, usize) {
        let counters = self.core.counters();
        let dropped = counters.dropped_at_receive + counters.dropped_unread;
        let read = scene.network.datagrams_read(at(self.number)).len();
        (read, self.received.len() + dropped as usize)
    }

    /// What it holds is bounded, whatever comes.
    fn check_what_is_held(&self, scene: &Scene) {
        let (read, known) = self.account(scene);
        let most = self.receive_queue + DATAGRAMS_PER_TIME_SLICE;
        assert!(known <= read && read <= known + most, "{known} of {read}");
    }

    /// At the end nothing is unaccounted for, and nothing came more often or in another order than the network brought it.
    fn check_everything(&self, scene: &Scene) {
        let (read, known) = self.account(scene);
        assert_eq!(read, known, "of what was taken from the network");
        let mut read = scene.network.datagrams_read(at(self.number)).into_iter();
        for body in &self.received {
            assert!(read.any(|read| read == *body), "twice, or out of order");
        }
        let counters = self.core.counters();
        let left = scene.network.datagrams_sent(at(self.number).ip());
        assert_eq!(
            self.sent,
            left + counters.dropped_unsent,
            "{left} left, {counters:?}"
        );
    }
}

/// Some of what is sent arrives.
fn talk(plan: Plan) -> usize {
    let mut scene = scene(plan.seed, plan.trouble);
    scene.network.set_datagram_faults(faults(plan.trouble));
    let mut talkers: Vec<_> = (0..TALKERS)
        .map(|number| Talker::new(&mut scene, number))
        .collect();
    let stranger = scene.network.open_datagrams(address(99)).unwrap();
    let mut attempts = 0;
    while attempts < plan.messages {
        let [one, other] = [0; 2].map(|_| scene.below(TALKERS as u64) as usize);
        match scene.below(10) {
            0..3 => {
                let most = [1, 64, 1_400, 8_000][scene.below(4) as usize];
                let times = [1, 30][usize::from(scene.below(8) == 0)];
                (0..times).for_each(|_| talkers[one].send(other, most, &scene));
                attempts += 1;
            }
            3 if !scene.is_stalled() && scene.below(4) == 0 => talkers[one].receive(),
            4 if plan.trouble.strangers > 0 => {
                // What there is no room for is lost, as anything.
                drop(stranger.send_to(&[1; MAX_DATAGRAM + 1], at(one)));
            }
            _ => scene.step(),
        }
        talkers[one].check_what_is_held(&scene);
    }
    scene.network.set_datagram_faults(DatagramFaults::default());
    settle(&mut scene, |_| talkers.iter_mut().for_each(Talker::receive));
    for from in 0..TALKERS {
        for to in 0..TALKERS {
            let before = talkers[to].received.len();
            talkers[from].burst(to, &mut scene);
            wait(&mut scene, DELIVERY, |_| talkers[to].receive());
            let arrived = talkers[to].received.len() - before;
            assert_eq!(arrived as u64, BURST, "{from} to {to}");
        }
    }
    // Nobody reads any more, so that queues are full as all close: what is in them is accounted for as well.
    for talker in &mut talkers {
        talker.burst((talker.number + 1) % TALKERS, &mut scene);
        wait(&mut scene, DELIVERY, |_| ());
    }
    scene.network.set_datagram_faults(faults(plan.trouble));
    for talker in &mut talkers {
        talker.check_what_is_held(&scene);
        (0..20).for_each(|_| talker.send(0, 1_400, &scene));
    }
    while talkers
        .iter()
        .any(|talker| talker.socket.unsent().is_none())
    {
        let chosen = scene.below(TALKERS as u64) as usize;
        match scene.below(8) {
            0 => talkers[chosen].socket.close(),
            _ => scene.step(),
        }
    }
    talkers
        .iter()
        .for_each(|talker| talker.check_everything(&scene));
    let received = talkers.iter().map(|talker| talker.received.len()).sum();
    let network = scene.network.clone();
    drop((talkers, stranger));
    scene.end();
    assert_eq!(network.datagram_sockets(), 0, "sockets are left");
    received
}

#[test]
fn each_gets_what_was_sent_to_it_and_everything_is_counted() {
    let received = std::cell::Cell::new(0);
    check(&[], seeds(100), |plan| {
        received.set(received.get() + talk(plan))
    });
    assert!(received.get() > 0, "nothing was tried");
}
