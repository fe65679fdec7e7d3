//! Everything that is measured, as a closure that handles its messages once.
//!
//! Opening in place destroys the ciphertext, so what is timed as "open" copies it back before each
//! call; the copy's time is part of the figure.

use chacha20_blake3::{ChaCha20Blake3, Session20};
use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use sealwire_aead::batch::{OpenJob, SealJob};
use sealwire_aead::{Cipher, Session, Stream};
use std::hint::black_box;
use std::ops::RangeInclusive;

/// Messages in a batch.
pub(crate) const BATCH: usize = 16;
/// Largest message measured in batches: beyond it a batch is one message after the other.
const LARGEST_IN_BATCH: usize = 64 << 10;

const KEY: [u8; 32] = [0x42; 32];
const NONCE: [u8; 24] = [0x24; 24];

/// One line of the table.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Messages that a call handles.
    pub(crate) messages: usize,
    /// Message sizes in bytes that make sense for it.
    pub(crate) sizes: RangeInclusive<usize>,
    pub(crate) call: Box<dyn FnMut()>,
}

fn single(name: &'static str, size: usize, mut work: impl FnMut(&mut [u8]) + 'static) -> Contender {
    let mut buffer = vec![0x5a; size];
    let call = Box::new(move || work(black_box(&mut buffer)));
    Contender {
        name,
        messages: 1,
        sizes: 0..=usize::MAX,
        call,
    }
}

/// All contenders for messages of `size` bytes.
pub(crate) fn all(size: usize) -> Vec<Contender> {
    let mut all = ours(size);
    all.extend(batches(size));
    all.extend(peers(size));
    #[cfg(feature = "libsodium")]
    all.push(single("libsodium secretbox (CURVE)", size, |buffer| {
        black_box(crate::sodium::secretbox(&KEY, &NONCE, buffer));
    }));
    all
}

/// One message in two passes over it, and in one.
pub(crate) fn passes(size: usize) -> Vec<Contender> {
    let cipher = Cipher::new(&KEY);
    vec![
        single("encrypted, then hashed", size, |buffer| {
            black_box(sealwire_aead::seal_in_two_passes(
                &KEY,
                black_box(&NONCE),
                b"",
                buffer,
            ));
        }),
        single("encrypted as it is hashed", size, move |buffer| {
            black_box(cipher.encrypt_in_place_detached(black_box(&NONCE), b"", buffer));
        }),
    ]
}

fn ours(size: usize) -> Vec<Contender> {
    let cipher = Cipher::new(&KEY);
    let seal = single("sealwire one-shot", size, move |buffer| {
        black_box(cipher.encrypt_in_place_detached(black_box(&NONCE), b"", buffer));
    });

    let cipher = Cipher::new(&KEY);
    let (sealed, tag) = cipher.encrypt_detached(&NONCE, b"", &vec![0x5a; size]);
    let open = single("sealwire one-shot, open", size, move |buffer| {
        buffer.copy_from_slice(&sealed);
        let opened = cipher.decrypt_in_place_detached(black_box(&NONCE), b"", buffer, &tag);
        assert!(opened.is_ok());
    });

    let mut session = Session::new(&KEY, &KEY, &[0; 8]);
    let session = single("sealwire Session", size, move |buffer| {
        black_box(session.seal(b"", buffer));
    });
    vec![seal, open, session]
}

fn batches(size: usize) -> Vec<Contender> {
    let sizes = 0..=LARGEST_IN_BATCH;
    let batch = |name, call| Contender {
        name,
        messages: BATCH,
        sizes: sizes.clone(),
        call,
    };
    let mut all = Vec::new();

    let stream = Stream::new(&KEY, &NONCE);
    let (mut buffers, mut tags) = (vec![vec![0x5a; size]; BATCH], [[0; 32]; BATCH]);
    all.push(batch(
        "sealwire Stream, batch of 16",
        Box::new(move || {
            let mut jobs = seal_jobs(&mut buffers, &mut tags);
            black_box(stream.seal_batch(&mut jobs).is_ok());
        }),
    ));

    let cipher = Cipher::new(&KEY);
    let (mut buffers, mut tags) = (vec![vec![0x5a; size]; BATCH], [[0; 32]; BATCH]);
    cipher.seal_batch(&mut seal_jobs(&mut buffers, &mut tags));
    let sealed = buffers.clone();
    all.push(batch(
        "sealwire Cipher, batch of 16, open",
        Box::new(move || {
            for (buffer, sealed) in buffers.iter_mut().zip(&sealed) {
                buffer.copy_from_slice(sealed);
            }
            let mut jobs: [OpenJob<'_>; BATCH] = {
                let mut pairs = buffers.iter_mut().zip(&tags);
                std::array::from_fn(|_| {
                    let (buffer, tag) = pairs.next().expect("as many as jobs");
                    OpenJob::new(NONCE, b"", buffer, tag)
                })
            };
            assert!(cipher.open_batch(&mut jobs).is_ok());
        }),
    ));

    let mut session = Session::new(&KEY, &KEY, &[0; 8]);
    let (mut buffers, mut tags) = (vec![vec![0x5a; size]; BATCH], [[0; 32]; BATCH]);
    all.push(batch(
        "sealwire Session, batch of 16",
        Box::new(move || session.seal_batch(&mut seal_jobs(&mut buffers, &mut tags))),
    ));

    // Sizes from 1 to 256 bytes in a fixed jumble.
    let mut session = Session::new(&KEY, &KEY, &[0; 8]);
    let mut mixed: Vec<_> = (0..BATCH)
        .map(|i| vec![0x5a; (i * 167 + 90) % 256 + 1])
        .collect();
    let mut tags = [[0; 32]; BATCH];
    all.push(Contender {
        name: "sealwire Session, batch of 16, mixed 1..256",
        messages: BATCH,
        sizes: 256..=256,
        call: Box::new(move || session.seal_batch(&mut seal_jobs(&mut mixed, &mut tags))),
    });
    all
}

fn seal_jobs<'a>(
    buffers: &'a mut [Vec<u8>],
    tags: &'a mut [[u8; 32]; BATCH],
) -> [SealJob<'a>; BATCH] {
    let mut pairs = buffers.iter_mut().zip(tags);
    std::array::from_fn(|_| {
        let (buffer, tag) = pairs.next().expect("as many as jobs");
        SealJob {
            nonce: NONCE,
            aad: b"",
            buffer,
            tag,
        }
    })
}

fn peers(size: usize) -> Vec<Contender> {
    let cipher = ChaCha20Blake3::new(KEY);
    let one_shot = single("chacha20-blake3 one-shot", size, move |buffer| {
        black_box(cipher.encrypt_in_place_detached(black_box(&NONCE), buffer, b""));
    });
    let mut session = Session20::new(KEY, KEY, [0; 8]);
    let session = single("chacha20-blake3 Session", size, move |buffer| {
        black_box(session.encrypt_in_place_detached(buffer, b""));
    });
    let cipher = XChaCha20Poly1305::new(&KEY.into());
    let rust_crypto = single("RustCrypto XChaCha20-Poly1305", size, move |buffer| {
        let tag = cipher.encrypt_in_place_detached(black_box(&NONCE).into(), b"", buffer);
        black_box(tag.is_ok());
    });
    vec![
        one_shot,
        session,
        ring_chacha(size),
        aws_lc_gcm(size),
        rust_crypto,
    ]
}

fn ring_chacha(size: usize) -> Contender {
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
    let key = UnboundKey::new(&CHACHA20_POLY1305, &KEY).expect("32 bytes");
    let key = LessSafeKey::new(key);
    single("ring ChaCha20-Poly1305", size, move |buffer| {
        let nonce = Nonce::assume_unique_for_key([7; 12]);
        black_box(
            key.seal_in_place_separate_tag(nonce, Aad::empty(), buffer)
                .is_ok(),
        );
    })
}

fn aws_lc_gcm(size: usize) -> Contender {
    use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    let key = UnboundKey::new(&AES_256_GCM, &KEY).expect("32 bytes");
    let key = LessSafeKey::new(key);
    single("aws-lc AES-256-GCM", size, move |buffer| {
        let nonce = Nonce::assume_unique_for_key([7; 12]);
        black_box(
            key.seal_in_place_separate_tag(nonce, Aad::empty(), buffer)
                .is_ok(),
        );
    })
}
