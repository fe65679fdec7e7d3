//! `sealwire newplex hpke`: files for the owner of a public key.

use clap::Subcommand;
use sealwire_newplex::files::to_key;
use sealwire_newplex::schemes::hpke::{Receiver, Sender};
use sealwire_newplex::schemes::randomness::Randomness;

use super::outputs::stream;
use super::parties::{OpenFromOptions, SealToOptions};
use super::{failed, keys};
use crate::exit::Failure;
use crate::file::{Direction, Input};

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex hpke seal --secret-key-file alice.key --to bea.pub notes.txt -o notes.sealed
  sealwire newplex hpke open --secret-key-file bea.key --from alice.pub notes.sealed -o notes.txt

Not the HPKE of RFC 9180: the sender's key is part of it. 'signcrypt' signs as well.";

const SEAL: &str = "\
Examples:
  sealwire newplex hpke seal --secret-key-file alice.key --to bea.pub notes.txt -o notes.sealed
  tar c folder | sealwire newplex hpke seal --secret-key-file alice.key --to bea.pub > folder.sealed

Files of any size, in blocks of 64 KiB. Only the owner of --to can read it, and knows that it is from
you; she can prove it to nobody, as she could have made it herself. Who steals your key cannot read
what you sealed; who steals hers can, and can seal to her in your name.";

const OPEN: &str = "\
Examples:
  sealwire newplex hpke open --secret-key-file bea.key --from alice.pub notes.sealed -o notes.txt
  sealwire newplex hpke open --secret-key-file bea.key --from alice.pub < folder.sealed | tar x

With -o nothing appears under that name before the whole input is verified. On standard output
each block of 64 KiB is released as soon as it is verified, as with 'sealwire newplex open'.";

const DOMAIN: &str = "sealwire.hpke";

#[derive(Debug, Subcommand)]
pub(crate) enum HpkeCommand {
    /// Encrypt a file or pipe to the owner of a public key
    #[command(after_help = SEAL)]
    Seal(SealToOptions),
    /// Decrypt what seal made, if it is from this sender and nothing of it was changed
    #[command(after_help = OPEN)]
    Open(OpenFromOptions),
}

impl HpkeCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            HpkeCommand::Seal(options) => seal(options),
            HpkeCommand::Open(options) => open(options),
        }
    }
}

fn seal(options: &SealToOptions) -> Result<(), Failure> {
    let (secret, receiver) = options.keys()?;
    let input = Input::open(&options.input)?;
    let destination = options.output.open(Direction::Seal)?;
    let domain = options.domain.as_deref().unwrap_or(DOMAIN);
    let sender = Sender::new(domain, &secret, &receiver);
    let key = keys::random()?;
    let randomness = Randomness::from_os().map_err(|error| failed(error.to_string()))?;
    stream(input, destination, |input, destination| {
        to_key::seal(&sender, randomness, &key, input, destination.writer())
    })
}

fn open(options: &OpenFromOptions) -> Result<(), Failure> {
    let (secret, sender) = options.keys()?;
    let input = Input::open(&options.input)?;
    let destination = options.output.open(Direction::Open)?;
    let domain = options.domain.as_deref().unwrap_or(DOMAIN);
    let receiver = Receiver::new(domain, &secret, &sender);
    stream(input, destination, |input, destination| {
        to_key::open(&receiver, input, destination.writer())
    })
}
