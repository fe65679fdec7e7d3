//! Files of one value: a line with a label.

use super::{InvalidFile, hex};
use core::fmt;
use std::string::String;
use zeroize::Zeroizing;

/// What a file of one value may hold. As text: what it is, and where the program makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// 32 random bytes.
    SymmetricKey,
    /// A secret key.
    SecretKey,
    /// A public key.
    PublicKey,
    /// A signature.
    Signature,
    /// The hash of a password with all that verifying takes.
    PasswordHash,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::SymmetricKey,
        Self::SecretKey,
        Self::PublicKey,
        Self::Signature,
        Self::PasswordHash,
    ];

    /// In front of the version.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::SymmetricKey => "newplex-symmetric-key-v",
            Self::SecretKey => "newplex-secret-key-v",
            Self::PublicKey => "newplex-public-key-v",
            Self::Signature => "newplex-signature-v",
            Self::PasswordHash => "newplex-password-v",
        }
    }

    /// The line of a value, in hexadecimal digits under its label. A password hash has a
    /// [form of its own](super::PasswordHash).
    #[must_use]
    pub fn line(self, value: &[u8]) -> Zeroizing<String> {
        let label = self.label();
        // All at once: growing would leave digits behind.
        let mut line = Zeroizing::new(String::with_capacity(label.len() + 2 + 2 * value.len()));
        line.push_str(label);
        line.push_str("1:");
        hex::encode(value, &mut line);
        line
    }

    /// The text behind the label, on the one line that is not a comment.
    pub(super) fn value(self, text: &str) -> Result<&str, InvalidFile> {
        let mut lines = lines(text);
        let line = lines.next().unwrap_or_default();
        let Some(rest) = line.strip_prefix(self.label()) else {
            let mut others = Self::ALL.into_iter();
            return Err(match others.find(|kind| line.starts_with(kind.label())) {
                Some(found) => InvalidFile::OtherKind {
                    found,
                    expected: self,
                },
                None => InvalidFile::Unknown(self),
            });
        };
        let (version, value) = rest.split_once(':').unwrap_or((rest, ""));
        if version != "1" {
            return Err(InvalidFile::Version);
        }
        if lines.next().is_some() {
            return Err(InvalidFile::SeveralLines);
        }
        Ok(value)
    }
}

/// The lines that are neither empty nor comments.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SymmetricKey => "a symmetric key ('sealwire newplex keygen --symmetric FILE')",
            Self::SecretKey => "a secret key ('sealwire newplex keygen --out STEM', STEM.key)",
            Self::PublicKey => "a public key ('sealwire newplex keygen --out STEM', STEM.pub)",
            Self::Signature => "a signature ('sealwire newplex sign')",
            Self::PasswordHash => "the hash of a password ('sealwire newplex hash-password')",
        })
    }
}
