//! `--inspect`: snapshots of a command for `sealwire top`, over a Unix socket that its owner alone reaches.
//!
//! It is a REP socket in a context of its own, so that limits and time limits are the engine's, and it is none of
//! what it shows. Three locks are on the door: the file's mode is 0600 from the moment it is there, the system says
//! whose process connects (Linux), and a request does nothing but read.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use sealwire::auth::Guest;
use sealwire::blocking::Socket;
use sealwire::{Context, Endpoint, Error, Message, Security, SocketBuilder, SocketType, panics};

use crate::exit::{Code, Failure};
use crate::snapshot::{REQUEST, Snapshot, VERSION};
use crate::threads;

/// Readers at the same time; more are turned away.
const MAX_CONNECTIONS: usize = 16;

/// Bytes that a request may have.
const MAX_REQUEST: usize = 64;

/// Time for a handshake, and of the heartbeats that notice a reader which is gone.
const TIME: Duration = Duration::from_secs(5);

/// How long a snapshot counts as new.
const FRESH: Duration = Duration::from_millis(100);

/// The mode of the file.
const MODE: u32 = 0o600;

/// The socket, to be closed as the program ends, so that its file goes.
static SOCKET: Mutex<Option<Socket>> = Mutex::new(None);

/// Writes numbers of the command beside those of its sockets, in the text format of Prometheus.
pub(crate) type More = Box<dyn Fn() -> String + Send>;

/// Where snapshots are served.
#[derive(Debug, Clone, Args)]
pub(crate) struct InspectionOptions {
    /// Serve snapshots for `sealwire top PATH` on a Unix socket of this path, which only this user can connect to
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    inspect: Option<PathBuf>,
}

/// Reads the path of a socket: no abstract name, which has no mode, and no `*`, which nobody would find.
pub(crate) fn parse_path(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "*" => Err("give the path of a file, such as /run/user/1000/pull.sock".to_owned()),
        name if name.starts_with('@') => {
            Err("an abstract name has no owner; give the path of a file".to_owned())
        }
        path => Ok(path.into()),
    }
}

/// The endpoint of a path.
pub(crate) fn endpoint(path: &std::path::Path) -> Result<Endpoint, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    Ok(Endpoint::Ipc(absolute))
}

/// A socket that serves snapshots, or reads them, over `ipc` and with those alone whom the rule admits.
fn socket(socket_type: SocketType, context: &Context, rule: Rule) -> SocketBuilder {
    Socket::builder(socket_type)
        .context(context)
        .security(Security::plain_text())
        .admit(move |guest: &Guest<'_>| admits(rule, guest))
        .handshake_timeout(TIME)
        .heartbeat(TIME)
        .linger(Duration::ZERO)
}

/// A socket that reads snapshots, of commands of this user alone.
pub(crate) fn reader(context: &Context) -> SocketBuilder {
    socket(SocketType::Req, context, Rule(may_be_read))
}

/// Whether this user and that of the process at the other end may talk.
#[derive(Clone, Copy)]
struct Rule(fn(u32, u32) -> bool);

fn admits(Rule(may_talk): Rule, guest: &Guest<'_>) -> bool {
    match guest.process() {
        Some(process) => may_talk(this_user(), process.user),
        // Where the system does not say whose process it is, the file's mode has decided.
        None => !cfg!(target_os = "linux"),
    }
}

/// The administrator.
const ROOT: u32 = 0;

/// Whether `this` user's command answers a reader.
fn may_read(this: u32, reader: u32) -> bool {
    reader == this || reader == ROOT
}

/// Whether `this` user believes a command: what lies at a path may be somebody else's.
fn may_be_read(this: u32, command: u32) -> bool {
    command == this || this == ROOT
}

#[cfg(unix)]
fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn this_user() -> u32 {
    u32::MAX
}

impl InspectionOptions {
    /// Serves snapshots, if that is wanted, until the program ends. Those of the sockets of the context, where there is
    /// one.
    pub(super) fn serve(
        &self,
        command: &str,
        context: Option<Context>,
        more: More,
    ) -> Result<(), Failure> {
        let Some(path) = &self.inspect else {
            return Ok(());
        };
        let socket = socket(SocketType::Rep, &Context::new()?, Rule(may_read))
            .ipc_mode(MODE)
            .max_connections(MAX_CONNECTIONS)
            .max_message_size(MAX_REQUEST)
            .build_blocking()?;
        socket.bind(endpoint(path)?).map_err(|error| {
            let problem = format!("cannot serve --inspect at {}: {error}", path.display());
            Failure::new(Code::Failed, problem)
        })?;
        *SOCKET.lock().unwrap_or_else(PoisonError::into_inner) = Some(socket.clone());
        let mut source = Source {
            command: command.to_owned(),
            began: Instant::now(),
            context,
            more,
            last: None,
        };
        threads::spawn(move || while source.answer(&socket).is_ok() {}).map(drop)
    }
}

/// Ends what [`InspectionOptions::serve`] began, and removes its file.
pub(crate) fn end() {
    let socket = SOCKET.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(socket) = socket {
        let _ = socket.close_with_linger(Duration::ZERO);
    }
}

/// What snapshots are made of, and the last one.
struct Source {
    command: String,
    began: Instant,
    context: Option<Context>,
    more: More,
    last: Option<(Instant, Vec<u8>)>,
}

impl Source {
    /// Answers one request; an error ends the service.
    fn answer(&mut self, socket: &Socket) -> Result<(), Error> {
        let request = socket.recv()?;
        let answer = match request.frames() {
            [only] if **only == *REQUEST => self.snapshot(),
            _ => written(&Snapshot::refusal(format!(
                "ask for 'snapshot', a message of one frame; this is version {VERSION}"
            ))),
        };
        // The reader may be gone; a socket that is closed says so next time.
        let _ = socket.send(Message::from(answer));
        Ok(())
    }

    /// A snapshot as JSON, not older than [`FRESH`].
    fn snapshot(&mut self) -> Vec<u8> {
        let now = Instant::now();
        if let Some((made, text)) = &self.last
            && now.saturating_duration_since(*made) < FRESH
        {
            return text.clone();
        }
        let snapshot = panics::contain(|| self.make());
        let defect = |_| Snapshot::refusal("a defect of this program; please report it");
        let text = written(&snapshot.unwrap_or_else(defect));
        self.last = Some((now, text.clone()));
        text
    }

    fn make(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            version: VERSION,
            command: self.command.clone(),
            process: std::process::id(),
            ..Snapshot::default()
        };
        if let Some(context) = &self.context {
            match context.metrics() {
                Ok(metrics) => snapshot.add_context(&metrics),
                Err(error) => return Snapshot::refusal(error.to_string()),
            }
        }
        snapshot.age = self.began.elapsed().as_secs_f64();
        snapshot.add_numbers(&(self.more)());
        snapshot
    }
}

fn written(snapshot: &Snapshot) -> Vec<u8> {
    // Maps with names for keys, and numbers: all that JSON can write.
    serde_json::to_vec(snapshot).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_answers_its_owner_and_the_administrator() {
        assert!(may_read(1_000, 1_000) && may_read(1_000, ROOT) && may_read(ROOT, ROOT));
        assert!(!may_read(1_000, 1_001) && !may_read(ROOT, 1_000));
    }

    #[test]
    fn a_reader_believes_its_own_commands_and_the_administrator_all() {
        assert!(may_be_read(1_000, 1_000) && may_be_read(ROOT, 1_000));
        assert!(!may_be_read(1_000, 1_001) && !may_be_read(1_000, ROOT));
    }

    #[test]
    fn what_has_no_owner_is_no_path() {
        for text in ["", "*", "@name"] {
            assert!(parse_path(text).is_err(), "{text}");
        }
        assert_eq!(parse_path("a.sock"), Ok("a.sock".into()));
    }
}
