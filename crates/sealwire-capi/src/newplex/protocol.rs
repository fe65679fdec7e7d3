//! The protocol: labelled operations on one state.

use std::ffi::c_char;

use sealwire_newplex::Protocol;
use zeroize::Zeroizing;

use super::{SEALWIRE_NEWPLEX_TAG_SIZE, seal_to};
use crate::panics::{free, guard};
use crate::pointers::{
    array_output, bytes, bytes_mut, copy, give, items, output, required, text, zeroed,
};
use crate::status::sealwire_status;

/// Bytes of the state of a protocol.
pub const SEALWIRE_NEWPLEX_STATE_SIZE: usize = 130;
/// Branches that a protocol can be forked into in one call.
pub const SEALWIRE_NEWPLEX_BRANCHES_MAX: usize = 255;

/// Newplex: a state that operations are applied to, one after the other. What each gives depends on all
/// that went before, labels and lengths included, so two protocols that did the same are in the same state.
/// The bytes are those of codahale/newplex (Go). docs/newplex.md says what it rests on: it is young, no
/// standard, and not audited.
///
/// Domains and labels are constants of the program. Before anything is encrypted, mix a key of high entropy,
/// and something that never repeats under it, such as a random nonce. An operation whose arguments are refused
/// changes nothing.
///
/// The state is wiped when it is freed. Threads: one at a time.
pub struct sealwire_newplex_protocol {
    pub(super) protocol: Protocol,
}

pub(super) fn give_protocol(protocol: Protocol) -> *mut sealwire_newplex_protocol {
    give(sealwire_newplex_protocol { protocol })
}

/// Starts a protocol for `domain`, which is unique to the application and the purpose:
/// "com.example.application.purpose".
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_new(
    domain: *const c_char,
    out: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        out.write(give_protocol(Protocol::new(text(domain, "domain")?)));
        Ok(())
    })
}

/// Copies a protocol with its state. What both are asked in the same way they answer in the same way, and two
/// different messages sealed with them show how they differ: for independent ones fork.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_clone(
    protocol: Option<&sealwire_newplex_protocol>,
    out: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let protocol = required(protocol, "protocol")?;
        out.write(give_protocol(protocol.protocol.clone()));
        Ok(())
    })
}

/// Takes `size` bytes into the state.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_mix(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    input: *const u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let (label, input) = (text(label, "label")?, bytes(input, size, "input")?);
        protocol.protocol.mix(label, input);
        Ok(())
    })
}

/// Writes `size` pseudorandom bytes, such as a key, which are yours to wipe. Outputs of different sizes are
/// unrelated.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_derive(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    derived: *mut u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let label = text(label, "label")?;
        protocol
            .protocol
            .derive(label, zeroed(derived, size, "derived")?);
        Ok(())
    })
}

/// Encrypts `buffer` where it is, without authenticating it: use `sealwire_newplex_protocol_seal` unless something
/// else does. The ciphertext does not depend on the size: those of "A" and "AB" begin with the same byte.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_mask(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    buffer: *mut u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let (label, buffer) = (text(label, "label")?, bytes_mut(buffer, size, "buffer")?);
        protocol.protocol.mask(label, buffer);
        Ok(())
    })
}

/// Decrypts `buffer` where it is, which `sealwire_newplex_protocol_mask` encrypted. Whether it is authentic remains
/// unknown.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_unmask(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    buffer: *mut u8,
    size: usize,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let (label, buffer) = (text(label, "label")?, bytes_mut(buffer, size, "buffer")?);
        protocol.protocol.unmask(label, buffer);
        Ok(())
    })
}

/// Seals a message: writes `size` + 16 bytes to `sealed`, the ciphertext, then the tag, which also authenticates
/// everything that went into the protocol before. `sealed` may start where `plaintext` does; otherwise the two must
/// not overlap.
///
/// Two messages of the same size sealed in the same state give anyone who sees both the XOR of the plaintexts, up to and
/// with the block of 94 bytes where they first differ. What rules it out is a nonce in the state, and never to seal
/// twice with copies of one protocol.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_seal(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    plaintext: *const u8,
    size: usize,
    sealed: *mut u8,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let label = text(label, "label")?;
        let plaintext = bytes(plaintext, size, "plaintext")?;
        array_output::<SEALWIRE_NEWPLEX_TAG_SIZE>(sealed, "sealed")?;
        seal_to(plaintext, sealed, |text| {
            protocol.protocol.seal_detached(label, text)
        })
    })
}

/// Opens what `sealwire_newplex_protocol_seal` made in the same state, of which there are `size` bytes, and writes
/// `size` - 16 bytes to `plaintext`, only if the message is authentic. `plaintext` may be where `sealed` is.
///
/// After a message that is not authentic the state has moved on as if it had been: open with a clone to go on after a
/// forgery. One of less than 16 bytes leaves the state as it was.
///
/// Errors: `SEALWIRE_ERROR_NOT_AUTHENTIC`, also for less than 16 bytes; `SEALWIRE_ERROR_NULL`,
/// `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_open(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    sealed: *const u8,
    size: usize,
    plaintext: *mut u8,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let label = text(label, "label")?;
        let sealed = bytes(sealed, size, "sealed")?;
        if size > SEALWIRE_NEWPLEX_TAG_SIZE {
            output(plaintext, "plaintext")?;
        }
        let opened = Zeroizing::new(protocol.protocol.open(label, sealed)?);
        copy(&opened, plaintext, "plaintext")
    })
}

/// Changes the state in a way that cannot be undone: who learns the new state learns nothing about what went before.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_ARGUMENT`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_ratchet(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        protocol.protocol.ratchet(text(label, "label")?);
        Ok(())
    })
}

/// Splits off `count` branches, 255 at most, each with a value of its own: value `i` has `sizes[i]` bytes at
/// `values[i]`. The branches differ from each other and from the protocol, which goes on, even where values are the
/// same. Writes `count` objects to `branches`.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for more than 255; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_fork(
    protocol: Option<&mut sealwire_newplex_protocol>,
    label: *const c_char,
    values: *const *const u8,
    sizes: *const usize,
    count: usize,
    branches: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let protocol = required(protocol, "protocol")?;
        let label = text(label, "label")?;
        let (values, sizes) = (
            items(values, count, "values")?,
            items(sizes, count, "sizes")?,
        );
        let values = (values.iter().zip(sizes))
            .map(|(value, size)| bytes(*value, *size, "a value"))
            .collect::<Result<Vec<_>, _>>()?;
        let outputs = (0..count)
            .map(|index| output(branches.wrapping_add(index), "branches"))
            .collect::<Result<Vec<_>, _>>()?;
        let forked = protocol.protocol.fork_each(label, &values)?;
        for (output, branch) in outputs.into_iter().zip(forked) {
            output.write(give_protocol(branch));
        }
        Ok(())
    })
}

/// Writes the state (130 bytes), to go on with later. It is as secret as any key that went into the protocol, and
/// yours to wipe.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_to_bytes(
    protocol: Option<&sealwire_newplex_protocol>,
    state: *mut u8,
) -> sealwire_status {
    guard(|| {
        let out = array_output::<SEALWIRE_NEWPLEX_STATE_SIZE>(state, "state")?;
        out.write(*required(protocol, "protocol")?.protocol.to_bytes());
        Ok(())
    })
}

/// The protocol whose state `sealwire_newplex_protocol_to_bytes` wrote. Nothing shows that a state was changed:
/// authenticate it if it was stored where others can write.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` if the bytes cannot be a state; `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_from_bytes(
    state: *const u8,
    size: usize,
    out: *mut *mut sealwire_newplex_protocol,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let protocol = Protocol::from_bytes(bytes(state, size, "state")?)?;
        out.write(give_protocol(protocol));
        Ok(())
    })
}

/// Wipes and frees it. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_newplex_protocol_free(protocol: Option<Box<sealwire_newplex_protocol>>) {
    free(protocol);
}
