//! The commands of `docs/newplex/ceremony.md`, run as they are printed, one after the other.

use std::path::Path;
use std::process::Command;

const CHAPTER: &str = include_str!("../../../../../docs/newplex/ceremony.md");

/// The shell blocks.
fn commands() -> String {
    let blocks = CHAPTER.split("```sh\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default());
    std::iter::once("set -e\n").chain(blocks).collect()
}

#[test]
fn the_ceremony_works_as_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_sealwire"));
    let path = std::env::var("PATH").unwrap_or_default();
    let folder_of_program = program.parent().expect("a folder").display();
    let shell = Command::new("sh")
        .args(["-c", &commands()])
        .current_dir(folder.path())
        .env("PATH", format!("{folder_of_program}:{path}"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&shell.stdout);
    assert!(shell.status.success(), "{shell:?}");
    assert!(said.contains("signed by "), "{shell:?}");
    assert!(said.contains("refused, as it should be"), "{shell:?}");
    for step in ["deal", "commit", "sign", "aggregate"] {
        assert!(CHAPTER.contains(&format!("sealwire newplex frost {step}")));
    }
}
