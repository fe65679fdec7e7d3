//! Patterns of the files of `ipc` endpoints. One file has many paths, and a rule is for the file.

use std::env;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::wildcard::fits;

/// A path, in which `*` stands for any characters between two slashes. One that is relative begins where the program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SocketFile {
    path: PathBuf,
}

impl SocketFile {
    /// Returns `None` for a path that goes up.
    pub(crate) fn new(path: &str) -> Option<Self> {
        let path = PathBuf::from(path);
        (!goes_up(&path)).then_some(SocketFile { path })
    }

    /// Whether it names the file at this path, as it is written or where its links lead.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        // A file that the system is to name, somewhere.
        if path.as_os_str() == "*" {
            return false;
        }
        let (pattern, path) = (from_root(&self.path), from_root(path));
        (!goes_up(&path) && fits_whole(&pattern, &path))
            || fits_whole(&real(&pattern), &real(&path))
    }
}

fn fits_whole(pattern: &Path, path: &Path) -> bool {
    fits(bytes(pattern), bytes(path), "/")
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn goes_up(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

/// The path from the root, each slash once.
fn from_root(path: &Path) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    here.join(path).components().collect()
}

/// The same where as much of it as is there, up to the first star, has no links.
fn real(path: &Path) -> PathBuf {
    let mut known = (path.ancestors()).filter(|part| !bytes(part).contains(&b'*'));
    let found = known.find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut real)) = found else {
        return path.into();
    };
    real.extend(path.strip_prefix(part).into_iter().flatten());
    real
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_pattern_fits_every_path_of_a_file_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        fs::create_dir_all(at("run/app")).unwrap();
        fs::create_dir_all(at("other")).unwrap();
        symlink(at("run"), at("var")).unwrap();
        symlink(at("other"), at("run/link")).unwrap();
        fs::write(at("run/app/there"), "").unwrap();
        symlink(at("run/app/there"), at("other/there")).unwrap();
        let fitting = [
            ("run/app/a", "run/app/a"),
            ("run/app/a", "run//app/./a"),
            ("run/app/a", "run/app/../app/a"),
            ("run/app/a", "other/../run/app/a"),
            ("run/app/*", "var/app/a"),
            ("var/app/*", "run/app/a"),
            ("var/*/a", "run/app/a"),
            ("run/later/a", "var/later/a"),
            ("run/*/a", "run/link/a"),
            ("other/a", "run/link/a"),
            ("run/app/there", "other/there"),
            ("run/app/*", "other/there"),
            ("./run//app/a", "run/app/a"),
        ];
        for (pattern, path) in fitting {
            let pattern = SocketFile::new(&at(pattern)).unwrap();
            assert!(pattern.fits(Path::new(&at(path))), "{pattern:?} {path}");
        }
        let others = [
            ("run/*/a", "run/app/../../other/a"),
            ("run/*/a", "run/../a"),
            ("run/app/*", "run/link/a"),
            ("run/app/*", "run/app/b/a"),
            ("run/app/a", "run/app/A"),
            ("run/*", "run/app/a"),
        ];
        for (pattern, path) in others {
            let pattern = SocketFile::new(&at(pattern)).unwrap();
            assert!(!pattern.fits(Path::new(&at(path))), "{pattern:?} {path}");
        }
        assert_eq!(SocketFile::new("run/../a"), None);
    }

    #[test]
    fn relative_paths_begin_where_the_program_is() {
        let here = env::current_dir().unwrap();
        let folder = here.file_name().unwrap().to_str().unwrap();
        for (pattern, path) in [
            ("sockets/*", here.join("sockets/a")),
            ("./sockets/*", "sockets//a".into()),
            ("sockets/a", format!("../{folder}/sockets/a").into()),
        ] {
            let pattern = SocketFile::new(pattern).unwrap();
            assert!(pattern.fits(&path), "{pattern:?} {path:?}");
        }
        let pattern = SocketFile::new("sockets/*").unwrap();
        assert!(!pattern.fits(Path::new("/sockets/a")));
        assert!(!pattern.fits(Path::new("*")));
    }
}
