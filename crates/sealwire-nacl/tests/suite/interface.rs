//! Known answers, and what the interface promises.

use sealwire_nacl::{KeyPair, OpenError, OpenJob, SealJob, SecretBox, TAG_SIZE, WeakKey};

use crate::answers::{
    ALICE, ALICE_PUBLIC, BOB, BOB_PUBLIC, CIPHERTEXT, MESSAGE, NONCE, SHARED, TAG, array, hex,
};

fn alice() -> KeyPair {
    KeyPair::from_secret(array(ALICE))
}

fn bob() -> KeyPair {
    KeyPair::from_secret(array(BOB))
}

#[test]
fn public_and_shared_keys_are_those_of_the_paper() {
    assert_eq!(alice().public(), &array(ALICE_PUBLIC));
    assert_eq!(bob().public(), &array(BOB_PUBLIC));
    let (ours, theirs) = (
        alice().shared_with(bob().public()).unwrap(),
        bob().shared_with(alice().public()).unwrap(),
    );
    assert_eq!(ours.as_bytes(), &array(SHARED));
    assert_eq!(theirs.as_bytes(), &array(SHARED));
}

#[test]
fn one_step_and_two_steps_seal_what_the_paper_seals() {
    let sealed = [hex(TAG), hex(CIPHERTEXT)].concat();
    let (nonce, message) = (array(NONCE), hex(MESSAGE));
    assert_eq!(
        alice().seal(bob().public(), &nonce, &message).unwrap(),
        sealed
    );
    let shared = SecretBox::new(&array(SHARED));
    assert_eq!(shared.seal(&nonce, &message), sealed);
    assert_eq!(
        bob().open(alice().public(), &nonce, &sealed).unwrap(),
        message
    );
    assert_eq!(shared.open(&nonce, &sealed).unwrap(), message);
}

#[test]
fn detached_and_in_place_are_the_same() {
    let shared = SecretBox::new(&array(SHARED));
    let (nonce, mut text) = (array(NONCE), hex(MESSAGE));
    let tag = shared.seal_in_place_detached(&nonce, &mut text);
    assert_eq!(tag, array(TAG));
    assert_eq!(text, hex(CIPHERTEXT));
    shared
        .open_in_place_detached(&nonce, &mut text, &tag)
        .unwrap();
    assert_eq!(text, hex(MESSAGE));
}

#[test]
fn every_changed_bit_is_refused_and_nothing_is_decrypted() {
    let shared = SecretBox::new(&array(SHARED));
    let nonce = array(NONCE);
    let sealed = shared.seal(&nonce, &hex(MESSAGE)[..40]);
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(shared.open(&nonce, &changed), Err(OpenError), "bit {bit}");
        let (tag, text) = changed.split_first_chunk_mut::<TAG_SIZE>().unwrap();
        let before = text.to_vec();
        assert!(shared.open_in_place_detached(&nonce, text, tag).is_err());
        assert_eq!(text, before);
    }
    for bit in 0..nonce.len() * 8 {
        let mut other: [u8; 24] = nonce;
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(shared.open(&other, &sealed), Err(OpenError));
    }
    for length in 0..TAG_SIZE {
        assert_eq!(shared.open(&nonce, &sealed[..length]), Err(OpenError));
    }
}

#[test]
fn keys_of_low_order_are_refused() {
    let mut one = [0; 32];
    one[0] = 1;
    let weak = [
        [0; 32],
        one,
        array("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        array("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        array("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        array("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ];
    for public in &weak {
        assert_eq!(alice().shared_with(public).err(), Some(WeakKey));
        assert_eq!(alice().seal(public, &[0; 24], b""), Err(WeakKey));
        assert_eq!(alice().open(public, &[0; 24], &[0; 40]), Err(OpenError));
    }
    assert!(SecretBox::from_agreement(&[0; 32]).is_err());
}

#[test]
fn a_batch_is_its_messages_one_by_one() {
    let shared = SecretBox::new(&array(SHARED));
    let prefix = *b"CurveZMQMESSAGEC";
    let counter_box = shared.with_prefix(&prefix);
    // Miri needs a second for a message. These fill the lanes of a back end twice.
    let count = if cfg!(miri) { 17 } else { 100 };
    let plain: Vec<Vec<u8>> = (0..count).map(|i| vec![i as u8; i * i % 1_500]).collect();
    let mut texts = plain.clone();
    let mut tags = vec![[0; TAG_SIZE]; texts.len()];
    let mut jobs: Vec<_> = texts
        .iter_mut()
        .zip(&mut tags)
        .enumerate()
        .map(|(i, (buffer, tag))| SealJob {
            nonce: (i as u64).to_be_bytes(),
            buffer,
            tag,
        })
        .collect();
    counter_box.seal_batch(&mut jobs);
    for (i, (text, tag)) in texts.iter().zip(&tags).enumerate() {
        let nonce: [u8; 24] = [&prefix[..], &(i as u64).to_be_bytes()]
            .concat()
            .try_into()
            .unwrap();
        let sealed = [&tag[..], text].concat();
        assert_eq!(shared.seal(&nonce, &plain[i]), sealed, "message {i}");
    }

    tags[7][0] ^= 1;
    let mut jobs: Vec<_> = texts
        .iter_mut()
        .zip(&tags)
        .enumerate()
        .map(|(i, (buffer, tag))| OpenJob::new((i as u64).to_be_bytes(), buffer, tag))
        .collect();
    counter_box.open_batch(&mut jobs);
    for (i, job) in jobs.iter().enumerate() {
        assert_eq!(job.verified, i != 7);
        assert_eq!(*job.buffer == plain[i], i != 7, "message {i}");
    }
}

#[test]
fn debug_shows_no_secret() {
    let shared = SecretBox::new(&[0xab; 32]);
    let prefixed = shared.with_prefix(&[1; 16]);
    let keys = KeyPair::from_secret([0xab; 32]);
    assert_eq!(
        format!("{shared:?} {prefixed:?} {keys:?}"),
        "SecretBox { .. } CounterBox { .. } KeyPair { .. }"
    );
}
