//! One pairing over one path: messages of every size, checked byte for byte at both ends.

use std::thread;
use std::time::Duration;

use sealwire::{Event, Frame, Mechanism, Message, Peer as Sender, SocketBuilder, SocketType};

use crate::link::Link;
use crate::pairing::{Flow, Pairing};
use crate::path::{Path, Sides};
use crate::payload::{self, Shape, describe};
use crate::watch::{await_ready, options};

/// Routing id of our socket.
const OUR_ID: &[u8] = b"sealwire";
/// Routing id of the peer's socket.
const THEIR_ID: &str = "published";
/// What publishers publish and subscribers subscribe to.
const TOPIC: &str = "news.";
/// Time between two of the messages by which a publisher finds its subscribers.
const SYNC_PERIOD: Duration = Duration::from_millis(10);

impl Path {
    /// Runs a pairing over this path.
    ///
    /// # Panics
    ///
    /// When anything is not as it should be.
    pub fn exchange(&self, pairing: Pairing, shape: &Shape) {
        self.exchange_with(pairing, shape, self.protection.sides(), |ours| ours);
    }

    /// The same with these keys, and with our socket's options changed.
    ///
    /// # Panics
    ///
    /// When anything is not as it should be.
    pub fn exchange_with(
        &self,
        pairing: Pairing,
        shape: &Shape,
        sides: Sides,
        change: impl FnOnce(SocketBuilder) -> SocketBuilder,
    ) {
        let _case = Case(format!("{self}, {pairing:?}, {} parts", shape.parts));
        let mut exchange = Exchange::start(*self, pairing, shape, sides, change);
        match pairing.flow {
            Flow::WeAsk => exchange.ask(),
            Flow::TheyAsk => exchange.answer(),
            Flow::WeSend => exchange.send(),
            Flow::TheySend => exchange.receive(),
        }
        exchange.end();
    }
}

/// Names the case that is running when it panics.
struct Case(String);

impl Drop for Case {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the case that failed: {}", self.0);
        }
    }
}

struct Exchange<'a> {
    path: Path,
    pairing: Pairing,
    shape: &'a Shape,
    link: Link,
}

impl<'a> Exchange<'a> {
    /// Opens both sides; the handshake may still be under way.
    fn start(
        path: Path,
        pairing: Pairing,
        shape: &'a Shape,
        sides: Sides,
        change: impl FnOnce(SocketBuilder) -> SocketBuilder,
    ) -> Self {
        // A ROUTER that does not know its peer yet must not drop what it is given; and a property
        // that no peer knows must not disturb it.
        let mut ours = options(pairing.ours)
            .routing_id(OUR_ID)
            .metadata("X-Sealwire", "interoperability");
        if pairing.ours == SocketType::Router {
            ours = ours.router_mandatory(true);
        }
        let link = path.open_with(change(ours), &script(pairing, shape), sides);
        if matches!(pairing.ours, SocketType::Sub | SocketType::XSub) {
            link.ours.subscribe(TOPIC).expect("it can subscribe");
        }
        Exchange {
            path,
            pairing,
            shape,
            link,
        }
    }

    /// Ends both sides and looks back at what happened on the way.
    fn end(mut self) {
        if self.path.program.reports_handshakes() {
            let handshake = self.link.peer.event("handshake");
            assert_eq!(handshake["peer_type"], self.pairing.ours.name());
            if names_itself(self.pairing.ours) {
                assert_eq!(handshake["peer_identity"], hex::encode(OUR_ID));
            }
            assert_eq!(handshake["zmtp_minor"], 1);
        }
        let mut warnings = 0;
        while let Some(event) = self.link.monitor.try_next() {
            assert!(!matches!(event, Event::Failed(_)), "{event}");
            warnings += usize::from(matches!(event, Event::Warning { .. }));
        }
        let expected = usize::from(self.path.protection.is_continuous());
        assert_eq!(warnings, expected, "warnings about the order of frames");
        assert_eq!(self.link.ours.counters().dropped_at_receive, 0);
        self.link.peer.finish();
        self.link.ours.close().expect("nothing is left to send");
    }

    // ---- the four flows -------------------------------------------------------------------------

    fn ask(&mut self) {
        if self.pairing.ours == SocketType::Router {
            await_ready(&self.link.monitor);
        }
        let step = if self.pairing.in_step() {
            1
        } else {
            self.count()
        };
        for first in (0..self.count()).step_by(step) {
            for index in first..first + step {
                self.send_message(index);
            }
            for index in first..first + step {
                self.receive_message(index);
            }
        }
        self.check_reports();
    }

    fn answer(&mut self) {
        for index in 0..self.count() {
            let message = self.receive_message(index);
            self.link
                .ours
                .send(Message::from(message.into_frames()))
                .expect("there is room");
        }
        self.check_reports();
    }

    fn send(&mut self) {
        match self.pairing.ours {
            SocketType::Pub => self.find_subscriber(),
            SocketType::XPub => self.expect_subscription(1),
            _ => {}
        }
        for index in 0..self.count() {
            if matches!(self.pairing.ours, SocketType::Pub | SocketType::XPub) {
                // Nobody asked for this, and the peer would report it.
                self.link.ours.send("other news").expect("there is room");
            }
            self.send_message(index);
        }
        self.check_reports();
        if self.pairing.ours == SocketType::XPub {
            self.expect_subscription(0);
        }
    }

    fn receive(&mut self) {
        for index in 0..self.count() {
            self.receive_message(index);
        }
        if self.pairing.theirs == SocketType::XPub {
            let subscription = [b"\x01", TOPIC.as_bytes()].concat();
            assert_eq!(self.link.peer.message(), [describe(&subscription)]);
        }
    }

    // ---- single messages ------------------------------------------------------------------------

    fn count(&self) -> usize {
        self.shape.sizes.len()
    }

    /// What publishers put in front of their messages.
    fn topic(&self) -> &'static str {
        match self.pairing.ours {
            SocketType::Pub | SocketType::XPub | SocketType::Sub | SocketType::XSub => TOPIC,
            _ => "",
        }
    }

    fn send_message(&self, index: usize) {
        let mut message = Message::multipart(self.shape.message(self.topic(), index));
        for frame in self.pairing.our_envelope(THEIR_ID.as_bytes()).iter().rev() {
            message.push_front(*frame);
        }
        self.link.ours.send(message).expect("there is room");
    }

    /// Receives message `index` and returns it as it came.
    fn receive_message(&mut self, index: usize) -> Message {
        let message = loop {
            let message = self.link.ours.recv().expect("a message in time");
            if !payload::is_sync(message.frames()) {
                break message;
            }
            // Its messages begin once we have seen one of these. One line is enough, and more do
            // no harm.
            self.link.peer.tell();
        };
        let envelope = self.pairing.our_envelope(THEIR_ID.as_bytes());
        let (before, body) = message
            .frames()
            .split_at_checked(envelope.len())
            .expect("the envelope");
        assert_eq!(before, envelope, "the envelope of message {index}");
        assert_frames(index, body, &self.shape.message(self.topic(), index));
        self.check_sender(message.peer().expect("it was received"));
        message
    }

    fn check_sender(&self, sender: &Sender) {
        assert_eq!(sender.socket_type(), self.pairing.theirs);
        if names_itself(self.pairing.theirs) {
            assert_eq!(sender.routing_id(), THEIR_ID.as_bytes());
        }
        let mechanism = sender.mechanism().map(Mechanism::name);
        assert_eq!(mechanism, Some(self.path.protection.mechanism()));
        let kind = self.pairing.theirs.name();
        assert_eq!(sender.metadata("socket-type"), Some(kind.as_bytes()));
        if let Some(key) = self.link.their_key {
            assert_eq!(sender.public_key(), Some(key));
        }
    }

    /// What the peer says it received must be what was sent, by whichever side.
    fn check_reports(&mut self) {
        for index in 0..self.count() {
            let envelope = self.pairing.their_envelope(OUR_ID).into_iter();
            let body = self.shape.message(self.topic(), index);
            let expected: Vec<_> = envelope
                .chain(body.iter().map(Vec::as_slice))
                .map(describe)
                .collect();
            assert_eq!(self.link.peer.message(), expected, "message {index}");
        }
    }

    // ---- publishing -----------------------------------------------------------------------------

    /// Publishes until the peer's subscription has come and it has seen a message.
    fn find_subscriber(&mut self) {
        while !self.link.peer.prints("synced", SYNC_PERIOD) {
            self.link
                .ours
                .send(payload::sync(TOPIC))
                .expect("there is room");
        }
    }

    fn expect_subscription(&self, first: u8) {
        let message = self.link.ours.recv().expect("a subscription in time");
        assert_eq!(message.as_bytes(), [&[first], TOPIC.as_bytes()].concat());
    }
}

/// Whether sockets of this type tell their routing id (RFC 37); some implementations let all do so.
fn names_itself(kind: SocketType) -> bool {
    matches!(
        kind,
        SocketType::Req | SocketType::Dealer | SocketType::Router
    )
}

/// The part of the peer's command line that a pairing decides.
fn script(pairing: Pairing, shape: &Shape) -> Vec<String> {
    let count = shape.sizes.len().to_string();
    let mut arguments = vec![
        "--type".into(),
        pairing.theirs.name().to_lowercase(),
        "--identity".into(),
        THEIR_ID.into(),
    ];
    let mut options = |options: &[&str]| arguments.extend(options.iter().map(ToString::to_string));
    match pairing.flow {
        Flow::WeAsk => options(&["--recv", &count, "--echo"]),
        Flow::WeSend => options(&["--recv", &count]),
        Flow::TheyAsk | Flow::TheySend => options(&[
            "--send",
            &count,
            "--parts",
            &shape.parts.to_string(),
            "--size",
            &shape.sizes_argument(),
        ]),
    }
    match (pairing.flow, pairing.ours, pairing.theirs) {
        (Flow::TheyAsk, _, SocketType::Req) => {}
        (Flow::TheyAsk, SocketType::Rep, _) => options(&["--lockstep", "--delimiter"]),
        (Flow::TheyAsk, ..) => options(&["--recv", &count]),
        _ => {}
    }
    match pairing.theirs {
        SocketType::Sub | SocketType::XSub => options(&["--subscribe", TOPIC, "--cancel"]),
        SocketType::Pub | SocketType::XPub => options(&["--topic", TOPIC]),
        _ => {}
    }
    arguments
}

/// Compares frames and shows where they differ, not what megabytes they hold.
fn assert_frames(index: usize, found: &[Frame], expected: &[Vec<u8>]) {
    let lengths: Vec<_> = found.iter().map(|frame| frame.len()).collect();
    let expected_lengths: Vec<_> = expected.iter().map(Vec::len).collect();
    assert_eq!(lengths, expected_lengths, "the lengths of message {index}");
    for (part, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = found.iter().zip(expected).position(|(a, b)| a != b);
        assert_eq!(difference, None, "in part {part} of message {index}");
    }
}
