//! The measurements of `sealwire-aead`: closures that handle their messages once.

use std::array;
use std::hint::black_box;

use sealwire_aead::batch::{OpenJob, SealJob};
use sealwire_aead::{Cipher, Session, Stream, TAG_SIZE};

use crate::contender::Contender;

/// Messages in a batch.
pub(super) const BATCH: usize = 16;
pub(super) const KEY: [u8; 32] = [0x42; 32];
pub(super) const NONCE: [u8; 24] = [0x24; 24];

pub(super) const SEAL: &str = "seal";
pub(super) const SESSION_SEAL: &str = "Session seal";
pub(super) const BATCH_SEAL: &str = "batch of 16, Stream seal";
pub(super) const BATCH_SESSION_SEAL: &str = "batch of 16, Session seal";

/// Works on a batch of messages of `size` bytes.
fn batch(name: &'static str, size: usize, mut work: impl FnMut(&mut Batch) + 'static) -> Contender {
    let mut batch = Batch::new(size);
    Contender {
        name,
        messages: BATCH,
        call: Box::new(move || work(black_box(&mut batch))),
    }
}

pub(super) fn all(size: usize) -> Vec<Contender> {
    let cipher = Cipher::new(&KEY);
    let seal = Contender::single(SEAL, size, move |buffer| {
        black_box(cipher.encrypt_in_place_detached(black_box(&NONCE), b"", buffer));
    });
    let mut session = session();
    let session_seal = Contender::single(SESSION_SEAL, size, move |buffer| {
        black_box(session.seal(b"", buffer));
    });
    vec![
        seal,
        session_seal,
        batch_seal(size),
        batch_session_seal(size),
        batch_open(size),
    ]
}

fn session() -> Session {
    Session::new(&KEY, &KEY, &[0; 8])
}

fn batch_seal(size: usize) -> Contender {
    let stream = Stream::new(&KEY, &NONCE);
    batch(BATCH_SEAL, size, move |batch| {
        stream
            .seal_batch(&mut batch.seal_jobs())
            .expect("2^64 messages take longer than a benchmark");
    })
}

fn batch_session_seal(size: usize) -> Contender {
    let mut session = session();
    batch(BATCH_SESSION_SEAL, size, move |batch| {
        session.seal_batch(&mut batch.seal_jobs());
    })
}

fn batch_open(size: usize) -> Contender {
    let cipher = Cipher::new(&KEY);
    let mut sealed = Batch::new(size);
    cipher.seal_batch(&mut sealed.seal_jobs());
    batch("batch of 16, open", size, move |batch| {
        for (buffer, sealed) in batch.buffers.iter_mut().zip(&sealed.buffers) {
            buffer.copy_from_slice(sealed);
        }
        let opened = cipher.open_batch(&mut batch.open_jobs(&sealed.tags));
        assert!(opened.is_ok(), "what was sealed opens");
    })
}

/// Messages with their tags.
struct Batch {
    buffers: [Vec<u8>; BATCH],
    tags: [[u8; TAG_SIZE]; BATCH],
}

impl Batch {
    fn new(size: usize) -> Self {
        Batch {
            buffers: array::from_fn(|_| vec![0x5a; size]),
            tags: [[0; TAG_SIZE]; BATCH],
        }
    }

    fn seal_jobs(&mut self) -> [SealJob<'_>; BATCH] {
        let mut tags = self.tags.iter_mut();
        self.buffers.each_mut().map(|buffer| SealJob {
            nonce: NONCE,
            aad: b"",
            buffer,
            tag: tags.next().expect("as many tags as buffers"),
        })
    }

    fn open_jobs<'a>(&'a mut self, tags: &'a [[u8; TAG_SIZE]; BATCH]) -> [OpenJob<'a>; BATCH] {
        let mut tags = tags.iter();
        self.buffers.each_mut().map(|buffer| {
            let tag = tags.next().expect("as many tags as buffers");
            OpenJob::new(NONCE, b"", buffer, tag)
        })
    }
}
