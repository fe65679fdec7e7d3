//! `Stream`: a sequence of messages whose nonces are counted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnus::value::ReprValue as _;
use magnus::{
    Error, Module as _, Object as _, RModule, RString, Ruby, Value, function, method,
    typed_data::Obj,
};
use sealwire_aead::{KEY_SIZE, NONCE_SIZE, OpenError, Stream as Sealing, StreamOpener, TAG_SIZE};
use zeroize::Zeroizing;

use super::cipher::{key, nonce, sealed};
use super::{arguments, decryption_error, direction_error, stream_exhausted};
use crate::bytes;
use crate::classes;
use crate::keys::frozen;

/// One direction of a conversation. The first use says which side this is.
#[magnus::wrap(
    class = "Sealwire::AEAD::Stream",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Stream(Mutex<Side>);

enum Side {
    Undecided {
        key: Zeroizing<[u8; KEY_SIZE]>,
        nonce: [u8; NONCE_SIZE],
    },
    Sealing(Sealing),
    Opening(StreamOpener),
}

impl Side {
    /// `None` for the side that opens.
    fn sealing(&mut self) -> Option<&Sealing> {
        if let Side::Undecided { key, nonce } = self {
            *self = Side::Sealing(Sealing::new(key, nonce));
        }
        match self {
            Side::Sealing(stream) => Some(stream),
            _ => None,
        }
    }

    /// `None` for the side that seals.
    fn opening(&mut self) -> Option<&mut StreamOpener> {
        if let Side::Undecided { key, nonce } = self {
            *self = Side::Opening(StreamOpener::new(key, nonce));
        }
        match self {
            Side::Opening(stream) => Some(stream),
            _ => None,
        }
    }

    fn position(&self) -> u64 {
        match self {
            Side::Undecided { .. } => 0,
            Side::Sealing(stream) => stream.position(),
            Side::Opening(stream) => stream.position(),
        }
    }
}

pub(super) fn define(ruby: &Ruby, aead: RModule) -> Result<(), Error> {
    let class = classes::define::<Stream>(ruby, aead, "Stream")?;
    class.define_singleton_method("new", function!(new, 2))?;
    class.define_method("encrypt", method!(encrypt, -1))?;
    class.define_method("decrypt", method!(decrypt, -1))?;
    class.define_method("message_index", method!(message_index, 0))
}

fn new(ruby: &Ruby, given_key: RString, given_nonce: RString) -> Result<Obj<Stream>, Error> {
    let side = Side::Undecided {
        key: key(ruby, given_key)?,
        nonce: nonce(ruby, given_nonce)?,
    };
    given_nonce.freeze();
    Ok(frozen(ruby, Stream(Mutex::new(side))))
}

impl Stream {
    /// Ruby is not called while this is held, so no thread can be stopped with it.
    fn side(&self) -> MutexGuard<'_, Side> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of sealing, beside the tag.
enum Problem {
    Direction,
    Exhausted,
    Forged,
}

fn raised(ruby: &Ruby, problem: &Problem) -> Error {
    match problem {
        Problem::Direction => direction_error(ruby),
        Problem::Exhausted => stream_exhausted(ruby),
        Problem::Forged => decryption_error(ruby),
    }
}

fn encrypt(ruby: &Ruby, this: &Stream, args: &[Value]) -> Result<RString, Error> {
    let ([plaintext], aad) = arguments(args)?;
    let mut problem = None;
    let text = sealed(ruby, plaintext, aad, |aad, buffer| {
        let mut side = this.side();
        let outcome = match side.sealing() {
            Some(stream) => stream.seal(aad, buffer).map_err(|_| Problem::Exhausted),
            None => Err(Problem::Direction),
        };
        match outcome {
            Ok((_, tag)) => tag,
            Err(error) => {
                problem = Some(error);
                [0; TAG_SIZE]
            }
        }
    });
    match problem {
        None => Ok(text),
        Some(problem) => Err(raised(ruby, &problem)),
    }
}

fn decrypt(ruby: &Ruby, this: &Stream, args: &[Value]) -> Result<RString, Error> {
    let ([ciphertext], aad) = arguments(args)?;
    let mut problem = Problem::Forged;
    let text = bytes::opened(ruby, ciphertext, aad, |aad, buffer, tag| {
        let mut side = this.side();
        let outcome = match side.opening() {
            Some(stream) => stream.open(aad, buffer, tag).map_err(|error| match error {
                OpenError::Exhausted => Problem::Exhausted,
                _ => Problem::Forged,
            }),
            None => Err(Problem::Direction),
        };
        outcome.map_err(|error| problem = error).is_ok()
    });
    text.ok_or_else(|| raised(ruby, &problem))
}

fn message_index(this: &Stream) -> u64 {
    this.side().position()
}
