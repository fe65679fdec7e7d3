//! `sealwire demo`.

use crate::support;
use std::time::{Duration, Instant};

#[test]
fn it_holds_what_it_claims_and_ends() {
    holds(&["demo"], &["HELLO        232", "WELCOME      224"]);
}

#[test]
fn it_holds_what_it_claims_of_curve() {
    holds(
        &["demo", "--mechanism", "curve"],
        &[
            "HELLO        200",
            "WELCOME      168",
            "MESSAGE       33",
            "the mechanism CURVE",
        ],
    );
}

fn holds(arguments: &[&str], parts: &[&str]) {
    let begun = Instant::now();
    let shown = support::run(arguments).expect_code(0);
    // It waits for nothing longer than twelve seconds, all together.
    assert!(begun.elapsed() < Duration::from_secs(60));
    let text = shown.text();
    for part in ["INITIATE", "READY", "MB/s"].iter().chain(parts) {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(text.matches('✗').count(), 0);
    assert!(text.matches('✓').count() > 15);
    assert!(
        !text.contains('\x1b'),
        "no colour where there is no terminal"
    );
}
