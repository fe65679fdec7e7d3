//! `sealwire newplex signcrypt`: messages that are encrypted and signed in one.

use clap::Subcommand;
use sealwire_newplex::files::message;
use sealwire_newplex::schemes::signcrypt::{Receiver, Sender};

use super::inputs::read_whole;
use super::outputs::write_all;
use super::parties::{OpenFromOptions, SealToOptions};
use super::{failed, keys};
use crate::exit::Failure;
use crate::file::{Direction, Input};

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex signcrypt seal --secret-key-file alice.key --to bea.pub order.txt -o order.sealed
  sealwire newplex signcrypt open --secret-key-file bea.key --from alice.pub order.sealed";

const SEAL: &str = "\
Examples:
  sealwire newplex signcrypt seal --secret-key-file alice.key --to bea.pub order.txt -o order.sealed

Only the owner of --to can read it, and only you can have made it: who steals her key can read it and
still seals nothing in your name. The file names neither of you. Up to 64 MiB, held in memory; larger
ones go with 'sealwire newplex hpke', which does not sign.";

const OPEN: &str = "\
Examples:
  sealwire newplex signcrypt open --secret-key-file bea.key --from alice.pub order.sealed

Nothing comes out before all of it was verified.";

const DOMAIN: &str = "sealwire.signcrypt";

#[derive(Debug, Subcommand)]
pub(crate) enum SigncryptCommand {
    /// Encrypt and sign a message for the owner of a public key
    #[command(after_help = SEAL)]
    Seal(SealToOptions),
    /// Decrypt what seal made, if this sender signed it and nothing of it was changed
    #[command(after_help = OPEN)]
    Open(OpenFromOptions),
}

impl SigncryptCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            SigncryptCommand::Seal(options) => seal(options),
            SigncryptCommand::Open(options) => open(options),
        }
    }
}

fn seal(options: &SealToOptions) -> Result<(), Failure> {
    let (secret, receiver) = options.keys()?;
    let input = Input::open(&options.input)?;
    let destination = options.output.open(Direction::Seal)?;
    let domain = options.domain.as_deref().unwrap_or(DOMAIN);
    let sender = Sender::new(domain, &secret, &receiver);
    let text = read_whole(input)?;
    let random = keys::random::<64>()?;
    write_all(destination, &message::signcrypt(&sender, &*random, &text))
}

fn open(options: &OpenFromOptions) -> Result<(), Failure> {
    let (secret, sender) = options.keys()?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let destination = options.output.open(Direction::Open)?;
    let domain = options.domain.as_deref().unwrap_or(DOMAIN);
    let receiver = Receiver::new(domain, &secret, &sender);
    let text = message::open_signcrypted(&receiver, &read_whole(input)?)
        .map_err(|problem| failed(format!("{name}: {problem}")))?;
    write_all(destination, &text)
}
