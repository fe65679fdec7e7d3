//! `--help` and `--version`.

use crate::support::run;

#[test]
fn every_command_explains_itself() {
    let overview = run(&["--help"]).expect_code(0);
    for part in ["Examples:", "Exit codes:", "handshake failed"] {
        assert!(overview.text().contains(part), "{part}");
    }
    assert!(!overview.text().contains("bench-side"), "hidden");
    for command in [
        "push",
        "pull",
        "scatter",
        "gather",
        "pub",
        "sub",
        "radio",
        "dish",
        "req",
        "rep",
        "pair",
        "channel",
        "dealer",
        "router",
        "client",
        "server",
        "peer",
        "stream",
        "dgram",
        "xpub",
        "xsub",
        "proxy",
        "keygen",
        "bench",
        "seal",
        "open",
        "rpc",
        "doctor",
        "check-config",
        "proxy-control",
        "top",
        "work",
    ] {
        let help = run(&[command, "--help"]).expect_code(0);
        assert!(help.text().contains("Examples:"), "{command}");
        assert!(overview.text().contains(command), "{command}");
    }
    #[cfg(target_os = "linux")]
    assert!(
        run(&["run", "--help"])
            .expect_code(0)
            .text()
            .contains("Examples:")
    );
    let version = run(&["--version"]).expect_code(0);
    assert_eq!(
        version.text().trim(),
        concat!("sealwire ", env!("CARGO_PKG_VERSION"))
    );
}
