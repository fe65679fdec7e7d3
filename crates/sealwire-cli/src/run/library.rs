//! The `libzmq.so.5` that a program is given.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::executable::{self, contains};
use super::{absolute, failed};
use crate::exit::Failure;

const NAME: &str = "libzmq.so.5";

/// A text that another libzmq does not have.
const OURS: &[u8] = b"SEALWIRE_CONFIG";

pub(super) struct Library {
    pub(super) path: PathBuf,
    /// The machine that it is for, as ELF counts them.
    pub(super) machine: u16,
}

/// Finds the library: where it is said to be, or where an installation has it.
pub(super) fn find(given: Option<&Path>) -> Result<Library, Failure> {
    let path = match given {
        Some(path) => absolute(path)?,
        None => {
            let own =
                env::current_exe().map_err(|error| failed(format!("this program: {error}")))?;
            let folder = own.parent().unwrap_or(Path::new("/"));
            let places = [folder.join(NAME), folder.join("../lib").join(NAME)];
            let found = places.iter().find(|place| place.exists()).cloned();
            found.ok_or_else(|| {
                failed(format!(
                    "{NAME} is neither in {0} nor in {0}/../lib: give --library",
                    folder.display()
                ))
            })?
        }
    };
    let name = path.display();
    let bytes = fs::read(&path).map_err(|error| failed(format!("cannot read {name}: {error}")))?;
    if !contains(&bytes, OURS) {
        return Err(failed(format!(
            "{name} is not Sealwire's {NAME}: give --library"
        )));
    }
    let Some(machine) = executable::machine(&bytes) else {
        return Err(failed(format!("{name} is not a library of 64 bits")));
    };
    // The loader takes either for the end of the path.
    if path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|octet| b" :\t\n".contains(octet))
    {
        return Err(failed(format!(
            "{name} has a space or a colon, which the loader takes for its end: give a link to it without"
        )));
    }
    Ok(Library { path, machine })
}

/// Asks the loader what it would load. Where it cannot load the library it says so, and runs the program without.
pub(super) fn check_that_it_loads(
    program: &Path,
    command: &Command,
    library: &Library,
) -> Result<(), Failure> {
    let interpreted = executable::interpreted(program)?;
    let mut asking = Command::new(&interpreted);
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            asking.env(name, value);
        }
    }
    // The loader lists the objects and ends; no code of the program runs.
    asking
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null());
    let answer = asking
        .output()
        .map_err(|error| failed(format!("cannot run {}: {error}", interpreted.display())))?;
    let listed = String::from_utf8_lossy(&answer.stdout);
    let mut missing = listed.lines().filter(|line| line.ends_with("not found"));
    let why = match missing.next() {
        Some(line) => line.trim().to_owned(),
        None if contains(&answer.stdout, library.path.as_os_str().as_encoded_bytes()) => {
            return Ok(());
        }
        None => String::from_utf8_lossy(&answer.stderr).trim().to_owned(),
    };
    Err(failed(format!(
        "the loader does not take {} for {}: {why}",
        library.path.display(),
        interpreted.display()
    )))
}
