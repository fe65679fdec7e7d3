//! The commands of `docs/migrating.md`, run as they are printed, one after the other.

use std::path::Path;
use std::process::Command;

const GUIDE: &str = include_str!("../../../../docs/migrating.md");

/// The shell blocks, without the indentation of the lists that they stand in.
fn commands() -> String {
    let mut script = String::from("set -e\n");
    let mut indentation = None;
    for line in GUIDE.lines() {
        match indentation {
            None => indentation = line.find("```sh"),
            Some(_) if line.trim() == "```" => indentation = None,
            Some(count) => {
                script.push_str(line.get(count..).unwrap_or_default());
                script.push('\n');
            }
        }
    }
    script
}

#[test]
fn the_commands_of_the_guide_work_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_sealwire"));
    let path = std::env::var("PATH").unwrap_or_default();
    let folder_of_program = program.parent().unwrap().display();
    let shell = Command::new("sh")
        .args(["-c", &commands()])
        .current_dir(folder.path())
        .env("PATH", format!("{folder_of_program}:{path}"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&shell.stdout);
    assert!(shell.status.success(), "{shell:?}");
    for line in ["over CURVE", "changed\nnot yet changed"] {
        assert!(said.contains(line), "{line}: {shell:?}");
    }
}
