//! Where the policy of a process comes from: the file of the machine, a file that the environment names, or
//! variables for the smallest case.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sealwire::{PublicKey, keys};
use strsim::damerau_levenshtein;

use crate::fault::{Fault, Reason};
use crate::policy::Policy;
use crate::protection::Protection;
use crate::rule::{Role, Rule};

/// The file that counts for the whole machine.
pub const SYSTEM_FILE: &str = "/etc/sealwire/libzmq.conf";

/// The size of the largest file of rules, in bytes.
const MAX_FILE: u64 = 1 << 20;

const CONFIG: &str = "SEALWIRE_CONFIG";
const SERVER_KEY: &str = "SEALWIRE_SERVER_KEY";
const SECRET_KEY_FILE: &str = "SEALWIRE_SECRET_KEY_FILE";
const ALLOW: &str = "SEALWIRE_ALLOW";
/// Not read, so that nobody believes that it was.
const SECRET_KEY: &str = "SEALWIRE_SECRET_KEY";
const NAMES: [&str; 5] = [CONFIG, SERVER_KEY, SECRET_KEY_FILE, ALLOW, SECRET_KEY];

/// What a policy is read from.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The values of the variables that count.
    variables: Vec<(&'static str, OsString)>,
    /// The first that is set and does not count.
    ignored: Option<&'static str>,
    /// A variable that does not count, and the one that was meant.
    mistyped: Option<(String, &'static str)>,
    system_file: PathBuf,
    /// The user who has to own it.
    system_owner: u32,
}

impl Sources {
    /// Returns those of this process. A process that runs with rights of others than the user who started it
    /// (`secure`) is not told anything by its environment.
    pub fn of_process(secure: bool) -> Self {
        Self::of_environment(secure, env::vars_os())
    }

    fn of_environment(
        secure: bool,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let (mut set, mut mistyped) = (Vec::new(), None);
        for (name, value) in environment {
            if let Some(known) = NAMES.into_iter().find(|known| name == *known) {
                set.push((known, value));
            } else if mistyped.is_none() && !secure {
                mistyped = name.into_string().ok().and_then(meant);
            }
        }
        set.sort_by_key(|(known, _)| NAMES.iter().position(|name| name == known));
        let (ignored, variables): (Vec<_>, Vec<_>) = set.into_iter().partition(|_| secure);
        Sources {
            variables,
            ignored: ignored.first().map(|(name, _)| *name),
            mistyped,
            system_file: SYSTEM_FILE.into(),
            system_owner: 0,
        }
    }

    /// Takes this file in place of the one that the environment names. Other variables than that stay.
    #[must_use]
    pub fn with_config(mut self, path: impl Into<OsString>) -> Self {
        self.variables.retain(|(name, _)| *name != CONFIG);
        self.variables.push((CONFIG, path.into()));
        self
    }

    /// Returns a variable that is set and not believed, so that somebody can be told.
    pub fn ignored(&self) -> Option<&'static str> {
        self.ignored
    }

    /// Reads the policy; `None` where nothing says that there is one.
    ///
    /// # Errors
    ///
    /// Any fault in what is named: a file that is not there, a key of the file that is unknown, missing, there twice or of another
    /// type, keys and lists that cannot be read, variables that contradict each other or have nearly the name of one.
    pub fn read(&self) -> Result<Option<Policy>, Fault> {
        // Before anything else, as a file that cannot be read may be one that is locked.
        let of_system = match read_file(&self.system_file, Some(self.system_owner)) {
            Ok(text) => Some(Policy::parse(&self.system_file, &text, true)?),
            Err(Unread::Missing) => None,
            Err(error) => return Err(error.fault(&self.system_file)),
        };
        match of_system {
            Some(policy) if policy.is_locked() => Ok(Some(policy)),
            of_system => Ok(self.policy_of_variables()?.or(of_system)),
        }
    }

    fn variable(&self, name: &str) -> Result<Option<&str>, Fault> {
        let Some((_, value)) = self.variables.iter().find(|(other, _)| *other == name) else {
            return Ok(None);
        };
        match value.to_str() {
            Some("") => Err(Fault::new(
                name,
                "is set and empty; unset it, or give it a value",
            )),
            Some(value) => Ok(Some(value)),
            None => Err(Fault::new(
                name,
                "is not text; give it a path or key in UTF-8",
            )),
        }
    }

    fn policy_of_variables(&self) -> Result<Option<Policy>, Fault> {
        if let Some((name, meant)) = &self.mistyped {
            return Err(Fault::new(
                name,
                format!(
                    "no variable has this name, and {meant} has nearly; set that, or unset this"
                ),
            ));
        }
        if self.variables.iter().any(|(name, _)| *name == SECRET_KEY) {
            return Err(Fault::new(
                SECRET_KEY,
                format!(
                    "secrets are not taken from the environment, which others may read; unset it, and name a file in {SECRET_KEY_FILE}"
                ),
            ));
        }
        let server_key = self.variable(SERVER_KEY)?;
        let secret_key_file = self.variable(SECRET_KEY_FILE)?;
        let allow = self.variable(ALLOW)?;
        if let Some(path) = self.variable(CONFIG)? {
            let others = [
                (SERVER_KEY, server_key),
                (SECRET_KEY_FILE, secret_key_file),
                (ALLOW, allow),
            ];
            if let Some((name, _)) = others.iter().find(|(_, value)| value.is_some()) {
                return Err(Fault::new(
                    name,
                    format!("is set beside {CONFIG}, which says everything; unset one of them"),
                ));
            }
            let path = Path::new(path);
            let text = read_file(path, None).map_err(|error| error.fault(path))?;
            return Policy::parse(path, &text, false).map(Some);
        }
        let mut rules = Vec::new();
        if let Some(key) = server_key {
            let key: PublicKey = key.parse().map_err(|_| {
                Fault::new(
                    SERVER_KEY,
                    "is not a public key; write its 40 characters (Z85) or 64 (hex)",
                )
            })?;
            let protection = Protection::client_of(key, secret_key_file)
                .map_err(|error| Fault::new(SECRET_KEY_FILE, error))?;
            rules.push(Rule::of_network(Role::Connect, protection, SERVER_KEY));
        }
        match (secret_key_file, allow) {
            (Some(file), Some(allow)) => {
                let protection =
                    Protection::server_of(file, allow).map_err(|(of_key, error)| {
                        Fault::new(if of_key { SECRET_KEY_FILE } else { ALLOW }, error)
                    })?;
                rules.push(Rule::of_network(Role::Bind, protection, ALLOW));
            }
            (None, Some(_)) => {
                return Err(Fault::new(
                    ALLOW,
                    format!("a server has no key without {SECRET_KEY_FILE}; set it too"),
                ));
            }
            (Some(_), None) if server_key.is_none() => {
                return Err(Fault::new(
                    SECRET_KEY_FILE,
                    format!("says nothing alone; set {SERVER_KEY} to connect, {ALLOW} to bind"),
                ));
            }
            _ => {}
        }
        if rules.is_empty() {
            return Ok(None);
        }
        let named = [server_key.map(|_| SERVER_KEY), allow.map(|_| ALLOW)];
        let place: Vec<_> = named.into_iter().flatten().collect();
        let remedies = [
            format!("set {ALLOW} and {SECRET_KEY_FILE}, or write a file of rules"),
            format!("set {SERVER_KEY}, or write a file of rules"),
        ];
        Ok(Some(Policy::of_variables(
            rules,
            place.join(" and "),
            remedies,
        )))
    }
}

/// The variable that this one was meant to be, if it is nearly that: two letters at most are wrong, missing or in one
/// another's place, whatever their case, or it has `_FILE` behind it.
fn meant(name: String) -> Option<(String, &'static str)> {
    let letters = |name: &str| name.replace(['_', '-'], "").to_uppercase();
    let of_file = ["_FILE", "_PATH"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    let near = |known: &&str| {
        [Some(&*name), of_file]
            .into_iter()
            .flatten()
            .any(|name| damerau_levenshtein(&letters(name), &letters(known)) <= 2)
    };
    let meant = NAMES.into_iter().find(near)?;
    Some((name, meant))
}

/// Why a file of rules was not read.
enum Unread {
    Missing,
    Read(io::Error),
    /// A pipe, a device or a link to nothing.
    NotAFile,
    TooLarge,
    NotText,
    /// The mode, and what there is to do.
    Exposed(u32, &'static str),
    /// The user who has it.
    Owner(u32),
}

impl Unread {
    fn fault(self, path: &Path) -> Fault {
        let reason = match self {
            Unread::Missing => {
                Reason::from("cannot be read: there is no such file; write it, or do not name it")
            }
            Unread::Read(error) => Reason::of_reading(&error),
            Unread::NotAFile => Reason::not_a_file("the rules"),
            Unread::TooLarge => {
                format!("has more than {MAX_FILE} bytes; it is not a file of rules").into()
            }
            Unread::NotText => "is not text in UTF-8; it is not a file of rules".into(),
            Unread::Exposed(mode, remedy) => format!(
                "may be changed by others (mode {mode:03o}); run chmod {remedy} on it and read what it says"
            )
            .into(),
            Unread::Owner(user) => format!(
                "belongs to user {user}; it counts for all, so give it to root, and read what it says"
            )
            .into(),
        };
        Fault::new(path.display(), reason)
    }
}

/// Reads a file of rules, that nobody may change but those who are meant to: for that of the machine `owner` alone,
/// for others its owner and group.
fn read_file(path: &Path, owner: Option<u32>) -> Result<String, Unread> {
    let leads_nowhere = |part: &Path| part.is_symlink() && !part.exists();
    let file = keys::open_regular(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.ancestors().any(leads_nowhere) => Unread::NotAFile,
        io::ErrorKind::NotFound => Unread::Missing,
        io::ErrorKind::InvalidInput => Unread::NotAFile,
        _ => Unread::Read(error),
    })?;
    let metadata = file.metadata().map_err(Unread::Read)?;
    if let Some(owner) = owner
        && metadata.uid() != owner
    {
        return Err(Unread::Owner(metadata.uid()));
    }
    let (forbidden, remedy) = match owner {
        Some(_) => (0o022, "go-w"),
        None => (0o002, "o-w"),
    };
    if metadata.mode() & forbidden != 0 {
        return Err(Unread::Exposed(metadata.mode() & 0o777, remedy));
    }
    let mut text = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut text)
        .map_err(Unread::Read)?;
    if text.len() as u64 > MAX_FILE {
        return Err(Unread::TooLarge);
    }
    String::from_utf8(text).map_err(|_| Unread::NotText)
}

#[cfg(test)]
mod tests;
