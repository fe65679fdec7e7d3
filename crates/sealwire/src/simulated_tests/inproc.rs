//! Sockets of one process, whose messages pass through no network.

use super::*;
use crate::monitor::Event;

const SECOND: Duration = Duration::from_secs(1);
const MESSAGES: u32 = 20;

/// Sockets of one context, which is not bound to anything yet.
struct Room {
    scene: Scene,
    context: Context,
}

impl Room {
    fn new() -> Self {
        let mut scene = Scene::new(0, Trouble::NONE);
        let context = scene.context(1);
        Room { scene, context }
    }

    fn builder(&self, socket_type: SocketType) -> SocketBuilder {
        Socket::builder(socket_type)
            .context(&self.context)
            .security(Security::plain_text())
            .linger(HOUR)
    }

    fn pull(&self) -> Socket {
        self.builder(SocketType::Pull).build().unwrap()
    }

    /// A PUSH with messages for peers that are not there, which begins to close.
    fn closing(&self, endpoints: &[&str]) -> Ending {
        let push = self.builder(SocketType::Push).build().unwrap();
        for endpoint in endpoints {
            push.connect(*endpoint).unwrap();
        }
        for number in 0..MESSAGES {
            push.try_send(number.to_string()).unwrap();
        }
        let mut closing = Ending::Open(push);
        closing.close();
        closing
    }

    /// Lets time pass, and closing go on.
    fn pass(&mut self, time: Duration, closing: &mut Ending) {
        let until = self.scene.network.now() + time;
        while self.scene.network.now() < until {
            self.scene.pass(time);
        }
        closing.close();
    }

    fn end(self) -> Duration {
        drop(self.context);
        self.scene.end()
    }
}

/// The numbers that a socket has received.
fn received(pull: &Socket) -> Vec<u32> {
    let messages = std::iter::from_fn(|| at_once(pull.try_recv()));
    let numbers = messages.map(|message| message.as_str().unwrap().parse().unwrap());
    numbers.collect()
}

fn all() -> Vec<u32> {
    (0..MESSAGES).collect()
}

/// Whatever lies between two sockets as they close goes with them, and so does their context.
#[test]
fn sockets_that_close_with_messages_between_them_leave_nothing() {
    for handled in 0..4 {
        for first in 0..2 {
            let mut scene = Scene::new(0, Trouble::NONE);
            let context = scene.context(1);
            let socket = |socket_type| {
                let builder = Socket::builder(socket_type).context(&context);
                builder.build().unwrap()
            };
            let (rep, req) = (socket(SocketType::Rep), socket(SocketType::Req));
            rep.bind("inproc://there").unwrap();
            req.connect("inproc://there").unwrap();
            if handled > 0 {
                req.try_send("a question").unwrap();
            }
            if handled > 1 {
                let question = rep.try_recv().unwrap();
                if handled > 2 {
                    rep.try_send(question).unwrap();
                }
            }
            let mut sockets = vec![rep, req];
            drop(sockets.remove(first));
            drop((sockets, context));
            println!("{handled} calls, then the socket {first} closes");
            scene.end();
        }
    }
}

#[test]
fn what_a_closed_socket_sent_waits_for_one_that_is_bound() {
    let mut room = Room::new();
    let mut closing = room.closing(&["inproc://later"]);
    room.pass(HOUR / 2, &mut closing);
    assert_eq!(closing.unsent(), None);
    let pull = room.pull();
    pull.bind("inproc://later").unwrap();
    assert_eq!(received(&pull), all());
    // Nothing of it is left that a second one would find.
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(0));
    pull.unbind("inproc://later").unwrap();
    pull.bind("inproc://later").unwrap();
    assert!(pull.peers().is_empty());
    drop((pull, closing));
    room.end();
}

#[test]
fn it_waits_for_the_linger_time_and_counts_then() {
    let mut room = Room::new();
    let mut closing = room.closing(&["inproc://later", "inproc://never"]);
    room.pass(2 * HOUR, &mut closing);
    assert_eq!(closing.unsent(), Some(MESSAGES as usize));
    let pull = room.pull();
    let monitor = pull.monitor();
    pull.bind("inproc://later").unwrap();
    assert!(received(&pull).is_empty());
    let events: Vec<_> = std::iter::from_fn(|| monitor.try_next()).collect();
    assert!(
        matches!(events[..], [Event::Listening { .. }]),
        "{events:?}"
    );
    drop((pull, closing));
    room.end();
}

#[test]
fn it_waits_for_nobody_where_there_is_nothing_to_send_or_no_time() {
    let mut room = Room::new();
    let push = room.builder(SocketType::Push).build().unwrap();
    push.connect("inproc://later").unwrap();
    let mut closing = Ending::Open(push);
    closing.close();
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(0));

    let push = room.builder(SocketType::Push).build().unwrap();
    push.connect("inproc://later").unwrap();
    push.try_send("lost").unwrap();
    let mut closing = Ending::Closing(Box::pin(push.close_with_linger(Duration::ZERO)));
    closing.close();
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(1));
    drop(closing);
    room.end();
}

#[test]
fn it_goes_to_the_first_that_is_bound_and_waits_for_no_other() {
    let mut room = Room::new();
    let mut closing = room.closing(&["inproc://later", "inproc://never"]);
    let pull = room.pull();
    pull.bind("inproc://later").unwrap();
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(0));
    assert_eq!(received(&pull), all());
    drop((pull, closing));
    room.end();
}

#[test]
fn it_waits_for_nobody_once_a_peer_elsewhere_has_it() {
    let mut room = Room::new();
    let elsewhere = format!("tcp://{}:5555", address(2));
    let mut closing = room.closing(&["inproc://never", &elsewhere]);
    let other = room.scene.context(2);
    let pull = Socket::builder(SocketType::Pull).context(&other);
    let pull = pull.security(Security::plain_text()).build().unwrap();
    pull.bind(elsewhere).unwrap();
    let mut closed = 60 * SECOND;
    while closing.unsent().is_none() {
        room.pass(SECOND, &mut closing);
        closed = closed
            .checked_sub(SECOND)
            .expect("long before the linger time is over");
    }
    assert_eq!(closing.unsent(), Some(0));
    assert_eq!(received(&pull), all());
    drop((pull, other, closing));
    room.end();
}

#[test]
fn it_is_received_as_there_is_room() {
    let mut room = Room::new();
    let mut closing = room.closing(&["inproc://later", "inproc://never"]);
    let pull = room.builder(SocketType::Pull).receive_high_water_mark(1);
    let pull = pull.build().unwrap();
    pull.bind("inproc://later").unwrap();
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), None);
    // It is on its way there, and is offered to nobody else.
    let other = room.pull();
    let monitor = other.monitor();
    other.bind("inproc://never").unwrap();
    assert!(matches!(monitor.try_next(), Some(Event::Listening { .. })));
    assert!(monitor.try_next().is_none());
    assert_eq!(received(&pull), all());
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(0));
    drop((pull, other, closing));
    room.end();
}

#[test]
fn what_one_that_was_bound_did_not_get_waits_for_the_next() {
    let mut room = Room::new();
    let mut closing = room.closing(&["inproc://later"]);
    // One that has no use for it, one that is in no hurry, and one that takes all.
    let publisher = room.builder(SocketType::Pub).build().unwrap();
    publisher.bind("inproc://later").unwrap();
    assert!(publisher.peers().is_empty());
    drop(publisher);
    let pull = room.builder(SocketType::Pull).receive_high_water_mark(1);
    let pull = pull.build().unwrap();
    pull.bind("inproc://later").unwrap();
    assert_eq!(at_once(pull.try_recv()).unwrap().as_bytes(), b"0");
    drop(pull);
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), None);
    let pull = room.pull();
    pull.bind("inproc://later").unwrap();
    let rest = received(&pull);
    assert!(!rest.is_empty() && all().ends_with(&rest), "{rest:?}");
    room.pass(SECOND, &mut closing);
    assert_eq!(closing.unsent(), Some(0));
    drop((pull, closing));
    room.end();
}

#[test]
fn a_context_that_nobody_has_waits_for_no_binder() {
    let room = Room::new();
    let closing = room.closing(&["inproc://later"]);
    let before = room.scene.network.now();
    drop(closing);
    assert!(room.end() < before + SECOND);
}

#[cfg(unix)]
#[test]
fn as_libzmq_a_pair_reaches_a_pull() {
    for libzmq in [[true, true], [true, false], [false, true]] {
        let room = Room::new();
        let socket = |socket_type, libzmq| {
            let builder = room.builder(socket_type);
            let builder = if libzmq {
                crate::embed::as_libzmq(builder, false)
            } else {
                builder
            };
            builder.build().unwrap()
        };
        let pair = socket(SocketType::Pair, libzmq[0]);
        let pull = socket(SocketType::Pull, libzmq[1]);
        pair.connect("inproc://later").unwrap();
        pair.try_send("0").unwrap();
        pull.bind("inproc://later").unwrap();
        let arrives = libzmq == [true, true];
        assert_eq!(received(&pull), &all()[..usize::from(arrives)]);
        drop((pair, pull));
        room.end();
    }
}
