//! Programs in C that load `libzmq.so.5`: what they do under rules, and what is done about another libzmq in their process.

#![cfg(target_os = "linux")]

mod encryption;
mod support;
mod verification;
