//! `check-config`: reads files as the commands do that are given them, and says what each holds.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use sealwire::auth::{AllowedKeysFile, PasswordFile};
use sealwire::keys;
use sealwire::options::{TlsIdentity, TlsTrust};
use serde::Serialize;

use crate::exit::{Code, Failure, eprint_json_quietly, eprintln_quietly};
use crate::passwords;
use crate::secret_source::SecretSource;
use crate::secrets::{read_public, read_tls_key};
use crate::untrusted;

/// Options of check-config.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("files").required(true).multiple(true)))]
pub(crate) struct CheckOptions {
    /// A file of rules for programs that are written for libzmq (repeatable); all files that it names are read too
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", group = "files")]
    rules: Vec<PathBuf>,

    /// A secret key (repeatable)
    #[arg(long, value_name = "FILE", group = "files")]
    secret_key_file: Vec<PathBuf>,

    /// A command of the shell that prints what such a file would hold
    #[arg(long, value_name = "COMMAND", group = "files")]
    secret_key_command: Vec<String>,

    /// A public key, such as that of a server (repeatable)
    #[arg(long, value_name = "FILE", group = "files")]
    server_key: Vec<PathBuf>,

    /// A list of public keys: a file or directory (repeatable)
    #[arg(long, value_name = "FILE_OR_DIR", group = "files")]
    allow: Vec<PathBuf>,

    /// A server's users and passwords (repeatable)
    #[arg(long, value_name = "FILE", group = "files")]
    passwords: Vec<PathBuf>,

    /// A client's password (repeatable)
    #[arg(long, value_name = "FILE", group = "files")]
    password_file: Vec<PathBuf>,

    /// A certificate, in PEM, to which --tls-key belongs
    #[arg(long, value_name = "FILE", group = "files", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Authorities to believe, in PEM (repeatable)
    #[arg(long, value_name = "FILE", group = "files")]
    tls_ca: Vec<PathBuf>,

    /// Print JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sealwire check-config --secret-key-file server.key --allow allowed
  sealwire check-config --rules rules.conf
  sealwire check-config --tls-cert chain.pem --tls-key key.pem --json

Every file is read as the commands and libraries read it, its permissions included. Those with a fault are told on
standard error; with any of them the exit code is 1.";

/// What a file holds, or its fault.
type Outcome = Result<String, Failure>;

#[derive(Serialize)]
struct Record<'a> {
    event: &'static str,
    kind: &'static str,
    path: &'a Path,
    ok: bool,
    message: &'a str,
}

pub(crate) fn run(options: &CheckOptions) -> Result<(), Failure> {
    let mut report = Report {
        json: options.json,
        files: 0,
        faults: 0,
    };
    #[cfg(target_os = "linux")]
    report.all("rules", &options.rules, rules)?;
    for path in &options.secret_key_file {
        report.one("secret_key", path, || secret_key(SecretSource::File(path)))?;
    }
    for command in &options.secret_key_command {
        let source = SecretSource::Command(command);
        report.one("secret_key", Path::new(&source.name()), || {
            secret_key(source)
        })?;
    }
    report.all("server_key", &options.server_key, server_key)?;
    report.all("allow", &options.allow, allow)?;
    report.all("passwords", &options.passwords, users)?;
    report.all("password", &options.password_file, password)?;
    if let (Some(chain), Some(key)) = (&options.tls_cert, &options.tls_key) {
        report.one("tls_identity", chain, || identity(chain, key))?;
    }
    report.all("tls_ca", &options.tls_ca, authorities)?;
    match report.faults {
        0 => Ok(()),
        faults => Err(Failure::new(
            Code::Failed,
            format!("{faults} of {} cannot be used", report.files),
        )),
    }
}

struct Report {
    json: bool,
    files: usize,
    faults: usize,
}

impl Report {
    fn all(
        &mut self,
        kind: &'static str,
        paths: &[PathBuf],
        check: impl Fn(&Path) -> Outcome,
    ) -> Result<(), Failure> {
        paths
            .iter()
            .try_for_each(|path| self.one(kind, path, || check(path)))
    }

    fn one(
        &mut self,
        kind: &'static str,
        path: &Path,
        check: impl FnOnce() -> Outcome,
    ) -> Result<(), Failure> {
        self.files += 1;
        let outcome = check();
        let ok = outcome.is_ok();
        let message = outcome.unwrap_or_else(|failure| failure.message().to_owned());
        let record = Record {
            event: "file",
            kind,
            path,
            ok,
            message: &message,
        };
        if !ok {
            self.faults += 1;
            match self.json {
                true => eprint_json_quietly(&record),
                // Messages of faults name the file.
                false => eprintln_quietly(&format!("fault: {message}")),
            }
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let printed = if self.json {
            let line = untrusted::json_line(&record).unwrap_or_default();
            writeln!(out, "{line}")
        } else {
            let line = format!("ok: {}: {message}", path.display());
            writeln!(out, "{}", untrusted::printable(&line))
        };
        printed.map_err(|error| Failure::output(&error))
    }
}

#[cfg(target_os = "linux")]
fn rules(path: &Path) -> Outcome {
    let failed = |message: String| Failure::new(Code::Failed, message);
    let absolute = std::path::absolute(path)
        .map_err(|error| failed(format!("{}: {error}", path.display())))?;
    let sources = sealwire_policy::Sources::of_process(true).with_config(absolute);
    let policy = sources.read().map_err(|fault| failed(fault.to_string()))?;
    let policy = policy.ok_or_else(|| failed(format!("{} holds no rules", path.display())))?;
    let lines: Vec<String> = policy.to_string().lines().map(str::to_owned).collect();
    Ok(lines.join("; "))
}

fn secret_key(source: SecretSource<'_>) -> Outcome {
    let keys = source.key_pair()?;
    Ok(format!(
        "a secret key, whose public key is {}",
        keys.public()
    ))
}

fn server_key(path: &Path) -> Outcome {
    Ok(format!("the public key {}", keys::read_public_key(path)?))
}

fn allow(path: &Path) -> Outcome {
    let list = AllowedKeysFile::open(path)?;
    Ok(match list.len() {
        0 => "no key: nobody is let in".to_owned(),
        1 => "1 key".to_owned(),
        keys => format!("{keys} keys"),
    })
}

fn users(path: &Path) -> Outcome {
    let users = PasswordFile::open(path)?;
    Ok(match users.len() {
        0 => "no user: nobody is let in".to_owned(),
        1 => "1 user".to_owned(),
        users => format!("{users} users"),
    })
}

fn password(path: &Path) -> Outcome {
    let password = passwords::read_password(path)?;
    Ok(match password.is_empty() {
        true => "an empty password".to_owned(),
        false => "a password".to_owned(),
    })
}

fn identity(chain: &Path, key: &Path) -> Outcome {
    TlsIdentity::from_pem(read_public(chain)?, read_tls_key(key)?).map_err(|error| {
        Failure::new(
            Code::Failed,
            format!("{} and {}: {error}", chain.display(), key.display()),
        )
    })?;
    Ok("a certificate and its key".to_owned())
}

fn authorities(path: &Path) -> Outcome {
    TlsTrust::from_pem(read_public(path)?)
        .map_err(|error| Failure::new(Code::Failed, format!("{}: {error}", path.display())))?;
    Ok("authorities".to_owned())
}
