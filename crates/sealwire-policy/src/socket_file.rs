//! The files of `ipc` endpoints, and patterns of them. One file has many paths, and a rule is for the file.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::wildcard::fits;

/// Links that are followed in one path: as many as Linux follows.
const MAX_LINKS: usize = 40;

/// The path of an endpoint.
#[derive(Debug)]
pub(crate) struct SocketFile {
    /// Where its links lead.
    real: PathBuf,
    /// The path before each link was followed.
    before: Vec<PathBuf>,
}

impl SocketFile {
    /// Follows the links of a path. One that is relative begins where the program is.
    ///
    /// # Errors
    ///
    /// Where nobody can say to which file it leads.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut before = Vec::new();
        let real = real(&absolute(path)?, |path| before.push(without_ups(path)))?;
        Ok(SocketFile { real, before })
    }
}

/// A pattern: a path in which `*` stands for any characters between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePattern {
    path: PathBuf,
}

impl FilePattern {
    /// # Errors
    ///
    /// A path that goes up, or that does not begin at the root: it would be another file wherever the program is.
    pub(crate) fn new(path: &str) -> Result<Self, &'static str> {
        let path = Path::new(path);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err("goes up with ..; write the path without it");
        }
        match path.is_absolute() {
            true => Ok(FilePattern {
                path: path.components().collect(),
            }),
            false => Err(
                "begins where the program is, which may change; write the whole path, ipc:///...",
            ),
        }
    }

    /// Whether it names this file by any of its paths.
    pub(crate) fn names(&self, file: &SocketFile) -> bool {
        let forms = [&real_before_stars(&self.path), &self.path];
        let mut paths = file.before.iter().chain([&file.real]);
        paths.any(|path| forms.iter().any(|form| fits_whole(form, path)))
    }

    /// Whether it names the file itself, which a link of somebody else does not change.
    pub(crate) fn names_strictly(&self, file: &SocketFile) -> bool {
        fits_whole(&self.path, &file.real)
    }
}

/// The path from the root, each slash once.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = match path.is_absolute() {
        true => path.into(),
        false => env::current_dir()?.join(path),
    };
    Ok(path.components().collect())
}

/// The path as one goes up who does not look at links.
fn without_ups(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

fn fits_whole(pattern: &Path, path: &Path) -> bool {
    fits(bytes(pattern), bytes(path), "/")
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Follows the links of a pattern as far as it names one path. What this process may not look into it cannot reach by that
/// path.
fn real_before_stars(pattern: &Path) -> PathBuf {
    let named = pattern.ancestors();
    let mut named = named.filter(|part| !bytes(part).contains(&b'*'));
    let Some((part, mut found)) = named.find_map(|part| Some((part, real(part, |_| {}).ok()?)))
    else {
        return pattern.into();
    };
    found.extend(pattern.strip_prefix(part).into_iter().flatten());
    found
}

/// The absolute path without its links, and each form of it `before` one was followed. Parts that are not there yet are taken as
/// they are written.
fn real(path: &Path, mut before: impl FnMut(&Path)) -> io::Result<PathBuf> {
    let owned = |path: &Path| -> VecDeque<OsString> {
        let parts = path.components();
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    let (mut rest, mut found) = (owned(path), PathBuf::new());
    let (mut links, mut is_there) = (0, true);
    while let Some(part) = rest.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) if is_there => {
                found.pop();
            }
            Some(Component::ParentDir) => return Err(io::ErrorKind::NotFound.into()),
            Some(Component::CurDir) | None => {}
            Some(_) => {
                found.push(&part);
                if !is_there {
                    continue;
                }
                match found.symlink_metadata() {
                    Ok(metadata) if metadata.is_symlink() => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(io::Error::other("it has too many links"));
                        }
                        before(&found.join(rest.iter().collect::<PathBuf>()));
                        let mut target = owned(&found.read_link()?);
                        target.append(&mut rest);
                        rest = target;
                        // An absolute one begins with the root again.
                        found.pop();
                    }
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => is_there = false,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// With `run/app`, `var` for `run`, and links that lead to nothing.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("run/app")).unwrap();
        fs::create_dir_all(at("other")).unwrap();
        symlink(at("run"), at("var")).unwrap();
        symlink("../other", at("run/link")).unwrap();
        symlink(at("later"), at("early")).unwrap();
        symlink(at("run/app/a"), at("other/file")).unwrap();
        symlink(at("run/app"), at("other/x*y")).unwrap();
        symlink("round", at("round")).unwrap();
        folder
    }

    #[test]
    fn a_pattern_names_every_path_of_a_file() {
        let folder = folder();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        // By any of its paths, and the file itself.
        for (pattern, path, named, strictly) in [
            ("run/app/a", "run/app/a", true, true),
            ("run/app/a", "run//app/./a", true, true),
            ("./run//app/a", "run/app/a", true, true),
            ("run/app/a", "run/app/../app/a", true, true),
            ("run/app/a", "other/../run/app/a", true, true),
            ("run/app/*", "var/app/a", true, true),
            ("var/app/*", "run/app/a", true, false),
            ("var/app/*", "var/app/a", true, false),
            ("run/none/a", "var/none/a", true, true),
            ("other/a", "run/link/a", true, true),
            ("run/*/a", "run/link/a", true, false),
            ("run/*/a", "var/link/a", true, false),
            ("run/*/a", "run/app/../link/a", true, false),
            ("run/app/*", "run/link/../run/app/a", true, true),
            ("run/app/*", "other/file", true, true),
            ("run/app/*", "other/x*y/a", true, true),
            ("later/*", "early/a", true, true),
            ("early/*", "later/a", true, false),
            ("run/*/a", "run/app/../../other/a", false, false),
            ("run/*/a", "run/../a", false, false),
            ("run/app/*", "run/link/a", false, false),
            ("run/app/*", "run/app/b/a", false, false),
            ("run/app/a", "run/app/A", false, false),
            ("run/*", "run/app/a", false, false),
        ] {
            let pattern = FilePattern::new(&at(pattern)).unwrap();
            let file = match SocketFile::of(Path::new(&at(path))) {
                Ok(file) => file,
                Err(error) => panic!("{path}: {error}"),
            };
            assert_eq!(pattern.names(&file), named, "{pattern:?} {path}");
            assert_eq!(
                pattern.names_strictly(&file),
                strictly,
                "{pattern:?} {path}"
            );
        }
        for path in ["run/../a", "/run/../a", "run/a", "./a", "*/a"] {
            assert!(FilePattern::new(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_path_that_may_lead_anywhere_is_an_error() {
        let folder = folder();
        for path in [
            "none/../a",
            "early/../a",
            "run/link/none/../a",
            "round",
            "round/a",
        ] {
            assert!(SocketFile::of(&folder.path().join(path)).is_err(), "{path}");
        }
        // A pattern of such a path names it as it is written.
        let pattern = FilePattern::new(&format!("{}/round/*", folder.path().display()));
        let file = SocketFile::of(folder.path()).unwrap();
        assert!(!pattern.unwrap().names(&file));
    }

    #[test]
    fn relative_paths_begin_where_the_program_is() {
        let here = env::current_dir().unwrap();
        let folder = here.file_name().unwrap().to_str().unwrap();
        let pattern = format!("{}/sockets/*", here.display());
        let pattern = FilePattern::new(&pattern).unwrap();
        for path in [
            "sockets//a",
            "./sockets/a",
            &format!("../{folder}/sockets/a"),
        ] {
            let file = SocketFile::of(Path::new(path)).unwrap();
            assert!(pattern.names(&file), "{path}");
        }
    }
}
