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
    /// The proof of an output of a key, as of [`vrf`](crate::schemes::vrf).
    VrfProof,
    /// What a client keeps until its answer comes: secret, and used once.
    OprfState,
    /// A blinded input.
    OprfRequest,
    /// A blinded input that was evaluated, with its proof.
    OprfAnswer,
    /// What an initiator keeps until its answer comes: secret, and used once.
    PakeState,
    /// The message of an initiator.
    PakeMessage,
    /// The answer to it.
    PakeAnswer,
    /// What everybody may know of a group of signers.
    FrostGroup,
    /// A participant's share of the key of a group: secret.
    FrostSigner,
    /// The nonces of one signature: secret, and used once.
    FrostNonces,
    /// What a signer commits itself to.
    FrostCommitment,
    /// A signer's share of a signature.
    FrostShare,
}

impl Kind {
    const ALL: [Self; 17] = [
        Self::SymmetricKey,
        Self::SecretKey,
        Self::PublicKey,
        Self::Signature,
        Self::PasswordHash,
        Self::VrfProof,
        Self::OprfState,
        Self::OprfRequest,
        Self::OprfAnswer,
        Self::PakeState,
        Self::PakeMessage,
        Self::PakeAnswer,
        Self::FrostGroup,
        Self::FrostSigner,
        Self::FrostNonces,
        Self::FrostCommitment,
        Self::FrostShare,
    ];

    /// In front of the version.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::SymmetricKey => "newplex-symmetric-key-v",
            Self::SecretKey => "newplex-secret-key-v",
            Self::PublicKey => "newplex-public-key-v",
            Self::Signature => "newplex-signature-v",
            Self::PasswordHash => "newplex-password-v",
            Self::VrfProof => "newplex-vrf-proof-v",
            Self::OprfState => "newplex-oprf-state-v",
            Self::OprfRequest => "newplex-oprf-request-v",
            Self::OprfAnswer => "newplex-oprf-answer-v",
            Self::PakeState => "newplex-pake-state-v",
            Self::PakeMessage => "newplex-pake-message-v",
            Self::PakeAnswer => "newplex-pake-answer-v",
            Self::FrostGroup => "newplex-frost-group-v",
            Self::FrostSigner => "newplex-frost-signer-v",
            Self::FrostNonces => "newplex-frost-nonces-v",
            Self::FrostCommitment => "newplex-frost-commitment-v",
            Self::FrostShare => "newplex-frost-share-v",
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
            Self::VrfProof => "the proof of an output ('sealwire newplex vrf prove')",
            Self::OprfState => "the state of a client ('sealwire newplex oprf blind --state FILE')",
            Self::OprfRequest => "a blinded input ('sealwire newplex oprf blind')",
            Self::OprfAnswer => "an evaluated input ('sealwire newplex oprf evaluate')",
            Self::PakeState => {
                "the state of an initiator ('sealwire newplex pake initiate --state FILE')"
            }
            Self::PakeMessage => "an initiator's message ('sealwire newplex pake initiate')",
            Self::PakeAnswer => "a responder's answer ('sealwire newplex pake respond')",
            Self::FrostGroup => {
                "a group of signers ('sealwire newplex frost deal --out STEM', STEM.group)"
            }
            Self::FrostSigner => {
                "a participant's secret ('sealwire newplex frost deal --out STEM', STEM-1.signer)"
            }
            Self::FrostNonces => {
                "the nonces of a signature ('sealwire newplex frost commit --nonces FILE')"
            }
            Self::FrostCommitment => "a signer's commitment ('sealwire newplex frost commit')",
            Self::FrostShare => "a share of a signature ('sealwire newplex frost sign')",
        })
    }
}
