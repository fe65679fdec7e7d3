//! Texts that are accepted, and texts that are refused, with the reason.

use super::message::{
    MessageError, open_deterministic, open_signcrypted, seal_deterministically, signcrypt,
};
use super::sealed::{NONCE_SIZE, SealedFileError, open, seal};
use super::*;
use crate::schemes::frost::{Parameters, Round, generate};
use crate::schemes::oprf::{Client, Server};
use crate::schemes::randomness::Randomness;
use crate::schemes::vrf::Prover;
use crate::schemes::{hpke, signcrypt as signcryption};
use std::format;
use std::string::{String, ToString as _};

const DIGITS: &str = "0100000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_line_is_read_back_and_comments_are_skipped() {
    let secret = parse_secret_key(&format!("# mine\n\n  newplex-secret-key-v1:{DIGITS}\n"));
    let secret = secret.expect("a key");
    let line = Kind::SecretKey.line(&*secret.to_bytes());
    assert_eq!(line.as_str(), format!("newplex-secret-key-v1:{DIGITS}"));
    let line = Kind::PublicKey.line(secret.public_key().as_bytes());
    assert_eq!(parse_public_key(&line), Ok(*secret.public_key()));
    let list = format!("{} alice\n#\n{}\n", line.as_str(), line.as_str());
    assert_eq!(parse_public_keys(&list).map(|keys| keys.len()), Ok(2));
    assert_eq!(parse_public_keys(""), Ok(Vec::new()));
    let symmetric = parse_symmetric_key(&format!("newplex-symmetric-key-v1:{DIGITS}"));
    assert_eq!(symmetric.expect("a key")[0], 1);
    let signature = Kind::Signature.line(&[7; SIGNATURE_SIZE]);
    let signature = parse_signature(&signature).expect("a signature");
    assert_eq!(signature.to_bytes(), [7; SIGNATURE_SIZE]);
}

#[test]
fn what_is_wrong_is_told() {
    let (found, expected) = (Kind::PublicKey, Kind::SecretKey);
    let line = format!("newplex-secret-key-v1:{DIGITS}");
    for (text, problem) in [
        (String::new(), InvalidFile::Unknown(expected)),
        ("hello".to_string(), InvalidFile::Unknown(expected)),
        (DIGITS.to_string(), InvalidFile::Unknown(expected)),
        (
            line.replace("secret", "public"),
            InvalidFile::OtherKind { found, expected },
        ),
        (line.replace("v1", "v2"), InvalidFile::Version),
        (line.replace("v1", "v11"), InvalidFile::Version),
        (line.replace(':', ""), InvalidFile::Version),
        (format!("{line}\n{line}"), InvalidFile::SeveralLines),
        (line[1..].to_string(), InvalidFile::Unknown(expected)),
        (format!("{line}0"), InvalidFile::Digits(64)),
        (line.replace("0100", "01g0"), InvalidFile::Digits(64)),
        (
            line.replace("01", "00"),
            InvalidFile::Key(InvalidEncoding::Neutral),
        ),
    ] {
        assert_eq!(parse_secret_key(&text).err(), Some(problem), "{text}");
    }
}

#[test]
fn password_hashes_are_read_back_and_verify() {
    let hash = PasswordHash::new(b"secret", 2, [3; SALT_SIZE]).expect("memory");
    let line = hash.to_string();
    assert!(line.starts_with("newplex-password-v1:2:0303"), "{line}");
    let hash = PasswordHash::parse(&line).expect("its own line");
    assert_eq!((hash.cost(), hash.to_string()), (2, line.clone()));
    assert_eq!(hash.verify(b"secret"), Ok(true));
    assert_eq!(hash.verify(b"Secret"), Ok(false));
    assert!(!format!("{hash:?}").contains("0303"));
    for bad in [
        line.replace(":2:", ":25:"),
        line.replace(":2:", ":+2:"),
        line.replace(":2:", ":02:"),
        line.replace(":2:", "::"),
        format!("{line}:"),
        line[..line.len() - 1].to_string(),
    ] {
        let parsed = PasswordHash::parse(&bad).map(|hash| hash.cost());
        assert_eq!(parsed, Err(InvalidFile::PasswordHash), "{bad}");
    }
}

#[test]
fn sealed_files_open_and_every_bit_counts() {
    let (key, content) = ([1; SYMMETRIC_KEY_SIZE], [5; 100]);
    let mut sealed = Vec::new();
    seal(&key, &[2; NONCE_SIZE], content.as_slice(), &mut sealed).expect("memory");
    let opened = |sealed: &[u8]| {
        let mut output = Vec::new();
        let result = open(&key, sealed, &mut output);
        assert!(content.starts_with(&output));
        result.map(|()| output)
    };
    assert_eq!(opened(&sealed).expect("authentic"), content);
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(opened(&changed).is_err(), "{bit}");
    }
    for length in 0..sealed.len() {
        assert!(opened(&sealed[..length]).is_err(), "{length}");
    }
    sealed.push(0);
    assert!(matches!(opened(&sealed), Err(SealedFileError::Appended)));
}

fn secret(first: u8) -> SecretKey {
    let mut bytes = [0; 32];
    bytes[0] = first;
    SecretKey::from_bytes(&bytes).expect("small")
}

fn randomness(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte; 64]).expect("not zero")
}

#[test]
fn files_to_a_key_open_and_every_bit_counts() {
    let (alice, bea) = (secret(2), secret(3));
    let sender = hpke::Sender::new("files", &alice, bea.public_key());
    let receiver = hpke::Receiver::new("files", &bea, alice.public_key());
    let mut sealed = Vec::new();
    to_key::seal(&sender, randomness(4), &[5; 32], &b"hello"[..], &mut sealed).expect("memory");
    let opened = |sealed: &[u8]| {
        let mut output = Vec::new();
        to_key::open(&receiver, sealed, &mut output).map(|()| output)
    };
    assert_eq!(opened(&sealed).expect("authentic"), b"hello");
    for bit in 0..sealed.len() * 8 {
        let mut changed = sealed.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(opened(&changed).is_err(), "{bit}");
    }
    for length in 0..sealed.len() {
        assert!(opened(&sealed[..length]).is_err(), "{length}");
    }
    sealed.push(0);
    assert!(matches!(opened(&sealed), Err(SealedFileError::Appended)));
}

#[test]
fn single_messages_open_and_every_bit_counts() {
    let (alice, bea) = (secret(2), secret(3));
    let sender = signcryption::Sender::new("files", &alice, bea.public_key());
    let receiver = signcryption::Receiver::new("files", &bea, alice.public_key());
    let key = [1; SYMMETRIC_KEY_SIZE];
    let signcrypted = signcrypt(&sender, b"hedge", b"hello");
    let deterministic = seal_deterministically(&key, b"row", b"hello");
    let open_both = |file: &[u8]| {
        let signcrypted = open_signcrypted(&receiver, file);
        let deterministic = open_deterministic(&key, b"row", file);
        [signcrypted, deterministic].map(|opened| opened.map(|text| text.to_vec()))
    };
    let other = |maker, opener| Err(InvalidFormat::Other { maker, opener }.into());
    assert_eq!(
        open_both(&signcrypted),
        [
            Ok(b"hello".to_vec()),
            other(
                "sealwire newplex signcrypt seal",
                "sealwire newplex signcrypt open"
            )
        ]
    );
    assert_eq!(
        open_both(&deterministic),
        [
            other("sealwire newplex siv seal", "sealwire newplex siv open"),
            Ok(b"hello".to_vec())
        ]
    );
    for sealed in [&signcrypted, &deterministic] {
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(open_both(&changed).iter().all(Result::is_err), "{bit}");
        }
        for length in 0..sealed.len() {
            let opened = open_both(&sealed[..length]);
            assert!(opened.iter().all(Result::is_err), "{length}");
        }
    }
    assert_eq!(
        open_deterministic(&key, b"other row", &deterministic).err(),
        Some(MessageError::Deterministic)
    );
}

#[test]
fn formats_are_told_apart() {
    let cut = Err(InvalidFormat::CutShort);
    for format in [
        Format::Sealed,
        Format::ToKey,
        Format::Signcrypted,
        Format::Deterministic,
    ] {
        let prefix = format.prefix();
        assert_eq!(format.check(&prefix), Ok(()));
        // What both have in common at the beginning may still become the one or the other.
        assert_eq!(format.check(&prefix[..3]), cut);
        assert_eq!(format.check(&prefix[..7]), cut);
        assert_eq!(format.check(b""), Err(InvalidFormat::Unknown(format)));
        assert_eq!(format.check(b"text"), Err(InvalidFormat::Unknown(format)));
        let mut later = prefix;
        later[7] = 2;
        assert_eq!(format.check(&later), Err(InvalidFormat::Version(2)));
        let old = format.check(b"\xd5SEALED\x01");
        assert!(matches!(old, Err(InvalidFormat::Other { .. })));
    }
}

#[test]
fn what_parties_exchange_is_read_back() {
    let (client, server) = (b"input", Server::new("files", secret(2)));
    let proof = Prover::new("files", secret(2)).prove_with(b"", b"input", &mut [0; 32]);
    let line = Kind::VrfProof.line(&proof.to_bytes());
    let again = parse_vrf_proof(&line).map(|proof| proof.to_bytes());
    assert_eq!(again, Ok(proof.to_bytes()));
    let (_, blinded) = Client::blind_with("files", client, randomness(3)).expect("an element");
    let request = Kind::OprfRequest.line(blinded.as_bytes());
    assert_eq!(parse_oprf_request(&request), Ok(blinded));
    let (evaluated, proof) = server.prove(&blinded, randomness(4));
    let answer = oprf_answer_line(&evaluated, &proof);
    assert_eq!(parse_oprf_answer(&answer), Ok((evaluated, proof)));
    assert_eq!(
        parse_oprf_answer(&request).err(),
        Some(InvalidFile::OtherKind {
            found: Kind::OprfRequest,
            expected: Kind::OprfAnswer
        })
    );
    let message = Kind::PakeMessage.line(&[8; 32]);
    assert_eq!(parse_pake_message(&message), Ok([8; 32]));
    let answer = pake_answer_line(&[8; 32], &[9; 16]);
    assert_eq!(parse_pake_answer(&answer), Ok(([8; 32], [9; 16])));
    for kind in [Kind::OprfState, Kind::PakeState, Kind::FrostNonces] {
        let state = parse_state(kind, &kind.line(&[7; 64])).map(|state| *state);
        assert_eq!(state, Ok([7; 64]));
        let short = parse_state(kind, &kind.line(&[7; 63]));
        assert_eq!(short.err(), Some(InvalidFile::Digits(128)));
    }
}

#[test]
fn what_signers_exchange_is_read_back() {
    let parameters = Parameters {
        threshold: 2,
        max_signers: 3,
    };
    let (group, signers) = generate(FROST_DOMAIN, parameters).expect("a group");
    let public = PublicGroup::new(group, &signers);
    let line = public.line();
    assert_eq!(PublicGroup::parse(&line), Ok(public.clone()));
    assert_eq!(public.verifying_share(0), None);
    assert_eq!(
        public.verifying_share(3),
        Some(signers[2].verifying_share())
    );
    assert_eq!(public.verifying_share(4), None);
    for bad in [&line[..60], &line[..line.len() - 64], &format!("{line}00")] {
        assert!(matches!(
            PublicGroup::parse(bad),
            Err(InvalidFile::Digits(_))
        ));
    }
    let (first, second) = (&signers[0], &signers[1]);
    let line = Kind::FrostSigner.line(&*first.to_bytes());
    let again = parse_frost_signer(&line).expect("its own line");
    assert_eq!(again.to_bytes(), first.to_bytes());
    // The nonces of a signer that was read are those of the signer that was written.
    let (_, commitment) = again.commit_with(randomness(5));
    let (nonces, same) = first.commit_with(randomness(5));
    assert_eq!(commitment, same);
    let line = Kind::FrostCommitment.line(&commitment.to_bytes());
    assert_eq!(parse_frost_commitment(&line), Ok(commitment));
    let (_, other) = second.commit_with(randomness(6));
    let round = Round::new("files", &group, b"message", &[commitment, other]).expect("two");
    let share = first.sign(nonces, &round).expect("its round");
    let line = frost_share_line(1, &share);
    assert_eq!(parse_frost_share(&line), Ok((1, share)));
    let nobody = parse_frost_share(&frost_share_line(0, &share));
    assert_eq!(nobody, Err(InvalidFile::Frost(FrostError::Identifier(0))));
}
