//! `sealwire demo`.

mod support;

use std::time::{Duration, Instant};

#[test]
fn it_holds_what_it_claims_and_ends_in_time() {
    let begun = Instant::now();
    let shown = support::run(&["demo"]).expect_code(0);
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    let text = shown.text();
    for part in [
        "HELLO        232",
        "WELCOME      224",
        "INITIATE",
        "READY",
        "MB/s",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert_eq!(text.matches('✗').count(), 0);
    assert!(text.matches('✓').count() > 15);
    assert!(
        !text.contains('\x1b'),
        "no colour where there is no terminal"
    );
}
