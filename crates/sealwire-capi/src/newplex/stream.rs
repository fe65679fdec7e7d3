//! Streams of sealed blocks, with a mark at their end.

use sealwire_newplex::schemes::aestream::{HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD, Opener, Sealer};
use zeroize::Zeroizing;

use super::SEALWIRE_NEWPLEX_TAG_SIZE;
use super::protocol::{give_protocol, sealwire_newplex_protocol};
use crate::panics::{free, guard};
use crate::pointers::{
    array, array_output, bytes, bytes_mut, copy, give, object_mut, optional_output, output,
    required, take,
};
use crate::status::{Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_STATE, sealwire_status};

/// Bytes of text that a block can carry.
pub const SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX: usize = 65_535;
/// Bytes of the header with which a block begins: its size, encrypted.
pub const SEALWIRE_NEWPLEX_BLOCK_HEADER_SIZE: usize = 2;
/// Bytes that a block is longer than what it carries: its header, and the tag behind the text.
pub const SEALWIRE_NEWPLEX_BLOCK_OVERHEAD: usize = 18;

// The numbers of the header are those of the crate.
const _: () = assert!(
    MAX_BLOCK_SIZE == SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX
        && HEADER_SIZE == SEALWIRE_NEWPLEX_BLOCK_HEADER_SIZE
        && OVERHEAD == SEALWIRE_NEWPLEX_BLOCK_OVERHEAD
);

/// The writing side of a sealed stream: seals one block after the other. The stream is complete only with its end, so
/// that none is cut off unnoticed.
///
/// Threads: one at a time.
pub struct sealwire_newplex_sealer {
    /// None after the end.
    sealer: Option<Sealer>,
}

/// The reading side of a sealed stream: takes blocks in their order only, so that none is lost, repeated or moved
/// unnoticed.
///
/// Threads: one at a time.
pub struct sealwire_newplex_opener {
    /// None once the protocol was given back.
    opener: Option<Opener>,
    ended: bool,
}

fn state(problem: &str) -> Failure {
    Failure::new(SEALWIRE_ERROR_STATE, problem)
}

/// Starts a stream. **Takes the protocol when it succeeds**; it must hold a key, and something that never repeats
/// under that key.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_sealer_new(
    protocol: *mut sealwire_newplex_protocol,
    out: *mut *mut sealwire_newplex_sealer,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        object_mut(protocol, "protocol")?;
        let sealer = Some(Sealer::new(take(protocol).protocol));
        out.write(give(sealwire_newplex_sealer { sealer }));
        Ok(())
    })
}

/// Seals a text of 1 to 65,535 bytes as the next block, and writes `size` + 18 bytes to `block`. `block` and
/// `plaintext` may overlap.
///
/// Errors: `SEALWIRE_ERROR_STATE` after the end; `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_sealer_seal(
    sealer: Option<&mut sealwire_newplex_sealer>,
    plaintext: *const u8,
    size: usize,
    block: *mut u8,
) -> sealwire_status {
    guard(|| {
        let sealer = required(sealer, "sealer")?;
        if !(1..=MAX_BLOCK_SIZE).contains(&size) {
            let problem = format!("a block carries 1 to {MAX_BLOCK_SIZE} bytes, not {size}");
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, problem));
        }
        let plaintext = bytes(plaintext, size, "plaintext")?;
        output(block, "block")?;
        let sealer =
            (sealer.sealer.as_mut()).ok_or_else(|| state("the stream has ended: start another"))?;
        // The text first, as what is before and behind it may be where it comes from.
        let text = block.wrapping_add(HEADER_SIZE);
        copy(plaintext, text, "block")?;
        copy(&[0; HEADER_SIZE], block, "block")?;
        let tag = text.wrapping_add(size);
        copy(&[0; SEALWIRE_NEWPLEX_TAG_SIZE], tag, "block")?;
        sealer.seal(bytes_mut(block, OVERHEAD + size, "block")?);
        Ok(())
    })
}

/// Writes the block (18 bytes) that ends the stream, and where `protocol` is not NULL the protocol to go on with.
///
/// Errors: `SEALWIRE_ERROR_STATE` after the end; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_sealer_end(
    sealer: Option<&mut sealwire_newplex_sealer>,
    block: *mut u8,
    protocol: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let sealer = required(sealer, "sealer")?;
        let block = array_output(block, "block")?;
        let out = optional_output(protocol, "protocol")?;
        let sealer = (sealer.sealer.take())
            .ok_or_else(|| state("the stream has ended already: start another"))?;
        let (end, protocol) = sealer.end();
        block.write(end);
        if let Some(out) = out {
            out.write(give_protocol(protocol));
        }
        Ok(())
    })
}

/// Wipes and frees it. Without its end, nobody takes the stream for complete. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_sealer_free(sealer: Option<Box<sealwire_newplex_sealer>>) {
    free(sealer);
}

/// Starts the reading side. **Takes the protocol when it succeeds**; it is in the state that the writing side began
/// with.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_opener_new(
    protocol: *mut sealwire_newplex_protocol,
    out: *mut *mut sealwire_newplex_opener,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        object_mut(protocol, "protocol")?;
        let opener = Some(Opener::new(take(protocol).protocol));
        let ended = false;
        out.write(give(sealwire_newplex_opener { opener, ended }));
        Ok(())
    })
}

fn opening(opener: &mut sealwire_newplex_opener) -> Result<&mut Opener, Failure> {
    (opener.opener.as_mut())
        .ok_or_else(|| state("the protocol of the stream was given back: start another"))
}

/// Writes the size in bytes, 18 to 65,553, of the next block, which begins with `header` (2 bytes). Asked again before
/// that block is opened, it answers the same. A forged header is noticed when the block is opened, not here.
///
/// Errors: `SEALWIRE_ERROR_STATE` after `sealwire_newplex_opener_end`; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_opener_block_size(
    opener: Option<&mut sealwire_newplex_opener>,
    header: *const u8,
    size: *mut usize,
) -> sealwire_status {
    guard(|| {
        let opener = required(opener, "opener")?;
        let header = *array(header, "header")?;
        let out = output(size, "size")?;
        out.write(opening(opener)?.block_size(header));
        Ok(())
    })
}

/// Opens the next block, of `size` bytes, and writes its text, `size` - 18 bytes, to `plaintext`, only if it is
/// authentic. `plaintext` may be where `block` is. `ended` is written too: whether this block was the end, which has
/// no text. A stream without its end was cut off.
///
/// After a block that is not authentic none is opened any more.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also if `size` is not that of the next block, and after the end;
/// `SEALWIRE_ERROR_STATE` after `sealwire_newplex_opener_end`; `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_opener_open(
    opener: Option<&mut sealwire_newplex_opener>,
    block: *const u8,
    size: usize,
    plaintext: *mut u8,
    ended: *mut bool,
) -> sealwire_status {
    guard(|| {
        let opener = required(opener, "opener")?;
        let mut block = Zeroizing::new(bytes(block, size, "block")?.to_vec());
        let out = output(ended, "ended")?;
        if size > OVERHEAD {
            output(plaintext, "plaintext")?;
        }
        let text = opening(opener)?.open(&mut block)?;
        let is_end = text.is_empty();
        copy(text, plaintext, "plaintext")?;
        out.write(is_end);
        opener.ended = is_end;
        Ok(())
    })
}

/// Gives back the protocol after the end was opened, in the state that the writing side has after its end.
///
/// Errors: `SEALWIRE_ERROR_STATE` before the end was opened, and the second time; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_opener_end(
    opener: Option<&mut sealwire_newplex_opener>,
    protocol: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let opener = required(opener, "opener")?;
        let out = output(protocol, "protocol")?;
        if !opener.ended {
            return Err(state(
                "the end of the stream was not opened: it may be cut off",
            ));
        }
        let opener = (opener.opener.take())
            .ok_or_else(|| state("the protocol of the stream was given back already"))?;
        out.write(give_protocol(opener.into_protocol()));
        Ok(())
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_opener_free(opener: Option<Box<sealwire_newplex_opener>>) {
    free(opener);
}
