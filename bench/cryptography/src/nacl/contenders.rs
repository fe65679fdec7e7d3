//! The measurements of `sealwire-nacl`.

use std::hint::black_box;

use sealwire_nacl::KeyPair;

use crate::contender::Contender;

pub(super) const OURS: [u8; 32] = [0x42; 32];
pub(super) const THEIRS: [u8; 32] = [0x24; 32];
/// The same for all, as nothing here is kept.
pub(super) const NONCE: [u8; 24] = [0x24; 24];

pub(super) const AGREE: &str = "agree with X25519";
pub(super) const ONE_STEP_SEAL: &str = "one step, seal";
pub(super) const ONE_STEP_OPEN: &str = "one step, open";
pub(super) const TWO_STEP_SEAL: &str = "two steps, seal";
pub(super) const TWO_STEP_OPEN: &str = "two steps, open";

/// A contender, and in how many steps it makes its box.
pub(super) struct Boxed {
    pub(super) steps: Option<u8>,
    pub(super) contender: Contender,
}

impl Boxed {
    pub(super) fn new(
        steps: Option<u8>,
        name: &'static str,
        size: usize,
        work: impl FnMut(&mut [u8]) + 'static,
    ) -> Self {
        Boxed {
            steps,
            contender: Contender::single(name, size, work),
        }
    }
}

fn pairs() -> [KeyPair; 2] {
    [OURS, THEIRS].map(KeyPair::from_secret)
}

/// The first of the two steps.
pub(super) fn agreement() -> Boxed {
    let [ours, theirs] = pairs();
    Boxed::new(None, AGREE, 0, move |_| {
        let _ = black_box(ours.shared_with(black_box(theirs.public())));
    })
}

pub(super) fn all(size: usize) -> Vec<Boxed> {
    let [ours, theirs] = pairs();
    let strong = "neither key is of low order";
    let shared = ours.shared_with(theirs.public()).expect(strong);
    let sealed = shared.seal(&NONCE, &vec![0x5a; size]);
    let (opened, opening) = (sealed.clone(), shared.clone());
    let [ours_too, theirs_too] = pairs();
    vec![
        Boxed::new(Some(1), ONE_STEP_SEAL, size, move |text| {
            let _ = black_box(ours.seal(theirs.public(), black_box(&NONCE), text));
        }),
        Boxed::new(Some(1), ONE_STEP_OPEN, 0, move |_| {
            let opened = theirs_too.open(ours_too.public(), black_box(&NONCE), &sealed);
            assert!(black_box(opened).is_ok(), "what was sealed opens");
        }),
        Boxed::new(Some(2), TWO_STEP_SEAL, size, move |text| {
            black_box(shared.seal(black_box(&NONCE), text));
        }),
        Boxed::new(Some(2), TWO_STEP_OPEN, 0, move |_| {
            let opened = opening.open(black_box(&NONCE), &opened);
            assert!(black_box(opened).is_ok(), "what was sealed opens");
        }),
    ]
}
