//! The parts of `box` by themselves: known answers, and what they refuse.

use sealwire_nacl::{OneTimeKey, OpenError, WeakKey, XSalsa20, x25519, x25519_base};
use sealwire_simd::measuring::{Level, on_every};

use crate::answers::{
    ALICE, ALICE_PUBLIC, BOB, BOB_PUBLIC, CIPHERTEXT, MESSAGE, NONCE, SHARED, TAG, array, hex,
};

/// X25519 of Alice's key and Bob's: RFC 7748, section 6.1, and section 3 of the paper.
const AGREED: &str = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";

/// The start of the keystream that `secretbox` has for [`NONCE`]: section 9 of the paper.
const AUTHENTICATION_KEY: &str = "eea6a7251c1e72916d11c2cb214d3c252539121d8e234e652d651fa4c8cff880";

/// With each crate that multiplies.
const MULTIPLIERS: [Level; 2] = [Level::Portable, Level::Adx];

#[test]
fn x25519_gives_the_answers_of_rfc_7748() {
    on_every(&MULTIPLIERS, |_| {
        assert_eq!(x25519_base(&array(ALICE)), array(ALICE_PUBLIC));
        assert_eq!(x25519_base(&array(BOB)), array(BOB_PUBLIC));
        let agreed = x25519(&array(ALICE), &array(BOB_PUBLIC)).unwrap();
        assert_eq!(*agreed, array(AGREED));
        assert_eq!(x25519(&array(BOB), &array(ALICE_PUBLIC)).unwrap(), agreed);

        // Section 5.2: scalar, point, result.
        for [scalar, point, result] in [
            [
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
            ],
            [
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
            ],
        ] {
            assert_eq!(
                *x25519(&array(scalar), &array(point)).unwrap(),
                array(result)
            );
        }
    });
}

/// Section 5.2: what is multiplied becomes the scalar, a thousand times over. The public keys of all multipliers are
/// the same as well.
#[test]
fn x25519_gives_the_answer_of_rfc_7748_after_a_thousand_rounds() {
    on_every(&MULTIPLIERS, |level| {
        let mut base = [0; 32];
        base[0] = 9;
        let (mut scalar, mut point) = (base, base);
        for _ in 0..1_000 {
            assert_eq!(
                x25519_base(&scalar),
                *x25519(&scalar, &base).unwrap(),
                "{}",
                level.name()
            );
            (scalar, point) = (*x25519(&scalar, &point).unwrap(), scalar);
        }
        assert_eq!(
            scalar,
            array("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
        );
    });
}

/// The highest bit of a point counts for nothing, and what is not below the modulus is reduced.
#[test]
fn x25519_takes_every_spelling_of_a_point() {
    on_every(&MULTIPLIERS, |level| {
        let name = level.name();
        let product = |point: &[u8; 32]| *x25519(&array(ALICE), point).unwrap();
        let mut masked = array(BOB_PUBLIC);
        masked[31] |= 0x80;
        assert_eq!(product(&masked), array(AGREED), "{name}");
        // 2 to 18, and the same with the modulus, 2^255 - 19, above them.
        for small in 2..=18 {
            let (mut least, mut second) = ([0; 32], [0xff; 32]);
            least[0] = small;
            second[0] = small + 0xed;
            second[31] = 0x7f;
            assert_eq!(product(&least), product(&second), "{name}, {small}");
            second[31] = 0xff;
            assert_eq!(product(&least), product(&second), "{name}, {small}");
        }
    });
}

#[test]
fn x25519_refuses_points_of_low_order() {
    let mut one = [0; 32];
    one[0] = 1;
    // The same two with the modulus above them.
    let [mut modulus, mut above] = [[0xff; 32]; 2];
    (modulus[0], modulus[31]) = (0xed, 0x7f);
    (above[0], above[31]) = (0xee, 0x7f);
    on_every(&MULTIPLIERS, |level| {
        for point in [[0; 32], one, modulus, above] {
            let product = x25519(&array(ALICE), &point);
            assert_eq!(product, Err(WeakKey), "{}", level.name());
        }
    });
}

#[test]
fn poly1305_gives_the_tag_of_the_paper_and_no_other_verifies() {
    let key = || OneTimeKey::new(&array(AUTHENTICATION_KEY));
    let (text, tag) = (hex(CIPHERTEXT), array(TAG));
    assert_eq!(key().tag(&text), tag);
    assert_eq!(key().verify(&text, &tag), Ok(()));
    for bit in 0..128 {
        let mut other = tag;
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(key().verify(&text, &other), Err(OpenError), "bit {bit}");
    }
    for byte in 0..text.len() {
        let mut other = text.clone();
        other[byte] ^= 1;
        assert_eq!(key().verify(&other, &tag), Err(OpenError), "byte {byte}");
    }
    assert_eq!(key().verify(&text[1..], &tag), Err(OpenError));
}

#[test]
fn xsalsa20_gives_the_keystream_of_the_paper() {
    let (stream, nonce) = (XSalsa20::new(&array(SHARED)), array(NONCE));
    let mut key = [0xff; 32];
    stream.keystream(&nonce, &mut key);
    assert_eq!(key, array(AUTHENTICATION_KEY));

    let mut text = [vec![0; 32], hex(MESSAGE)].concat();
    stream.xor_unauthenticated(&nonce, &mut text);
    assert_eq!(text, [hex(AUTHENTICATION_KEY), hex(CIPHERTEXT)].concat());
    stream.xor_unauthenticated(&nonce, &mut text);
    assert_eq!(text, [vec![0; 32], hex(MESSAGE)].concat());

    let mut keystream = vec![0xff; text.len()];
    stream.keystream(&nonce, &mut keystream);
    for (byte, key_byte) in text.iter_mut().zip(keystream) {
        *byte ^= key_byte;
    }
    assert_eq!(text[32..], hex(CIPHERTEXT));
}

/// C and Python read the same answers from a file.
#[test]
fn the_file_has_these_answers() {
    let file = include_str!("../../../../vectors/nacl.json");
    for (name, answer) in [
        ("alice_secret", ALICE),
        ("alice_public", ALICE_PUBLIC),
        ("bob_secret", BOB),
        ("bob_public", BOB_PUBLIC),
        ("agreed", AGREED),
        ("shared", SHARED),
        ("nonce", NONCE),
        ("message", MESSAGE),
        ("authentication_key", AUTHENTICATION_KEY),
        ("tag", TAG),
        ("ciphertext", CIPHERTEXT),
    ] {
        let field = format!("\"{name}\": \"{answer}\"");
        assert!(file.contains(&field), "{name}");
    }
}

#[test]
fn debug_shows_no_secret() {
    let (key, stream) = (OneTimeKey::new(&[0xab; 32]), XSalsa20::new(&[0xab; 32]));
    assert_eq!(
        format!("{key:?} {stream:?}"),
        "OneTimeKey { .. } XSalsa20 { .. }"
    );
}
