//! What the benchmarks measure with, those of the program `sealwire` and those beside peers.
//!
//! * [`turns`]: contenders of one process, which take turns;
//! * [`statistics`]: medians and percentiles;
//! * [`cores`]: on which cores threads and processes run.
//!
//! The programs say what is measured, and print it.

#![forbid(unsafe_code)]

pub mod cores;
pub mod statistics;
pub mod turns;
