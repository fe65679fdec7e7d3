//! The published conversations, and what becomes of messages that cannot be received.

use super::*;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::collections::VecDeque;
use std::string::String;

/// One side of a published conversation.
struct Side {
    ratchet: DoubleRatchet,
    /// What the reference drew and this side has not used yet.
    random: VecDeque<[u8; 64]>,
    /// What it sent and the other side has not received.
    sent: Vec<(Vec<u8>, Vec<u8>)>,
    /// It did what only the reference does; what it sends is taken from there.
    foreign: bool,
}

impl Side {
    fn new(ratchet: DoubleRatchet) -> Self {
        Self {
            ratchet,
            random: VecDeque::new(),
            sent: Vec::new(),
            foreign: false,
        }
    }

    fn receive(&mut self, message: &[u8]) -> Result<Vec<u8>, RatchetError> {
        let before = state(&self.ratchet);
        let local = *self.ratchet.local.public_key();
        let random = self.random.front().copied();
        let random = Randomness::from_bytes(&random.unwrap_or([9; 64])).expect("not zero");
        let received = self.ratchet.receive_with(message, random);
        if *self.ratchet.local.public_key() != local {
            self.random.pop_front().expect("the reference drew as well");
        }
        if received.is_err() {
            assert_eq!(state(&self.ratchet), before, "a failure changed the state");
        }
        received
    }
}

/// Everything a ratchet is made of.
fn state(ratchet: &DoubleRatchet) -> String {
    let mut state = hex(&*ratchet.local.to_bytes());
    state += &hex(ratchet.remote.as_bytes());
    for chain in [&ratchet.sending, &ratchet.receiving] {
        state += &std::format!("{} {}", hex(&*chain.protocol.to_bytes()), chain.number);
    }
    for skipped in &ratchet.skipped {
        let protocol = hex(&*skipped.protocol.to_bytes());
        state += &std::format!("{} {} {protocol}", hex(&skipped.key), skipped.number);
    }
    std::format!("{state} {}", ratchet.previous)
}

fn random(step: &Value) -> Option<[u8; 64]> {
    let bytes = bytes(&step["random"]);
    (!bytes.is_empty()).then(|| bytes.try_into().expect("64 bytes"))
}

fn sides(case: &Value) -> [Side; 2] {
    let mut agreed = Protocol::new(text(&case["domain"]));
    for step in list(case, "setup") {
        agreed.mix(text(&step["label"]), &bytes(&step["input"]));
    }
    let public = |name: &str| PublicKey::from_bytes(&bytes(&case[name])).expect("a key");
    let local = SecretKey::from_bytes(&bytes(&case["responder_private"])).expect("a key");
    let new = list(case, "steps")
        .iter()
        .find(|step| step["op"] == "new" && step["by"] == "initiator");
    let drawn = random(new.expect("an initiator")).expect("64 bytes");
    let drawn = Randomness::from_bytes(&drawn).expect("not zero");
    [
        Side::new(DoubleRatchet::initiator_with(
            agreed.clone(),
            public("responder_public"),
            drawn,
        )),
        Side::new(DoubleRatchet::responder(
            agreed,
            local,
            public("initiator_public"),
        )),
    ]
}

/// Replays a conversation. What one side sent and the other has not received yet is received,
/// whatever the reference made of it; anything else is refused and changes nothing.
fn replay(case: &Value) {
    let name = text(&case["name"]);
    let [mut initiator, mut responder] = sides(case);
    for (at, step) in list(case, "steps").iter().enumerate() {
        let (by, peer) = match text(&step["by"]) {
            "initiator" => (&mut initiator, &mut responder),
            _ => (&mut responder, &mut initiator),
        };
        match text(&step["op"]) {
            "new" => continue,
            "lose" => {
                for _ in 0..number(&step["count"]) {
                    by.ratchet.send(b"").expect("numbers are left");
                }
            }
            "send" if by.foreign => {}
            "send" => {
                let plaintext = bytes(&step["plaintext"]);
                let message = by.ratchet.send(&plaintext).expect("numbers are left");
                assert_eq!(
                    hex(&message),
                    text(&step["ciphertext"]),
                    "{name}, step {at}"
                );
                by.sent.push((message, plaintext));
            }
            "ratchet" => by.foreign = true,
            "receive" => {
                by.random.extend(random(step));
                let message = bytes(&step["ciphertext"]);
                let honest = peer.sent.iter().position(|(sent, _)| *sent == message);
                let received = by.receive(&message);
                match honest {
                    Some(_) if name.starts_with("1001 skipped") => {
                        assert_eq!(received, Err(RatchetError::TooManySkipped(1001)));
                    }
                    Some(honest) => {
                        let (_, plaintext) = peer.sent.remove(honest);
                        assert_eq!(received, Ok(plaintext), "{name}, step {at}");
                    }
                    None => assert!(received.is_err(), "{name}, step {at}"),
                }
                // Where the reference receives, so does this.
                assert!(
                    step["error"].is_string() || honest.is_some(),
                    "{name}, {at}"
                );
            }
            other => panic!("unknown step {other}"),
        }
    }
}

#[test]
fn conversations_have_the_published_messages() {
    list(&VECTORS["adratchet"], "vectors")
        .iter()
        .for_each(replay);
}

#[test]
fn what_cannot_be_received_changes_nothing_and_what_was_sent_can_still_be_received() {
    list(&VECTORS["adratchet"], "edge").iter().for_each(replay);
}

fn pair() -> (DoubleRatchet, DoubleRatchet) {
    let mut agreed = Protocol::new("com.example.test");
    agreed.mix("key", b"key");
    let (one, other) = (SecretKey::new(3_u8.into()), SecretKey::new(5_u8.into()));
    let random = Randomness::from_bytes(&[1; 64]).expect("not zero");
    let initiator = DoubleRatchet::initiator_with(agreed.clone(), *other.public_key(), random);
    let responder = DoubleRatchet::responder(agreed, other, *one.public_key());
    (initiator, responder)
}

fn fresh(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte; 64]).expect("not zero")
}

#[test]
fn every_changed_bit_is_refused_and_the_message_still_received() {
    let (mut one, mut other) = pair();
    let message = one.send(b"hello").expect("numbers are left");
    for bit in 0..message.len() * 8 {
        let mut forged = message.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let before = state(&other);
        assert!(other.receive_with(&forged, fresh(2)).is_err(), "bit {bit}");
        assert_eq!(state(&other), before, "bit {bit}");
    }
    let received = other.receive_with(&message, fresh(2));
    assert_eq!(received.as_deref(), Ok(&b"hello"[..]));
    let again = other.receive_with(&message, fresh(3));
    assert_eq!(again, Err(RatchetError::Repeated(0)));
}

#[test]
fn of_the_skipped_messages_only_the_youngest_are_kept() {
    let (mut one, mut other) = pair();
    let first = one.send(b"first").expect("numbers are left");
    let second = one.send(b"second").expect("numbers are left");
    let step = MAX_SKIP as usize;
    for (received, round) in [(1000, 0), (2000, 1), (2999, 2)] {
        let mut last = Vec::new();
        while one.sending.number <= received {
            last = one.send(b"").expect("numbers are left");
        }
        assert!(other.receive_with(&last, fresh(2)).is_ok());
        assert!(other.skipped.len() <= MAX_KEPT, "round {round}");
    }
    assert_eq!(other.skipped.len(), MAX_KEPT);
    assert!(3 * step > MAX_KEPT);
    let late = other.receive_with(&first, fresh(2));
    assert_eq!(late, Err(RatchetError::Repeated(0)));
    assert!(other.receive_with(&second, fresh(2)).is_err());
}

#[test]
fn a_chain_without_numbers_refuses_to_send() {
    let (mut one, _) = pair();
    one.sending.number = u32::MAX;
    assert_eq!(one.send(b""), Err(RatchetError::Exhausted));
}

#[test]
fn short_messages_and_bad_keys_get_a_typed_error() {
    let (_, mut other) = pair();
    for length in 0..OVERHEAD {
        let received = other.receive_with(&std::vec![1; length], fresh(2));
        assert_eq!(received, Err(RatchetError::TooShort(length)));
    }
    let received = other.receive_with(&[0; OVERHEAD], fresh(2));
    assert_eq!(received, Err(RatchetError::Key(InvalidEncoding::Neutral)));
}

#[test]
fn a_number_far_ahead_costs_nothing() {
    let (mut one, mut other) = pair();
    let mut message = one.send(b"hello").expect("numbers are left");
    message[32..36].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    let received = other.receive_with(&message, fresh(2));
    assert_eq!(received, Err(RatchetError::TooManySkipped(u32::MAX - 1)));
}
