//! The workloads that are measured.

use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::aead::{Aead, OpenJob, SealJob};
use sealwire_newplex::schemes::digest::Digest;
use std::hint::black_box;

/// Message sizes in bytes.
pub(crate) const SIZES: [usize; 8] = [16, 32, 64, 128, 256, 1 << 10, 16 << 10, 1 << 20];

/// One thing to be measured.
pub(crate) struct Contender {
    /// Does it this number of times.
    pub(crate) run: Box<dyn FnMut(usize)>,
    /// Messages each time.
    pub(crate) messages: usize,
    /// What `run` does beside what is to be measured; its time is taken off.
    pub(crate) beside: Option<Box<dyn FnMut(usize)>>,
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

/// Makes a contender for messages of this many bytes.
type Make = fn(usize) -> Contender;

/// The others.
pub(crate) const OTHERS: [(&str, Make); 6] = [
    ("AEAD, sealing", aead_seal),
    ("AEAD, sealing, batch of 16", aead_seal_many),
    ("AEAD, opening", aead_open),
    ("AEAD, opening, batch of 16", aead_open_many),
    ("digest, batch of 4", digest_4),
    ("digest, batch of 16", digest_16),
];

fn one_by_one(mut call: impl FnMut() + 'static) -> Contender {
    Contender {
        run: Box::new(move |calls| (0..calls).for_each(|_| call())),
        messages: 1,
        beside: None,
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
    let beside = copies(&sealed, 1);
    let mut contender = one_by_one(move || {
        // Opening happens in place, so each round needs the ciphertext anew.
        text.copy_from_slice(&sealed);
        let opened = cipher.open_detached(black_box(&nonce), &ad, black_box(&mut text), &tag);
        assert!(opened.is_ok());
    });
    contender.beside = Some(beside);
    contender
}

/// The copies of ciphertexts that opening them again and again takes.
fn copies(sealed: &[u8], messages: usize) -> Box<dyn FnMut(usize)> {
    let sealed = sealed.to_vec();
    let mut texts = vec![sealed.clone(); messages];
    Box::new(move |calls| {
        for _ in 0..calls {
            for text in &mut texts {
                text.copy_from_slice(black_box(&sealed));
                black_box(text);
            }
        }
    })
}

/// Messages of a batch.
const BATCH: usize = 16;

fn aead_seal_many(size: usize) -> Contender {
    let cipher: Aead = Aead::new("com.example.benchmark", &[0; 32]);
    let (nonce, ad) = ([0; 16].into(), [0; 32]);
    let mut texts = vec![vec![0; size]; BATCH];
    let mut tags = [[0; 16]; BATCH];
    Contender {
        run: Box::new(move |calls| {
            for _ in 0..calls {
                let mut messages = texts.iter_mut().zip(&mut tags);
                let mut jobs: [SealJob<_>; BATCH] = std::array::from_fn(|_| {
                    let (text, tag) = messages.next().expect("one for each job");
                    SealJob {
                        nonce: &nonce,
                        associated_data: &ad,
                        text,
                        tag,
                    }
                });
                cipher.seal_many(black_box(&mut jobs));
            }
        }),
        messages: BATCH,
        beside: None,
    }
}

fn aead_open_many(size: usize) -> Contender {
    let cipher: Aead = Aead::new("com.example.benchmark", &[0; 32]);
    let (nonce, ad, mut sealed) = ([0; 16].into(), [0; 32], vec![0; size]);
    let tag = cipher.seal_detached(&nonce, &ad, &mut sealed);
    let beside = copies(&sealed, BATCH);
    let mut texts = vec![sealed.clone(); BATCH];
    let mut results = [Ok(()); BATCH];
    Contender {
        run: Box::new(move |calls| {
            for _ in 0..calls {
                let mut messages = texts.iter_mut().zip(&mut results);
                let mut jobs: [OpenJob<_>; BATCH] = std::array::from_fn(|_| {
                    let (text, result) = messages.next().expect("one for each job");
                    text.copy_from_slice(&sealed);
                    OpenJob {
                        nonce: &nonce,
                        associated_data: &ad,
                        text,
                        tag: &tag,
                        result,
                    }
                });
                cipher.open_many(black_box(&mut jobs));
                assert!(results.iter().all(Result::is_ok));
            }
        }),
        messages: BATCH,
        beside: Some(beside),
    }
}

fn digest_4(size: usize) -> Contender {
    digest_many::<4>(size)
}

fn digest_16(size: usize) -> Contender {
    digest_many::<16>(size)
}

fn digest_many<const COUNT: usize>(size: usize) -> Contender {
    let inputs = vec![vec![0; size]; COUNT];
    Contender {
        run: Box::new(move |calls| {
            let messages: [&[u8]; COUNT] = std::array::from_fn(|index| inputs[index].as_slice());
            for _ in 0..calls {
                let mut digests = [[0; 32]; COUNT];
                Digest::of_many("hash", black_box(&messages), &mut digests);
                black_box(digests);
            }
        }),
        messages: COUNT,
        beside: None,
    }
}
