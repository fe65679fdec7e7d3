//! What the readers of sealed streams share.

use crate::InvalidCiphertext;
use std::io::{self, Read};
use std::vec::Vec;
use zeroize::Zeroize;

/// How far the reader of a sealed stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is more to read.
    Reading,
    /// The end was reached, and is authentic.
    Ended,
    /// Something was not authentic. Nothing is read any more.
    Forged,
    /// The reader below failed in the middle of a block. Nothing is read any more.
    Failed,
}

impl Progress {
    /// What a read after a failure gives.
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Forged => InvalidCiphertext.into(),
            Self::Reading | Self::Ended | Self::Failed => {
                io::Error::other("an earlier read of this stream failed; it cannot go on")
            }
        }
    }

    /// The state after `error`.
    pub(super) fn after(error: &io::Error) -> Self {
        let forged = error
            .get_ref()
            .is_some_and(|inner| inner.is::<InvalidCiphertext>());
        if forged { Self::Forged } else { Self::Failed }
    }
}

/// Replaces `buffer` by the next `length` bytes of `inner`.
///
/// Memory is taken as bytes arrive, not by the length that somebody announced.
pub(super) fn read_block(
    inner: &mut impl Read,
    length: usize,
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    if buffer.capacity() < length {
        // Growing would leave what was decrypted before behind.
        buffer.zeroize();
    }
    buffer.clear();
    inner.take(length as u64).read_to_end(buffer)?;
    if buffer.len() < length {
        return Err(InvalidCiphertext.into());
    }
    Ok(())
}
