//! ChaCha20-BLAKE3 for Ruby: `Sealwire::AEAD`, which is also `ChaCha20Blake3`.

mod batch;
mod cipher;
mod generate;
mod session;
mod stream;

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::value::{Lazy, LazyId};
use magnus::{Error, ExceptionClass, Module as _, RModule, RString, Ruby, TryConvert as _, Value};
use sealwire_aead::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};

use crate::errors;

/// Size of the nonce of a session in bytes: ChaCha20's own.
const SESSION_NONCE_SIZE: usize = 8;

static DECRYPTION_ERROR: Lazy<ExceptionClass> = Lazy::new(|ruby| constant(ruby, "DecryptionError"));
static STREAM_EXHAUSTED: Lazy<ExceptionClass> = Lazy::new(|ruby| constant(ruby, "StreamExhausted"));
static DIRECTION_ERROR: Lazy<ExceptionClass> = Lazy::new(|ruby| constant(ruby, "DirectionError"));
static AAD: LazyId = LazyId::new("aad");

fn constant(ruby: &Ruby, name: &str) -> ExceptionClass {
    let module: Result<RModule, _> = ruby.class_object().const_get("Sealwire");
    module
        .and_then(|sealwire| sealwire.const_get::<_, RModule>("AEAD"))
        .and_then(|aead| aead.const_get(name))
        .expect("defined by `define` below")
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let aead = sealwire.define_module("AEAD")?;
    aead.const_set("KEY_SIZE", KEY_SIZE)?;
    aead.const_set("NONCE_SIZE", NONCE_SIZE)?;
    aead.const_set("SESSION_NONCE_SIZE", SESSION_NONCE_SIZE)?;
    aead.const_set("TAG_SIZE", TAG_SIZE)?;
    aead.define_error("DecryptionError", ruby.exception_standard_error())?;
    aead.define_error("StreamExhausted", ruby.exception_standard_error())?;
    aead.define_error("DirectionError", ruby.exception_standard_error())?;
    // Looked up here and now, by the main Ractor.
    Lazy::force(&DECRYPTION_ERROR, ruby);
    Lazy::force(&STREAM_EXHAUSTED, ruby);
    Lazy::force(&DIRECTION_ERROR, ruby);
    LazyId::force(&AAD, ruby);
    generate::define(aead)?;
    cipher::define(ruby, aead)?;
    stream::define(ruby, aead)?;
    session::define(ruby, aead)
}

fn decryption_error(ruby: &Ruby) -> Error {
    let problem = sealwire_aead::DecryptionError.to_string();
    errors::new(ruby, ruby.get_inner(&DECRYPTION_ERROR), problem)
}

fn stream_exhausted(ruby: &Ruby) -> Error {
    let problem = sealwire_aead::StreamExhausted.to_string();
    errors::new(ruby, ruby.get_inner(&STREAM_EXHAUSTED), problem)
}

/// A stream or session was to seal after it has opened, or the other way round: the same nonces or
/// the same keystream would serve both directions.
fn direction_error(ruby: &Ruby) -> Error {
    let problem = "one side seals and the other opens: make an object for each direction";
    errors::new(ruby, ruby.get_inner(&DIRECTION_ERROR), problem)
}

/// `N` strings, then perhaps `aad:`.
pub(crate) fn arguments<const N: usize>(
    args: &[Value],
) -> Result<([RString; N], Option<RString>), Error> {
    let (positional, aad) = if args.len() == N {
        (args, None)
    } else {
        // Counts the arguments, and says what is wrong with them.
        let scanned = scan_args::<(), (), magnus::RArray, (), magnus::RHash, ()>(args)?;
        let given = scanned.splat.len();
        let ruby = Ruby::get_with(scanned.splat);
        if given != N {
            let problem = format!("wrong number of arguments (given {given}, expected {N})");
            return Err(errors::new(&ruby, ruby.exception_arg_error(), problem));
        }
        let keywords = get_kwargs::<_, (), (Option<RString>,), ()>(scanned.keywords, &[], &[*AAD])?;
        (&args[..N], keywords.optional.0)
    };
    let mut strings = [None; N];
    for (string, value) in strings.iter_mut().zip(positional) {
        *string = Some(RString::try_convert(*value)?);
    }
    Ok((strings.map(|string| string.expect("set above")), aad))
}
