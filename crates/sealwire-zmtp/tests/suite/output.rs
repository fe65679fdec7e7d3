//! The bytes to write: taken in any portions, bounded by what was staged.

use std::sync::Arc;

use sealwire_zmtp::bytes::{Buf, BufMut};
use sealwire_zmtp::limits::{FRAME_IN_PIECES, OUTPUT_SEGMENT, PIECES_AHEAD};
use sealwire_zmtp::{Frame, Frames, Provider};

use crate::support::{OtherProvider, Pair, Side, protections, provider};

#[test]
fn any_portions_give_the_same_stream() {
    for (a, b) in protections() {
        let mut pair = Pair::ready(a, b, &provider());
        let mut sent = Vec::new();
        let mut stream = Vec::new();
        for round in 0..40_usize {
            let large = [0, 600_000][usize::from(round % 10 == 3)];
            for size in [0, 3, 200, 300, 9_000, large, round * 311] {
                let message = Frames::from(vec![round as u8; size]);
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
        pair.a.send(Frames::from_iter(
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
    for (a, b) in protections() {
        let mut pair = Pair::ready(a, b, &provider());
        for size in [50_000, 600_000] {
            let message = Frames::from(vec![1; size]);
            pair.a.send(message.clone());
            pair.settle();
            assert_eq!(message, Frames::from(vec![1; size]));
            assert_eq!(pair.b.messages(), [message]);
        }
    }
}

/// On every edge of a piece, with others before, between and behind.
#[test]
fn a_very_large_frame_is_sealed_as_far_ahead_as_it_is_taken() {
    let [_, _, (a, b), ..] = protections();
    let mut pair = Pair::ready(a, b, &provider());
    let sizes = [0, 1, OUTPUT_SEGMENT - 1, OUTPUT_SEGMENT, 1_500_000];
    let sizes = sizes.map(|more| FRAME_IN_PIECES + more);
    let payload = |size| (0..size).map(|i| (i * i + i) as u8).collect::<Vec<_>>();
    let sent: Vec<_> = sizes
        .iter()
        .flat_map(|size| [Frames::from("small"), Frames::from(payload(*size))])
        .chain([Frames::from_iter(
            [5, FRAME_IN_PIECES + 7, 9_000, FRAME_IN_PIECES].map(|n| Frame::from(payload(n))),
        )])
        .collect();
    for message in &sent {
        pair.a.send(message.clone());
    }
    let all = pair.a.connection.pending_bytes();
    let mut stream = Vec::new();
    while pair.a.connection.pending_bytes() > 0 {
        let mut transmit = pair.a.connection.transmit();
        let ready = transmit.remaining();
        assert!(
            (1..=PIECES_AHEAD + OUTPUT_SEGMENT + 9_100).contains(&ready),
            "{ready}"
        );
        stream.put((&mut transmit).take(1 + ready * (stream.len() % 5) / 4));
        assert_eq!(pair.a.connection.pending_bytes(), all - stream.len());
    }
    assert_eq!(stream.len(), all);
    pair.b.feed(&stream);
    assert_eq!(pair.b.error, None);
    assert_eq!(pair.b.messages(), sent);
}

/// Providers that know no pieces seal large frames at once.
#[test]
fn other_providers_read_what_was_sealed_in_pieces_and_the_other_way_round() {
    for swapped in [false, true] {
        let [_, _, (a, b), ..] = protections();
        let mut providers: [Arc<dyn Provider>; 2] = [Arc::new(OtherProvider), provider()];
        if swapped {
            providers.reverse();
        }
        let [ours, theirs] = providers;
        let mut pair = Pair {
            a: Side::new(a, ours, 1),
            b: Side::new(b, theirs, 2),
        };
        pair.settle();
        let sent = [600_000, 3, 2_000_000].map(|size| Frames::from(vec![7; size]));
        for message in &sent {
            pair.a.send(message.clone());
        }
        pair.settle();
        assert_eq!(pair.b.messages(), sent);
    }
}

#[test]
#[should_panic(expected = "advanced beyond")]
fn advancing_too_far_is_a_programming_error() {
    let [(a, b), ..] = protections();
    let mut pair = Pair::ready(a, b, &provider());
    pair.a.connection.transmit().advance(1);
}
