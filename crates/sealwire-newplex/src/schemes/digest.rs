//! Message digests, unkeyed and keyed.
//!
//! ```text
//! init(domain)                mix("message")  derive("digest", 32)
//! init(domain)  mix("key")    mix("message")  derive("tag", 16)
//! ```
//!
//! ```
//! use digest::Update as _;
//! use sealwire_newplex::schemes::digest::{Digest, KeyedDigest};
//!
//! let mut digest = Digest::new("com.example.files");
//! digest.update(b"a message ");
//! digest.update(b"in pieces");
//! assert_eq!(digest.value(), Digest::of("com.example.files", b"a message in pieces"));
//!
//! let mut tag = KeyedDigest::new("com.example.cookies", b"a key of high entropy");
//! tag.update(b"a message");
//! assert!(tag.verify(&tag.value()));
//! ```

mod batch;

use crate::protocol::is_equal;
use crate::{Protocol, TAG_SIZE, Tag};
use digest::consts::{U16, U32};
use digest::{
    FixedOutput, FixedOutputReset, HashMarker, MacMarker, Output, OutputSizeUser, Reset, Update,
};

/// Size of an unkeyed digest in bytes.
pub const DIGEST_SIZE: usize = 32;

/// A digest of 32 bytes. Reading its value does not end the message.
#[derive(Clone, Debug)]
pub struct Digest {
    /// Before the message.
    base: Protocol,
    /// Inside the message.
    protocol: Protocol,
}

impl Digest {
    /// For messages of the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>) -> Self {
        let mut base = Protocol::new(domain);
        base.begin_mix(b"message");
        let protocol = base.clone();
        Self { base, protocol }
    }

    /// The digest of one message.
    #[inline]
    #[must_use]
    pub fn of(domain: impl AsRef<[u8]>, message: &[u8]) -> [u8; DIGEST_SIZE] {
        let mut protocol = Protocol::new(domain);
        protocol.mix("message", message);
        protocol.derive_array("digest")
    }

    /// The digest of what has been written so far.
    #[must_use]
    pub fn value(&self) -> [u8; DIGEST_SIZE] {
        self.protocol.clone().derive_array("digest")
    }
}

/// A tag of 16 bytes, which only those who have the key can make. Reading its value does not end the
/// message.
#[derive(Clone, Debug)]
pub struct KeyedDigest {
    /// Before the message.
    base: Protocol,
    /// Inside the message.
    protocol: Protocol,
}

impl KeyedDigest {
    /// For `key` of any length and messages of the purpose `domain`. An empty key is a key.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, key: &[u8]) -> Self {
        let mut base = Protocol::new(domain);
        base.mix("key", key);
        base.begin_mix(b"message");
        let protocol = base.clone();
        Self { base, protocol }
    }

    /// The tag of one message.
    #[inline]
    #[must_use]
    pub fn of(domain: impl AsRef<[u8]>, key: &[u8], message: &[u8]) -> Tag {
        let mut protocol = Protocol::new(domain);
        protocol.mix("key", key);
        protocol.mix("message", message);
        protocol.derive_array("tag")
    }

    /// The tag of what has been written so far.
    #[must_use]
    pub fn value(&self) -> Tag {
        self.protocol.clone().derive_array("tag")
    }

    /// Whether `tag` is the tag of what has been written so far, in constant time.
    #[must_use]
    pub fn verify(&self, tag: &[u8; TAG_SIZE]) -> bool {
        is_equal(&self.value(), tag)
    }
}

/// The RustCrypto traits, which are the same for both but for the size of the output.
macro_rules! traits {
    ($type:ty, $size:ty) => {
        impl OutputSizeUser for $type {
            type OutputSize = $size;
        }

        impl Update for $type {
            #[inline]
            fn update(&mut self, data: &[u8]) {
                self.protocol.continue_mix(data);
            }
        }

        impl FixedOutput for $type {
            fn finalize_into(self, out: &mut Output<Self>) {
                *out = self.value().into();
            }
        }

        impl Reset for $type {
            fn reset(&mut self) {
                self.protocol = self.base.clone();
            }
        }

        impl FixedOutputReset for $type {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                *out = self.value().into();
                self.reset();
            }
        }
    };
}

traits!(Digest, U32);
traits!(KeyedDigest, U16);

impl HashMarker for Digest {}
impl MacMarker for KeyedDigest {}

#[cfg(feature = "std")]
impl std::io::Write for Digest {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "std")]
impl std::io::Write for KeyedDigest {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
