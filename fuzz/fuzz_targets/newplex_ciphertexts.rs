//! Any bytes as sealed for a public key, or as a message of the double ratchet: none is opened, and
//! the ratchet goes on as if it had not come.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::adratchet::DoubleRatchet;
use sealwire_newplex::schemes::keys::SecretKey;
use sealwire_newplex::schemes::randomness::Randomness;
use sealwire_newplex::schemes::{hpke, signcrypt};

const DOMAIN: &str = "com.example.fuzz";

fn random(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte; 64]).expect("not zero")
}

fuzz_target!(|bytes: &[u8]| {
    let alice = SecretKey::from_randomness(random(1));
    let bea = SecretKey::from_randomness(random(2));

    let receiver = hpke::Receiver::new(DOMAIN, &bea, alice.public_key());
    assert!(receiver.open(bytes).is_err());
    let sender = hpke::Sender::new(DOMAIN, &alice, bea.public_key());
    let sealed = sender.seal_with(random(3), bytes);
    assert_eq!(sealed.len(), bytes.len() + hpke::OVERHEAD);
    assert_eq!(receiver.open(&sealed).as_deref(), Ok(bytes));

    let receiver = signcrypt::Receiver::new(DOMAIN, &bea, alice.public_key());
    assert!(receiver.open(bytes).is_err());
    let sender = signcrypt::Sender::new(DOMAIN, &alice, bea.public_key());
    let sealed = sender.seal_with(b"", bytes);
    assert_eq!(sealed.len(), bytes.len() + signcrypt::OVERHEAD);
    assert_eq!(receiver.open(&sealed).as_deref(), Ok(bytes));

    let agreed = Protocol::new(DOMAIN);
    let mut ours = DoubleRatchet::initiator_with(agreed.clone(), *bea.public_key(), random(4));
    let mut theirs = DoubleRatchet::responder(agreed, bea, *alice.public_key());
    assert!(ours.receive_with(bytes, random(5)).is_err());
    // Bytes from comparisons are fed back to this target, the honest message among them.
    let message = ours.send(b"hello").expect("numbers are left");
    if bytes != message {
        assert!(theirs.receive_with(bytes, random(5)).is_err());
    }
    // A good message with the bytes on top of its header.
    let mut changed = message.clone();
    let header = changed.iter_mut().zip(bytes);
    header.for_each(|(byte, by)| *byte ^= by);
    if changed != message {
        assert!(theirs.receive_with(&changed, random(5)).is_err());
    }
    let received = theirs.receive_with(&message, random(5));
    assert_eq!(received.as_deref(), Ok(&b"hello"[..]));
    let answer = theirs.send(bytes).expect("numbers are left");
    assert_eq!(ours.receive_with(&answer, random(6)).as_deref(), Ok(bytes));
});
