//! Binary files: which command made them.

use core::fmt;
use thiserror::Error;

/// Size of a magic in bytes.
const MAGIC_SIZE: usize = 7;
/// That of the files of `sealwire seal`.
const OTHER_MAGIC: [u8; MAGIC_SIZE] = *b"\xd5SEALED";
const VERSION: u8 = 1;

/// Size of what every binary file begins with: a magic and a version.
pub const PREFIX_SIZE: usize = MAGIC_SIZE + 1;

/// A binary format of the program. As text: the command that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// [`sealed`](super::sealed): under a symmetric key.
    Sealed,
    /// [`to_key`](super::to_key): for the owner of a public key.
    ToKey,
    /// [`message::signcrypt`](super::message::signcrypt): that, and signed.
    Signcrypted,
    /// [`message::seal_deterministically`](super::message::seal_deterministically).
    Deterministic,
}

/// The fault of the beginning of a binary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidFormat {
    /// The magic is missing.
    #[error("not a file that '{0}' made")]
    Unknown(Format),
    /// The magic is that of another format.
    #[error("made by '{maker}': open it with '{opener}'")]
    Other {
        /// The command that made it.
        maker: &'static str,
        /// The command that opens it.
        opener: &'static str,
    },
    /// The version, which is not 1.
    #[error(
        "sealed in version {0} of the format, and this program knows version 1: use a later program"
    )]
    Version(u8),
    /// The header is not complete.
    #[error("cut short: it ends within its header")]
    CutShort,
}

impl Format {
    const ALL: [Self; 4] = [
        Self::Sealed,
        Self::ToKey,
        Self::Signcrypted,
        Self::Deterministic,
    ];

    const fn magic(self) -> [u8; MAGIC_SIZE] {
        *match self {
            Self::Sealed => b"\xd5NPSEAL",
            Self::ToKey => b"\xd5NPHPKE",
            Self::Signcrypted => b"\xd5NPSCRY",
            Self::Deterministic => b"\xd5NPDSIV",
        }
    }

    const fn maker(self) -> &'static str {
        match self {
            Self::Sealed => "sealwire newplex seal",
            Self::ToKey => "sealwire newplex hpke seal",
            Self::Signcrypted => "sealwire newplex signcrypt seal",
            Self::Deterministic => "sealwire newplex siv seal",
        }
    }

    const fn opener(self) -> &'static str {
        match self {
            Self::Sealed => "sealwire newplex open",
            Self::ToKey => "sealwire newplex hpke open",
            Self::Signcrypted => "sealwire newplex signcrypt open",
            Self::Deterministic => "sealwire newplex siv open",
        }
    }

    /// What a file of this format begins with: magic and version.
    #[must_use]
    pub const fn prefix(self) -> [u8; PREFIX_SIZE] {
        let mut prefix = [VERSION; PREFIX_SIZE];
        let (magic, _) = prefix.split_at_mut(MAGIC_SIZE);
        magic.copy_from_slice(&self.magic());
        prefix
    }

    /// Checks that `bytes` begin as a file of this format does.
    ///
    /// # Errors
    ///
    /// [`InvalidFormat`].
    pub fn check(self, bytes: &[u8]) -> Result<(), InvalidFormat> {
        let (magic, version) = bytes.split_at(bytes.len().min(MAGIC_SIZE));
        if magic == OTHER_MAGIC {
            return Err(InvalidFormat::Other {
                maker: "sealwire seal",
                opener: "sealwire open",
            });
        }
        let found = Self::ALL.into_iter().find(|format| magic == format.magic());
        if let Some(other) = found.filter(|format| *format != self) {
            return Err(InvalidFormat::Other {
                maker: other.maker(),
                opener: other.opener(),
            });
        }
        if magic.is_empty() || !self.magic().starts_with(magic) {
            return Err(InvalidFormat::Unknown(self));
        }
        match version.first() {
            Some(&VERSION) => Ok(()),
            None => Err(InvalidFormat::CutShort),
            Some(&other) => Err(InvalidFormat::Version(other)),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.maker())
    }
}
