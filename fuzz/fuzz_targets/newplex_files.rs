//! Any bytes as a file of the program: key, signature, hash of a password, list of keys, sealed file.
//! Nothing panics, and what is accepted says the same when it is written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::files::sealed::{self, NONCE_SIZE};
use sealwire_newplex::files::{
    self, Kind, PasswordHash, SYMMETRIC_KEY_SIZE, parse_public_key, parse_public_keys,
    parse_secret_key, parse_signature, parse_symmetric_key,
};

const KEY: [u8; SYMMETRIC_KEY_SIZE] = [7; SYMMETRIC_KEY_SIZE];

fn text_file(text: &str) {
    let mut kinds = 0;
    if let Ok(key) = parse_symmetric_key(text) {
        assert_eq!(
            parse_symmetric_key(&Kind::SymmetricKey.line(&*key)),
            Ok(key)
        );
        kinds += 1;
    }
    if let Ok(key) = parse_secret_key(text) {
        assert_eq!(
            parse_secret_key(&Kind::SecretKey.line(&*key.to_bytes())),
            Ok(key)
        );
        kinds += 1;
    }
    if let Ok(key) = parse_public_key(text) {
        assert_eq!(
            parse_public_key(&Kind::PublicKey.line(key.as_bytes())),
            Ok(key)
        );
        assert_eq!(parse_public_keys(text), Ok(vec![key]));
        kinds += 1;
    }
    if let Ok(signature) = parse_signature(text) {
        let line = Kind::Signature.line(&signature.to_bytes());
        let again = parse_signature(&line).map(|signature| signature.to_bytes());
        assert_eq!(again, Ok(signature.to_bytes()));
        kinds += 1;
    }
    if let Ok(hash) = PasswordHash::parse(text) {
        let line = hash.to_string();
        assert_eq!(
            PasswordHash::parse(&line).map(|hash| hash.to_string()),
            Ok(line)
        );
        assert!(hash.cost() <= files::MAX_COST);
        kinds += 1;
    }
    assert!(kinds <= 1, "a file of two kinds");
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        text_file(text);
        let _ = parse_public_keys(text);
    }
    let mut opened = Vec::new();
    let forged = sealed::open(&KEY, bytes, &mut opened);
    // A seed is sealed under the key; what is changed in it comes to light.
    assert!(forged.is_err() || opened == b"hello");

    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    sealed::seal(&KEY, &[0; NONCE_SIZE], bytes, &mut sealed).expect("memory");
    sealed::open(&KEY, sealed.as_slice(), &mut opened).expect("authentic");
    assert_eq!(opened, bytes);
    let cut = sealed.len() - 1 - bytes.first().map_or(0, |byte| usize::from(*byte)) % sealed.len();
    assert!(sealed::open(&KEY, &sealed[..cut], &mut Vec::new()).is_err());
});
