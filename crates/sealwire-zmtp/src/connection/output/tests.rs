use alloc::vec;

use super::*;
use crate::mechanism::blake3::{self, traffic};
use crate::provider::{DefaultProvider, Provider};

fn sealed_at(next: u64) -> Output {
    let sealer = traffic::Sealer::new(DefaultProvider.cipher(&[1; 32]), [2; 24]);
    let mut output = Output::default();
    let sealer = blake3::Sealer::PerMessage(sealer.skipped_to(next));
    output.protect(sealer.into());
    output
}

#[test]
fn nonces_are_counted_when_staging() {
    let mut output = sealed_at(u64::MAX - 3);
    assert!(output.has_nonces_for(3) && !output.has_nonces_for(4));
    output.stage_slice(0, b"one");
    output.stage_frame(0, Frame::from(vec![2; LARGE_FRAME]));
    assert!(output.has_nonces_for(1) && !output.has_nonces_for(2));
    output.seal().unwrap();
    output.stage_slice(0, b"three");
    output.seal().unwrap();
    assert!(!output.has_nonces_for(1));
}

#[test]
fn what_is_taken_leaves_few_buffers_of_bounded_size() {
    let mut output = sealed_at(0);
    for _ in 0..3 {
        for _ in 0..10_000 {
            output.stage_slice(0, &[3; 100]);
        }
        output.seal().unwrap();
        assert!(output.segments.len() > 10);
        output.advance(output.pending());
        assert!(output.segments.is_empty());
        assert!((1..=SPARES).contains(&output.spares.len()));
        for spare in &output.spares {
            assert!((1..=LARGEST_SPARE).contains(&spare.capacity()));
        }
    }
}

#[test]
fn a_buffer_is_kept_whatever_the_frames_that_it_grew_for() {
    for size in 1..LARGE_FRAME {
        let mut output = Output::default();
        output.stage_raw(&vec![0; size]);
        while output.pending() < OUTPUT_SEGMENT {
            output.stage_raw(&[0; LARGE_FRAME - 1]);
        }
        output.advance(output.pending());
        assert_eq!(output.spares.len(), 1, "{size} bytes first");
    }
}

#[test]
fn what_is_sealed_once_is_not_sealed_again() {
    let mut output = sealed_at(0);
    output.stage_slice(0, b"first");
    output.stage_frame(0, Frame::from(vec![2; LARGE_FRAME]));
    output.stage_slice(0, b"second");
    output.seal().unwrap();
    let before: Vec<u8> = bytes(&output);
    output.seal().unwrap();
    assert_eq!(bytes(&output), before);
    output.stage_slice(0, b"third");
    output.seal().unwrap();
    assert_eq!(bytes(&output)[..before.len()], before);
}

/// A frame's header that a defect of staging would have left.
fn damage(output: &mut Output, segment: usize, flags_and_size: [u8; 2]) {
    let Segment::Packed(packed) = &mut output.segments[segment] else {
        panic!("no packed segment");
    };
    packed.damage_unsealed(flags_and_size);
}

#[test]
fn a_frame_that_cannot_be_sealed_is_dropped_with_those_behind_it() {
    // Reserved flags; a body that ends before its tag does, or behind the segment.
    for header in [[0xff, 37], [0, 31], [0, 255]] {
        let mut output = sealed_at(0);
        output.stage_slice(0, b"first");
        output.seal().unwrap();
        let before = bytes(&output);
        output.advance(3);
        output.stage_slice(0, b"second");
        output.stage_frame(0, Frame::from(vec![3; LARGE_FRAME]));
        output.stage_frame(0, Frame::from(vec![4; FRAME_IN_PIECES]));
        output.stage_slice(0, b"fifth");
        damage(&mut output, 0, header);
        assert_eq!(output.seal(), Err(NotSealed));
        assert!(bytes(&output) == before, "{header:?}");
        assert_eq!(output.pending(), before.len() - 3);
        assert_eq!(output.ready(), output.pending());
        output.advance(output.pending());
    }
}

#[test]
fn no_frame_is_sealed_beyond_the_last_number() {
    for size in [5, LARGE_FRAME, FRAME_IN_PIECES] {
        let mut output = sealed_at(u64::MAX - 1);
        output.stage_slice(0, b"last");
        output.seal().unwrap();
        let before = bytes(&output);
        output.stage_frame(0, Frame::from(vec![1; size]));
        assert_eq!(output.seal(), Err(NotSealed));
        assert!(bytes(&output) == before, "{size} bytes");
        assert_eq!(output.pending(), before.len());
    }
}

fn bytes(output: &Output) -> Vec<u8> {
    output
        .segments
        .iter()
        .flat_map(Segment::parts)
        .flatten()
        .copied()
        .collect()
}
