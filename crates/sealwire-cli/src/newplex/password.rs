//! `sealwire newplex hash-password`.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire::keys::{Readers, read_secret_file};
use sealwire_newplex::files::PasswordHash;
use sealwire_newplex::schemes::mhf::MhfError;
use serde::Serialize;
use zeroize::Zeroizing;

use super::{failed, keys, print, prompt};
use crate::exit::Failure;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex hash-password > alice.hash         asks for it, without showing it
  sealwire newplex hash-password < password.txt > alice.hash
  sealwire newplex hash-password --cost 16 < password.txt
  sealwire newplex hash-password --verify alice.hash < password.txt    exit code 1 if it is wrong

The password is the first line of standard input, or of --password-file. A hash takes 5 * 2^COST KiB
of memory: cost 14 takes 80 MiB, cost 16 320 MiB. Choose the highest that you can bear to wait for.
The line that comes out holds cost, salt and hash, so that a later change of the cost hurts nobody.";

/// Longest password in bytes.
const MAX_PASSWORD_SIZE: usize = 4 << 10;
/// A lower cost hardly slows down an attacker.
const MIN_COST: u8 = 10;

#[derive(Debug, Args)]
pub(crate) struct PasswordOptions {
    /// Read the password from this file, which only its owner may be able to read
    #[arg(
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true
    )]
    password_file: PathBuf,

    /// Memory and time, twice as much with each step
    #[arg(long, default_value_t = 14, value_parser = clap::value_parser!(u8).range(10..=24),
          conflicts_with = "verify")]
    cost: u8,

    /// Verify the password against the hash in this file instead
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,

    /// Refuse hashes that cost more, when verifying: the writer of the hash chooses the memory
    #[arg(long, default_value_t = 18, value_parser = clap::value_parser!(u8).range(10..=24),
          requires = "verify")]
    max_cost: u8,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    cost: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
}

pub(super) fn run(options: &PasswordOptions) -> Result<(), Failure> {
    let too_dear = |error: MhfError| failed(error.to_string());
    let Some(path) = &options.verify else {
        let password = read_password(&options.password_file, &["Password: ", "Again: "])?;
        let salt = *keys::random()?;
        let hash = PasswordHash::new(&password, options.cost, salt).map_err(too_dear)?;
        let line = hash.to_string();
        let record = Record {
            cost: hash.cost(),
            hash: Some(&line),
            valid: None,
        };
        return print(options.json, &record, &line);
    };
    let text = keys::read_public_text(path)?;
    let expected = PasswordHash::parse(&text).map_err(|problem| keys::invalid(path, problem))?;
    if !(MIN_COST..=options.max_cost).contains(&expected.cost()) {
        return Err(keys::at(
            path,
            &format!(
                "its cost is {}, and costs from {MIN_COST} to {} are accepted (--max-cost)",
                expected.cost(),
                options.max_cost
            ),
        ));
    }
    let password = read_password(&options.password_file, &["Password: "])?;
    if !expected.verify(&password).map_err(too_dear)? {
        return Err(failed("wrong password"));
    }
    let record = Record {
        cost: expected.cost(),
        hash: None,
        valid: Some(true),
    };
    print(options.json, &record, "the password is right")
}

/// The first line, without its end. On a terminal each of `prompts` asks for it, and the answers have to
/// be the same.
pub(super) fn read_password(path: &Path, prompts: &[&str]) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if path != Path::new("-") || !io::stdin().is_terminal() {
        if path != Path::new("-") {
            let content = read_secret_file(path, Readers::Owner)?;
            return first_line(&content[..], &path.display().to_string());
        }
        return first_line(io::stdin().lock(), "standard input");
    }
    let mut answers = prompts.iter().map(|prompt| {
        let stdin = prompt::without_echo(prompt)?;
        first_line(stdin, "standard input")
    });
    let first = answers
        .next()
        .unwrap_or_else(|| Err(failed("no password")))?;
    for again in answers {
        if *again? != *first {
            return Err(failed("the two passwords differ"));
        }
    }
    Ok(first)
}

fn first_line(reader: impl io::Read, name: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut password = Zeroizing::new(Vec::with_capacity(MAX_PASSWORD_SIZE + 3));
    #[expect(
        clippy::unbuffered_bytes,
        reason = "what follows the line is another's, and a buffer would keep the password"
    )]
    for byte in reader.bytes().take(MAX_PASSWORD_SIZE + 3) {
        match byte.map_err(|error| failed(format!("{name}: cannot be read: {error}")))? {
            b'\n' => break,
            byte => password.push(byte),
        }
    }
    if password.ends_with(b"\r") {
        password.pop();
    }
    match password.len() {
        0 => Err(failed(format!("{name}: there is no password in it"))),
        1..=MAX_PASSWORD_SIZE => Ok(password),
        _ => Err(failed(format!(
            "{name}: a password has at most {MAX_PASSWORD_SIZE} bytes"
        ))),
    }
}
