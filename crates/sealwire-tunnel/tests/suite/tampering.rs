//! Manipulations of one block of a channel, or to one message of a handshake, and how that ends.
//!
//! The length of a block is masked, so that the attacker knows it from the sizes of what is sent at once. The receiver
//! trusts it no more: behind a block that is gone it may find any length, and says so once as many bytes are there.
//!
//! The table is the column of `docs/threats.md`.

use std::sync::Arc;

use sealwire_relay::{
    Act, Expected, Format, Manipulation, Material, Outcome, Passed, SEALED, Script, but, honest,
    page, recording, through,
};
use sealwire_tunnel::{
    Channel, Handshake, HandshakeError, Identity, Incoming, InvalidMessage, MAX_SEALED_SIZE,
    NotAuthentic, Opened, Outgoing,
};

use crate::link::{channels, identity, pass};

const TEXT_SIZE: usize = 1_000;
const BLOCK_SIZE: usize = TEXT_SIZE + 18;
/// Blocks before the one that is tampered with.
const UNTOUCHED: usize = 2;
/// And with those behind it, whose bytes are enough for any length.
const BLOCKS: usize = UNTOUCHED + 2 + MAX_SEALED_SIZE.div_ceil(BLOCK_SIZE);

// An end has a block of its own.
const EXPECTED: Expected = but(SEALED, [(Manipulation::End, Outcome::CutShort)]);

const NOT_AUTHENTIC: HandshakeError = HandshakeError::Invalid(InvalidMessage::NotAuthentic);

/// The sender of the unit that is tampered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Connector,
    Listener,
}

/// Two who have many connections.
struct Pair {
    connector: Arc<Identity>,
    listener: Arc<Identity>,
}

impl Pair {
    fn new() -> Self {
        Pair {
            connector: identity(),
            listener: identity(),
        }
    }

    /// The sender's side of a connection, and the receiver's.
    fn channels(&self, sender: Sender) -> (Channel, Channel) {
        let (ours, theirs) = channels(&self.connector, &self.listener);
        match sender {
            Sender::Connector => (ours, theirs),
            Sender::Listener => (theirs, ours),
        }
    }
}

fn texts() -> impl Iterator<Item = Vec<u8>> {
    (0..BLOCKS).map(|number| vec![number as u8; TEXT_SIZE])
}

/// All that a direction sends, and its end.
fn sent(outgoing: &mut Outgoing) -> Vec<u8> {
    let mut sent = Vec::new();
    let mut send = |outgoing: &mut Outgoing| {
        sent.extend_from_slice(outgoing.unsent());
        outgoing.sent(outgoing.unsent().len());
    };
    for text in texts() {
        let count = pass(&text, outgoing.room());
        outgoing.seal(count);
        send(outgoing);
    }
    outgoing.end();
    send(outgoing);
    sent
}

/// What arrives of these bytes, before they end.
fn arrives(
    incoming: &mut Incoming,
    mut bytes: &[u8],
) -> (Vec<Vec<u8>>, Result<Opened, NotAuthentic>) {
    let mut arrived = Vec::new();
    loop {
        match incoming.open() {
            Ok(Opened::Text) => {
                arrived.push(incoming.text().to_vec());
                incoming.take(incoming.text().len());
            }
            Ok(Opened::NeedsMore) if !bytes.is_empty() => {
                let count = pass(bytes, incoming.room());
                incoming.received(count);
                bytes = &bytes[count..];
            }
            over => return (arrived, over),
        }
    }
}

fn outcome_of(over: Result<Opened, NotAuthentic>) -> Outcome {
    match over {
        Err(NotAuthentic) => Outcome::NotAuthentic,
        Ok(Opened::NeedsMore) => Outcome::CutShort,
        Ok(other) => panic!("{other:?}"),
    }
}

/// What a sender's bytes become on the way, and both sides.
fn passed(pair: &Pair, sender: Sender, manipulation: Manipulation) -> (Passed, Channel, Channel) {
    let format = Format::Sized {
        first: Vec::new(),
        then: BLOCK_SIZE,
    };
    let other = sent(&mut pair.channels(sender).0.outgoing);
    let material = Material {
        spliced: other[UNTOUCHED * BLOCK_SIZE..][..BLOCK_SIZE].to_vec(),
        forged: vec![b'f'; BLOCK_SIZE],
    };
    let script = manipulation.script(UNTOUCHED, material);
    let mut script = script.expect("it is done to a block");
    let (mut from, to) = pair.channels(sender);
    let passed = through(&format, &sent(&mut from.outgoing), &mut script);
    (passed, from, to)
}

/// Blocks that are whole before the tampering.
fn whole(manipulation: Manipulation) -> usize {
    match manipulation {
        Manipulation::Repeat | Manipulation::End => UNTOUCHED + 1,
        _ => UNTOUCHED,
    }
}

/// The outcome for who gets the bytes, and that only what was whole before arrives.
fn tampered(pair: &Pair, sender: Sender, manipulation: Manipulation) -> Outcome {
    let (Passed { forward, back, .. }, mut from, mut to) = passed(pair, sender, manipulation);
    let (arrived, over) = arrives(&mut to.incoming, &forward);
    let expected: Vec<_> = texts().take(whole(manipulation)).collect();
    assert!(arrived == expected, "{sender:?}: {manipulation}");
    if manipulation != Manipulation::Reflect {
        return outcome_of(over);
    }
    // It is missing there, and comes to its sender before what the other side says.
    assert_eq!(over, Err(NotAuthentic));
    let returned = [back, sent(&mut to.outgoing)].concat();
    let (arrived, over) = arrives(&mut from.incoming, &returned);
    assert!(arrived.is_empty(), "{sender:?}: {manipulation}");
    outcome_of(over)
}

#[test]
fn every_block_of_a_channel() {
    let pair = Pair::new();
    for sender in [Sender::Connector, Sender::Listener] {
        for (manipulation, expected) in EXPECTED {
            let outcome = match manipulation {
                Manipulation::Replay => replayed(&pair, sender),
                _ => tampered(&pair, sender, manipulation),
            };
            assert_eq!(outcome, expected, "{sender:?}: {manipulation}");
        }
    }
    page::agrees("tunnel", &EXPECTED, "tampering::every_block_of_a_channel");
}

/// A length that is not the sender's says how many bytes are waited for, which may never come.
#[test]
fn a_stream_that_ends_before_a_wrong_length_does_is_cut_short() {
    const LENGTH_SIZE: usize = 2;
    let pair = Pair::new();
    for sender in [Sender::Connector, Sender::Listener] {
        for manipulation in [
            Manipulation::Drop,
            Manipulation::Repeat,
            Manipulation::Reorder,
        ] {
            let (Passed { mut forward, .. }, _, mut to) = passed(&pair, sender, manipulation);
            let whole = whole(manipulation);
            forward.truncate(whole * BLOCK_SIZE + LENGTH_SIZE);
            let (arrived, over) = arrives(&mut to.incoming, &forward);
            assert!(arrived == texts().take(whole).collect::<Vec<_>>());
            assert_eq!(
                outcome_of(over),
                Outcome::CutShort,
                "{sender:?}: {manipulation}"
            );
        }
    }
}

#[test]
fn what_nobody_touches_arrives() {
    let pair = Pair::new();
    for sender in [Sender::Connector, Sender::Listener] {
        let (mut from, mut to) = pair.channels(sender);
        let arrived = arrives(&mut to.incoming, &sent(&mut from.outgoing));
        assert!(arrived == (texts().collect(), Ok(Opened::End)));
    }
}

/// One side of a handshake, and what comes of it.
struct Side {
    handshake: Handshake,
    channel: Option<Channel>,
    error: Option<HandshakeError>,
    /// Decides what becomes of each of its messages.
    script: Script,
    messages: usize,
}

impl Side {
    fn new(handshake: Handshake, script: Script) -> Self {
        Side {
            handshake,
            channel: None,
            error: None,
            script,
            messages: 0,
        }
    }

    /// What it says now; the confirmation is in front of the connector's channel.
    fn says(&mut self) -> Option<Act> {
        let message = match &mut self.channel {
            Some(channel) => {
                let message = channel.outgoing.unsent().to_vec();
                channel.outgoing.sent(message.len());
                message
            }
            None => {
                let message = self.handshake.unsent().to_vec();
                self.handshake.sent(message.len());
                message
            }
        };
        let said = !message.is_empty();
        said.then(|| {
            self.messages += 1;
            (self.script)(self.messages - 1, message)
        })
    }

    fn hears(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.channel.is_none() && self.error.is_none() {
            let count = pass(bytes, self.handshake.room());
            bytes = &bytes[count..];
            match self.handshake.received(count) {
                Ok(channel) => self.channel = channel,
                Err(error) => self.error = Some(error),
            }
        }
    }
}

impl Pair {
    fn sides(&self, connector: Script, listener: Script) -> [Side; 2] {
        let connecting = Handshake::connect(&self.connector, *self.listener.public_key());
        let listening = Handshake::listen(&self.listener);
        [
            Side::new(connecting.expect("randomness"), connector),
            Side::new(listening.expect("randomness"), listener),
        ]
    }

    /// Lets both talk until neither has anything to say, or the connection is cut.
    fn handshake(&self, connector: Script, listener: Script) -> [Side; 2] {
        let [mut connector, mut listener] = self.sides(connector, listener);
        loop {
            let (act, from, to) = if let Some(act) = connector.says() {
                (act, &mut connector, &mut listener)
            } else if let Some(act) = listener.says() {
                (act, &mut listener, &mut connector)
            } else {
                break;
            };
            to.hears(&act.forward);
            from.hears(&act.back);
            if act.cut {
                break;
            }
        }
        [connector, listener]
    }

    /// The messages of each side.
    fn recorded(&self) -> [Vec<Vec<u8>>; 2] {
        let copies = [(); 2].map(|()| Arc::default());
        let [connector, listener] = copies.each_ref().map(recording);
        let sides = self.handshake(connector, listener);
        assert!(sides.iter().all(|side| side.channel.is_some()));
        copies.map(|copy| copy.lock().expect("no test panicked").clone())
    }
}

/// What a side said before, to the other side again.
fn replayed(pair: &Pair, sender: Sender) -> Outcome {
    let recorded = pair.recorded();
    let [mut connector, mut listener] = pair.sides(honest(), honest());
    let (messages, hearing) = match sender {
        Sender::Connector => (&recorded[0], &mut listener),
        Sender::Listener => (&recorded[1], &mut connector),
    };
    for message in messages {
        hearing.hears(message);
    }
    assert!(hearing.channel.is_none());
    assert_eq!(hearing.error, Some(NOT_AUTHENTIC));
    Outcome::Refused
}

/// A message of the handshake, by who sends it and its number among theirs.
const REQUEST: (Sender, usize) = (Sender::Connector, 0);
const RESPONSE: (Sender, usize) = (Sender::Listener, 0);
const CONFIRMATION: (Sender, usize) = (Sender::Connector, 1);

/// Nobody has a channel who got a message that was tampered with, or an answer to it: it is refused, or waited for.
#[test]
fn every_message_of_a_handshake() {
    let pair = Pair::new();
    let recorded = pair.recorded();
    for (sender, number) in [REQUEST, RESPONSE, CONFIRMATION] {
        let spliced = recorded[sender as usize][number].clone();
        for (manipulation, is_refused) in [
            (Manipulation::Drop, false),
            (Manipulation::Shorten, false),
            (Manipulation::Cut, false),
            (Manipulation::Splice, true),
            (Manipulation::Inject, true),
            (Manipulation::Flip, true),
        ] {
            let material = Material {
                forged: vec![b'f'; spliced.len()],
                spliced: spliced.clone(),
            };
            let script = manipulation.script(number, material);
            let script = script.expect("it is done to a message");
            let [connector, listener] = match sender {
                Sender::Connector => pair.handshake(script, honest()),
                Sender::Listener => pair.handshake(honest(), script),
            };
            let what = format!("{sender:?} {number}: {manipulation}");
            assert!(listener.channel.is_none(), "{what}");
            // It has what it needs before the listener has the confirmation.
            let is_done = (sender, number) == CONFIRMATION;
            assert_eq!(connector.channel.is_some(), is_done, "{what}");
            let errors = [&connector.error, &listener.error];
            let errors: Vec<_> = errors.into_iter().flatten().collect();
            assert_eq!(errors.len(), usize::from(is_refused), "{what}: {errors:?}");
            if is_done && is_refused {
                assert_eq!(*errors[0], NOT_AUTHENTIC, "{what}");
            }
        }
    }
}
