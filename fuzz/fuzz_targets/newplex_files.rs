//! Any bytes as a file of the program: key, signature, hash of a password, list of keys, what parties and signers
//! exchange, sealed files of each format.
//! Nothing panics, and what is accepted says the same when it is written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::files::message::{open_deterministic, open_signcrypted};
use sealwire_newplex::files::sealed::{self, NONCE_SIZE};
use sealwire_newplex::files::{
    self, Kind, PasswordHash, PublicGroup, SYMMETRIC_KEY_SIZE, frost_share_line, oprf_answer_line,
    pake_answer_line, parse_frost_commitment, parse_frost_share, parse_frost_signer,
    parse_oprf_answer, parse_oprf_request, parse_pake_answer, parse_pake_message, parse_public_key,
    parse_public_keys, parse_secret_key, parse_signature, parse_state, parse_symmetric_key,
    parse_vrf_proof, to_key,
};
use sealwire_newplex::schemes::keys::SecretKey;
use sealwire_newplex::schemes::{hpke, signcrypt};

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
    kinds += exchanged(text);
    kinds += of_signers(text);
    assert!(kinds <= 1, "a file of two kinds");
}

/// How many of the values that parties exchange the text is.
fn exchanged(text: &str) -> usize {
    let mut kinds = 0;
    for kind in [Kind::OprfState, Kind::PakeState, Kind::FrostNonces] {
        if let Ok(state) = parse_state(kind, text) {
            assert_eq!(parse_state(kind, &kind.line(&*state)), Ok(state));
            kinds += 1;
        }
    }
    if let Ok(proof) = parse_vrf_proof(text) {
        let bytes = proof.to_bytes();
        let again = parse_vrf_proof(&Kind::VrfProof.line(&bytes));
        assert_eq!(again.map(|proof| proof.to_bytes()), Ok(bytes));
        kinds += 1;
    }
    if let Ok(blinded) = parse_oprf_request(text) {
        let line = Kind::OprfRequest.line(blinded.as_bytes());
        assert_eq!(parse_oprf_request(&line), Ok(blinded));
        kinds += 1;
    }
    if let Ok((evaluated, proof)) = parse_oprf_answer(text) {
        let line = oprf_answer_line(&evaluated, &proof);
        assert_eq!(parse_oprf_answer(&line), Ok((evaluated, proof)));
        kinds += 1;
    }
    if let Ok(message) = parse_pake_message(text) {
        let line = Kind::PakeMessage.line(&message);
        assert_eq!(parse_pake_message(&line), Ok(message));
        kinds += 1;
    }
    if let Ok((message, tag)) = parse_pake_answer(text) {
        let line = pake_answer_line(&message, &tag);
        assert_eq!(parse_pake_answer(&line), Ok((message, tag)));
        kinds += 1;
    }
    kinds
}

/// How many of the values of signers the text is.
fn of_signers(text: &str) -> usize {
    let mut kinds = 0;
    if let Ok(group) = PublicGroup::parse(text) {
        assert_eq!(PublicGroup::parse(&group.line()), Ok(group));
        kinds += 1;
    }
    if let Ok(signer) = parse_frost_signer(text) {
        let bytes = signer.to_bytes();
        let again = parse_frost_signer(&Kind::FrostSigner.line(&*bytes));
        assert_eq!(again.map(|signer| signer.to_bytes()), Ok(bytes));
        kinds += 1;
    }
    if let Ok(commitment) = parse_frost_commitment(text) {
        let line = Kind::FrostCommitment.line(&commitment.to_bytes());
        assert_eq!(parse_frost_commitment(&line), Ok(commitment));
        kinds += 1;
    }
    if let Ok((signer, share)) = parse_frost_share(text) {
        let line = frost_share_line(signer, &share);
        assert_eq!(parse_frost_share(&line), Ok((signer, share)));
        kinds += 1;
    }
    kinds
}

/// Nobody sealed the bytes to this key.
fn to_nobody(bytes: &[u8]) {
    let secret = |first| {
        let mut scalar = [0; 32];
        scalar[0] = first;
        SecretKey::from_bytes(&scalar).expect("small")
    };
    let (mine, theirs) = (secret(2), secret(3));
    let receiver = hpke::Receiver::new("fuzz", &mine, theirs.public_key());
    assert!(to_key::open(&receiver, bytes, &mut Vec::new()).is_err());
    let receiver = signcrypt::Receiver::new("fuzz", &mine, theirs.public_key());
    assert!(open_signcrypted(&receiver, bytes).is_err());
    assert!(open_deterministic(&KEY, b"", bytes).is_err());
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        text_file(text);
        let _ = parse_public_keys(text);
    }
    to_nobody(bytes);
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
