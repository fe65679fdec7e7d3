//! `sealwire newplex frost aggregate`.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::{self, Kind, PublicGroup};
use sealwire_newplex::schemes::frost::{FrostError, Round, SignatureShare};
use serde::Serialize;

use super::{RoundOptions, refused};
use crate::exit::Failure;
use crate::newplex::keys;
use crate::newplex::outputs::LineOutput;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex frost aggregate --group treasury.group --commitment 1.commitment \\
    --commitment 3.commitment --share 1.share --share 3.share order.txt -o order.sig
  sealwire newplex verify --public-key-file treasury.pub --signature order.sig order.txt

Needs no secret: anybody who has the shares can do it. A share that is wrong is told by its file; what
comes out is a signature that verifies.";

#[derive(Debug, Args)]
pub(crate) struct AggregateOptions {
    #[command(flatten)]
    round: RoundOptions,

    /// The group, as 'sealwire newplex frost deal' writes it
    #[arg(long, value_name = "FILE")]
    group: PathBuf,

    /// A share of each signer; give it once for each
    #[arg(long, value_name = "FILE", required = true)]
    share: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) output: LineOutput,
}

#[derive(Serialize)]
struct Record<'a> {
    domain: &'a str,
    public_key: &'a str,
    signature: &'a str,
}

pub(super) fn run(options: &AggregateOptions) -> Result<(), Failure> {
    let group = PublicGroup::parse(&keys::read_public_text(&options.group)?)
        .map_err(|problem| keys::invalid(&options.group, problem))?;
    let round = options.round.round(group.group())?;
    let shares = verified_shares(&options.share, &group, &round)?;
    let result = options.output.open()?;
    let signature = round.aggregate(&shares).map_err(refused)?;
    let line = Kind::Signature.line(&signature.to_bytes());
    let record = Record {
        domain: &options.round.domain,
        public_key: &output::hex(&group.group().key().to_bytes()),
        signature: &line,
    };
    result.finish(&record, &line)
}

/// The shares in the files, each right, and each of another signer.
fn verified_shares(
    paths: &[PathBuf],
    group: &PublicGroup,
    round: &Round,
) -> Result<Vec<SignatureShare>, Failure> {
    let mut signers = Vec::with_capacity(paths.len());
    let mut shares = Vec::with_capacity(paths.len());
    for path in paths {
        let (signer, share) = files::parse_frost_share(&keys::read_public_text(path)?)
            .map_err(|problem| keys::invalid(path, problem))?;
        if signers.contains(&signer) {
            return Err(keys::at(
                path,
                &format!("a second share of signer {signer}"),
            ));
        }
        let verified = match group.verifying_share(signer) {
            Some(key) => round.verify_share(signer, key, &share),
            None => Err(FrostError::Identifier(signer)),
        };
        verified.map_err(|error| match error {
            FrostError::InvalidShare(signer) => keys::at(
                path,
                &format!(
                    "the share of signer {signer} is wrong: made for another message, domain or set \
                     of commitments, by another signer, or changed"
                ),
            ),
            other => keys::at(path, &other.to_string()),
        })?;
        signers.push(signer);
        shares.push(share);
    }
    Ok(shares)
}
