//! Texts that are accepted, and texts that are refused, with the reason.

use super::sealed::{NONCE_SIZE, SealedFileError, open, seal};
use super::*;
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
