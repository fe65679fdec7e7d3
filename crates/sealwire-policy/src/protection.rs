//! What a rule gives to an endpoint: a mechanism, with keys and the clients that are let in.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use sealwire::auth::{AllowAnyone, AllowedKeysFile, Authenticator, Client, Decision};
use sealwire::{KeyPair, PublicKey, SecretKey, Security, keys};

use crate::document::{Placed, Table};
use crate::fault::{Fault, Reason};

/// The mechanisms that a rule can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Blake3,
    Curve,
    PlainText,
}

impl Named {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Named::Blake3 => "BLAKE3",
            Named::Curve => "CURVE",
            Named::PlainText => "plain text",
        }
    }
}

/// What a rule gives.
#[derive(Debug, Clone)]
pub(crate) enum Protection {
    /// NULL, said explicitly.
    PlainText,
    /// The program's own, of this mechanism.
    Own(Named),
    /// Keys of the rule's.
    Keys {
        named: Named,
        /// Reads no file any more, but for the list of clients.
        security: Box<Security>,
        /// The side and the keys, for people.
        summary: String,
    },
}

/// The clients of a server.
#[derive(Debug)]
enum Clients {
    Anyone,
    Listed {
        list: Box<AllowedKeysFile>,
        path: PathBuf,
    },
}

impl Clients {
    /// # Errors
    ///
    /// For a list that cannot be read, in the file's words.
    fn of(text: &str, folder: &Path) -> Result<Self, Reason> {
        if text == "anyone" {
            return Ok(Clients::Anyone);
        }
        let path = located(text, folder)?;
        let list = AllowedKeysFile::open(&path)?;
        Ok(Clients::Listed {
            list: Box::new(list),
            path,
        })
    }
}

impl fmt::Display for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clients::Anyone => f.write_str("anyone who knows that key"),
            Clients::Listed { path, .. } => write!(f, "the keys in {}", path.display()),
        }
    }
}

impl Authenticator for Clients {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        match self {
            Clients::Anyone => AllowAnyone.authenticate(client),
            Clients::Listed { list, .. } => list.authenticate(client),
        }
    }

    fn revision(&self) -> Option<u64> {
        match self {
            Clients::Anyone => None,
            Clients::Listed { list, .. } => list.revision(),
        }
    }

    fn leaves_it_to_zap(&self) -> bool {
        matches!(self, Clients::Anyone)
    }

    fn allows_nobody(&self) -> bool {
        match self {
            Clients::Anyone => false,
            Clients::Listed { list, .. } => list.allows_nobody(),
        }
    }

    fn may_block(&self) -> bool {
        matches!(self, Clients::Listed { .. })
    }
}

/// A path that is written in a file of rules: relative to the folder of that file. It stays what it is when the program goes to
/// another folder.
///
/// # Errors
///
/// For a key where a path should be: its text is in no message.
fn located(text: &str, folder: &Path) -> Result<PathBuf, Reason> {
    if holds_key(text) && !leads_somewhere(text, folder) {
        return Err("is a key and not the path of a file: write the key to a file of its own, and if it is secret make another".into());
    }
    let path = folder.join(text);
    std::path::absolute(path).map_err(|error| format!("is not a path here: {error}").into())
}

/// Whether it is the path of what is there, or would be in a folder that is. A path of 40 characters without an underscore
/// reads as a key.
fn leads_somewhere(text: &str, folder: &Path) -> bool {
    let inside = Path::new(text).parent().filter(|above| {
        let mut parts = above.components();
        parts.any(|part| matches!(part, Component::Normal(_)))
    });
    folder.join(text).exists() || inside.is_some_and(|above| folder.join(above).is_dir())
}

/// Whether a key stands in it, by itself or as a line of a file has it.
fn holds_key(text: &str) -> bool {
    let is_key = |text: &str| text.parse::<SecretKey>().is_ok();
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    words.any(|word| {
        let bare = ["./", "0x", "z85:", "hex:"]
            .iter()
            .find_map(|start| word.strip_prefix(start));
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word), bare, value].into_iter().flatten().any(is_key)
    })
}

/// The path of a file of a key. A pipe would be waited for, and could be read by one process once.
fn key_file(text: &str, folder: &Path) -> Result<PathBuf, Reason> {
    let path = located(text, folder)?;
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            Err(Reason::not_a_file("the key").of(&path.display().to_string()))
        }
        _ => Ok(path),
    }
}

fn secret(text: &str, folder: &Path) -> Result<KeyPair, Reason> {
    Ok(keys::read_key_pair(key_file(text, folder)?)?)
}

/// A server of a mechanism, that lets `clients` in.
fn server(named: Named, own: KeyPair, old: Option<KeyPair>, clients: Clients) -> Protection {
    let summary = format!(
        "server with the public key {}, lets in {clients}",
        own.public()
    );
    let summary = match &old {
        None => summary,
        Some(old) => format!("{summary}; clients may also know it as {}", old.public()),
    };
    let security = match (named, old) {
        (Named::Curve, _) => Security::curve_server(own, clients),
        (_, None) => Security::blake3_server(own, clients).into(),
        (_, Some(old)) => Security::blake3_server(own, clients)
            .with_additional_keys(old)
            .into(),
    };
    Protection::Keys {
        named,
        security: Box::new(security),
        summary,
    }
}

/// A client of a mechanism. Without keys of its own it stays anonymous.
fn client(named: Named, of_server: PublicKey, own: Option<KeyPair>) -> Protection {
    let who = match &own {
        Some(own) => format!("as {}", own.public()),
        None => "anonymously".into(),
    };
    let summary = format!("client of the server {of_server}, {who}");
    let security = match (named, own) {
        (Named::Curve, own) => {
            Security::curve_client(of_server, own.unwrap_or_else(sealwire::Generate::generate))
        }
        (_, None) => Security::blake3_client(of_server).into(),
        (_, Some(own)) => Security::blake3_client_with_keys(of_server, own).into(),
    };
    Protection::Keys {
        named,
        security: Box::new(security),
        summary,
    }
}

impl Protection {
    /// A BLAKE3 server of what variables say.
    ///
    /// # Errors
    ///
    /// For a key or a list that cannot be read; the first says which of the two it was.
    pub(crate) fn server_of(secret_key_file: &str, allow: &str) -> Result<Self, (bool, Reason)> {
        let folder = Path::new("");
        let own = secret(secret_key_file, folder).map_err(|error| (true, error))?;
        let clients = Clients::of(allow, folder).map_err(|error| (false, error))?;
        Ok(server(Named::Blake3, own, None, clients))
    }

    /// A BLAKE3 client of what variables say.
    ///
    /// # Errors
    ///
    /// For a key that cannot be read.
    pub(crate) fn client_of(
        of_server: PublicKey,
        secret_key_file: Option<&str>,
    ) -> Result<Self, Reason> {
        let own = secret_key_file
            .map(|file| secret(file, Path::new("")))
            .transpose()?;
        Ok(client(Named::Blake3, of_server, own))
    }

    /// Reads the keys of a rule.
    ///
    /// # Errors
    ///
    /// For keys that are missing, that do not go together, or whose files cannot be read.
    pub(crate) fn read(table: &Table<'_>, folder: &Path) -> Result<Self, Fault> {
        let mechanism = table.text("mechanism")?.ok_or_else(|| {
            table.fault(
                table.line,
                "the rule has no mechanism; write mechanism = \"blake3\", \"curve\" or \"plain-text\"",
            )
        })?;
        let named = match mechanism.value {
            "blake3" => Named::Blake3,
            "curve" => Named::Curve,
            "plain-text" => Named::PlainText,
            _ => {
                return Err(table.fault(
                    mechanism.line,
                    "mechanism is not one of \"blake3\", \"curve\" and \"plain-text\"",
                ));
            }
        };
        let given = Given {
            secret_key_file: table.text("secret_key_file")?,
            additional: table.text("additional_secret_key_file")?,
            server_key_file: table.text("server_key_file")?,
            allow: table.text("allow")?,
            anonymous: table.flag("anonymous")?,
        };
        given.check(table, named)?;
        if named == Named::PlainText {
            return Ok(Protection::PlainText);
        }
        if given.first().is_none() {
            return Ok(Protection::Own(named));
        }
        let secret = |placed: Placed<&str>, key: &str| {
            secret(placed.value, folder).map_err(|reason| table.fault(placed.line, reason.of(key)))
        };
        let own = (given.secret_key_file)
            .map(|file| secret(file, "secret_key_file"))
            .transpose()?;
        if let Some(file) = given.server_key_file {
            let read =
                key_file(file.value, folder).and_then(|path| Ok(keys::read_public_key(path)?));
            let of_server =
                read.map_err(|reason| table.fault(file.line, reason.of("server_key_file")))?;
            return Ok(client(named, of_server, own));
        }
        let old = (given.additional)
            .map(|file| secret(file, "additional_secret_key_file"))
            .transpose()?;
        let (Some(own), Some(allow)) = (own, given.allow) else {
            return Err(table.fault(table.line, "the rule has neither server_key_file nor allow"));
        };
        let clients = Clients::of(allow.value, folder)
            .map_err(|reason| table.fault(allow.line, reason.of("allow")))?;
        Ok(server(named, own, old, clients))
    }
}

/// The keys of a rule as they are written.
struct Given<'a> {
    secret_key_file: Option<Placed<&'a str>>,
    additional: Option<Placed<&'a str>>,
    server_key_file: Option<Placed<&'a str>>,
    allow: Option<Placed<&'a str>>,
    anonymous: Option<Placed<bool>>,
}

impl Given<'_> {
    /// The first of those that are there, with its name.
    fn first(&self) -> Option<(usize, &'static str)> {
        let line = |placed: Option<Placed<&str>>| placed.map(|placed| placed.line);
        [
            (line(self.secret_key_file), "secret_key_file"),
            (line(self.additional), "additional_secret_key_file"),
            (line(self.server_key_file), "server_key_file"),
            (line(self.allow), "allow"),
            (self.anonymous.map(|placed| placed.line), "anonymous"),
        ]
        .into_iter()
        .find_map(|(line, name)| Some((line?, name)))
    }

    /// # Errors
    ///
    /// For keys that do not go together.
    fn check(&self, table: &Table<'_>, named: Named) -> Result<(), Fault> {
        let fault = |line, message: &str| Err(table.fault(line, message));
        if named == Named::PlainText {
            return match self.first() {
                Some((line, key)) => Err(table.fault(
                    line,
                    format!("{key} has no use for plain text; take it out, or write mechanism = \"blake3\""),
                )),
                None => Ok(()),
            };
        }
        if self.first().is_none() {
            return Ok(());
        }
        match (self.server_key_file, self.allow) {
            (Some(_), Some(allow)) => fault(
                allow.line,
                "server_key_file is for clients and allow for servers; take one of them out",
            ),
            (None, None) => fault(
                table.line,
                "the rule has neither server_key_file (to be a client) nor allow (to be a server); write one of them",
            ),
            (Some(_), None) => self.check_client(table, named),
            (None, Some(_)) => self.check_server(table, named),
        }
    }

    fn check_server(&self, table: &Table<'_>, named: Named) -> Result<(), Fault> {
        if let Some(anonymous) = self.anonymous {
            return Err(table.fault(anonymous.line, "anonymous is for clients; take it out"));
        }
        if self.secret_key_file.is_none() {
            return Err(table.fault(
                table.line,
                "a server has no key without secret_key_file; make one with sealwire keygen",
            ));
        }
        match self.additional {
            Some(additional) if named == Named::Curve => Err(table.fault(
                additional.line,
                "servers of CURVE have one key; take additional_secret_key_file out",
            )),
            _ => Ok(()),
        }
    }

    fn check_client(&self, table: &Table<'_>, named: Named) -> Result<(), Fault> {
        if let Some(additional) = self.additional {
            return Err(table.fault(
                additional.line,
                "additional_secret_key_file is for servers; take it out",
            ));
        }
        let anonymous = self.anonymous.filter(|placed| placed.value);
        match (self.secret_key_file, anonymous) {
            (Some(_), Some(anonymous)) => Err(table.fault(
                anonymous.line,
                "a client with secret_key_file is not anonymous; take one of them out",
            )),
            (None, None) => Err(table.fault(
                table.line,
                "the client has neither secret_key_file nor anonymous = true; write one of them",
            )),
            (None, Some(anonymous)) if named == Named::Curve => Err(table.fault(
                anonymous.line,
                "clients of CURVE show a key; give it a secret_key_file",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode};

    use super::*;

    #[test]
    fn clients_say_whether_they_are_listed_where_files_are_read_and_who_else_decides() {
        let folder = tempfile::tempdir().unwrap();
        let key = <KeyPair as sealwire::Generate>::generate().public();
        fs::write(folder.path().join("empty"), "").unwrap();
        fs::write(folder.path().join("one"), key.to_string()).unwrap();
        for (written, nobody, zap, blocks, revised) in [
            ("anyone", false, true, false, false),
            ("empty", true, false, true, true),
            ("one", false, false, true, true),
        ] {
            let clients = Clients::of(written, folder.path()).unwrap();
            assert_eq!(clients.allows_nobody(), nobody, "{written}");
            assert_eq!(clients.leaves_it_to_zap(), zap, "{written}");
            assert_eq!(clients.may_block(), blocks, "{written}");
            assert_eq!(clients.revision().is_some(), revised, "{written}");
        }
    }

    #[test]
    fn a_key_is_in_a_file_that_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        for name in ["pipe", "", "/dev/null"] {
            let fault = Fault::new("x", key_file(name, folder.path()).unwrap_err());
            assert!(fault.to_string().contains("is not a file"), "{fault}");
        }
        // The reading tells of one that is not there.
        assert!(key_file("absent", folder.path()).is_ok());
    }

    #[test]
    fn a_path_that_reads_as_a_key_is_a_path_where_it_leads_somewhere() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("keys")).unwrap();
        let pair = <KeyPair as sealwire::Generate>::generate();
        let [there, absent, nowhere] =
            ["keys/there", "keys/absent", "lost/absent"].map(|path| format!("{path:0<36}.key"));
        fs::write(
            folder.path().join(&there),
            pair.secret().to_z85().as_bytes(),
        )
        .unwrap();
        for path in [&there, &absent] {
            assert!(path.parse::<SecretKey>().is_ok(), "{path}");
            let located = located(path, folder.path()).map_err(|_| ()).unwrap();
            assert_eq!(located, folder.path().join(path));
        }
        // A slash does not make a path of a key.
        let with_slash = format!("/{}", &pair.secret().to_z85()[1..]);
        for key in [nowhere, with_slash] {
            let fault = Fault::new("x", located(&key, folder.path()).unwrap_err()).to_string();
            assert!(fault.contains("is a key and not the path"), "{fault}");
        }
    }

    /// A list is read again when the program may have gone to another folder.
    #[test]
    fn a_path_stays_what_it_is_when_the_program_goes_elsewhere() {
        let here = std::env::current_dir().unwrap();
        for (folder, at) in [
            ("", "clients"),
            ("rules", "rules/clients"),
            ("/etc", "/etc/clients"),
        ] {
            let path = located("clients", Path::new(folder))
                .map_err(|_| ())
                .unwrap();
            assert_eq!(path, here.join(at));
        }
        let path = located("/etc/clients", Path::new("rules"))
            .map_err(|_| ())
            .unwrap();
        assert_eq!(path, Path::new("/etc/clients"));
    }
}
