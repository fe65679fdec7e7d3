//! The terminal: keys, drawing, and giving it back as it was.

use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{DefaultTerminal, restore, try_init};

use super::reader::{Problem, Reader};
use super::state::{Key, State, Tab};
use super::view::{Shown, draw};
use crate::exit::{Code, Failure};
use crate::interrupt;
use crate::snapshot::Snapshot;
use crate::threads;

/// Longest wait for a key before it looks for snapshots.
const TICK: Duration = Duration::from_millis(50);

/// How long a signal waits for what is being drawn.
const DRAWING: Duration = Duration::from_secs(1);

/// Held while something is drawn, and for ever by what ends the program.
static DRAWS: Mutex<()> = Mutex::new(());

/// What a reader found: a snapshot, or why there is none.
type News = Result<Snapshot, Problem>;

/// Draws until the user ends it. A signal ends the program, and a panic is told, on the terminal as it was before.
pub(super) fn run(reader: Reader, interval: Duration) -> Result<(), Failure> {
    let (tell, news) = mpsc::sync_channel(1);
    // The first answer says whether there is anything to draw.
    let first = reader.ask().map(|answer| answer.snapshot)?;
    threads::spawn(move || read(&reader, interval, &tell))?;
    interrupt::end_on_signal(|| {
        // Where drawing is held up, the terminal takes nothing at all.
        if let Some(drawing) = drawing_within(DRAWING) {
            restore();
            // Nothing is drawn any more.
            std::mem::forget(drawing);
        }
    })?;
    on_terminal(|terminal| show(terminal, first, &news)).map_err(|error| failed(&error))
}

/// Draws, and gives the terminal back, before a panic is told too.
fn on_terminal(draws: impl FnOnce(&mut DefaultTerminal) -> io::Result<()>) -> io::Result<()> {
    let beginning = drawing();
    let _restored = Restored;
    // This has a panic restore it.
    let mut terminal = try_init()?;
    drop(beginning);
    draws(&mut terminal)
}

/// Gives the terminal back, however drawing ends.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        restore();
    }
}

fn failed(error: &io::Error) -> Failure {
    Failure::new(Code::Failed, format!("cannot use the terminal: {error}"))
}

fn drawing() -> MutexGuard<'static, ()> {
    DRAWS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn drawing_within(limit: Duration) -> Option<MutexGuard<'static, ()>> {
    let deadline = Instant::now() + limit;
    loop {
        match DRAWS.try_lock() {
            Ok(drawing) => return Some(drawing),
            Err(TryLockError::Poisoned(drawing)) => return Some(drawing.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(TICK),
        }
    }
}

/// Asks again and again, until nobody listens.
fn read(reader: &Reader, interval: Duration, tell: &SyncSender<News>) {
    loop {
        thread::sleep(interval);
        if tell
            .send(reader.ask().map(|answer| answer.snapshot))
            .is_err()
        {
            return;
        }
    }
}

fn show(terminal: &mut DefaultTerminal, first: Snapshot, news: &Receiver<News>) -> io::Result<()> {
    let (mut before, mut now, mut problem) = (None, first, None);
    let mut state = State::default();
    while !state.is_over {
        match news.try_recv() {
            // Snapshots that come while it is paused are left out.
            Ok(_) if state.is_paused => {}
            Ok(Ok(snapshot)) => {
                before = Some(std::mem::replace(&mut now, snapshot));
                problem = None;
            }
            Ok(Err(why)) => problem = Some(why),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => break,
        }
        let shown = Shown {
            before: before.as_ref(),
            now: Some(&now),
            problem: problem.as_ref().map(Problem::message),
            state,
        };
        let drawing = drawing();
        let height = terminal.draw(|frame| draw(frame, &shown))?.area.height;
        drop(drawing);
        if !event::poll(TICK)? {
            continue;
        }
        // Of another size it is drawn anew.
        if let Event::Key(key) = event::read()?
            && let Some(key) = meaning(key)
        {
            let (lines, page) = shown.extent(height);
            state.apply(key, page, lines);
        }
    }
    Ok(())
}

/// What a key stands for.
fn meaning(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        KeyCode::Char(digit @ '1'..='4') => {
            let at = digit.to_digit(10).unwrap_or(1) as usize - 1;
            Key::Show(Tab::ALL[at])
        }
        KeyCode::Tab => Key::NextTab,
        KeyCode::Char('s') => Key::Order,
        KeyCode::Char('p' | ' ') => Key::Pause,
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_meanings() {
        let press = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        for (number, tab) in (1..=4).zip(Tab::ALL) {
            let digit = char::from_digit(number, 10).unwrap();
            assert_eq!(press(KeyCode::Char(digit)), Some(Key::Show(tab)));
        }
        assert_eq!(press(KeyCode::Char('q')), Some(Key::Quit));
        assert_eq!(press(KeyCode::Char('c')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(meaning(interrupt), Some(Key::Quit));
        let mut released = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(meaning(released), None);
    }

    /// Set for a process that draws and panics.
    #[cfg(target_os = "linux")]
    const PANICS: &str = "SEALWIRE_TEST_PANICS_ON_ITS_TERMINAL";

    /// This test once more, in a process that has a terminal.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_panic_is_told_on_the_terminal_as_it_was() {
        use std::fs::File;
        use std::io::Read as _;
        use std::process::{Command, Stdio};

        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::tcgetattr;

        if std::env::var_os(PANICS).is_some() {
            let _ = on_terminal(|terminal| {
                terminal.draw(|frame| frame.render_widget("what is drawn", frame.area()))?;
                panic!("on purpose");
            });
            return;
        }
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let terminal = open();
        let size = rustix::termios::Winsize {
            ws_row: 24,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        let before = tcgetattr(&terminal).unwrap().local_modes;
        let test = thread::current().name().unwrap().to_owned();
        let mut child = Command::new("setsid")
            .arg("--ctty")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .env("TERM", "xterm")
            .env(PANICS, "1")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        let (tell, told) = mpsc::channel();
        let mut reader = File::from(master);
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if tell.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut all = String::new();
        while !all.contains("test result") {
            let more = told.recv_timeout(Duration::from_secs(60));
            all += &String::from_utf8_lossy(&more.unwrap_or_else(|_| panic!("no end: {all}")));
        }
        assert_eq!(child.wait().unwrap().code(), Some(101), "{all}");
        let at = |text: &str| {
            all.find(text)
                .unwrap_or_else(|| panic!("no {text:?}: {all:?}"))
        };
        // The other screen, what is drawn there, the way back, and only then the panic.
        let places = ["\u{1b}[?1049h", "drawn", "\u{1b}[?1049l", "on purpose"].map(at);
        assert!(places.is_sorted(), "{places:?}: {all:?}");
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before);
    }
}
