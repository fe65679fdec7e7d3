//! `sealwire newplex frost`: what signers may do, and what they must not be able to do.

use super::{Folder, changed, json};
use std::fs;

const ROUND: &str = "--commitment @1.commitment --commitment @3.commitment @order";
const VERIFY: &str = "verify --public-key-file @group.pub --signature @order.sig @order";

/// A group of two out of three, of whom the first and the third have committed themselves.
fn committed() -> Folder {
    let folder = Folder::new();
    deal(&folder, "group");
    folder.write("order", "pay 100");
    for signer in ["1", "3"] {
        commit(&folder, signer).expect_code(0);
    }
    folder
}

fn deal(folder: &Folder, stem: &str) {
    let deal = format!("frost deal --threshold 2 --signers 3 --out @{stem}");
    folder.newplex(&deal, b"").expect_code(0);
}

fn commit(folder: &Folder, signer: &str) -> crate::support::Finished {
    let commit = format!(
        "frost commit --signer-file @group-{signer}.signer --nonces @{signer}.nonces \
         -o @{signer}.commitment"
    );
    folder.newplex(&commit, b"")
}

fn sign(signer: &str) -> String {
    format!(
        "frost sign --signer-file @group-{signer}.signer --nonces @{signer}.nonces {ROUND} \
         -o @{signer}.share"
    )
}

fn aggregate() -> String {
    format!("frost aggregate --group @group.group --share @1.share --share @3.share {ROUND}")
}

/// After both shares.
fn signed() -> Folder {
    let folder = committed();
    for signer in ["1", "3"] {
        folder.newplex(&sign(signer), b"").expect_code(0);
    }
    folder
}

#[test]
fn two_of_three_sign_and_anybody_verifies() {
    let folder = signed();
    let aggregate = aggregate() + " -o @order.sig";
    folder.newplex(&aggregate, b"").expect_code(0);
    folder.newplex(VERIFY, b"").expect_code(0);
    folder.write("order", "pay 900");
    folder.newplex(VERIFY, b"").expect_code(1);
}

#[test]
fn every_pair_and_all_three_sign_and_one_alone_does_not() {
    let folder = Folder::new();
    deal(&folder, "group");
    folder.write("order", "pay 100");
    for signers in [&["1", "2"][..], &["3", "2"], &["2", "3", "1"]] {
        for signer in signers {
            let _ = fs::remove_file(folder.path(&format!("{signer}.commitment")));
            let _ = fs::remove_file(folder.path(&format!("{signer}.share")));
            commit(&folder, signer).expect_code(0);
        }
        let list = |option: &str| -> String {
            let each = signers.iter();
            each.map(|signer| format!(" --{option} @{signer}.{option}"))
                .collect()
        };
        let round = format!("{} --domain -x @order", list("commitment"));
        for signer in signers {
            let sign = format!(
                "frost sign --signer-file @group-{signer}.signer --nonces @{signer}.nonces{round} \
                 -o @{signer}.share"
            );
            folder.newplex(&sign, b"").expect_code(0);
        }
        let aggregate = format!(
            "frost aggregate --group @group.group{}{round} -o @order.sig --force",
            list("share")
        );
        folder.newplex(&aggregate, b"").expect_code(0);
        folder.newplex(VERIFY, b"").expect_code(1);
        folder
            .newplex(&format!("{VERIFY} --domain -x"), b"")
            .expect_code(0);
    }
    commit(&folder, "1").expect_code(1);
    let alone = "frost sign --signer-file @group-1.signer --nonces @1.nonces \
                 --commitment @1.commitment @order";
    let refused = folder.newplex(alone, b"").expect_code(1);
    assert!(
        refused.stderr.contains("2 signers are needed"),
        "{refused:?}"
    );
}

#[test]
fn nonces_make_one_share_and_no_other() {
    let folder = committed();
    folder.newplex(&sign("1"), b"").expect_code(0);
    assert!(!folder.has("1.nonces"));
    // Another message under the same nonces would give the secret away.
    folder.write("order", "pay 900");
    let again = folder.newplex(&sign("1").replace(" -o @1.share", ""), b"");
    let again = again.expect_code(1);
    assert!(again.stderr.contains("used once"), "{again:?}");
    assert!(again.stdout.is_empty());
}

#[test]
fn nonces_are_removed_where_the_share_cannot_be_written() {
    let folder = committed();
    // That an output exists is known before.
    folder.write("1.share", "mine");
    folder.newplex(&sign("1"), b"").expect_code(1);
    assert!(folder.has("1.nonces"));
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("a device");
        let arguments = folder.arguments(&sign("1").replace(" -o @1.share", ""));
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sealwire"))
            .args(arguments)
            .stdout(full)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(!folder.has("1.nonces"));
    }
}

/// A program that reads the file in spite of the lock finds nothing in it, under any of its names.
#[cfg(unix)]
#[test]
fn used_nonces_are_overwritten() {
    use std::io::Read as _;
    let folder = committed();
    let mut held = fs::File::open(folder.path("1.nonces")).expect("a file");
    let before = folder.read("1.nonces");
    folder.newplex(&sign("1"), b"").expect_code(0);
    let mut left = Vec::new();
    held.read_to_end(&mut left).expect("a file");
    assert_eq!(left.len(), before.len());
    assert!(left.iter().all(|byte| *byte == b'#'), "{left:?}");
}

#[cfg(unix)]
#[test]
fn nonces_that_somebody_else_has_are_not_used() {
    let folder = committed();
    // Another process that is using them up.
    let held = fs::File::open(folder.path("1.nonces")).expect("a file");
    held.lock().expect("a lock");
    let refused = folder.newplex(&sign("1"), b"").expect_code(1);
    assert!(refused.stderr.contains("another process"), "{refused:?}");
    drop(held);
    // Another name, under which they would stay.
    fs::hard_link(folder.path("1.nonces"), folder.path("copy")).expect("a link");
    let refused = folder.newplex(&sign("1"), b"").expect_code(1);
    assert!(refused.stderr.contains("other names"), "{refused:?}");
    fs::remove_file(folder.path("copy")).expect("a file");
    // Others may have read them.
    folder.expose("1.nonces");
    let refused = folder.newplex(&sign("1"), b"").expect_code(1);
    assert!(refused.stderr.contains("read by others"), "{refused:?}");
    assert!(!folder.has("1.share") && folder.has("1.nonces"));
}

/// Of signers that start at the same time with the same nonces one makes a share, at most: whatever the
/// order is in which they open, lock and remove them.
#[test]
fn signers_side_by_side_make_one_share() {
    let folder = committed();
    let arguments = folder.arguments(&sign("1").replace(" -o @1.share", ""));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let running: Vec<_> = (0..8).map(|_| crate::support::start(&arguments)).collect();
    let finished: Vec<_> = running.into_iter().map(|one| one.finish()).collect();
    let shares = finished.iter().filter(|one| !one.stdout.is_empty()).count();
    assert_eq!(shares, 1, "{finished:?}");
    assert!(!folder.has("1.nonces"));
}

#[test]
fn a_round_that_does_not_fit_leaves_the_nonces() {
    let folder = committed();
    let sign = sign("1");
    for (wrong, words) in [
        // The other signer's nonces; a list without one's own; the same signer twice.
        (sign.replace("@1.nonces", "@3.nonces"), "another commitment"),
        (
            sign.replace("@1.commitment", "@3.commitment"),
            "two commitments",
        ),
        (
            sign.replace(" --commitment @3.commitment", ""),
            "are needed",
        ),
        (
            sign.replace("@1.nonces", "@group-1.signer"),
            "this is a participant's secret",
        ),
        (
            sign.replace("@group-1.signer", "@1.nonces"),
            "this is the nonces",
        ),
        (
            sign.replace("@3.commitment", "@group.pub"),
            "this is a public key",
        ),
    ] {
        let refused = folder.newplex(&wrong, b"").expect_code(1);
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
        assert!(folder.has("1.nonces") && folder.has("3.nonces") && !folder.has("1.share"));
    }
    let commitment = folder.read("3.commitment");
    for bad in [&commitment[..60], b"", &commitment.repeat(2)] {
        folder.write("3.commitment", bad);
        folder.newplex(&sign, b"").expect_code(1);
    }
    folder.write("3.commitment", commitment);
    folder.newplex(&sign, b"").expect_code(0);
}

#[test]
fn a_wrong_share_is_told_by_its_file() {
    let folder = signed();
    let share = folder.read("3.share");
    let refused = |words: &str| {
        let refused = folder.newplex(&aggregate(), b"").expect_code(1);
        assert!(refused.stderr.contains("3.share"), "{refused:?}");
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
        assert!(refused.stdout.is_empty());
    };
    folder.write("3.share", changed(&share, 10));
    refused("share of signer 3 is wrong");
    folder.write("3.share", &share[..50]);
    refused("hexadecimal digits");
    folder.write("3.share", folder.read("1.share"));
    refused("a second share of signer 1");
    // Another message than was signed.
    folder.write("3.share", &share);
    folder.write("order", "pay 900");
    let other = folder.newplex(&aggregate(), b"").expect_code(1);
    assert!(other.stderr.contains("is wrong"), "{other:?}");
    folder.write("order", "pay 100");
    let missing = aggregate().replace(" --share @3.share", "");
    let missing = folder.newplex(&missing, b"").expect_code(1);
    assert!(
        missing.stderr.contains("1 shares for 2 commitments"),
        "{missing:?}"
    );
    folder.newplex(&aggregate(), b"").expect_code(0);
}

#[test]
fn another_group_does_not_verify() {
    let folder = signed();
    deal(&folder, "other");
    let other = aggregate().replace("@group.group", "@other.group");
    folder.newplex(&other, b"").expect_code(1);
    let line = folder.read("group.group");
    for bad in [&line[..100], &line[..line.len() - 3], b""] {
        folder.write("group.group", bad);
        folder.newplex(&aggregate(), b"").expect_code(1);
    }
}

#[test]
fn a_deal_is_private_and_whole_or_not_there() {
    let folder = Folder::new();
    let deal = "frost deal --threshold 2 --signers 3 --out @group";
    let record = folder
        .newplex(&format!("{deal} --json"), b"")
        .expect_code(0);
    let dealt = json(&record);
    assert_eq!(dealt["signer_files"].as_array().map(Vec::len), Some(3));
    for signer in ["1", "2", "3"] {
        let name = format!("group-{signer}.signer");
        folder.expect_private(&name);
        let text = String::from_utf8(folder.read(&name)).expect("text");
        // The last 64 digits are the participant's secret.
        let secret = &text.trim()[text.trim().len() - 64..];
        assert!(!record.text().contains(secret));
    }
    // Nothing is replaced, and no part of a group is left.
    folder.newplex(deal, b"").expect_code(1);
    let later = "frost deal --threshold 2 --signers 3 --out @later";
    folder.write("later.group", "mine");
    folder.newplex(later, b"").expect_code(1);
    assert_eq!(folder.read("later.group"), b"mine");
    for name in ["later.pub", "later-1.signer", "later-3.signer"] {
        assert!(!folder.has(name), "{name}");
    }
    for usage in [
        "frost deal --threshold 1 --signers 3 --out @bad",
        "frost deal --threshold 4 --signers 3 --out @bad",
        "frost deal --threshold 2 --signers 256 --out @bad",
    ] {
        folder.newplex(usage, b"").expect_code(2);
        assert!(!folder.has("bad.pub"));
    }
    // The largest group's file is read whole.
    let largest = "frost deal --threshold 2 --signers 255 --out @large";
    folder.newplex(largest, b"").expect_code(0);
    folder.write("order", "x");
    folder
        .newplex(
            "frost commit --signer-file @large-255.signer --nonces @n -o @3.commitment",
            b"",
        )
        .expect_code(0);
    folder.write("1.commitment", folder.read("3.commitment"));
    folder.write("1.share", "");
    let refused = folder.newplex(&aggregate().replace("@group.group", "@large.group"), b"");
    let refused = refused.expect_code(1);
    assert!(refused.stderr.contains("two commitments"), "{refused:?}");
}
