//! The blocks of a sealed stream. What moves them, `Writer` and `Reader`, is in `lib/sealwire/newplex.rb`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{Error, Module as _, Object as _, RArray, RModule, RString, Ruby, function, method};
use sealwire_newplex::schemes::aestream::{
    HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD, Opener as InnerOpener, Sealer as InnerSealer,
};

use super::protocol::Protocol;
use super::{not_authentic, secret};
use crate::keys::frozen;
use crate::{bytes, classes, errors};

/// `None` after the end.
#[magnus::wrap(
    class = "Sealwire::Newplex::Sealer",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Sealer(Mutex<Option<InnerSealer>>);

#[magnus::wrap(
    class = "Sealwire::Newplex::Opener",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Opener(Mutex<Side>);

struct Side {
    /// `None` once the protocol was given back.
    opener: Option<InnerOpener>,
    ended: bool,
}

pub(super) fn define(ruby: &Ruby, newplex: RModule) -> Result<(), Error> {
    newplex.const_set("MAX_BLOCK_SIZE", MAX_BLOCK_SIZE)?;
    newplex.const_set("HEADER_SIZE", HEADER_SIZE)?;
    newplex.const_set("BLOCK_OVERHEAD", OVERHEAD)?;
    let sealer = classes::define::<Sealer>(ruby, newplex, "Sealer")?;
    sealer.define_singleton_method("new", function!(Sealer::new, 1))?;
    sealer.define_method("seal", method!(Sealer::seal, 1))?;
    sealer.define_method("end", method!(Sealer::end, 0))?;

    let opener = classes::define::<Opener>(ruby, newplex, "Opener")?;
    opener.define_singleton_method("new", function!(Opener::new, 1))?;
    opener.define_method("block_size", method!(Opener::block_size, 1))?;
    opener.define_method("open", method!(Opener::open, 1))?;
    opener.define_method("ended?", method!(Opener::is_ended, 0))?;
    opener.define_method("end", method!(Opener::end, 0))
}

fn ended(ruby: &Ruby) -> Error {
    errors::state(ruby, "the stream has ended: start another".into())
}

impl Sealer {
    fn new(ruby: &Ruby, protocol: &Protocol) -> Result<Obj<Self>, Error> {
        let sealer = InnerSealer::new(protocol.hand_over(ruby)?);
        Ok(frozen(ruby, Sealer(Mutex::new(Some(sealer)))))
    }

    /// Ruby is not called while this is held, so no thread can be stopped with it.
    fn state(&self) -> MutexGuard<'_, Option<InnerSealer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seal(ruby: &Ruby, this: &Self, plaintext: RString) -> Result<RString, Error> {
        let size = plaintext.len();
        if !(1..=MAX_BLOCK_SIZE).contains(&size) {
            let problem = format!("a block carries 1 to {MAX_BLOCK_SIZE} bytes, not {size}");
            return Err(errors::argument(ruby, problem));
        }
        let (block, done) = bytes::changed(ruby, plaintext, size + OVERHEAD, None, |_, block| {
            block.copy_within(..size, HEADER_SIZE);
            this.state().as_mut().map(|sealer| sealer.seal(block))
        });
        done.map(|()| block).ok_or_else(|| ended(ruby))
    }

    fn end(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let sealer = this.state().take();
        let (block, protocol) = sealer.ok_or_else(|| ended(ruby))?.end();
        let protocol = Protocol::wrapped(ruby, protocol);
        let block = ruby.str_from_slice(&block);
        Ok(ruby.ary_new_from_values(&[block.as_value(), protocol.as_value()]))
    }
}

fn given_back(ruby: &Ruby) -> Error {
    let problem = "the protocol of the stream was given back: start another stream";
    errors::state(ruby, problem.into())
}

impl Opener {
    fn new(ruby: &Ruby, protocol: &Protocol) -> Result<Obj<Self>, Error> {
        let opener = Some(InnerOpener::new(protocol.hand_over(ruby)?));
        let ended = false;
        Ok(frozen(ruby, Opener(Mutex::new(Side { opener, ended }))))
    }

    /// As in `Sealer`.
    fn state(&self) -> MutexGuard<'_, Side> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ended(&self) -> bool {
        self.state().ended
    }

    fn block_size(ruby: &Ruby, this: &Self, header: RString) -> Result<usize, Error> {
        let header = bytes::array(ruby, header, "a header")?;
        let size = this
            .state()
            .opener
            .as_mut()
            .map(|opener| opener.block_size(header));
        size.ok_or_else(|| given_back(ruby))
    }

    fn open(ruby: &Ruby, this: &Self, block: RString) -> Result<RString, Error> {
        let mut block = secret(block);
        let opened = {
            let mut side = this.state();
            let opened = side.opener.as_mut().map(|opener| opener.open(&mut block));
            let opened = opened.map(|opened| opened.map(|text| text.len()));
            side.ended |= opened == Some(Ok(0));
            opened
        };
        let size = opened
            .ok_or_else(|| given_back(ruby))?
            .map_err(|_| not_authentic(ruby))?;
        Ok(ruby.str_from_slice(&block[HEADER_SIZE..][..size]))
    }

    fn end(ruby: &Ruby, this: &Self) -> Result<Obj<Protocol>, Error> {
        let (ended, opener) = {
            let mut side = this.state();
            let opener = if side.ended { side.opener.take() } else { None };
            (side.ended, opener)
        };
        if !ended {
            let problem = "the end of the stream was not opened: it may be cut off";
            return Err(errors::state(ruby, problem.into()));
        }
        let opener = opener.ok_or_else(|| given_back(ruby))?;
        Ok(Protocol::wrapped(ruby, opener.into_protocol()))
    }
}
