use super::*;
use crate::schemes::group::{ENCODED_SIZE, encode};
use crate::vectors::{VECTORS, bytes, hex, list, text};

#[test]
fn encodings_are_accepted_as_published_but_for_the_neutral_ones() {
    for case in list(&VECTORS["ristretto255"], "decode") {
        let input = bytes(&case["input"]);
        let error = match text(&case["kind"]) {
            "element" => PublicKey::from_bytes(&input).err(),
            "scalar" => SecretKey::from_bytes(&input).err(),
            other => panic!("unknown kind {other}"),
        };
        let expected = match case["accept"].as_bool().expect("a flag") {
            true if input == [0; ENCODED_SIZE] => Some(InvalidEncoding::Neutral),
            true => None,
            false => Some(InvalidEncoding::NotCanonical),
        };
        assert_eq!(error, expected, "{}", case["name"]);
    }
}

#[test]
fn the_group_gives_the_published_values() {
    let group = &VECTORS["ristretto255"];
    for case in list(group, "wide_scalars") {
        let wide = bytes(&case["uniform"]).try_into().expect("64 bytes");
        let expected = text(&case["scalar"]);
        match Randomness::from_bytes(&wide) {
            Ok(random) => assert_eq!(hex(random.into_scalar().as_bytes()), expected),
            Err(_) => assert_eq!(bytes(&case["scalar"]), [0; ENCODED_SIZE]),
        }
    }
    for case in list(group, "derived_elements") {
        let wide = bytes(&case["uniform"]).try_into().expect("64 bytes");
        let point = RistrettoPoint::from_uniform_bytes(&wide);
        assert_eq!(hex(&encode(&point)), text(&case["element"]));
    }
    for case in list(group, "multiplications") {
        let scalar = decode_scalar(&bytes(&case["scalar"])).expect("a scalar");
        let base = RistrettoPoint::mul_base(&scalar);
        assert_eq!(hex(&encode(&base)), text(&case["base_mult"]));
        let element = PublicKey::from_bytes(&bytes(&case["element"])).expect("an element");
        let product = shared_secret(&scalar, &element.0);
        assert_eq!(hex(&*product), text(&case["product"]));
        if scalar != Scalar::ZERO {
            let product = shared_secret(&scalar.invert(), &element.0);
            assert_eq!(hex(&*product), text(&case["inverse_product"]));
        }
    }
}

#[test]
fn lengths_other_than_32_bytes_are_refused() {
    for length in [0, 31, 33, 64] {
        let bytes = std::vec![1; length];
        let expected = InvalidEncoding::Length(length);
        assert_eq!(PublicKey::from_bytes(&bytes), Err(expected));
        assert_eq!(SecretKey::from_bytes(&bytes), Err(expected));
    }
}

#[test]
fn keys_survive_their_encoding_and_show_no_secret() {
    let key = SecretKey::from_randomness(Randomness::from_bytes(&[7; 64]).expect("not zero"));
    let secret = key.to_bytes();
    assert_eq!(SecretKey::from_bytes(&*secret).as_ref(), Ok(&key));
    assert_ne!(key, SecretKey::new(Scalar::ONE));
    let public = key.public_key();
    assert_eq!(
        PublicKey::try_from(&public.to_bytes()[..]).as_ref(),
        Ok(public)
    );
    let shown = std::format!("{key:?}");
    assert!(shown.contains(&hex(public.as_bytes())), "{shown}");
    assert!(!shown.contains(&hex(&*secret)), "{shown}");
}
