//! A program before it is run: whether the loader will give it a library, and whether it has a libzmq in itself, which no
//! library takes the place of.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::failed;
use super::library::Library;
use crate::exit::Failure;

/// Programs that name another program in their first line, which may do so too.
const MOST_SCRIPTS: usize = 4;

/// A text that each libzmq has, its symbols stripped or not: what it says of `EFSM`.
const TEXT: &[u8] = b"Operation cannot be accomplished in current state";
/// What each libzmq defines.
const DEFINED: &[u8] = b"zmq_ctx_new";

const PT_INTERP: u32 = 3;
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;

/// Finds a program as a shell does.
pub(super) fn find(name: &OsStr) -> Result<PathBuf, Failure> {
    if name.as_bytes().contains(&b'/') {
        return Ok(name.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| {
            let metadata = fs::metadata(file);
            metadata.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        });
    found.ok_or_else(|| failed(format!("{} is not in PATH", name.display())))
}

/// The program that runs when this one does: itself, or where it is a script the one that reads it.
pub(super) fn interpreted(program: &Path) -> Result<PathBuf, Failure> {
    let mut program = program.to_owned();
    for _ in 0..MOST_SCRIPTS {
        match script(&read(&program)?) {
            None => return Ok(program),
            Some(reader) => program = find(&reader)?,
        }
    }
    Err(failed(format!(
        "{} is a script of a script",
        program.display()
    )))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| failed(format!("cannot read {}: {error}", path.display())))
}

/// The program that the first line of a script names.
fn script(bytes: &[u8]) -> Option<OsString> {
    let line = bytes
        .strip_prefix(b"#!")?
        .split(|octet| *octet == b'\n')
        .next()?;
    let mut words = line
        .split(|octet| b" \t\r".contains(octet))
        .filter(|word| !word.is_empty());
    let reader = words.next()?;
    // `env -S` and variables come before the name.
    let is_name = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
    let name = match reader.ends_with(b"/env") {
        true => words.find(is_name)?,
        false => reader,
    };
    Some(OsStr::from_bytes(name).into())
}

/// Refuses a program that the library would not reach.
pub(super) fn check(program: &Path, library: &Library) -> Result<(), Failure> {
    let program = interpreted(program)?;
    let bytes = read(&program)?;
    let refuse = |why: &str| Err(failed(format!("{} is not run: {why}", program.display())));
    let Some(elf) = Elf::of(&bytes) else {
        return refuse("it is not a program of 64 bits");
    };
    if elf.machine != library.machine {
        return refuse("it is for another processor than the library");
    }
    let metadata = fs::metadata(&program)
        .map_err(|error| failed(format!("{}: {error}", program.display())))?;
    if metadata.mode() & 0o6000 != 0 || has_capabilities(&program) {
        return refuse(
            "it runs with rights of others, so the loader gives it no library; install the library for the whole system, \
             and rules in /etc/sealwire/libzmq.conf",
        );
    }
    match elf.loader() {
        None => {
            return refuse("it is linked statically, so nothing can take the place of its libzmq");
        }
        Some(loader) if !loader.starts_with(b"ld-linux") => {
            return refuse("it is for another C library than glibc");
        }
        Some(_) => {}
    }
    let symbols = elf.symbols();
    let defines = symbols
        .iter()
        .any(|symbol| symbol.defined && symbol.name == DEFINED);
    if defines || contains(&bytes, TEXT) {
        return refuse("it has a libzmq in itself; link it with -lzmq");
    }
    Ok(())
}

fn has_capabilities(program: &Path) -> bool {
    let mut value = [0; 64];
    rustix::fs::getxattr(program, "security.capability", &mut value[..]).is_ok_and(|size| size > 0)
}

/// Whether one text is in the other.
pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The machine of an ELF file of 64 bits.
pub(super) fn machine(bytes: &[u8]) -> Option<u16> {
    Elf::of(bytes).map(|elf| elf.machine)
}

/// A file in the format of programs, of 64 bits with the low octet first.
struct Elf<'a> {
    bytes: &'a [u8],
    machine: u16,
}

/// A name in it.
struct Symbol<'a> {
    name: &'a [u8],
    defined: bool,
}

impl<'a> Elf<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let elf = Elf { bytes, machine: 0 };
        let machine = u16::try_from(elf.number(18, 2)?).ok()?;
        bytes
            .starts_with(b"\x7fELF\x02\x01")
            .then_some(Elf { bytes, machine })
    }

    /// The number there, of up to eight octets.
    fn number(&self, at: usize, size: usize) -> Option<usize> {
        let octets = self.bytes.get(at..at.checked_add(size)?)?;
        let number = octets
            .iter()
            .rev()
            .fold(0, |number: u64, octet| number << 8 | u64::from(*octet));
        usize::try_from(number).ok()
    }

    fn part(&self, at: usize, size: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..at.checked_add(size)?)
    }

    /// The offsets of a table's entries: its offset, their size and number stand in the header.
    fn entries(&self, offset: usize, size: usize, count: usize) -> Vec<usize> {
        let table = || {
            let (table, size) = (self.number(offset, 8)?, self.number(size, 2)?);
            let count = self.number(count, 2)?;
            let entries = (0..count).map(|index| table.checked_add(index.checked_mul(size)?));
            entries.collect::<Option<Vec<_>>>()
        };
        table().unwrap_or_default()
    }

    /// The name of the file of its loader, which those that are linked statically do not have.
    fn loader(&self) -> Option<&'a [u8]> {
        let segments = self.entries(32, 54, 56);
        let interp = segments
            .into_iter()
            .find(|at| self.number(*at, 4) == Some(PT_INTERP as usize))?;
        let path = self.part(self.number(interp + 8, 8)?, self.number(interp + 32, 8)?)?;
        let path = path.split(|octet| *octet == 0).next()?;
        path.rsplit(|octet| *octet == b'/').next()
    }

    /// The symbols of all its tables.
    fn symbols(&self) -> Vec<Symbol<'a>> {
        let sections = self.entries(40, 58, 60);
        let mut symbols = Vec::new();
        for section in &sections {
            let kind = self.number(section + 4, 4);
            if kind != Some(SHT_SYMTAB as usize) && kind != Some(SHT_DYNSYM as usize) {
                continue;
            }
            let read = || {
                let table =
                    self.part(self.number(section + 24, 8)?, self.number(section + 32, 8)?)?;
                let names = *sections.get(self.number(section + 40, 4)?)?;
                let names = self.part(self.number(names + 24, 8)?, self.number(names + 32, 8)?)?;
                Some((table, names))
            };
            let Some((table, names)) = read() else {
                continue;
            };
            symbols.extend(table.chunks_exact(24).filter_map(|entry| {
                let name = u32::from_le_bytes(entry.first_chunk().copied()?);
                let name = names
                    .get(name as usize..)?
                    .split(|octet| *octet == 0)
                    .next()?;
                let defined = entry[6..8] != [0, 0];
                Some(Symbol { name, defined })
            }));
        }
        symbols
    }
}
