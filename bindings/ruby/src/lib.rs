//! The native part of the Ruby gem `sealwire`.
//!
//! Classes and functions in here are what `lib/sealwire` builds on. Unsafe code is in [`gvl`] (the
//! lock of the interpreter), [`bytes`] (the memory of strings) and [`descriptor`] (numbers of descriptors) only.

mod account;
mod aead;
mod bytes;
mod classes;
mod context;
mod descriptor;
mod desk;
mod digest;
mod errors;
mod gvl;
mod keys;
mod made;
mod message;
mod metrics;
mod monitor;
mod nacl;
mod newplex;
mod options;
mod peer;
mod process;
mod rpc;
mod security;
mod socket;
mod tls;
mod waiting;
mod work;

use magnus::{Error, Module as _, RString, Ruby, value::ReprValue as _};
use zeroize::Zeroizing;

#[magnus::init(name = "sealwire")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    gvl::allow_ractors(ruby);
    // `Sealwire.logger` hears of failures.
    sealwire::waits::silence_standard_error();
    let sealwire = ruby.define_module("Sealwire")?;
    sealwire.const_set("VERSION", env!("CARGO_PKG_VERSION"))?;
    errors::define(ruby, sealwire)?;
    account::define(ruby, sealwire)?;
    waiting::define(ruby, sealwire)?;
    context::define(ruby, sealwire)?;
    metrics::define(sealwire)?;
    aead::define(ruby, sealwire)?;
    keys::define(ruby, sealwire)?;
    digest::define(sealwire)?;
    nacl::define(ruby, sealwire)?;
    newplex::define(ruby, sealwire)?;
    message::define(ruby, sealwire)?;
    peer::define(ruby, sealwire)?;
    monitor::define(ruby, sealwire)?;
    desk::define(ruby, sealwire)?;
    security::define(ruby, sealwire)?;
    process::define(sealwire)?;
    descriptor::define(sealwire)?;
    tls::define(ruby, sealwire)?;
    socket::define(ruby, sealwire)?;
    rpc::define(ruby, sealwire)?;
    work::define(ruby, sealwire)
}

/// A string of random bytes from the system, frozen: a key that changes is another key.
fn random<const N: usize>(ruby: &Ruby) -> Result<RString, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut bytes[..])
        .map_err(|error| errors::new(ruby, ruby.exception_runtime_error(), error.to_string()))?;
    let string = ruby.str_from_slice(&bytes[..]);
    string.freeze();
    Ok(string)
}
