//! The native part of the Ruby gem `sealwire`.
//!
//! Classes and functions in here are what `lib/sealwire` builds on. Unsafe code is in [`gvl`] (the
//! lock of the interpreter) and [`bytes`] (the memory of strings) only.

mod account;
mod aead;
mod bytes;
mod context;
mod desk;
mod digest;
mod errors;
mod gvl;
mod keys;
mod message;
mod monitor;
mod options;
mod peer;
mod process;
mod security;
mod socket;
mod waiting;

use magnus::{Error, Module as _, Ruby};

#[magnus::init(name = "sealwire")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    gvl::allow_ractors(ruby);
    let sealwire = ruby.define_module("Sealwire")?;
    sealwire.const_set("VERSION", env!("CARGO_PKG_VERSION"))?;
    errors::define(ruby, sealwire)?;
    account::define(ruby, sealwire)?;
    waiting::define(ruby, sealwire)?;
    context::define(ruby, sealwire)?;
    aead::define(ruby, sealwire)?;
    keys::define(ruby, sealwire)?;
    digest::define(sealwire)?;
    message::define(ruby, sealwire)?;
    peer::define(ruby, sealwire)?;
    monitor::define(ruby, sealwire)?;
    desk::define(ruby, sealwire)?;
    security::define(ruby, sealwire)?;
    process::define(sealwire)?;
    socket::define(ruby, sealwire)
}
