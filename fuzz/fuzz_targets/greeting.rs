//! Any bytes as a greeting: what parses is written back, and no prefix of it is refused.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_zmtp::wire::greeting::{Greeting, SIZE};

fuzz_target!(|bytes: &[u8]| {
    let parsed = Greeting::parse(bytes);
    let prefixes = (0..bytes.len().min(SIZE)).map(|end| Greeting::parse(&bytes[..end]));
    match parsed {
        Ok(Some(greeting)) => {
            prefixes.for_each(|parsed| assert_eq!(parsed, Ok(None)));
            assert!(greeting.mechanism_text().len() <= 80);
            assert_eq!(Greeting::parse(&greeting.encode()), Ok(Some(greeting)));
        }
        Ok(None) => assert!(bytes.len() < SIZE),
        // Once wrong, wrong for ever.
        Err(error) => {
            let first = prefixes.into_iter().find_map(Result::err);
            assert!(first.is_none_or(|first| first == error));
        }
    }
});
