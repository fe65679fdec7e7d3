//! The published vectors, and batches.

use super::*;
use crate::duplex::every_back_end::on_every_back_end_and_the_chosen_one;
use crate::schemes::shared_tests::ciphers::cipher_tests;
use crate::vectors::Random;
use std::vec;

cipher_tests!("aead", Aead);

/// Messages of many lengths sealed and opened at a time, and one after the other.
#[test]
fn many_at_a_time_are_the_same_as_one_after_the_other() {
    on_every_back_end(|back_end| {
        for (domain_length, count, length) in [
            (0, 1, 1_000),
            (5, 2, 94),
            (20, 3, 500),
            (25, 4, 16),
            (33, 5, 2_000),
            (60, 16, 300),
            (61, 17, 7_000),
            (70, 40, 1_000),
        ] {
            let cipher: Aead = Aead::new(&[b'd'; 80][..domain_length], &[3; 32]);
            let nonces: Vec<Nonce<U16>> = (0..count).map(|i| [i as u8; 16].into()).collect();
            let data: Vec<Vec<u8>> = (0..count).map(|i| vec![9; i * 37 % 250]).collect();
            let plain: Vec<Vec<u8>> = (0..count)
                .map(|i| {
                    (0..(i + 1) * 7_919 % length + 1)
                        .map(|j| (i + j) as u8)
                        .collect()
                })
                .collect();
            let mut texts = plain.clone();
            let mut tags = vec![Tag::default(); count];
            let mut jobs: Vec<_> = (texts.iter_mut().zip(&mut tags).enumerate())
                .map(|(i, (text, tag))| SealJob {
                    nonce: &nonces[i],
                    associated_data: &data[i],
                    text,
                    tag,
                })
                .collect();
            cipher.seal_many(&mut jobs);
            for i in 0..count {
                let mut text = plain[i].clone();
                let tag = cipher.seal_detached(&nonces[i], &data[i], &mut text);
                assert_eq!(
                    (&text, tag),
                    (&texts[i], tags[i]),
                    "{back_end}, {i} of {count}"
                );
            }

            let forged = count / 2;
            tags[forged][15] ^= 0x80;
            let mut results = vec![Ok(()); count];
            let mut jobs: Vec<_> = (texts.iter_mut().zip(&tags).zip(&mut results).enumerate())
                .map(|(i, ((text, tag), result))| OpenJob {
                    nonce: &nonces[i],
                    associated_data: &data[i],
                    text,
                    tag,
                    result,
                })
                .collect();
            cipher.open_many(&mut jobs);
            for i in 0..count {
                assert_eq!(
                    results[i].is_err(),
                    i == forged,
                    "{back_end}, {i} of {count}"
                );
                let zeros = vec![0; plain[i].len()];
                let expected = if i == forged { &zeros } else { &plain[i] };
                assert_eq!(&texts[i], expected, "{back_end}, {i} of {count}");
            }
        }
    });
}

#[test]
fn random_batches_are_the_same_as_one_after_the_other() {
    on_every_back_end_and_the_chosen_one(|back_end| {
        let mut random = Random::new(7);
        for batch in 0..12 {
            let cipher: Aead = Aead::new(random.bytes(100), &random.bytes(50));
            let count = random.below(36);
            let jobs: Vec<(Nonce<U16>, Vec<u8>, Vec<u8>)> = (0..count)
                .map(|_| {
                    let nonce: [u8; 16] = core::array::from_fn(|_| random.below(256) as u8);
                    let longest = [20, 200, 200, 4_000][random.below(4)];
                    (nonce.into(), random.bytes(200), random.bytes(longest))
                })
                .collect();
            let (mut texts, mut tags): (Vec<_>, Vec<_>) = jobs
                .iter()
                .map(|(_, _, text)| (text.clone(), [0; 16]))
                .unzip();
            let mut sealing: Vec<_> = (jobs.iter().zip(&mut texts).zip(&mut tags))
                .map(|(((nonce, associated_data, _), text), tag)| SealJob {
                    nonce,
                    associated_data,
                    text,
                    tag,
                })
                .collect();
            cipher.seal_many(&mut sealing);
            for (index, (nonce, data, plain)) in jobs.iter().enumerate() {
                let mut text = plain.clone();
                let tag = cipher.seal_detached(nonce, data, &mut text);
                let got = (&texts[index], tags[index]);
                assert_eq!(got, (&text, tag), "{back_end}, {index} in batch {batch}");
            }

            let forged: Vec<bool> = (0..count).map(|_| random.below(3) == 0).collect();
            for (tag, forged) in tags.iter_mut().zip(&forged) {
                tag[random.below(16)] ^= u8::from(*forged) << random.below(8);
            }
            let mut singly = texts.clone();
            let mut results = vec![Ok(()); count];
            let mut opening: Vec<_> = (jobs.iter().zip(&mut texts).zip(&tags).zip(&mut results))
                .map(
                    |((((nonce, associated_data, _), text), tag), result)| OpenJob {
                        nonce,
                        associated_data,
                        text,
                        tag,
                        result,
                    },
                )
                .collect();
            cipher.open_many(&mut opening);
            for (index, (nonce, data, _)) in jobs.iter().enumerate() {
                let result = cipher.open_detached(nonce, data, &mut singly[index], &tags[index]);
                assert_eq!(result.is_err(), forged[index], "{back_end}, {index}");
                assert_eq!(
                    results[index].is_err(),
                    forged[index],
                    "{back_end}, {index}"
                );
                assert_eq!(texts[index], singly[index], "{back_end}, {index}");
            }
        }
    });
}
