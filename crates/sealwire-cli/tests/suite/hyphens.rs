//! Values that begin with a hyphen.

use crate::support::{run, start_with_input};

fn digest(arguments: &[&str]) -> String {
    let arguments = [&["newplex", "digest"], arguments].concat();
    let done = start_with_input(&arguments, b"text").finish();
    done.expect_code(0).text().to_owned()
}

#[test]
fn a_value_may_begin_with_a_hyphen() {
    let apart = digest(&["--domain", "-x"]);
    assert_eq!(apart, digest(&["--domain=-x"]));
    assert_ne!(apart, digest(&[]));
}

#[test]
fn after_two_hyphens_everything_is_a_file() {
    let missing = run(&["newplex", "digest", "--", "--domain", "-x"]).expect_code(1);
    assert!(missing.stderr.contains("--domain"), "{missing:?}");
}

#[test]
fn a_value_that_is_missing_is_told_of() {
    for rest in [&["--json"][..], &["--"], &[]] {
        let arguments = [&["newplex", "digest", "--domain"], rest].concat();
        let refused = run(&arguments).expect_code(2);
        let expected = "a value is required for '--domain <TEXT>'";
        assert!(refused.stderr.contains(expected), "{refused:?}");
    }
}
