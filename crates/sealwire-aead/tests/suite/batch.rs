//! Batches of every size and mix of lengths give the bytes that the crate `chacha20-blake3` gives
//! for each message alone.

use crate::random::Random;
use chacha20_blake3::{ChaCha20Blake3, Session20};
use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
use sealwire_aead::{Cipher, DecryptionError, Session};

struct Message {
    nonce: [u8; 24],
    aad: Vec<u8>,
    plaintext: Vec<u8>,
    buffer: Vec<u8>,
    tag: [u8; 32],
}

fn message(random: &mut Random, length: usize, aad_len: usize) -> Message {
    let plaintext = random.bytes(length);
    Message {
        nonce: random.array(),
        aad: random.bytes(aad_len),
        buffer: plaintext.clone(),
        plaintext,
        tag: [0; 32],
    }
}

fn seal_jobs(messages: &mut [Message]) -> Vec<SealJob<'_>> {
    let mut jobs = Vec::new();
    for Message {
        nonce,
        aad,
        buffer,
        tag,
        ..
    } in messages
    {
        jobs.push(SealJob {
            nonce: *nonce,
            aad,
            buffer,
            tag,
        });
    }
    jobs
}

fn open_jobs(messages: &mut [Message]) -> Vec<OpenJob<'_>> {
    let mut jobs = Vec::new();
    for Message {
        nonce,
        aad,
        buffer,
        tag,
        ..
    } in messages
    {
        jobs.push(OpenJob::new(*nonce, aad, buffer, tag));
    }
    jobs
}

/// Seals and opens the messages as one batch, in the cipher's way and in the session's.
fn check(random: &mut Random, messages: &mut [Message]) {
    let (key, auth_key, nonce) = (random.array(), random.array(), random.array());
    let (cipher, peer) = (Cipher::new(&key), ChaCha20Blake3::new(key));
    cipher.seal_batch(&mut seal_jobs(messages));
    for message in messages.iter() {
        let mut expected = message.plaintext.clone();
        let tag = peer.encrypt_in_place_detached(&message.nonce, &mut expected, &message.aad);
        assert_eq!(message.tag, tag, "tag at {} bytes", expected.len());
        assert!(
            message.buffer == expected,
            "ciphertext at {} bytes",
            expected.len()
        );
    }
    assert_eq!(cipher.open_batch(&mut open_jobs(messages)), Ok(()));
    assert!(
        messages
            .iter()
            .all(|message| message.buffer == message.plaintext)
    );

    let mut sealing = Session::new(&key, &auth_key, &nonce);
    let mut opening = Session::new(&key, &auth_key, &nonce);
    let mut peer = Session20::new(key, auth_key, nonce);
    // The second round starts inside the keystream.
    for _ in 0..2 {
        sealing.seal_batch(&mut seal_jobs(messages));
        for message in messages.iter() {
            let mut expected = message.plaintext.clone();
            let tag = peer.encrypt_in_place_detached(&mut expected, &message.aad);
            assert_eq!(message.tag, tag, "session tag at {} bytes", expected.len());
            assert!(
                message.buffer == expected,
                "session text at {} bytes",
                expected.len()
            );
        }
        assert_eq!(sealing.block_counter(), peer.block_counter());
        assert_eq!(opening.open_batch(&mut open_jobs(messages)), Ok(()));
        assert_eq!(opening.block_counter(), peer.block_counter());
        assert!(
            messages
                .iter()
                .all(|message| message.buffer == message.plaintext)
        );
    }
}

#[test]
fn every_batch_size_with_every_kind_of_length() {
    let mut random = Random::new(3);
    for count in (0..=40).chain([63, 64, 65, 130]) {
        for limit in [1, 3, 65, 130, 300, 1100, 2500] {
            let mut messages = Vec::new();
            for _ in 0..count {
                let (length, aad_len) = (random.below(limit), random.below(12));
                messages.push(message(&mut random, length, aad_len));
            }
            check(&mut random, &mut messages);
        }
    }
}

#[test]
fn every_length_with_every_short_header() {
    let mut random = Random::new(4);
    for length in 0..2_200 {
        let mut messages = Vec::new();
        for neighbour in 0..17 {
            let aad_len = (length + neighbour) % 60;
            messages.push(message(&mut random, length + neighbour % 3, aad_len));
        }
        check(&mut random, &mut messages);
    }
}

#[test]
fn long_messages_and_long_associated_data_among_short_ones() {
    let mut random = Random::new(5);
    for _ in 0..12 {
        let mut messages = Vec::new();
        for _ in 0..25 {
            let length = [0, 10, 1_000, 4_000, 8_170, 8_192, 9_000, 40_000][random.below(8)];
            let aad_len = [0, 9, 56, 57, 2_000][random.below(5)];
            let length = length + random.below(40);
            messages.push(message(&mut random, length, aad_len));
        }
        check(&mut random, &mut messages);
    }
}

#[test]
fn each_forged_message_is_named_and_keeps_its_ciphertext() {
    let mut random = Random::new(6);
    let cipher = Cipher::new(&[8; 32]);
    for forged in 0..37 {
        let mut messages = Vec::new();
        for index in 0..37 {
            messages.push(message(&mut random, index * 60, 2));
        }
        cipher.seal_batch(&mut seal_jobs(&mut messages));
        let ciphertexts: Vec<_> = messages
            .iter()
            .map(|message| message.buffer.clone())
            .collect();
        messages[forged].tag[forged % 32] ^= 1;
        let mut jobs = open_jobs(&mut messages);
        assert_eq!(cipher.open_batch(&mut jobs), Err(DecryptionError));
        for (index, job) in jobs.iter().enumerate() {
            let expected = if index == forged {
                Verdict::Forged
            } else {
                Verdict::Verified
            };
            assert_eq!(job.verdict, expected, "job {index}");
        }
        assert!(messages[forged].buffer == ciphertexts[forged]);
        let others = messages
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != forged);
        assert!(
            others
                .into_iter()
                .all(|(_, message)| message.buffer == message.plaintext)
        );
    }
}

#[test]
fn a_session_stops_at_the_first_forged_message() {
    let mut random = Random::new(7);
    for forged in [0, 1, 15, 16, 36, 64, 69] {
        let mut messages = Vec::new();
        for index in 0..70 {
            messages.push(message(&mut random, index * 20, 2));
        }
        let (mut sealing, mut opening) = (
            Session::new(&[1; 32], &[2; 32], &[3; 8]),
            Session::new(&[1; 32], &[2; 32], &[3; 8]),
        );
        sealing.seal_batch(&mut seal_jobs(&mut messages));
        let ciphertexts: Vec<_> = messages
            .iter()
            .map(|message| message.buffer.clone())
            .collect();
        messages[forged].tag[0] ^= 1;
        let mut jobs = open_jobs(&mut messages);
        assert_eq!(opening.open_batch(&mut jobs), Err(DecryptionError));
        for (index, job) in jobs.iter().enumerate() {
            let expected = match index.cmp(&forged) {
                std::cmp::Ordering::Less => Verdict::Verified,
                std::cmp::Ordering::Equal => Verdict::Forged,
                std::cmp::Ordering::Greater => Verdict::Unchecked,
            };
            assert_eq!(job.verdict, expected, "job {index}");
        }
        for (index, message) in messages.iter().enumerate() {
            let expected = if index < forged {
                &message.plaintext
            } else {
                &ciphertexts[index]
            };
            assert!(message.buffer == *expected, "job {index}");
        }
        let blocks: usize = (0..forged).map(|index| (index * 20).div_ceil(64)).sum();
        assert_eq!(opening.block_counter(), blocks as u64);
    }
}
