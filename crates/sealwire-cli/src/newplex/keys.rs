//! Key files: one line of text, a label with a version and 64 hexadecimal digits.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_zmtp::keys::hex;
use zeroize::Zeroizing;

use super::failed;
use crate::exit::Failure;
use crate::file::key::{create_private, read_private};

/// Larger files of public values are none.
const MAX_FILE_SIZE: u64 = 4 << 10;

/// What a file of one value may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Symmetric,
    Secret,
    Public,
    Signature,
    PasswordHash,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::Symmetric,
        Kind::Secret,
        Kind::Public,
        Kind::Signature,
        Kind::PasswordHash,
    ];

    /// In front of the version.
    const fn label(self) -> &'static str {
        match self {
            Kind::Symmetric => "newplex-symmetric-key-v",
            Kind::Secret => "newplex-secret-key-v",
            Kind::Public => "newplex-public-key-v",
            Kind::Signature => "newplex-signature-v",
            Kind::PasswordHash => "newplex-password-v",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Symmetric => "a symmetric key ('sealwire newplex keygen --symmetric FILE')",
            Kind::Secret => "a secret key ('sealwire newplex keygen --out STEM', STEM.key)",
            Kind::Public => "a public key ('sealwire newplex keygen --out STEM', STEM.pub)",
            Kind::Signature => "a signature ('sealwire newplex sign')",
            Kind::PasswordHash => "the hash of a password ('sealwire newplex hash-password')",
        }
    }

    /// `value` under its label.
    pub(super) fn line(self, value: &str) -> String {
        format!("{}1:{value}", self.label())
    }

    /// What stands behind the label, on the one line that is not a comment.
    pub(super) fn value(self, text: &str) -> Result<&str, String> {
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().unwrap_or_default();
        let Some(rest) = line.strip_prefix(self.label()) else {
            let other = Kind::ALL
                .into_iter()
                .find(|kind| line.starts_with(kind.label()));
            return Err(match other {
                Some(other) => format!("this is {}, not {}", other.name(), self.name()),
                None => format!("not {}", self.name()),
            });
        };
        let (version, value) = rest.split_once(':').unwrap_or((rest, ""));
        if version != "1" {
            return Err(
                "in another version of the format than 1, the one that this program knows"
                    .to_owned(),
            );
        }
        if lines.next().is_some() {
            return Err("more than one line that is not a comment".to_owned());
        }
        Ok(value)
    }
}

/// Behind a label of a key.
const DIGITS: &str = "behind its label there must be 64 hexadecimal digits";

/// Fills `N` bytes from the operating system's generator.
pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, Failure> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| {
        failed(format!(
            "the operating system's random generator failed: {error}"
        ))
    })?;
    Ok(bytes)
}

/// Writes a fresh symmetric key.
pub(super) fn generate_symmetric(path: &Path) -> Result<(), Failure> {
    let digits = Zeroizing::new(hex::encode(&*random::<32>()?));
    let line = Zeroizing::new(Kind::Symmetric.line(&digits));
    let text = Zeroizing::new(format!(
        "#   Newplex SYMMETRIC key: whoever has it can make and open what is made with it.\n{}\n",
        line.as_str()
    ));
    create_private(path, &text)
}

/// Writes a fresh key pair: both files or none.
pub(super) fn generate_pair(public_path: &Path, secret_path: &Path) -> Result<PublicKey, Failure> {
    let secret = SecretKey::generate().map_err(|error| failed(error.to_string()))?;
    let public = *secret.public_key();
    let digits = Zeroizing::new(hex::encode(&secret.to_bytes()));
    let line = Zeroizing::new(Kind::Secret.line(&digits));
    let text = Zeroizing::new(format!(
        "#   Newplex SECRET key: whoever has it can sign in your name.\n{}\n",
        line.as_str()
    ));
    create_private(secret_path, &text)?;
    let line = Kind::Public.line(&hex::encode(&public.to_bytes()));
    let written = File::create_new(public_path)
        .and_then(|mut file| {
            writeln!(file, "#   Newplex public key\n{line}").and_then(|()| file.sync_all())
        })
        .map_err(|error| at(public_path, &format!("cannot be written: {error}")));
    if written.is_err() {
        // A secret key whose public half was never told to anyone is of no use.
        let _ = fs::remove_file(secret_path);
    }
    written.map(|()| public)
}

pub(super) fn read_symmetric(path: &Path) -> Result<Zeroizing<[u8; 32]>, Failure> {
    read_secret_value(path, Kind::Symmetric)
}

pub(super) fn read_secret(path: &Path) -> Result<SecretKey, Failure> {
    let bytes = read_secret_value(path, Kind::Secret)?;
    SecretKey::from_bytes(&*bytes).map_err(|error| at(path, &error.to_string()))
}

pub(super) fn read_public(path: &Path) -> Result<PublicKey, Failure> {
    let text = read_public_text(path)?;
    let digits = Kind::Public
        .value(&text)
        .map_err(|problem| at(path, &problem))?;
    let bytes = hex::decode(digits).map_err(|_| at(path, DIGITS))?;
    PublicKey::from_bytes(&bytes).map_err(|error| at(path, &error.to_string()))
}

fn read_secret_value(path: &Path, kind: Kind) -> Result<Zeroizing<[u8; 32]>, Failure> {
    let text = read_private(path)?.unwrap_or_default();
    let digits = kind.value(&text).map_err(|problem| at(path, &problem))?;
    let bytes = hex::decode(digits).map_err(|_| at(path, DIGITS))?;
    Ok(Zeroizing::new(bytes))
}

/// The beginning of a file that others may read.
pub(super) fn read_public_text(path: &Path) -> Result<String, Failure> {
    let cannot = |error| at(path, &format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(cannot)?
        .take(MAX_FILE_SIZE)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// What is wrong with a file.
pub(super) fn at(path: &Path, problem: &str) -> Failure {
    failed(format!("{}: {problem}", path.display()))
}
