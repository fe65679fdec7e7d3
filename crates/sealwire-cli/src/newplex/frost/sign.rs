//! `sealwire newplex frost sign`.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::{Kind, frost_share_line};
use serde::Serialize;

use super::{RoundOptions, read_signer, refused};
use crate::exit::Failure;
use crate::newplex::outputs::LineOutput;
use crate::newplex::state::State;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex frost sign --signer-file treasury-1.signer --nonces 1.nonces \\
    --commitment 1.commitment --commitment 3.commitment order.txt -o 1.share

Read the message first: the share is your consent to it. All signers take the same message, domain and
commitments. The nonces are overwritten and removed before the share is written; where something does not
fit together they stay, and there is no share.";

#[derive(Debug, Args)]
pub(crate) struct SignOptions {
    #[command(flatten)]
    round: RoundOptions,

    /// Your secret, as 'sealwire newplex frost deal' writes it
    #[arg(long, value_name = "FILE")]
    signer_file: PathBuf,

    /// Your nonces, as 'sealwire newplex frost commit' writes them; they are removed
    #[arg(long, value_name = "FILE")]
    nonces: PathBuf,

    #[command(flatten)]
    pub(super) output: LineOutput,
}

#[derive(Serialize)]
struct Record<'a> {
    signer: u16,
    domain: &'a str,
    share: &'a str,
}

pub(super) fn run(options: &SignOptions) -> Result<(), Failure> {
    let signer = read_signer(&options.signer_file)?;
    let round = options.round.round(signer.group())?;
    let result = options.output.open()?;
    let state = State::claim(&options.nonces, Kind::FrostNonces)?;
    let (nonces, _) = signer.commit_with(state.randomness()?);
    let share = signer.sign(nonces, &round).map_err(refused)?;
    // Whatever happens from here on, there is no second share from these nonces.
    state.consume()?;
    let line = frost_share_line(signer.identifier(), &share);
    let record = Record {
        signer: signer.identifier(),
        domain: &options.round.domain,
        share: &line,
    };
    result.finish(&record, &line)
}
