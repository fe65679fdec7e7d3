//! A publisher that drops messages says so, and its subscriber hears how many it misses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::support::{Path, await_event, block_on, eventually};
use sealwire::blocking::Socket;
use sealwire::{Error, Event, Message, Monitor, SocketType};

/// Bytes of a message, so that queues of the system are soon full.
const SIZE: usize = 64 << 10;

/// A publisher with short queues, and a subscriber that reads nothing for now.
struct Scene {
    publisher: Socket,
    subscriber: Socket,
    of_publisher: Monitor,
    of_subscriber: Monitor,
    sent: u64,
}

impl Scene {
    fn new(path: &Path, types: [SocketType; 2]) -> Self {
        let publisher = path.server(types[0]).send_high_water_mark(10);
        let subscriber = path.client(types[1]).receive_high_water_mark(1);
        let (publisher, subscriber) = path.link(publisher, subscriber);
        let (of_publisher, of_subscriber) = (publisher.monitor(), subscriber.monitor());
        match types[1] {
            SocketType::Dish => subscriber.join("news").unwrap(),
            _ => subscriber.subscribe("").unwrap(),
        }
        publisher.wait_subscribed("news", 1).unwrap();
        Scene {
            publisher,
            subscriber,
            of_publisher,
            of_subscriber,
            sent: 0,
        }
    }

    /// Publishes until messages are dropped, and some more.
    fn publish_too_much(&mut self) {
        let mut more = 20;
        while more > 0 {
            let message = match self.publisher.socket_type() {
                SocketType::Radio => Message::to_group("news", vec![7; SIZE]),
                _ => Message::from(vec![7; SIZE]),
            };
            self.publisher.send(message).unwrap();
            self.sent += 1;
            if self.publisher.counters().dropped_at_send > 0 {
                more -= 1;
            }
        }
    }

    /// Receives until each message has come or is said to be missed.
    fn catch_up(&self) {
        let mut received = 0;
        eventually("all are here, or missed", || {
            loop {
                match self.subscriber.recv_timeout(Duration::from_millis(1)) {
                    Ok(_) => received += 1,
                    Err(Error::TimedOut { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            received + self.subscriber.counters().missed == self.sent
        });
    }
}

fn dropping(event: &Event) -> Option<()> {
    matches!(event, Event::DropsBegan { .. }).then_some(())
}

fn ended(event: &Event) -> Option<u64> {
    match event {
        Event::DropsEnded { count, .. } => Some(*count),
        _ => None,
    }
}

fn missed(event: &Event) -> Option<u64> {
    match event {
        Event::MessagesMissed { count, .. } => Some(*count),
        _ => None,
    }
}

#[test]
fn both_sides_hear_of_messages_that_were_dropped() {
    for path in Path::all() {
        for types in [
            [SocketType::Pub, SocketType::Sub],
            [SocketType::XPub, SocketType::XSub],
            [SocketType::Radio, SocketType::Dish],
        ] {
            let mut scene = Scene::new(&path, types);
            scene.publish_too_much();
            await_event(&scene.of_publisher, "dropping begins", dropping);
            scene.catch_up();
            let dropped = scene.publisher.counters().dropped_at_send;
            assert_eq!(
                scene.subscriber.counters().missed,
                dropped,
                "{}",
                path.name()
            );
            // Where there was room in between, those of later spells are told with the next.
            let told = await_event(&scene.of_publisher, "dropping ends", ended);
            assert!(0 < told && told <= dropped, "{} {types:?}", path.name());
            let told = await_event(&scene.of_subscriber, "messages are missed", missed);
            assert!(0 < told && told <= dropped, "{} {types:?}", path.name());
        }
    }
}

/// The publisher hears of the end also where that is the end of the subscriber.
#[test]
fn dropping_ends_with_the_peer() {
    let mut scene = Scene::new(&Path::encrypted(), [SocketType::Pub, SocketType::Sub]);
    scene.publish_too_much();
    await_event(&scene.of_publisher, "dropping begins", dropping);
    drop(scene.subscriber);
    let told = await_event(&scene.of_publisher, "dropping ends", ended);
    assert!(0 < told && told <= scene.publisher.counters().dropped_at_send);
}

/// Sends as it is woken.
struct Sends(Socket, AtomicUsize);

impl Wake for Sends {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        (0..100).for_each(|_| self.0.send(vec![7; SIZE]).unwrap());
    }
}

/// Events are told without the socket's lock, and what is dropped as somebody hears of them waits for no one.
#[test]
fn a_waker_that_hears_of_drops_may_send() {
    let scene = Scene::new(&Path::encrypted(), [SocketType::Pub, SocketType::Sub]);
    while scene.of_publisher.try_next().is_some() {}
    let sends = Arc::new(Sends(scene.publisher.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(sends.clone());
    let mut next = Box::pin(scene.of_publisher.next());
    assert!(
        next.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    while scene.publisher.counters().dropped_at_send == 0 {
        scene.publisher.send(vec![7; SIZE]).unwrap();
    }
    eventually("it was woken", || sends.1.load(Ordering::SeqCst) == 1);
    let event = block_on(next).unwrap();
    assert!(dropping(&event).is_some(), "{event}");
}
