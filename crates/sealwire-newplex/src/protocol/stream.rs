//! One operation whose data comes in pieces.
//!
//! A stream borrows its protocol, which can be used again as soon as the stream is finished or
//! dropped, and not before. How the data is cut into pieces has no effect.

use super::{Protocol, code};

/// A mix whose input comes in pieces; see [`Protocol::mix_stream`].
#[derive(Debug)]
pub struct MixStream<'p> {
    protocol: &'p mut Protocol,
}

impl MixStream<'_> {
    /// The next piece of the input.
    #[inline]
    pub fn update(&mut self, input: &[u8]) {
        self.protocol.continue_mix(input);
    }

    /// What the protocol would be if the input ended here.
    #[must_use]
    pub fn branch(&self) -> Protocol {
        self.protocol.clone()
    }

    /// Ends the input; the same as dropping the stream, but visible.
    pub fn finish(self) {}
}

/// A mask whose text comes in pieces; see [`Protocol::mask_stream`].
#[derive(Debug)]
pub struct MaskStream<'p> {
    protocol: &'p mut Protocol,
}

impl MaskStream<'_> {
    /// Encrypts the next piece in place.
    #[inline]
    pub fn apply(&mut self, text: &mut [u8]) {
        self.protocol.duplex.encrypt(text);
    }

    /// Ends the text; the same as dropping the stream, but visible.
    pub fn finish(self) {}
}

/// An unmask whose text comes in pieces; see [`Protocol::unmask_stream`].
#[derive(Debug)]
pub struct UnmaskStream<'p> {
    protocol: &'p mut Protocol,
}

impl UnmaskStream<'_> {
    /// Decrypts the next piece in place.
    #[inline]
    pub fn apply(&mut self, text: &mut [u8]) {
        self.protocol.duplex.decrypt(text);
    }

    /// Ends the text; the same as dropping the stream, but visible.
    pub fn finish(self) {}
}

impl Protocol {
    /// [`mix`](Self::mix) in pieces.
    ///
    /// ```compile_fail
    /// # let mut protocol = sealwire_newplex::Protocol::new("example");
    /// let mut stream = protocol.mix_stream("input");
    /// protocol.ratchet("while the stream is open");
    /// stream.update(b"more");
    /// ```
    pub fn mix_stream(&mut self, label: impl AsRef<[u8]>) -> MixStream<'_> {
        self.begin_mix(label.as_ref());
        MixStream { protocol: self }
    }

    /// [`mask`](Self::mask) in pieces.
    pub fn mask_stream(&mut self, label: impl AsRef<[u8]>) -> MaskStream<'_> {
        self.begin_crypt(label.as_ref());
        MaskStream { protocol: self }
    }

    /// [`unmask`](Self::unmask) in pieces.
    pub fn unmask_stream(&mut self, label: impl AsRef<[u8]>) -> UnmaskStream<'_> {
        self.begin_crypt(label.as_ref());
        UnmaskStream { protocol: self }
    }

    fn begin_crypt(&mut self, label: &[u8]) {
        self.duplex.absorb_header(code::CRYPT, label);
        self.duplex.permute();
    }
}
