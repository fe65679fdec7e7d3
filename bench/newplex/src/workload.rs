//! What is measured.

use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::aead::Aead;
use std::hint::black_box;

/// Message sizes in bytes.
pub(crate) const SIZES: [usize; 6] = [16, 64, 256, 1 << 10, 16 << 10, 1 << 20];

/// One thing to be measured.
pub(crate) struct Contender {
    /// Does it so many times.
    pub(crate) run: Box<dyn FnMut(usize)>,
    /// Messages each time.
    pub(crate) messages: usize,
}

/// A scheme that the reference has a benchmark for.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) go_name: &'static str,
    pub(crate) message: fn(usize) -> Contender,
}

/// In the order of the reference's figures.
pub(crate) const KINDS: [Kind; 4] = [
    Kind {
        name: "hash",
        go_name: "BenchmarkHashScheme",
        message: hash,
    },
    Kind {
        name: "PRF",
        go_name: "BenchmarkPRFScheme",
        message: prf,
    },
    Kind {
        name: "stream",
        go_name: "BenchmarkStreamScheme",
        message: stream,
    },
    Kind {
        name: "AEAD",
        go_name: "BenchmarkAEADScheme",
        message: aead,
    },
];

/// The others.
pub(crate) const OTHERS: [(&str, fn(usize) -> Contender); 2] =
    [("AEAD, sealing", aead_seal), ("AEAD, opening", aead_open)];

fn one_by_one(mut call: impl FnMut() + 'static) -> Contender {
    Contender {
        run: Box::new(move |calls| (0..calls).for_each(|_| call())),
        messages: 1,
    }
}

fn hash(size: usize) -> Contender {
    let input = vec![0; size];
    one_by_one(move || {
        let mut protocol = Protocol::new("hash");
        protocol.mix("message", black_box(&input));
        black_box(protocol.derive_array::<32>("digest"));
    })
}

fn prf(size: usize) -> Contender {
    let (key, mut output) = ([0; 32], vec![0; size]);
    one_by_one(move || {
        let mut protocol = Protocol::new("prf");
        protocol.mix("key", black_box(&key));
        protocol.derive("output", black_box(&mut output));
    })
}

fn stream(size: usize) -> Contender {
    let (key, nonce, mut text) = ([0; 32], [0; 16], vec![0; size]);
    one_by_one(move || {
        let mut protocol = Protocol::new("stream");
        protocol.mix("key", black_box(&key));
        protocol.mix("nonce", black_box(&nonce));
        protocol.mask("message", black_box(&mut text));
    })
}

fn aead(size: usize) -> Contender {
    let (key, nonce, ad, mut text) = ([0; 32], [0; 16], [0; 32], vec![0; size]);
    one_by_one(move || {
        let mut protocol = Protocol::new("aead");
        protocol.mix("key", black_box(&key));
        protocol.mix("nonce", black_box(&nonce));
        protocol.mix("ad", black_box(&ad));
        black_box(protocol.seal_detached("message", black_box(&mut text)));
    })
}

fn aead_seal(size: usize) -> Contender {
    let cipher: Aead = Aead::new("com.example.benchmark", &[0; 32]);
    let (nonce, ad, mut text) = ([0; 16].into(), [0; 32], vec![0; size]);
    one_by_one(move || {
        black_box(cipher.seal_detached(black_box(&nonce), &ad, black_box(&mut text)));
    })
}

fn aead_open(size: usize) -> Contender {
    let cipher: Aead = Aead::new("com.example.benchmark", &[0; 32]);
    let (nonce, ad, mut sealed) = ([0; 16].into(), [0; 32], vec![0; size]);
    let tag = cipher.seal_detached(&nonce, &ad, &mut sealed);
    let mut text = sealed.clone();
    one_by_one(move || {
        // The copy is part of what is measured.
        text.copy_from_slice(&sealed);
        let opened = cipher.open_detached(black_box(&nonce), &ad, black_box(&mut text), &tag);
        assert!(opened.is_ok());
    })
}
