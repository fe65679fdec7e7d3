//! C programs, a relay that records, and a folder for both.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// A program that runs as long is ended, which no test takes for an end of its own. Nothing here takes that long.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A folder with the library under its name.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Cargo puts the library of the crate beside its tests.
        let own = env::current_exe().unwrap();
        let library = own.with_file_name("libsealwire_libzmq.so");
        assert!(library.exists(), "{}", library.display());
        symlink(&library, folder.path().join("libzmq.so.5")).unwrap();
        symlink("libzmq.so.5", folder.path().join("libzmq.so")).unwrap();
        Folder(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Compiles with these arguments, in the folder.
    pub(crate) fn compile(&self, arguments: &[&str]) {
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let done = Command::new("cc")
            .current_dir(self.0.path())
            .arg("-I")
            .arg(include)
            .args(["-Wall", "-Werror", "-L."])
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "cc {arguments:?}: {errors}");
    }

    /// A program that is told nothing by the environment of the tests, and finds the library in the folder.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path(program));
        for variable in [
            "SEALWIRE_CONFIG",
            "SEALWIRE_SERVER_KEY",
            "SEALWIRE_SECRET_KEY_FILE",
            "SEALWIRE_ALLOW",
            "SEALWIRE_VERIFY",
            "SEALWIRE_LOG",
        ] {
            command.env_remove(variable);
        }
        command
            .current_dir(self.0.path())
            .env("LD_LIBRARY_PATH", self.0.path());
        command
    }
}

/// A process that is ended after [`LIMIT`], and when dropped.
struct Watched(Arc<Mutex<Child>>);

impl Watched {
    /// Without input, and with pipes for what it writes.
    fn start(command: &mut Command) -> (Self, ChildStdout, ChildStderr) {
        let command = command.stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let child = Arc::new(Mutex::new(child));
        let watched = Arc::downgrade(&child);
        thread::spawn(move || {
            thread::sleep(LIMIT);
            if let Some(child) = watched.upgrade() {
                let _ = child.lock().unwrap().kill();
            }
        });
        (Watched(child), stdout, stderr)
    }

    /// How it ended. Call it once it has closed what it writes to: until then nobody could end it.
    fn status(&self) -> std::process::ExitStatus {
        self.0.lock().unwrap().wait().unwrap()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut child = self.0.lock().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn read_all(mut from: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Runs a program to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    let (child, stdout, stderr) = Watched::start(command);
    let errors = thread::spawn(move || read_all(stderr));
    let stdout = read_all(stdout);
    let stderr = errors.join().unwrap();
    Output {
        status: child.status(),
        stdout,
        stderr,
    }
}

/// The program in `talker.c` under way.
pub(crate) struct Talker {
    child: Watched,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Talker {
    pub(crate) fn start(command: &mut Command, arguments: &[&str]) -> Self {
        let (child, stdout, stderr) = Watched::start(command.args(arguments));
        Talker {
            child,
            stdout: BufReader::new(stdout),
            stderr: BufReader::new(stderr),
        }
    }

    /// The next line that it prints; empty at its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next line that it writes on standard error; empty at its end.
    pub(crate) fn error_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Whether it ended well, and the rest of what it wrote on standard error.
    pub(crate) fn end(&mut self) -> (bool, String) {
        let mut errors = String::new();
        self.stderr.read_to_string(&mut errors).unwrap();
        (self.child.status().success(), errors)
    }
}

/// A relay for one connection, which keeps what went each way.
pub(crate) struct Relay {
    pub(crate) endpoint: String,
    recorded: Arc<[Mutex<Vec<u8>>; 2]>,
}

impl Relay {
    /// To a `tcp` endpoint.
    pub(crate) fn to(endpoint: &str) -> Self {
        let target = endpoint.strip_prefix("tcp://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let recorded = Arc::<[Mutex<Vec<u8>>; 2]>::default();
        let ways = recorded.clone();
        thread::spawn(move || {
            let (near, _) = listener.accept().unwrap();
            let far = TcpStream::connect(target).unwrap();
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            let others = ways.clone();
            thread::spawn(move || pass(back.0, back.1, &others[1]));
            pass(near, far, &ways[0]);
        });
        Relay {
            endpoint: format!("tcp://{address}"),
            recorded,
        }
    }

    /// What went from the one that connected, and what came back.
    pub(crate) fn recorded(&self) -> [Vec<u8>; 2] {
        [0, 1].map(|way| self.recorded[way].lock().unwrap().clone())
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, recorded: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(size @ 1..) = from.read(&mut buffer) {
        // Before it goes on, so that who has received it finds it here.
        recorded.lock().unwrap().extend(&buffer[..size]);
        if to.write_all(&buffer[..size]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Whether one is in the other.
pub(crate) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
