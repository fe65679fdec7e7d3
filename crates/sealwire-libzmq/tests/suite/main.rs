//! Programs in C that load `libzmq.so.5`: what they do under rules, what is done about another libzmq in their process, and
//! what ends or hangs a process with libzmq.

#![cfg(target_os = "linux")]

mod encryption;
mod misuse;
mod orders;
mod reading;
mod support;
mod verification;
