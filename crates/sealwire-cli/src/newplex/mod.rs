//! `sealwire newplex`: files and pipes with the schemes of `sealwire-newplex`.
//!
//! The formats are those of `docs/spec/newplex-files.md`.

mod digest;
mod frost;
mod hpke;
mod inputs;
mod keygen;
pub(crate) mod keys;
mod oprf;
mod outputs;
mod pake;
mod parties;
mod password;
mod prompt;
mod seal;
mod sign;
mod signcrypt;
mod siv;
mod state;
mod vrf;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

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
  sealwire newplex hpke seal --secret-key-file alice.key --to bea.pub notes.txt -o notes.sealed
  sealwire newplex frost --help                       signing as a group, step by step

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
    /// Encrypt files to the owner of a public key, who knows whom they are from
    #[command(subcommand, after_help = hpke::HELP)]
    Hpke(hpke::HpkeCommand),
    /// Encrypt and sign messages in one, for the owner of a public key
    #[command(subcommand, after_help = signcrypt::HELP)]
    Signcrypt(signcrypt::SigncryptCommand),
    /// Encrypt messages so that equal ones have equal ciphertexts
    #[command(subcommand, after_help = siv::HELP)]
    Siv(siv::SivCommand),
    /// Draw outputs that only the owner of a key can compute, and anybody can check
    #[command(subcommand, after_help = vrf::HELP)]
    Vrf(vrf::VrfCommand),
    /// Evaluate a server's key on an input that the server does not see
    #[command(subcommand, after_help = oprf::HELP)]
    Oprf(oprf::OprfCommand),
    /// Agree on a symmetric key with somebody who has the same password
    #[command(subcommand, after_help = pake::HELP)]
    Pake(pake::PakeCommand),
    /// Sign as a group, of which a number of participants is enough
    #[command(subcommand, after_help = frost::HELP)]
    Frost(frost::FrostCommand),
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
            NewplexCommand::Hpke(command) => command.run(),
            NewplexCommand::Signcrypt(command) => command.run(),
            NewplexCommand::Siv(command) => command.run(),
            NewplexCommand::Vrf(command) => command.run(),
            NewplexCommand::Oprf(command) => command.run(),
            NewplexCommand::Pake(command) => command.run(),
            NewplexCommand::Frost(command) => command.run(),
        }
    }

    /// Whether a script reads what is said.
    pub(crate) fn json(&self) -> bool {
        match self {
            NewplexCommand::Digest(options) => options.json,
            NewplexCommand::Mac(options) => options.json,
            NewplexCommand::Keygen(options) => options.json,
            NewplexCommand::Sign(options) => options.output.json,
            NewplexCommand::Verify(options) => options.json,
            NewplexCommand::HashPassword(options) => options.json,
            NewplexCommand::Vrf(command) => command.json(),
            NewplexCommand::Oprf(command) => command.json(),
            NewplexCommand::Pake(command) => command.json(),
            NewplexCommand::Frost(command) => command.json(),
            NewplexCommand::Seal(_)
            | NewplexCommand::Open(_)
            | NewplexCommand::Hpke(_)
            | NewplexCommand::Signcrypt(_)
            | NewplexCommand::Siv(_) => false,
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

/// Appends; a stem may have dots.
fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(stem);
    name.push(suffix);
    name.into()
}
