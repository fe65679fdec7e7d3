//! `sealwire newplex frost commit`.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::Kind;
use serde::Serialize;

use super::read_signer;
use crate::exit::Failure;
use crate::newplex::outputs::LineOutput;
use crate::newplex::state;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex frost commit --signer-file treasury-1.signer --nonces 1.nonces -o 1.commitment

The commitment goes to all who sign; the message need not be known yet. The nonces stay here, readable
by you alone, and are good for one signature: 'sign' removes them. NEVER copy or restore them from a
backup: two signatures with the same nonces give your secret away.";

#[derive(Debug, Args)]
pub(crate) struct CommitOptions {
    /// Your secret, as 'sealwire newplex frost deal' writes it
    #[arg(long, value_name = "FILE")]
    signer_file: PathBuf,

    /// Write the nonces to this new file, readable by you alone
    #[arg(long, value_name = "FILE")]
    nonces: PathBuf,

    #[command(flatten)]
    pub(super) output: LineOutput,
}

#[derive(Serialize)]
struct Record<'a> {
    signer: u16,
    commitment: &'a str,
}

pub(super) fn run(options: &CommitOptions) -> Result<(), Failure> {
    let signer = read_signer(&options.signer_file)?;
    let result = options.output.open()?;
    let comment = format!(
        "Newplex FROST NONCES of participant {}: for one signature. Never copy them.",
        signer.identifier()
    );
    let randomness = state::create(&options.nonces, Kind::FrostNonces, &comment)?;
    let (_, commitment) = signer.commit_with(randomness);
    let line = Kind::FrostCommitment.line(&commitment.to_bytes());
    let record = Record {
        signer: signer.identifier(),
        commitment: &line,
    };
    result.finish(&record, &line)
}
