//! What is to be written: taken in any portions, bounded by what was staged.

use sealwire_zmtp::bytes::Buf;
use sealwire_zmtp::{Frame, Message};

use crate::support::{Pair, protections, provider};

#[test]
fn any_portions_give_the_same_stream() {
    for (a, b) in protections() {
        let mut pair = Pair::ready(a, b, &provider());
        let mut sent = Vec::new();
        let mut stream = Vec::new();
        for round in 0..40_usize {
            for size in [0, 3, 200, 300, 9_000, round * 311] {
                let message = Message::from(vec![round as u8; size]);
                pair.a.send(message.clone());
                sent.push(message);
            }
            let mut transmit = pair.a.connection.transmit();
            let mut portion = transmit.remaining() / 2 + round % 7;
            while portion > 0 {
                let chunk = transmit.chunk();
                let count = chunk.len().min(portion).min(1 + round * 97);
                stream.extend_from_slice(&chunk[..count]);
                transmit.advance(count);
                portion -= count;
            }
        }
        stream.extend(pair.a.output());
        pair.b.feed(&stream);
        assert_eq!(pair.b.error, None);
        assert_eq!(pair.b.messages(), sent);
    }
}

#[test]
fn chunks_are_whole_in_order_and_never_empty() {
    for (a, b) in protections() {
        let mut pair = Pair::ready(a, b, &provider());
        pair.a.send(Message::from_iter(
            [0, 10, 20_000, 30_000, 5].map(|n| Frame::from(vec![9; n])),
        ));
        let mut transmit = pair.a.connection.transmit();
        transmit.advance(1);
        let chunks: Vec<u8> = transmit
            .chunks()
            .inspect(|chunk| assert!(!chunk.is_empty()))
            .flat_map(|chunk| chunk.iter().copied())
            .collect();
        assert_eq!(chunks.len(), transmit.remaining());
        let rest = transmit.copy_to_bytes(transmit.remaining());
        assert_eq!(rest, chunks);
        assert_eq!(pair.a.connection.pending_bytes(), 0);
    }
}

#[test]
fn a_shared_large_payload_is_left_alone_by_sealing() {
    let [_, (a, b), ..] = protections();
    let mut pair = Pair::ready(a, b, &provider());
    let message = Message::from(vec![1; 50_000]);
    pair.a.send(message.clone());
    pair.settle();
    assert_eq!(message, Message::from(vec![1; 50_000]));
    assert_eq!(pair.b.messages(), [message]);
}

#[test]
#[should_panic(expected = "advanced beyond")]
fn advancing_too_far_is_a_programming_error() {
    let [(a, b), ..] = protections();
    let mut pair = Pair::ready(a, b, &provider());
    pair.a.connection.transmit().advance(1);
}
