//! `sealwire newplex`: files and pipes with the schemes of `sealwire-newplex`.
//!
//! The formats are those of `docs/spec/newplex-files.md`.

mod digest;
mod keygen;
pub(crate) mod keys;
mod password;
mod prompt;
mod seal;
mod sign;

use std::io::{self, Read, Write};

use clap::Subcommand;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::file::Input;

pub(crate) const HELP: &str = "\
Examples:
  sealwire newplex digest archive.tar
  sealwire newplex keygen --out alice
  sealwire newplex sign --secret-key-file alice.key archive.tar -o archive.tar.sig
  sealwire newplex verify --public-key-file alice.pub --signature archive.tar.sig archive.tar

Newplex is an experimental design by one author, not a standard and not audited. For files that
have to stay secret use 'sealwire seal'.";

#[derive(Debug, Subcommand)]
pub(crate) enum NewplexCommand {
    /// Print the digest of files or of standard input
    #[command(after_help = digest::DIGEST)]
    Digest(digest::DigestOptions),
    /// Print or verify the tag of a file under a symmetric key
    #[command(after_help = digest::MAC)]
    Mac(digest::MacOptions),
    /// Make a key pair for signatures, or a symmetric key
    #[command(after_help = keygen::HELP)]
    Keygen(keygen::KeygenOptions),
    /// Sign a file or standard input; the signature is a file of its own
    #[command(after_help = sign::SIGN)]
    Sign(sign::SignOptions),
    /// Verify the signature of a file or of standard input
    #[command(after_help = sign::VERIFY)]
    Verify(sign::VerifyOptions),
    /// Encrypt a file or pipe under a symmetric key
    #[command(after_help = seal::SEAL)]
    Seal(seal::SealOptions),
    /// Decrypt what seal made, if nothing of it was changed
    #[command(after_help = seal::OPEN)]
    Open(seal::SealOptions),
    /// Hash a password so that guessing it takes memory and time, or verify it against its hash
    #[command(after_help = password::HELP)]
    HashPassword(password::PasswordOptions),
}

impl NewplexCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            NewplexCommand::Digest(options) => digest::digest(options),
            NewplexCommand::Mac(options) => digest::mac(options),
            NewplexCommand::Keygen(options) => keygen::run(options),
            NewplexCommand::Sign(options) => sign::sign(options),
            NewplexCommand::Verify(options) => sign::verify(options),
            NewplexCommand::Seal(options) => seal::seal(options),
            NewplexCommand::Open(options) => seal::open(options),
            NewplexCommand::HashPassword(options) => password::run(options),
        }
    }

    /// Whether a script reads what is said.
    pub(crate) fn json(&self) -> bool {
        match self {
            NewplexCommand::Digest(options) => options.json,
            NewplexCommand::Mac(options) => options.json,
            NewplexCommand::Keygen(options) => options.json,
            NewplexCommand::Sign(options) => options.json,
            NewplexCommand::Verify(options) => options.json,
            NewplexCommand::HashPassword(options) => options.json,
            NewplexCommand::Seal(_) | NewplexCommand::Open(_) => false,
        }
    }
}

/// Bytes that are held of a message at a time.
const PIECE_SIZE: usize = 64 << 10;

impl Input {
    /// Reads until `piece` is full or the input ends.
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Failure> {
        let mut length = 0;
        while length < piece.len() {
            match self.reader.read(&mut piece[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(failed(format!("{}: cannot be read: {error}", self.name)));
                }
            }
        }
        Ok(length)
    }
}

/// Reads `input` to its end, piece by piece.
fn read_through(
    mut input: Input,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut buffer = Zeroizing::new(vec![0; PIECE_SIZE]);
    loop {
        match input.fill(&mut buffer)? {
            0 => return Ok(()),
            count => take(&buffer[..count]).map_err(|error| failed(error.to_string()))?,
        }
    }
}

/// One line on standard output: `record` as JSON, or `text`.
fn print(json: bool, record: &impl Serialize, text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let line = if json {
        serde_json::to_string(record).map_err(io::Error::from)
    } else {
        Ok(text.to_owned())
    };
    line.and_then(|line| writeln!(out, "{line}").and_then(|()| out.flush()))
        .map_err(|error| Failure::output(&error))
}

fn failed(message: impl Into<String>) -> Failure {
    Failure::new(Code::Failed, message)
}
