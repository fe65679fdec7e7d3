//! `Session`: one keystream that runs on through all messages, for peers that speak nothing else.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnus::value::ReprValue as _;
use magnus::{
    Error, Module as _, Object as _, RModule, RString, Ruby, Value, function, method,
    typed_data::Obj,
};
use sealwire_aead::{Session as Inner, TAG_SIZE};

use super::cipher::{key, sealed};
use super::{SESSION_NONCE_SIZE, arguments, decryption_error, direction_error};
use crate::bytes;
use crate::classes;
use crate::keys::frozen;

/// One direction. The first use says which side this is: with both, keystream would be used twice.
#[magnus::wrap(
    class = "Sealwire::AEAD::Session",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Session(Mutex<State>);

struct State {
    session: Inner,
    direction: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sealing,
    Opening,
}

impl State {
    /// `None` when the session is of the other direction.
    fn in_direction(&mut self, direction: Direction) -> Option<&mut Inner> {
        let settled = *self.direction.get_or_insert(direction);
        (settled == direction).then_some(&mut self.session)
    }
}

impl Session {
    /// Ruby is not called while this is held, so no thread can be stopped with it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn define(ruby: &Ruby, aead: RModule) -> Result<(), Error> {
    let class = classes::define::<Session>(ruby, aead, "Session")?;
    class.define_singleton_method("new", function!(new, 3))?;
    class.define_method("encrypt", method!(encrypt, -1))?;
    class.define_method("decrypt", method!(decrypt, -1))?;
    class.define_method("block_counter", method!(block_counter, 0))
}

fn new(
    ruby: &Ruby,
    encryption_key: RString,
    authentication_key: RString,
    nonce: RString,
) -> Result<Obj<Session>, Error> {
    let encryption = key(ruby, encryption_key)?;
    let authentication = key(ruby, authentication_key)?;
    let bytes = bytes::array::<SESSION_NONCE_SIZE>(ruby, nonce, "the nonce of a session")?;
    nonce.freeze();
    let state = State {
        session: Inner::new(&encryption, &authentication, &bytes),
        direction: None,
    };
    Ok(frozen(ruby, Session(Mutex::new(state))))
}

fn encrypt(ruby: &Ruby, this: &Session, args: &[Value]) -> Result<RString, Error> {
    let ([plaintext], aad) = arguments(args)?;
    let mut fits = true;
    let text = sealed(ruby, plaintext, aad, |aad, buffer| {
        match this.state().in_direction(Direction::Sealing) {
            Some(session) => session.seal(aad, buffer),
            None => {
                fits = false;
                [0; TAG_SIZE]
            }
        }
    });
    if fits {
        Ok(text)
    } else {
        Err(direction_error(ruby))
    }
}

fn decrypt(ruby: &Ruby, this: &Session, args: &[Value]) -> Result<RString, Error> {
    let ([ciphertext], aad) = arguments(args)?;
    let mut fits = true;
    let text = bytes::opened(ruby, ciphertext, aad, |aad, buffer, tag| {
        match this.state().in_direction(Direction::Opening) {
            Some(session) => session.open(aad, buffer, tag).is_ok(),
            None => {
                fits = false;
                false
            }
        }
    });
    match text {
        Some(text) => Ok(text),
        None if fits => Err(decryption_error(ruby)),
        None => Err(direction_error(ruby)),
    }
}

fn block_counter(this: &Session) -> u64 {
    this.state().session.block_counter()
}
