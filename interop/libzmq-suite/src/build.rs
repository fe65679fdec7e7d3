//! Compiles libzmq as a shared library, and its test programs against it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::programs::Program;
use crate::{Failure, platform, speed};

/// libzmq's sources, and the folder that keeps what was compiled of them.
pub(crate) struct Build {
    vendor: PathBuf,
    /// The sources of the programs: `vendor`, or a folder like it with another `zmq.h`.
    tree: PathBuf,
    cache: PathBuf,
    programs: PathBuf,
    jobs: usize,
}

impl Build {
    /// Takes `cache` for what libzmq is with or without drafts. What another version or other flags left there is
    /// removed.
    pub(crate) fn new(
        vendor: &Path,
        cache: &Path,
        drafts: bool,
        jobs: usize,
    ) -> Result<Self, Failure> {
        let cache = cache.join(if drafts { "drafts" } else { "stable" });
        let platform = platform::header(drafts);
        let stamp = format!(
            "{}\n{platform}{FLAGS:?}{LIBRARY:?}{PROGRAM:?}",
            vendor.display()
        );
        let stamped = cache.join("stamp");
        if fs::read_to_string(&stamped).ok().as_ref() != Some(&stamp) {
            if cache.exists() {
                fs::remove_dir_all(&cache)?;
            }
            for folder in ["objects", "library", "programs"] {
                fs::create_dir_all(cache.join(folder))?;
            }
            fs::write(cache.join("platform.hpp"), platform)?;
            fs::write(cache.join("lines.c"), LINES)?;
            fs::write(stamped, stamp)?;
        }
        Ok(Build {
            vendor: vendor.to_owned(),
            tree: vendor.to_owned(),
            programs: cache.join("programs"),
            cache,
            jobs,
        })
    }

    /// Compiles the programs, not libzmq, with another `zmq.h`. They include it by a path relative to their own, so
    /// they get a folder in which they are links.
    pub(crate) fn with_header(mut self, header: &Path) -> Result<Self, Failure> {
        let header =
            fs::read_to_string(header).map_err(|error| format!("{}: {error}", header.display()))?;
        self.tree = self.cache.join("tree");
        self.programs = self.tree.join("programs");
        let copy = self.tree.join("include/zmq.h");
        if fs::read_to_string(&copy).ok().as_ref() == Some(&header) {
            return Ok(self);
        }
        if self.tree.exists() {
            fs::remove_dir_all(&self.tree)?;
        }
        for folder in ["include", "programs", "tests"] {
            fs::create_dir_all(self.tree.join(folder))?;
        }
        for entry in fs::read_dir(self.vendor.join("tests"))? {
            let entry = entry?;
            symlink(
                entry.path(),
                self.tree.join("tests").join(entry.file_name()),
            )?;
        }
        for folder in ["external", "src"] {
            symlink(self.vendor.join(folder), self.tree.join(folder))?;
        }
        fs::write(copy, header)?;
        Ok(self)
    }

    /// Compiles libzmq if that was not done before, and returns the folder with its `libzmq.so.5`.
    pub(crate) fn libzmq(&self) -> Result<PathBuf, Failure> {
        let folder = self.cache.join("library");
        let library = folder.join("libzmq.so.5");
        if library.exists() {
            return Ok(folder);
        }
        let mut sources = vec![self.vendor.join("external/sha1/sha1.c")];
        for entry in fs::read_dir(self.vendor.join("src"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // wss needs GnuTLS.
            if name.ends_with(".cpp") && !name.starts_with("wss_") {
                sources.push(path);
            }
        }
        sources.sort();
        eprintln!("libzmq-suite: compiling libzmq, {} files", sources.len());
        let objects = self.objects("library-", &sources, &self.vendor, LIBRARY)?;
        let mut command = Command::new("c++");
        command
            .args(["-shared", "-Wl,-soname,libzmq.so.5", "-pthread", "-o"])
            .arg(folder.join("incomplete"))
            .args(objects)
            .args(["-lsodium", "-lrt"]);
        succeed(&mut command)?;
        symlink("libzmq.so.5", folder.join("libzmq.so"))?;
        fs::rename(folder.join("incomplete"), library)?;
        Ok(folder)
    }

    /// Compiles those of `programs` that were not compiled before.
    pub(crate) fn programs(&self, programs: &[Program]) -> Result<(), Failure> {
        let library = self.libzmq()?;
        let missing: Vec<_> = programs
            .iter()
            .filter(|program| !self.program(program.name).exists())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        eprintln!("libzmq-suite: compiling {} programs", missing.len());
        let tests = self.tree.join("tests");
        let mut common: Vec<_> = ["", "_monitoring", "_security", "_unity"]
            .map(|name| tests.join(format!("testutil{name}.cpp")))
            .into();
        common.push(self.vendor.join("external/unity/unity.c"));
        common.push(self.cache.join("lines.c"));
        let common = self.objects("common-", &common, &self.tree, PROGRAM)?;
        each(self.jobs, missing, |program| {
            let mut command = self.compiler(&self.tree, PROGRAM);
            let path = self.program(program.name);
            let incomplete = path.with_extension("incomplete");
            command.arg(tests.join(format!("{}.cpp", program.name)));
            for source in program.sources {
                command.arg(self.tree.join("src").join(source));
            }
            command
                .args(&common)
                .arg("-L")
                .arg(&library)
                // A function that a library does not have ends the program when it is called, not before.
                .args(["-Wl,-z,lazy", "-lzmq", "-lsodium", "-pthread", "-o"])
                .arg(&incomplete);
            succeed(&mut command)?;
            Ok(fs::rename(incomplete, path)?)
        })
    }

    /// Compiles what measures, with the sources in `own`, and returns the folder of the programs.
    pub(crate) fn measurements(&self, own: &Path) -> Result<PathBuf, Failure> {
        let library = self.libzmq()?;
        let folder = self.cache.join("measurements");
        fs::create_dir_all(&folder)?;
        each(self.jobs, speed::sources(&self.vendor, own)?, |source| {
            let name = source.file_stem().unwrap_or_default();
            let is_c = source.extension().is_some_and(|extension| extension == "c");
            let mut command = match is_c {
                true => Command::new("cc"),
                false => self.compiler(&self.vendor, &[]),
            };
            command
                .arg("-O2")
                .arg("-I")
                .arg(self.vendor.join("include"));
            command.arg(&source).arg("-L").arg(&library);
            command
                .args(["-lzmq", "-pthread", "-o"])
                .arg(folder.join(name));
            succeed(&mut command)
        })?;
        Ok(folder)
    }

    /// Where the program of this name is.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    fn compiler(&self, tree: &Path, flags: &[&str]) -> Command {
        let mut command = Command::new("c++");
        command.args(FLAGS).args(flags).arg("-I").arg(&self.cache);
        for folder in ["include", "src", "external/unity", "external/sha1"] {
            command.arg("-I").arg(tree.join(folder));
        }
        command
    }

    fn objects(
        &self,
        prefix: &str,
        sources: &[PathBuf],
        tree: &Path,
        flags: &[&str],
    ) -> Result<Vec<PathBuf>, Failure> {
        let object = |source: &Path| {
            let mut name = OsString::from(prefix);
            name.push(source.file_name().unwrap_or_default());
            name.push(".o");
            self.cache.join("objects").join(name)
        };
        each(self.jobs, sources.iter().collect(), |source: &PathBuf| {
            let is_c = source.extension().is_some_and(|extension| extension == "c");
            let mut command = if is_c {
                let mut command = Command::new("cc");
                command
                    .args([
                        "-O2",
                        "-fPIC",
                        "-DUNITY_EXCLUDE_FLOAT",
                        "-DUNITY_USE_COMMAND_LINE_ARGS",
                    ])
                    .arg("-I")
                    .arg(self.vendor.join("external/unity"));
                command
            } else {
                self.compiler(tree, flags)
            };
            succeed(command.arg("-c").arg(source).arg("-o").arg(object(source)))
        })?;
        Ok(sources.iter().map(|source| object(source)).collect())
    }
}

const FLAGS: &[&str] = &[
    "-std=c++11",
    "-pthread",
    "-fPIC",
    "-w",
    "-DZMQ_CUSTOM_PLATFORM_HPP",
];
/// As packages compile it.
const LIBRARY: &[&str] = &["-O2", "-fvisibility=hidden"];
const PROGRAM: &[&str] = &[
    "-O0",
    "-DUNITY_USE_COMMAND_LINE_ARGS",
    "-DUNITY_EXCLUDE_FLOAT",
];

/// Unity's lines are there when a program crashes, and once when it forks.
const LINES: &str = "#include <stdio.h>
__attribute__((constructor)) static void lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
";

fn succeed(command: &mut Command) -> Result<(), Failure> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Calls `work` for each of `items`, `jobs` at once, and returns the first failure.
pub(crate) fn each<T: Send>(
    jobs: usize,
    items: Vec<T>,
    work: impl Fn(T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let items = Mutex::new(VecDeque::from(items));
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let next = items.lock().expect("no panic inside").pop_front();
                    let Some(item) = next else { return };
                    if let Err(error) = work(item) {
                        items.lock().expect("no panic inside").clear();
                        failure
                            .lock()
                            .expect("no panic inside")
                            .get_or_insert(error);
                    }
                }
            });
        }
    });
    match failure.into_inner().expect("no panic inside") {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
