//! Runs the real program and reads what it says.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// No wait is longer; a program that takes longer hangs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A program under way. Ended when dropped.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<String>,
    said: String,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Finished {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("text on standard output")
    }

    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// Starts the program with an empty standard input.
pub(crate) fn start(arguments: &[&str]) -> Running {
    start_with_input(arguments, b"")
}

/// Starts the program with these bytes on its standard input. It may stop reading before their end.
pub(crate) fn start_with_input(arguments: &[&str], input: &[u8]) -> Running {
    let mut running = start_interactive(arguments);
    let mut stdin = running.stdin.take().expect("a pipe");
    match stdin.write_all(input) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("its input: {error}"),
        _ => {}
    }
    running
}

/// Starts the program and keeps its standard input open.
pub(crate) fn start_interactive(arguments: &[&str]) -> Running {
    start_command(Command::new(env!("CARGO_BIN_EXE_sealwire")).args(arguments))
}

/// Starts what ends up as the program, and keeps its standard input open.
pub(crate) fn start_command(command: &mut Command) -> Running {
    start_with_stdin(command, Stdio::piped())
}

/// Starts the program as a service manager does, with a listener as the one socket that is passed to it.
#[cfg(unix)]
pub(crate) fn start_passed(listener: &std::net::TcpListener, arguments: &[&str]) -> Running {
    start_passed_as("", "/dev/null", listener, arguments)
}

/// The same with a name for that socket, and a file for its input.
#[cfg(unix)]
pub(crate) fn start_passed_as(
    name: &str,
    input: &str,
    listener: &std::net::TcpListener,
    arguments: &[&str],
) -> Running {
    // The shell becomes the program, whose number LISTEN_PID has to be.
    const PASS: &str = "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\" 3<&0 0<\"$INPUT\"";
    let listener = listener.try_clone().expect("a descriptor");
    let mut command = Command::new("sh");
    command.args(["-c", PASS, "sh", env!("CARGO_BIN_EXE_sealwire")]);
    command.env("LISTEN_FDNAMES", name).env("INPUT", input);
    let descriptor = std::os::fd::OwnedFd::from(listener);
    start_with_stdin(command.args(arguments), descriptor.into())
}

fn start_with_stdin(command: &mut Command, stdin: Stdio) -> Running {
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (stdout_sender, stdout) = mpsc::channel();
    let (stderr_sender, stderr) = mpsc::channel();
    let mut out = child.stdout.take().expect("a pipe");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = out.read_to_end(&mut bytes);
        let _ = stdout_sender.send(bytes);
    });
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = stderr_sender.send(line);
        }
    });
    Running {
        stdin: child.stdin.take(),
        child,
        stdout,
        stderr,
        said: String::new(),
    }
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Finished {
    start(arguments).finish()
}

impl Running {
    /// Its number among the processes.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line on standard error that contains `needle`.
    #[track_caller]
    pub(crate) fn await_line(&mut self, needle: &str) -> String {
        // Of all lines: some programs never cease to tell of something.
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.stderr.recv_timeout(left) else {
                panic!("no line with '{needle}' came, only:\n{}", self.said);
            };
            self.said += &line;
            self.said.push('\n');
            if line.contains(needle) {
                return line;
            }
        }
    }

    /// Waits for a line on standard error that contains `needle`; `None` when it ends without one.
    pub(crate) fn line_or_end(&mut self, needle: &str) -> Option<String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.stderr.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("neither came:\n{}", self.said),
            };
            self.said += &line;
            self.said.push('\n');
            if line.contains(needle) {
                return Some(line);
            }
        }
    }

    /// What it has said on standard error since it was last asked, without waiting.
    pub(crate) fn lines_so_far(&mut self) -> Vec<String> {
        let lines: Vec<_> = self.stderr.try_iter().collect();
        for line in &lines {
            self.said += line;
            self.said.push('\n');
        }
        lines
    }

    /// Where it listens, with the port that was chosen.
    #[track_caller]
    pub(crate) fn endpoint(&mut self) -> String {
        let line = self.await_line("listening on ");
        line.rsplit(' ')
            .next()
            .expect("an endpoint")
            .trim_end_matches("\"}")
            .to_owned()
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.stdin
            .as_mut()
            .expect("interactive")
            .write_all(text.as_bytes())
            .expect("it reads");
    }

    pub(crate) fn interrupt(&self) {
        interrupt(&self.child);
    }

    /// As a service manager does.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Terminates it and waits for its end. Its input stays open, as it could end with that instead.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn terminated(mut self) -> Finished {
        let _input = self.stdin.take();
        self.terminate();
        self.finish()
    }

    /// Interrupts it and waits for its end. Its input stays open, as it could end with that instead.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn interrupted(mut self) -> Finished {
        let _input = self.stdin.take();
        self.interrupt();
        self.finish()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Finished {
        drop(self.stdin.take());
        let Ok(stdout) = self.stdout.recv_timeout(TIMEOUT) else {
            panic!("the program does not end; it said:\n{}", self.said);
        };
        let code = self.child.wait().expect("a child").code();
        let mut stderr = std::mem::take(&mut self.said);
        for line in self.stderr.iter() {
            stderr += &line;
            stderr.push('\n');
        }
        Finished {
            code,
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that nobody reads: its first line on standard error does not end. Ended when dropped.
#[cfg(unix)]
pub(crate) struct Unread {
    child: Child,
    _reader: std::os::unix::net::UnixStream,
}

#[cfg(unix)]
impl Unread {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let (reader, mut full) = std::os::unix::net::UnixStream::pair().expect("sockets");
        full.set_nonblocking(true).expect("a socket");
        while full.write(&[b'x'; 4_096]).is_ok() {}
        while full.write(b"x").is_ok() {}
        full.set_nonblocking(false).expect("a socket");
        let child = Command::new(env!("CARGO_BIN_EXE_sealwire"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::os::fd::OwnedFd::from(full))
            .spawn()
            .expect("the program starts");
        Unread {
            child,
            _reader: reader,
        }
    }

    /// Interrupts it and waits for its end: its exit code.
    pub(crate) fn interrupted(mut self) -> Option<i32> {
        interrupt(&self.child);
        self.child.wait().expect("a child").code()
    }
}

#[cfg(unix)]
impl Drop for Unread {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn interrupt(child: &Child) {
    signal(child, "-INT");
}

fn signal(child: &Child, signal: &str) {
    let id = child.id().to_string();
    let kill = Command::new("kill").args([signal, &id]).status();
    assert!(kill.expect("kill").success());
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::yield_now();
    }
}

/// Key files of a server, of alice and of mallory, and an allow-list with alice alone.
pub(crate) struct Keys {
    folder: TempDir,
}

impl Keys {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = Keys { folder };
        for name in ["server", "alice", "mallory"] {
            run(&["keygen", "--out", &keys.path(name)]).expect_code(0);
        }
        std::fs::create_dir(keys.path("allowed")).expect("a folder");
        std::fs::copy(keys.path("alice.pub"), keys.path("allowed/alice.pub")).expect("a copy");
        keys
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder
            .path()
            .join(name)
            .to_str()
            .expect("text")
            .to_owned()
    }

    /// `command` as a server that listens on a free port and allows alice.
    pub(crate) fn server(&self, command: &[&str]) -> Running {
        let (key, allowed) = (self.path("server.key"), self.path("allowed"));
        let security = ["--server", "--secret-key-file", &key, "--allow", &allowed];
        start(&[command, &["--bind", "tcp://127.0.0.1:0"], &security].concat())
    }

    /// `command` as this client.
    pub(crate) fn client(&self, name: &str, command: &[&str]) -> Running {
        let (server, key) = (self.path("server.pub"), self.path(&format!("{name}.key")));
        let security = ["--server-key", &server, "--secret-key-file", &key];
        start(&[command, &security].concat())
    }
}
