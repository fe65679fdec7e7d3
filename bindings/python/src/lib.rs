//! The native half of the Python package `sealwire`: classes over the Rust crates. What Python
//! programs import is written in `python/sealwire`, which adds names and conveniences.
//!
//! * Waiting ([`wait`]): a blocking call drives a future on its own thread with the GIL released, and
//!   signals end it. `asyncio` drives the same futures on its loop
//!   ([`reactor`]), one descriptor per loop.
//! * Python is called from Rust threads for authenticators and `admit` only, through [`lifecycle`], which
//!   knows when that is over.
//! * Bytes come in and go out through [`buffer`]; it and [`descriptor`], for numbers of descriptors, are the only modules
//!   with `unsafe` code.

mod account;
mod aead;
mod asked;
mod auth;
mod buffer;
mod context;
mod descriptor;
mod error;
mod guest;
mod keys;
mod lifecycle;
mod message;
mod monitor;
mod nacl;
mod newplex;
mod options;
mod peer;
mod reactor;
mod rpc;
mod sealing;
mod security;
mod socket;
mod tls;
mod wait;
mod work;

use pyo3::prelude::*;

/// Native classes; import `sealwire`, not this.
#[pymodule]
fn _sealwire(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // `logging` hears of failures.
    sealwire::waits::silence_standard_error();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<aead::Cipher>()?;
    module.add_class::<aead::Stream>()?;
    module.add_class::<aead::StreamOpener>()?;
    module.add_class::<aead::Session>()?;
    module.add_function(wrap_pyfunction!(aead::derive_key, module)?)?;
    module.add_function(wrap_pyfunction!(aead::generate_key, module)?)?;
    module.add_function(wrap_pyfunction!(aead::generate_nonce, module)?)?;
    module.add_class::<nacl::PublicKeyBox>()?;
    module.add_class::<nacl::SecretBox>()?;
    module.add_function(wrap_pyfunction!(nacl::generate_box_key, module)?)?;
    module.add_function(wrap_pyfunction!(nacl::generate_box_nonce, module)?)?;
    module.add_class::<account::Account>()?;
    module.add_class::<auth::AllowAnyone>()?;
    module.add_class::<auth::AllowedKeys>()?;
    module.add_class::<auth::AllowedKeysFile>()?;
    module.add_class::<auth::Passwords>()?;
    module.add_class::<auth::PasswordFile>()?;
    module.add_class::<auth::Client>()?;
    module.add_class::<context::Context>()?;
    module.add_function(wrap_pyfunction!(descriptor::passed_listeners, module)?)?;
    module.add_class::<guest::Guest>()?;
    module.add_class::<keys::PublicKey>()?;
    module.add_class::<keys::SecretKey>()?;
    module.add_class::<keys::KeyPair>()?;
    module.add_class::<message::Frame>()?;
    module.add_class::<message::Message>()?;
    module.add_class::<monitor::Monitor>()?;
    module.add_class::<monitor::Event>()?;
    module.add_class::<peer::Peer>()?;
    module.add_class::<reactor::Operation>()?;
    module.add_class::<reactor::Reactor>()?;
    module.add_class::<security::Security>()?;
    module.add_class::<socket::SocketCore>()?;
    module.add_class::<socket::BlockingSocket>()?;
    module.add_class::<socket::Readiness>()?;
    module.add_function(wrap_pyfunction!(socket::proxying::proxy, module)?)?;
    module.add_class::<tls::TlsIdentity>()?;
    module.add_class::<tls::TlsTrust>()?;
    module.add_function(wrap_pyfunction!(wait::poll_descriptors, module)?)?;
    module.add_function(wrap_pyfunction!(lifecycle::at_exit, module)?)?;
    module.add_function(wrap_pyfunction!(lifecycle::after_fork_in_child, module)?)?;
    newplex::register(module)?;
    rpc::register(module)?;
    work::register(module)
}
