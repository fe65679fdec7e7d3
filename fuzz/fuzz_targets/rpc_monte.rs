//! A peer that speaks monte's wire, or anything else: nothing panics, nothing larger than the limit
//! is asked for, what was sealed opens, and what was changed does not.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_rpc::monte::{DEFAULT_MAX_FRAME, Exchange, OVERHEAD};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ours: [u8; 32],
    theirs: [u8; 32],
    /// Sealed by the peer: number, payload, and whether and where it is changed on the way.
    frames: Vec<(u32, &'a [u8], Option<u16>)>,
    /// What the peer sends then.
    wire: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    // Any bytes are a key, but not all give a secret.
    let _ = Exchange::new(input.ours).establish(input.theirs, DEFAULT_MAX_FRAME);
    let (ours, theirs) = (Exchange::new(input.ours), Exchange::new(input.theirs));
    let sessions = [&ours, &theirs].map(|side| side.public());
    let (Ok(mut reader), Ok(mut writer)) = (
        ours.establish(sessions[1], DEFAULT_MAX_FRAME),
        theirs.establish(sessions[0], DEFAULT_MAX_FRAME),
    ) else {
        return;
    };
    for (number, payload, change) in input.frames {
        let mut wire = Vec::new();
        if writer.seal(number, payload, &mut wire).is_err() {
            assert!(payload.len() + OVERHEAD > DEFAULT_MAX_FRAME);
            assert!(wire.is_empty());
            continue;
        }
        let Some((length, frame)) = wire.split_first_chunk_mut() else {
            panic!("a frame without a length");
        };
        assert_eq!(reader.frame_size(*length).unwrap(), frame.len());
        if let Some(at) = change {
            frame[usize::from(at) % frame.len()] ^= 1;
            assert!(reader.open(frame).is_err(), "a changed frame opened");
            return;
        }
        assert_eq!(reader.open(frame).unwrap(), (number, payload.to_vec()));
    }
    let mut wire = input.wire;
    while let Some((length, rest)) = wire.split_first_chunk() {
        let Ok(size) = reader.frame_size(*length) else {
            return;
        };
        assert!(size <= DEFAULT_MAX_FRAME);
        let Some((frame, rest)) = rest.split_at_checked(size) else {
            return;
        };
        if reader.open(frame).is_err() {
            return;
        }
        wire = rest;
    }
});
