//! What arrives of blocks, ends and reasons, however the bytes are cut and whatever is changed.

use sealwire_tunnel::{Channel, Incoming, MAX_BLOCK_SIZE, NotAuthentic, Opened, Outgoing, Reason};

use crate::link::{self, pass};

/// Bytes of a block without text.
const OVERHEAD: usize = 18;

/// Both sides, behind a handshake.
fn channels() -> (Channel, Channel) {
    link::channels(&link::identity(), &link::identity())
}

fn pair() -> (Outgoing, Incoming) {
    let (ours, theirs) = channels();
    (ours.outgoing, theirs.incoming)
}

fn put(outgoing: &mut Outgoing, text: &[u8]) {
    let count = pass(text, outgoing.room());
    assert_eq!(count, text.len());
    outgoing.seal(count);
}

/// Moves everything that is unsent, a few bytes at a time, and gives what arrived last.
fn deliver(
    from: &mut Outgoing,
    to: &mut Incoming,
    texts: &mut Vec<u8>,
) -> Result<Opened, NotAuthentic> {
    loop {
        match to.open()? {
            Opened::Text => {
                // In two pieces: what is left is still there.
                let half = to.text().len().div_ceil(2);
                texts.extend(&to.text()[..half]);
                to.take(half);
            }
            Opened::NeedsMore if !from.unsent().is_empty() => {
                let piece = from.unsent().len().min(1_000);
                let count = pass(&from.unsent()[..piece], to.room());
                to.received(count);
                from.sent(count);
            }
            other => return Ok(other),
        }
    }
}

#[test]
fn blocks_of_any_size_arrive_and_then_the_end() {
    let (mut outgoing, mut incoming) = pair();
    let mut texts = Vec::new();
    for size in [1, 2, 17, 4_000, MAX_BLOCK_SIZE - 1, MAX_BLOCK_SIZE] {
        let text = vec![size as u8; size];
        put(&mut outgoing, &text);
        let arrived = deliver(&mut outgoing, &mut incoming, &mut texts);
        assert_eq!(arrived, Ok(Opened::NeedsMore));
        assert!(outgoing.is_ready() && texts.ends_with(&text));
    }
    outgoing.end();
    assert!(outgoing.is_closed() && outgoing.room().is_empty());
    let arrived = deliver(&mut outgoing, &mut incoming, &mut texts);
    assert_eq!(arrived, Ok(Opened::End));
    outgoing.break_off(Reason::Broken);
    assert!(outgoing.unsent().is_empty(), "an end is an end");
    assert!(incoming.room().is_empty(), "what follows is not read");
    assert_eq!(incoming.open(), Ok(Opened::End));
}

#[test]
fn ends_and_reasons_arrive_behind_what_was_not_sent_yet() {
    let ends = Reason::ALL.map(Some).into_iter().chain([None]);
    for reason in ends {
        let (mut outgoing, mut incoming) = pair();
        let mut texts = Vec::new();
        put(&mut outgoing, b"text");
        match reason {
            Some(reason) => outgoing.break_off(reason),
            None => outgoing.end(),
        }
        let arrived = deliver(&mut outgoing, &mut incoming, &mut texts);
        assert_eq!(arrived, Ok(reason.map_or(Opened::End, Opened::BrokenOff)));
        assert_eq!(texts, b"text");
        assert_eq!(incoming.open(), arrived, "and nothing else");
    }
}

#[test]
fn no_bit_of_a_reason_or_an_end_can_be_changed() {
    for reason in [None, Some(Reason::Refused)] {
        for bit in 0..OVERHEAD * 8 {
            let (mut outgoing, mut incoming) = pair();
            match reason {
                Some(reason) => outgoing.break_off(reason),
                None => outgoing.end(),
            }
            let mut block = outgoing.unsent().to_vec();
            block[bit / 8] ^= 1 << (bit % 8);
            let count = pass(&block, incoming.room());
            incoming.received(count);
            // A changed header announces a block that never comes.
            let expected = if bit < 16 {
                Ok(Opened::NeedsMore)
            } else {
                Err(NotAuthentic)
            };
            assert_eq!(incoming.open(), expected, "{bit}");
            assert_eq!(incoming.open(), expected, "{bit}, again");
            assert!(incoming.text().is_empty());
        }
    }
}

#[test]
fn reading_ahead_does_not_touch_text_that_was_not_taken() {
    let (mut outgoing, mut incoming) = pair();
    for text in [&b"first"[..], b"second"] {
        put(&mut outgoing, text);
        let count = pass(outgoing.unsent(), incoming.room());
        incoming.received(count);
        outgoing.sent(count);
    }
    assert_eq!(incoming.open(), Ok(Opened::Text));
    let room = incoming.room();
    room.fill(0xff);
    assert_eq!(incoming.open(), Ok(Opened::Text));
    assert_eq!(incoming.text(), b"first");
    incoming.take(5);
    assert_eq!(incoming.open(), Ok(Opened::Text));
    assert_eq!(incoming.text(), b"second");
}

#[test]
fn nothing_of_the_content_is_shown() {
    let (mut ours, mut theirs) = channels();
    put(&mut ours.outgoing, b"YYYYYYYYYYYY");
    let count = pass(ours.outgoing.unsent(), theirs.incoming.room());
    theirs.incoming.received(count);
    assert_eq!(theirs.incoming.open(), Ok(Opened::Text));
    let room = theirs.outgoing.room();
    room.fill(b'Y');
    let shown = format!("{ours:?} {theirs:?}");
    assert!(!shown.contains("89, 89"), "{shown}");
}
