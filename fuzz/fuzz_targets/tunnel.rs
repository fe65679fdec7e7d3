//! Any bytes as those of a tunnel's peer, cut anywhere: nothing panics, nobody is authenticated without a key, and
//! nothing comes out of a channel that was not sealed for it. The same bytes as what is sent: they arrive, in order,
//! and less or changed ones do not pass for them.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use sealwire_tunnel::{
    Channel, Handshake, Identity, Incoming, NotAuthentic, Opened, Randomness, Reason, SecretKey,
};

static LISTENER: LazyLock<Arc<Identity>> = LazyLock::new(|| identity(1));
static CONNECTOR: LazyLock<Arc<Identity>> = LazyLock::new(|| identity(2));

fn random(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte; 64]).expect("not zero")
}

fn identity(byte: u8) -> Arc<Identity> {
    let secret = SecretKey::from_randomness(random(byte));
    Arc::new(Identity::new("com.example.fuzz", secret))
}

fn connect() -> Handshake {
    Handshake::connect_with_randomness(&CONNECTOR, *LISTENER.public_key(), random(3))
}

fn listen() -> Handshake {
    Handshake::listen_with_randomness(&LISTENER, random(4))
}

/// Gives bytes to a handshake in pieces of this size. Returns the bytes behind its end, and its channel.
fn give<'b>(
    handshake: &mut Handshake,
    mut bytes: &'b [u8],
    piece: usize,
) -> (&'b [u8], Option<Channel>) {
    while !bytes.is_empty() {
        let room = handshake.room();
        let count = piece.min(room.len()).min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
        bytes = &bytes[count..];
        match handshake.received(count) {
            Ok(Some(channel)) => return (bytes, Some(channel)),
            Ok(None) if count > 0 => {}
            Ok(None) | Err(_) => break,
        }
        let count = handshake.unsent().len();
        handshake.sent(count);
    }
    (bytes, None)
}

/// Gives bytes to a direction in pieces of this size. What came out, and how it ended.
fn arrived(
    incoming: &mut Incoming,
    mut bytes: &[u8],
    piece: usize,
) -> (Vec<u8>, Result<Opened, NotAuthentic>) {
    let mut texts = Vec::new();
    loop {
        let event = incoming.open();
        match event {
            Ok(Opened::Text) => {
                let count = piece.min(incoming.text().len());
                texts.extend_from_slice(&incoming.text()[..count]);
                incoming.take(count);
            }
            Ok(Opened::NeedsMore) if !bytes.is_empty() => {
                let room = incoming.room();
                let count = piece.min(room.len()).min(bytes.len());
                assert!(count > 0, "it needs more and takes none");
                room[..count].copy_from_slice(&bytes[..count]);
                incoming.received(count);
                bytes = &bytes[count..];
            }
            other => {
                assert_eq!(incoming.open(), other, "the same again");
                return (texts, other);
            }
        }
    }
}

/// A place below `end` that depends on every byte.
fn somewhere(bytes: &[u8], end: usize) -> usize {
    let mix = |sum: usize, byte: &u8| sum.wrapping_mul(31).wrapping_add(usize::from(*byte));
    bytes.iter().fold(0, mix) % end
}

fuzz_target!(|bytes: &[u8]| {
    let piece = bytes.first().map_or(1, |first| usize::from(*first) + 1);
    assert!(give(&mut listen(), bytes, piece).1.is_none());
    assert!(give(&mut connect(), bytes, piece).1.is_none());

    let (mut connecting, mut listening) = (connect(), listen());
    let request = connecting.unsent().to_vec();
    connecting.sent(request.len());
    assert!(give(&mut listening, &request, piece).1.is_none());
    let response = response();
    let (rest, channel) = give(&mut connecting, &response, piece);
    assert!(rest.is_empty());
    let mut ours = channel.expect("a good response");
    let confirmation = ours.outgoing.unsent().to_vec();
    ours.outgoing.sent(confirmation.len());
    let (_, channel) = give(&mut listening, &confirmation, piece);
    let mut theirs = channel.expect("a good confirmation");
    assert_eq!(theirs.peer, *CONNECTOR.public_key());

    // What nobody sealed.
    let (texts, event) = arrived(&mut ours.incoming, bytes, piece);
    assert!(texts.is_empty() && matches!(event, Ok(Opened::NeedsMore) | Err(NotAuthentic)));

    // The sealed bytes, and then something behind them.
    let mut sealed = Vec::new();
    for text in bytes.chunks(piece) {
        ours.outgoing.room()[..text.len()].copy_from_slice(text);
        ours.outgoing.seal(text.len());
        sealed.extend_from_slice(ours.outgoing.unsent());
        let count = ours.outgoing.unsent().len();
        ours.outgoing.sent(count);
    }
    let expected = match bytes.len() % 6 {
        0 => {
            ours.outgoing.end();
            Opened::End
        }
        number => {
            let reason = Reason::ALL[number - 1];
            ours.outgoing.break_off(reason);
            Opened::BrokenOff(reason)
        }
    };
    sealed.extend_from_slice(ours.outgoing.unsent());
    let whole = sealed.len();
    sealed.extend_from_slice(bytes);
    let (texts, event) = arrived(&mut theirs.incoming, &sealed, piece);
    assert_eq!((texts.as_slice(), event), (bytes, Ok(expected)));

    // Less of it, or a bit of it changed.
    let place = somewhere(bytes, whole);
    sealed.truncate(whole);
    let (texts, event) = arrived(&mut again(&request, &confirmation), &sealed[..place], piece);
    assert!(bytes.starts_with(&texts) && event == Ok(Opened::NeedsMore));
    sealed[place] ^= 1 << (place % 8);
    let (texts, event) = arrived(&mut again(&request, &confirmation), &sealed, piece);
    assert!(bytes.starts_with(&texts));
    assert!(matches!(event, Ok(Opened::NeedsMore) | Err(NotAuthentic)));
});

/// What the listener answers.
fn response() -> Vec<u8> {
    let mut listening = listen();
    let request = connect().unsent().to_vec();
    listening.room().copy_from_slice(&request);
    assert!(listening.received(request.len()).is_ok());
    listening.unsent().to_vec()
}

/// The listener's direction once more, from its beginning.
fn again(request: &[u8], confirmation: &[u8]) -> Incoming {
    let mut listening = listen();
    let bytes = [request, confirmation].concat();
    let (_, channel) = give(&mut listening, &bytes, bytes.len());
    channel.expect("the same messages").incoming
}
