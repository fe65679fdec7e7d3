//! What the benchmarks measure with, those of the program `sealwire` and those beside peers.
//!
//! * [`turns`]: contenders of one process, which take turns;
//! * [`statistics`]: medians and percentiles;
//! * [`cores`]: on which cores threads and processes run.
//!
//! What is measured, and how it is printed, is not here.

#![forbid(unsafe_code)]

pub mod cores;
pub mod statistics;
pub mod turns;
