//! A reader of metrics that says anything over HTTP: nothing panics, no head is waited for beyond its bound, the answer
//! does not depend on how the bytes are cut, and only a request that names the path gets numbers.

#![no_main]
#![allow(dead_code, reason = "answers with numbers are not made")]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

// Not part of any crate's interface, and needs nothing of the program around it.
#[path = "../../crates/sealwire-cli/src/service/metrics/http.rs"]
mod http;

use http::{Answer, HostNames, MAX_HEAD, PATH};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    step: u8,
    /// How many bytes are added to a head, and behind which: inputs are too short for the bound.
    padding: u16,
    behind: u16,
    bytes: &'a [u8],
}

impl Input<'_> {
    fn request(&self) -> Vec<u8> {
        let padding = usize::from(self.padding) % (2 * MAX_HEAD);
        let behind = usize::from(self.behind).min(self.bytes.len());
        let (before, after) = self.bytes.split_at(behind);
        [before, &vec![b'a'; padding], after].concat()
    }
}

/// The answer to a request that comes in pieces, as the server reads it: up to the bound of a head.
fn answered(request: &[u8], step: usize, names: HostNames) -> Option<Answer> {
    let most = &request[..request.len().min(MAX_HEAD)];
    let mut read = 0;
    while read < most.len() {
        read = (read + step).min(most.len());
        if let Some(answer) = http::answer(&most[..read], names) {
            return Some(answer);
        }
    }
    None
}

fuzz_target!(|input: Input<'_>| {
    let request = input.request();
    // Each piece has all before it parsed again, so that a long request comes in few.
    let step = usize::from(input.step).max(1 + request.len() / 64);
    let [here, any] = [HostNames::OfThisMachine, HostNames::Any].map(|names| {
        let answer = answered(&request, step, names);
        assert_eq!(answer, answered(&request, MAX_HEAD, names));
        answer
    });
    assert_eq!(here.is_none(), any.is_none());
    assert!(here.is_some() || request.len() < MAX_HEAD);
    match here {
        Some(Answer::Metrics { .. }) => {
            assert_eq!(any, here);
            let mut places = request.windows(PATH.len());
            assert!(places.any(|place| place == PATH.as_bytes()));
        }
        Some(Answer::Refusal(refusal)) => {
            let whole = http::refusal(refusal);
            let (head, body) = whole.split_once("\r\n\r\n").expect("a head");
            assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
        }
        None => {}
    }
});
