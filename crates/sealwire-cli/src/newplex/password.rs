//! `sealwire newplex hash-password`.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire_newplex::schemes::mhf::{self, Cost};
use serde::Serialize;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::keys::{self, Kind};
use super::{failed, hex, print};
use crate::exit::Failure;
use crate::file::Input;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex hash-password < password.txt > alice.hash
  sealwire newplex hash-password --cost 16 < password.txt
  sealwire newplex hash-password --verify alice.hash < password.txt    exit code 1 if it is wrong

The password is the first line of standard input, or of --password-file. A hash takes 5 * 2^COST KiB
of memory: cost 14 takes 80 MiB, cost 16 320 MiB. Choose the highest that you can bear to wait for.
The line that comes out holds cost, salt and hash, so that a later change of the cost hurts nobody.";

const DOMAIN: &str = "sealwire.newplex.password";
const SALT_SIZE: usize = 16;
const HASH_SIZE: usize = 32;
/// Longest password in bytes.
const MAX_PASSWORD_SIZE: usize = 4 << 10;
/// Less is no obstacle.
const MIN_COST: u8 = 10;

#[derive(Debug, Args)]
pub(crate) struct PasswordOptions {
    /// Read the password from this file
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

    /// Refuse hashes that cost more, when verifying: whoever writes the hash chooses the memory
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

/// What the file of a hash states.
struct PasswordHash {
    cost: u8,
    salt: [u8; SALT_SIZE],
    hash: [u8; HASH_SIZE],
}

impl PasswordHash {
    fn new(password: &[u8], cost: u8, salt: [u8; SALT_SIZE]) -> Result<Self, Failure> {
        let mut hash = [0; HASH_SIZE];
        Cost::new(cost)
            .and_then(|cost| mhf::hash(DOMAIN, cost, &salt, password, &mut hash))
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self { cost, salt, hash })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value = Kind::PasswordHash.value(text)?;
        let mut parts = value.split(':');
        let mut part = || parts.next().unwrap_or_default();
        let (cost, salt, hash) = (part(), part(), part());
        let parsed = (|| {
            Some(Self {
                cost: cost.parse().ok().filter(|cost| *cost <= 24)?,
                salt: hex::decode(salt)?,
                hash: hex::decode(hash)?,
            })
        })();
        parsed.filter(|_| parts.next().is_none()).ok_or_else(|| {
            "behind its label there must be cost (up to 24), salt (32 hexadecimal digits) and hash \
             (64), with colons between them"
                .to_owned()
        })
    }

    fn line(&self) -> String {
        let (salt, hash) = (output::hex(&self.salt), output::hex(&self.hash));
        Kind::PasswordHash.line(&format!("{}:{salt}:{hash}", self.cost))
    }
}

pub(super) fn run(options: &PasswordOptions) -> Result<(), Failure> {
    let Some(path) = &options.verify else {
        let password = read_password(&options.password_file)?;
        let hash = PasswordHash::new(&password, options.cost, *keys::random()?)?;
        let line = hash.line();
        let record = Record {
            cost: hash.cost,
            hash: Some(&line),
            valid: None,
        };
        return print(options.json, &record, &line);
    };
    let text = keys::read_public_text(path)?;
    let expected = PasswordHash::parse(&text).map_err(|problem| keys::at(path, &problem))?;
    if !(MIN_COST..=options.max_cost).contains(&expected.cost) {
        return Err(keys::at(
            path,
            &format!(
                "its cost is {}, and costs from {MIN_COST} to {} are accepted (--max-cost)",
                expected.cost, options.max_cost
            ),
        ));
    }
    let password = read_password(&options.password_file)?;
    let found = PasswordHash::new(&password, expected.cost, expected.salt)?;
    if !bool::from(found.hash.ct_eq(&expected.hash)) {
        return Err(failed("wrong password"));
    }
    let record = Record {
        cost: expected.cost,
        hash: None,
        valid: Some(true),
    };
    print(options.json, &record, "the password is right")
}

/// The first line, without its end.
fn read_password(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    if path == Path::new("-") && io::stdin().is_terminal() {
        return Err(Failure::usage(
            "a password typed here would show: give --password-file FILE, or pipe it in",
        ));
    }
    let Input { reader, name, .. } = Input::open(path)?;
    let mut password = Zeroizing::new(Vec::with_capacity(MAX_PASSWORD_SIZE + 3));
    reader
        .take(MAX_PASSWORD_SIZE as u64 + 3)
        .read_to_end(&mut password)
        .map_err(|error| failed(format!("{name}: cannot be read: {error}")))?;
    let end = password.iter().position(|byte| *byte == b'\n');
    if let Some(end) = end {
        let end = if password[..end].ends_with(b"\r") {
            end - 1
        } else {
            end
        };
        password.truncate(end);
    }
    match password.len() {
        0 => Err(failed(format!("{name}: there is no password in it"))),
        1..=MAX_PASSWORD_SIZE => Ok(password),
        _ => Err(failed(format!(
            "{name}: a password has at most {MAX_PASSWORD_SIZE} bytes"
        ))),
    }
}
