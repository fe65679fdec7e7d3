//! A client that says anything to a BLAKE3 server.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::Blake3Attack;

fuzz_target!(|attack: Blake3Attack<'_>| attack.run(true));
