//! `sealwire newplex frost`: signatures that several participants make together, step by step in files.
//!
//! ```text
//! deal ─▶ STEM.group, STEM.pub, a STEM-n.signer for each participant
//! commit ─▶ nonces (kept), commitment (sent to all)
//! sign ─▶ the nonces are removed, share (sent to the one who aggregates)
//! aggregate ─▶ a signature as of 'sealwire newplex sign'
//! ```
//!
//! `docs/newplex/ceremony.md` walks through it.

mod aggregate;
mod commit;
mod deal;
mod sign;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sealwire_newplex::files;
use sealwire_newplex::schemes::frost::{Commitment, FrostError, Group, Round, Signer};

use super::inputs::read_whole;
use super::{failed, keys};
use crate::exit::Failure;
use crate::file::Input;
use crate::secrets;

pub(super) const HELP: &str = "\
Examples, for two of three who sign:
  sealwire newplex frost deal --threshold 2 --signers 3 --out treasury              the dealer, once
  sealwire newplex frost commit --signer-file treasury-1.signer --nonces 1.nonces -o 1.commitment
  sealwire newplex frost commit --signer-file treasury-3.signer --nonces 3.nonces -o 3.commitment
  sealwire newplex frost sign --signer-file treasury-1.signer --nonces 1.nonces \\
    --commitment 1.commitment --commitment 3.commitment order.txt -o 1.share    and so does signer 3
  sealwire newplex frost aggregate --group treasury.group --commitment 1.commitment \\
    --commitment 3.commitment --share 1.share --share 3.share order.txt -o order.sig
  sealwire newplex verify --public-key-file treasury.pub --signature order.sig order.txt

The dealer is trusted: it has seen every share. Commitments and shares have to come from the signers
whom they name: send them over something that shows who sent them.";

#[derive(Debug, Subcommand)]
pub(crate) enum FrostCommand {
    /// Make the key of a group and a secret for each participant, as a dealer whom they trust
    #[command(after_help = deal::HELP)]
    Deal(deal::DealOptions),
    /// Make the nonces of one signature, and the commitment to send to all who sign
    #[command(after_help = commit::HELP)]
    Commit(commit::CommitOptions),
    /// Make your share of a signature; it uses up the nonces
    #[command(after_help = sign::HELP)]
    Sign(sign::SignOptions),
    /// Put the shares together to the group's signature, and verify it
    #[command(after_help = aggregate::HELP)]
    Aggregate(aggregate::AggregateOptions),
}

impl FrostCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            FrostCommand::Deal(options) => deal::run(options),
            FrostCommand::Commit(options) => commit::run(options),
            FrostCommand::Sign(options) => sign::run(options),
            FrostCommand::Aggregate(options) => aggregate::run(options),
        }
    }

    pub(super) fn json(&self) -> bool {
        match self {
            FrostCommand::Deal(options) => options.json,
            FrostCommand::Commit(options) => options.output.json,
            FrostCommand::Sign(options) => options.output.json,
            FrostCommand::Aggregate(options) => options.output.json,
        }
    }
}

/// What all signers of a signature, and who puts it together, must have the same of.
#[derive(Debug, Args)]
pub(crate) struct RoundOptions {
    /// The message to sign; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// A commitment of each signer, your own among them; give it once for each
    #[arg(long, value_name = "FILE", required = true)]
    commitment: Vec<PathBuf>,

    /// Application and purpose, which those who verify have to name
    #[arg(long, value_name = "TEXT", default_value = "sealwire.sign")]
    domain: String,
}

impl RoundOptions {
    fn commitments(&self) -> Result<Vec<Commitment>, Failure> {
        let paths = self.commitment.iter();
        paths
            .map(|path| {
                files::parse_frost_commitment(&keys::read_public_text(path)?)
                    .map_err(|problem| keys::invalid(path, problem))
            })
            .collect()
    }

    /// The signature to be, for `group`.
    fn round(&self, group: &Group) -> Result<Round, Failure> {
        let commitments = self.commitments()?;
        let message = read_whole(Input::open(&self.input)?)?;
        Round::new(&self.domain, group, &message, &commitments).map_err(refused)
    }
}

fn read_signer(path: &Path) -> Result<Signer, Failure> {
    let text = secrets::read_text(path)?.unwrap_or_default();
    files::parse_frost_signer(&text).map_err(|problem| keys::invalid(path, problem))
}

fn refused(error: FrostError) -> Failure {
    failed(error.to_string())
}
