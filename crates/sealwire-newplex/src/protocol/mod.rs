//! The protocol: labelled operations on one state.
//!
//! Every operation begins with a header of its code and its label, so that no sequence of operations
//! gives the same input to the duplex as another, with labels of less than 92 bytes. The argument, and
//! why no longer ones, is in `docs/newplex/design.md`.

pub(crate) mod batch;
mod fork;
#[cfg(feature = "std")]
mod io;
mod seal;
mod stream;

use crate::duplex::{Duplex, ENCODED_SIZE};
use crate::error::InvalidState;
use core::fmt;
pub use fork::MAX_BRANCHES;
#[cfg(feature = "std")]
pub use io::{MaskWriter, MixReader, MixWriter, UnmaskReader};
pub(crate) use seal::is_equal;
pub use stream::{MaskStream, MixStream, UnmaskStream};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Size of an encoded state in bytes.
pub const STATE_SIZE: usize = ENCODED_SIZE;

/// Codes of the operations.
mod code {
    pub(super) const INIT: u8 = 0x01;
    pub(super) const MIX: u8 = 0x02;
    pub(super) const DERIVE: u8 = 0x03;
    pub(super) const CRYPT: u8 = 0x04;
    pub(super) const AUTH_CRYPT: u8 = 0x05;
    pub(super) const FORK: u8 = 0x06;
    pub(super) const RATCHET: u8 = 0x07;
}

/// A state that operations are applied to, one after the other: what each gives depends on all that
/// went before, labels and lengths included.
///
/// Two protocols that did the same are in the same state. Labels and domains are taken as bytes,
/// without Unicode normalisation; texts and byte strings are both accepted.
///
/// Keep labels shorter than 92 bytes, best constant. The framing, which is the reference's, has pairs of
/// different sequences that end in the same state where a label is longer.
///
/// 256 bytes, on the stack, overwritten with zeros when dropped. A clone is a copy of the state:
/// what both are asked the same way, they answer the same way, and sealing two different messages
/// with two clones shows how the messages differ. Use [`fork`](Self::fork) for independent ones.
///
/// ```
/// use sealwire_newplex::Protocol;
///
/// let mut protocol = Protocol::new("com.example.greeting");
/// protocol.mix("key", b"a key of high entropy");
/// let mut receiver = protocol.clone();
///
/// let mut message = *b"hello";
/// let tag = protocol.seal_detached("message", &mut message);
///
/// receiver.open_detached("message", &mut message, &tag)?;
/// assert_eq!(&message, b"hello");
/// # Ok::<(), sealwire_newplex::InvalidCiphertext>(())
/// ```
#[derive(Clone)]
pub struct Protocol {
    duplex: Duplex,
}

impl Protocol {
    /// A protocol for `domain`, which should be unique to the application and the purpose, and
    /// constant: "com.example.application.purpose".
    #[inline(always)]
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>) -> Self {
        let mut protocol = Self {
            duplex: Duplex::new(),
        };
        protocol.duplex.absorb_header(code::INIT, domain.as_ref());
        protocol
    }

    /// Takes `input` into the state.
    #[inline(always)]
    pub fn mix(&mut self, label: impl AsRef<[u8]>, input: &[u8]) {
        self.begin_mix(label.as_ref());
        self.duplex.absorb(input);
    }

    /// Begins a mix whose input comes with [`continue_mix`](Self::continue_mix).
    #[inline(always)]
    pub(crate) fn begin_mix(&mut self, label: &[u8]) {
        self.duplex.absorb_header(code::MIX, label);
    }

    /// The next piece of the input of the mix that was begun.
    #[inline]
    pub(crate) fn continue_mix(&mut self, input: &[u8]) {
        self.duplex.absorb(input);
    }

    /// Fills `output` with pseudorandom bytes.
    ///
    /// The length goes into the state first: outputs of different lengths are unrelated.
    #[inline(always)]
    pub fn derive(&mut self, label: impl AsRef<[u8]>, output: &mut [u8]) {
        self.duplex.absorb_header(code::DERIVE, label.as_ref());
        self.duplex.squeeze_with_length(output);
    }

    /// [`derive`](Self::derive) of an array.
    #[inline(always)]
    #[must_use]
    pub fn derive_array<const N: usize>(&mut self, label: impl AsRef<[u8]>) -> [u8; N] {
        let mut output = [0; N];
        self.derive(label, &mut output);
        output
    }

    /// Encrypts `text` in place, without authenticating it: use [`seal`](Self::seal_detached) unless
    /// something else does.
    ///
    /// The ciphertext does not depend on the length of the text: those of "A" and "AB" begin with
    /// the same byte. Mix the length first where that tells too much.
    #[inline(always)]
    pub fn mask(&mut self, label: impl AsRef<[u8]>, text: &mut [u8]) {
        self.duplex.absorb_header(code::CRYPT, label.as_ref());
        self.duplex.permute_and_encrypt(text);
    }

    /// Decrypts in place what [`mask`](Self::mask) gave. Whether it is authentic remains unknown.
    #[inline(always)]
    pub fn unmask(&mut self, label: impl AsRef<[u8]>, text: &mut [u8]) {
        self.duplex.absorb_header(code::CRYPT, label.as_ref());
        self.duplex.permute_and_decrypt(text);
    }

    /// Changes the state in a way that cannot be undone: who learns the new state learns nothing
    /// about what went before.
    pub fn ratchet(&mut self, label: impl AsRef<[u8]>) {
        self.duplex.absorb_header(code::RATCHET, label.as_ref());
        self.duplex.ratchet();
    }

    /// Ends the protocol: the state is overwritten with zeros, and cannot be used any more.
    ///
    /// The same as dropping it, but visible.
    pub fn clear(self) {}

    /// The state, to go on with later: two positions in the block of one byte each, then the 128
    /// bytes of the state.
    ///
    /// As secret as any key that went into the protocol.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; STATE_SIZE]> {
        Zeroizing::new(self.duplex.encode())
    }

    /// The protocol whose state [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`InvalidState`] if the bytes cannot be a state. Nothing else shows that they have been
    /// changed: authenticate them if they were stored where others can write.
    pub fn from_bytes(state: &[u8]) -> Result<Self, InvalidState> {
        let state = state
            .try_into()
            .map_err(|_| InvalidState::Length(state.len()))?;
        let duplex = Duplex::decode(state).ok_or(InvalidState::Position)?;
        Ok(Self { duplex })
    }
}

/// Whether two protocols are in the same state, in constant time.
impl ConstantTimeEq for Protocol {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.duplex.ct_eq(&other.duplex)
    }
}

impl ZeroizeOnDrop for Protocol {}

/// Shows nothing of the state.
impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protocol").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
