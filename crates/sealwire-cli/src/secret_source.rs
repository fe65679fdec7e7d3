//! Where a secret key comes from: a file, or a command that a vault is asked with.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sealwire::{KeyPair, keys};
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::programs::{Programs, TimeLimit, exchange};
use crate::secrets;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Most that a command may print, in bytes.
const MAX_OUTPUT: u64 = 64 << 10;

/// The source of one secret key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SecretSource<'a> {
    File(&'a Path),
    /// Run by the shell; prints what the file would hold.
    Command(&'a str),
}

impl<'a> SecretSource<'a> {
    /// The one that was given, of two options that exclude each other.
    pub(crate) fn of(file: Option<&'a Path>, command: Option<&'a str>) -> Option<Self> {
        let command = || command.map(SecretSource::Command);
        file.map(SecretSource::File).or_else(command)
    }

    pub(crate) fn key_pair(self) -> Result<KeyPair, Failure> {
        match self {
            SecretSource::File(path) => Ok(keys::read_key_pair(path)?),
            SecretSource::Command(command) => {
                let text = output_of(command, LIMIT)?;
                Ok(keys::parse_key_pair(origin(command), &text)?)
            }
        }
    }

    /// The text of the file or the output of the command; empty if it is not text.
    pub(crate) fn text(self) -> Result<Zeroizing<String>, Failure> {
        match self {
            SecretSource::File(path) => Ok(secrets::read_text(path)?.unwrap_or_default()),
            SecretSource::Command(command) => output_of(command, LIMIT),
        }
    }

    /// The name of it in errors.
    pub(crate) fn name(self) -> String {
        match self {
            SecretSource::File(path) => path.display().to_string(),
            SecretSource::Command(command) => origin(command),
        }
    }
}

fn origin(command: &str) -> String {
    format!("the output of '{command}'")
}

/// What the command prints. It reads nothing; what it says on standard error is told where it fails.
fn output_of(command: &str, limit: Duration) -> Result<Zeroizing<String>, Failure> {
    let failed = |text: String| Failure::new(Code::Failed, format!("{}: {text}", origin(command)));
    let mut shell = shell(command);
    let time = TimeLimit::within(Some(limit));
    let answer = exchange(&Programs::new(), &mut shell, &[], MAX_OUTPUT, &time)
        .map_err(|trouble| failed(trouble.to_string()))?
        .ok_or_else(|| failed(format!("it did not end within {limit:?}")))?;
    let complaint = answer.failure("the command");
    // Whatever becomes of it, the bytes are a secret.
    let output = Zeroizing::new(answer.output.map_err(|error| failed(error.to_string()))?);
    if let Some(complaint) = complaint {
        return Err(failed(complaint));
    }
    if output.len() as u64 > MAX_OUTPUT {
        return Err(failed(format!(
            "it is no key: it has more than {MAX_OUTPUT} bytes"
        )));
    }
    let text = std::str::from_utf8(&output).unwrap_or_default();
    Ok(Zeroizing::new(text.to_owned()))
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn failure(command: &str) -> String {
        match SecretSource::Command(command).key_pair() {
            Ok(_) => String::new(),
            Err(failure) => failure.message().to_owned(),
        }
    }

    #[test]
    fn a_command_prints_what_a_file_would_hold() {
        let keys = keys::key_pair_from_seed(&[7; 32]);
        let folder = tempfile::tempdir().unwrap();
        let stem = folder.path().join("server");
        let (_, secret) = keys::write_key_pair(stem, &keys).unwrap();
        let command = format!(
            "echo words on standard error >&2; cat '{}'",
            secret.display()
        );
        let read = SecretSource::Command(&command).key_pair().unwrap();
        assert_eq!(read.public(), keys.public());
        let read = SecretSource::File(&secret).key_pair().unwrap();
        assert_eq!(read.public(), keys.public());
    }

    #[test]
    fn a_command_that_fails_or_prints_no_key_is_named_and_its_output_is_not() {
        assert!(failure("echo no vault >&2; exit 3").contains("exit status: 3: no vault"));
        assert!(failure("true").contains("the output of 'true' holds no secret key"));
        let secret = "0123456789".repeat(5);
        let told = failure(&format!("printf %s%s 01234 {}", &secret[5..]));
        assert!(
            told.contains("line 1: expected a key") && !told.contains(&secret),
            "{told}"
        );
        assert!(failure("head -c 1000000 /dev/zero").contains("more than 65536 bytes"));
        assert!(failure("./no-such-vault").contains("exit status: 127"));
        let no_text = failure("printf '\\377'");
        assert!(no_text.contains("holds no secret key"), "{no_text}");
    }

    #[test]
    fn a_key_of_a_command_that_fails_is_not_used() {
        let keys = keys::key_pair_from_seed(&[7; 32]);
        let folder = tempfile::tempdir().unwrap();
        let stem = folder.path().join("server");
        let (_, secret) = keys::write_key_pair(stem, &keys).unwrap();
        let told = failure(&format!("cat '{}'; exit 3", secret.display()));
        assert!(told.contains("exit status: 3"), "{told}");
    }

    #[test]
    fn the_largest_output_is_read_whole_and_a_byte_more_is_an_error() {
        let printed = |bytes: u64| {
            let command = format!("head -c {bytes} /dev/zero");
            SecretSource::Command(&command)
                .text()
                .map(|text| text.len() as u64)
        };
        assert_eq!(printed(MAX_OUTPUT).ok(), Some(MAX_OUTPUT));
        assert!(printed(MAX_OUTPUT + 1).is_err());
    }

    #[test]
    fn the_help_states_the_time_that_a_command_has() {
        use clap::CommandFactory as _;
        let cli = crate::Cli::command();
        for path in [&["rep"][..], &["tunnel", "listen"], &["tunnel", "connect"]] {
            let command = path
                .iter()
                .try_fold(&cli, |of, name| of.find_subcommand(name));
            let mut options = command.unwrap().get_arguments();
            let option = options.find(|option| option.get_long() == Some("secret-key-command"));
            let help = option.and_then(|option| option.get_help()).unwrap();
            let limit = format!("within {} s", LIMIT.as_secs());
            assert!(help.to_string().contains(&limit), "{path:?}: {help}");
        }
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        // Without a limit of its own it ends by itself, with a status of success.
        let ended = output_of("sleep 45", Duration::from_millis(50));
        let told = ended.err().map(|failure| failure.message().to_owned());
        assert!(told.is_some_and(|told| told.contains("did not end within 50ms")));
    }
}
