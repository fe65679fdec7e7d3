//! `top` on a real terminal: what it draws, how keys and sizes change that, and that the terminal is as it was.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::{Place, pull, snapshot};
use crate::support::{eventually, run};

/// What leaves the other screen, on which it draws.
const RESTORED: &str = "\u{1b}[?1049l";

/// `top` on a terminal of its own. Killed when dropped.
struct Top {
    child: Child,
    master: File,
    /// Kept open, so that its modes can be read after the end.
    terminal: OwnedFd,
    drawn: Arc<Mutex<Vec<u8>>>,
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

impl Top {
    fn start(path: &str, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let name = name.to_str().expect("text").to_owned();
        let open = || {
            let mut options = File::options();
            let file = options.read(true).write(true).open(&name);
            OwnedFd::from(file.expect("a terminal"))
        };
        let terminal = open();
        tcsetwinsize(&terminal, size(columns, rows)).expect("a terminal");
        // With the terminal as its own, where its size is asked for.
        let child = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_sealwire"), "top", path])
            .args(["--interval", "50ms", "--timeout", "60s"])
            .env("TERM", "xterm")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .expect("the program starts");
        let master = File::from(master);
        let (mut reader, drawn) = (master.try_clone().expect("a terminal"), Arc::default());
        let sink: Arc<Mutex<Vec<u8>>> = Arc::clone(&drawn);
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                sink.lock()
                    .expect("no panic")
                    .extend_from_slice(&bytes[..count]);
            }
        });
        Top {
            child,
            master,
            terminal,
            drawn,
        }
    }

    /// Whether this was drawn since it was last forgotten. Blanks are left out of what is drawn.
    fn has_drawn(&self, text: &str) -> bool {
        let drawn = self.drawn.lock().expect("no panic");
        String::from_utf8_lossy(&drawn).contains(text)
    }

    #[track_caller]
    fn await_text(&self, text: &str) {
        eventually(text, || self.has_drawn(text));
    }

    fn forget(&self) {
        self.drawn.lock().expect("no panic").clear();
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("it reads");
    }

    fn modes(&self) -> LocalModes {
        tcgetattr(&self.terminal).expect("a terminal").local_modes
    }

    /// Waits for its end: its exit code, once the terminal is as it was.
    #[track_caller]
    fn finish(&mut self, before: LocalModes) -> Option<i32> {
        let code = self.child.wait().expect("a child").code();
        self.await_text(RESTORED);
        assert_eq!(self.modes(), before);
        code
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_and_sizes_change_what_is_drawn() {
    let place = Place::new();
    let path = place.path();
    let (_pull, endpoint) = pull(&path);
    let mut top = Top::start(&path, 100, 24);
    let before = LocalModes::ICANON | LocalModes::ECHO;
    top.await_text("PULL");
    top.await_text(&endpoint);
    assert!(!top.modes().intersects(before));
    top.press("2");
    top.await_text("SOCKET");
    top.await_text("RTT");
    top.press("3");
    top.await_text("CAUSE");
    top.press("s");
    top.await_text("rate");
    top.press("p");
    top.await_text("PAUSED");
    top.press("p1");
    // Narrower: columns go, names stay. It may draw once more before it hears of its size.
    let mut columns = 40;
    eventually("names without failures", || {
        top.forget();
        tcsetwinsize(&top.terminal, size(columns, 10)).expect("a terminal");
        // Of another size all is drawn again.
        columns = 81 - columns;
        top.await_text("PULL");
        !top.has_drawn("FAILED")
    });
    top.press("q");
    assert_eq!(top.child.wait().expect("a child").code(), Some(0));
    top.await_text(RESTORED);
    assert!(top.modes().contains(before));
}

#[test]
fn keys_that_come_with_a_new_size_are_taken() {
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    let mut top = Top::start(&path, 100, 24);
    top.await_text("PULL");
    for (key, column, columns) in [("2", "RTT", 101), ("1", "FAILED", 100)].repeat(50) {
        top.forget();
        tcsetwinsize(&top.terminal, size(columns, 24)).expect("a terminal");
        top.press(key);
        top.await_text(column);
    }
    top.press("q");
    assert_eq!(top.child.wait().expect("a child").code(), Some(0));
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    for (ends, code) in [
        ("q", 0),
        ("\u{3}", 0),
        ("-TERM", 143),
        ("-INT", 130),
        ("-HUP", 129),
    ] {
        let mut top = Top::start(&path, 80, 24);
        let before = top.modes();
        top.await_text("PULL");
        match ends.starts_with('-') {
            true => {
                let id = top.child.id().to_string();
                let kill = Command::new("kill").args([ends, &id]).status();
                assert!(kill.expect("kill").success());
            }
            false => top.press(ends),
        }
        assert_eq!(top.finish(before), Some(code), "{ends:?}");
    }
}

#[test]
fn a_command_that_ends_is_shown_as_it_was() {
    let place = Place::new();
    let path = place.path();
    let (pull, endpoint) = pull(&path);
    run(&["push", "-c", &endpoint, "-d", "hello"]).expect_code(0);
    eventually("received", || {
        snapshot(&path)["sockets"][0]["traffic"]["messages_received"] == 1
    });
    let mut top = Top::start(&path, 80, 24);
    top.await_text("PULL");
    pull.terminated().expect_code(0);
    // Another one at the same path is what is shown next.
    let (again, _) = super::pull(&path);
    let (id, mut columns) = (again.id().to_string(), 80);
    eventually("the other one", || {
        // Of another size all is drawn, and not the changed characters alone.
        columns = 161 - columns;
        tcsetwinsize(&top.terminal, size(columns, 24)).expect("a terminal");
        top.has_drawn(&id)
    });
    top.press("q");
    assert_eq!(top.child.wait().expect("a child").code(), Some(0));
}
