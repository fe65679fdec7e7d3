//! `Stream` and `StreamOpener`: nonces, positions, threads and the end of the counter.

use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
use sealwire_aead::{
    Cipher, DecryptionError, OpenError, Stream, StreamExhausted, StreamOpener, message_nonce,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

const KEY: [u8; 32] = [5; 32];

fn nonce_counting_from(start: u64) -> [u8; 24] {
    let mut nonce = [9; 24];
    nonce[16..].copy_from_slice(&start.to_le_bytes());
    nonce
}

#[test]
fn the_nonce_is_counted_in_its_last_eight_bytes_and_wraps() {
    let nonce = nonce_counting_from(u64::MAX - 1);
    for (position, counter) in [(0, u64::MAX - 1), (1, u64::MAX), (2, 0), (3, 1)] {
        assert_eq!(
            message_nonce(&nonce, position),
            nonce_counting_from(counter)
        );
    }
}

#[test]
fn each_message_is_sealed_under_the_nonce_of_its_position() {
    let nonce = nonce_counting_from(u64::MAX);
    let stream = Stream::new(&KEY, &nonce);
    for expected in 0..5 {
        let mut buffer = *b"same words";
        let (position, tag) = stream.seal(b"x", &mut buffer).expect("positions left");
        assert_eq!(position, expected);
        let nonce = message_nonce(&nonce, position);
        let opened = Cipher::new(&KEY).decrypt_detached(&nonce, b"x", &buffer, &tag);
        assert_eq!(opened.as_deref(), Ok(&b"same words"[..]));
        stream
            .open(position, b"x", &mut buffer, &tag)
            .expect("authentic");
    }
}

#[test]
fn the_opener_moves_only_when_a_message_opens() {
    let nonce = nonce_counting_from(3);
    let stream = Stream::new(&KEY, &nonce);
    let mut opener = StreamOpener::new(&KEY, &nonce);
    let mut sealed = [[1u8; 20], [2; 20]];
    let tags = sealed
        .each_mut()
        .map(|buffer| stream.seal(b"", buffer).expect("positions left").1);

    let [mut first, mut second] = sealed;
    assert_eq!(
        opener.open(b"", &mut second, &tags[1]),
        Err(OpenError::Decryption)
    );
    assert_eq!((opener.position(), second), (0, sealed[1]));
    opener.open(b"", &mut first, &tags[0]).expect("in order");
    let mut repeated = sealed[0];
    assert_eq!(
        opener.open(b"", &mut repeated, &tags[0]),
        Err(OpenError::Decryption)
    );
    opener.open(b"", &mut second, &tags[1]).expect("in order");
    assert_eq!((first, second, opener.position()), ([1; 20], [2; 20], 2));
}

#[test]
fn batches_take_successive_positions() {
    let nonce = nonce_counting_from(77);
    let stream = Stream::new(&KEY, &nonce);
    let mut opener = StreamOpener::new(&KEY, &nonce);
    let mut buffers: Vec<Vec<u8>> = (0..20).map(|i| vec![i as u8; i * 13]).collect();
    let mut tags = [[0; 32]; 20];
    let mut jobs: Vec<_> = buffers
        .iter_mut()
        .zip(&mut tags)
        .map(|(buffer, tag)| SealJob {
            nonce: [0; 24],
            aad: b"a",
            buffer,
            tag,
        })
        .collect();
    assert_eq!(stream.seal_batch(&mut jobs), Ok(0));
    assert_eq!(stream.position(), 20);

    tags[15][0] ^= 1;
    let mut jobs: Vec<_> = buffers
        .iter_mut()
        .zip(&tags)
        .map(|(buffer, tag)| OpenJob::new([0; 24], b"a", buffer, tag))
        .collect();
    assert_eq!(opener.open_batch(&mut jobs), Err(OpenError::Decryption));
    for (index, job) in jobs.iter().enumerate() {
        let expected = if index == 15 {
            Verdict::Forged
        } else {
            Verdict::Verified
        };
        assert_eq!(job.verdict, expected, "job {index}");
    }
    assert_eq!(opener.position(), 15);
    for (index, buffer) in buffers.iter().enumerate().filter(|(index, _)| *index != 15) {
        assert_eq!(buffer, &vec![index as u8; index * 13]);
    }
}

#[test]
fn threads_sharing_a_stream_never_get_one_position_twice() {
    let stream = Stream::new(&KEY, &[0; 24]);
    let seen = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let (position, _) = stream.seal(b"", &mut [0]).expect("positions left");
                    assert!(seen.lock().expect("no thread panicked").insert(position));
                }
            });
        }
    });
    assert_eq!(
        seen.into_inner().expect("no thread panicked"),
        (0..2000).collect()
    );
}

#[test]
fn the_last_position_is_used_and_no_other_after_it() {
    let nonce = nonce_counting_from(8);
    let stream = Stream::starting_at(&KEY, &nonce, u64::MAX - 2);
    let mut opener = StreamOpener::starting_at(&KEY, &nonce, u64::MAX - 1);
    stream.seal(b"", &mut [1]).expect("the last but one");

    let mut buffers = [[1u8]; 2];
    let mut tags = [[0; 32]; 2];
    let [first, second] = &mut buffers;
    let [first_tag, second_tag] = &mut tags;
    let mut jobs = [
        SealJob {
            nonce: [0; 24],
            aad: b"",
            buffer: first,
            tag: first_tag,
        },
        SealJob {
            nonce: [0; 24],
            aad: b"",
            buffer: second,
            tag: second_tag,
        },
    ];
    assert_eq!(stream.seal_batch(&mut jobs), Err(StreamExhausted));
    assert_eq!(buffers, [[1]; 2], "a batch that does not fit seals nothing");

    let mut buffer = [1];
    let (position, tag) = stream.seal(b"", &mut buffer).expect("the last");
    assert_eq!(position, u64::MAX - 1);
    opener.open(b"", &mut buffer, &tag).expect("the last");
    for _ in 0..2 {
        assert_eq!(stream.seal(b"", &mut buffer), Err(StreamExhausted));
        assert_eq!(
            opener.open(b"", &mut buffer, &tag),
            Err(OpenError::Exhausted)
        );
    }
    assert_eq!(
        stream.open(u64::MAX, b"", &mut buffer, &tag),
        Err(DecryptionError)
    );
    assert_eq!(buffer, [1]);
}
