//! `sealwire newplex vrf`: outputs of a key that anybody can check.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealwire_newplex::files::{self, Kind, VRF_OUTPUT_SIZE};
use sealwire_newplex::schemes::vrf::{Prover, Verifier};
use serde::Serialize;

use super::inputs::{apart, read_value, read_whole};
use super::outputs::write_all;
use super::{failed, keys, print};
use crate::exit::Failure;
use crate::file::destination::Destination;
use crate::file::{Direction, Input};
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex vrf prove --secret-key-file lottery.key --proof round7.proof round7.txt
  sealwire newplex vrf verify --public-key-file lottery.pub --proof round7.proof round7.txt";

const PROVE: &str = "\
Examples:
  sealwire newplex vrf prove --secret-key-file lottery.key --proof round7.proof round7.txt
  echo round 7 | sealwire newplex vrf prove --secret-key-file lottery.key --proof round7.proof

Prints the output: 32 bytes in hexadecimal digits, which nobody can tell from random ones before they
see the proof, and which are the same however often they are asked for. Only the owner of the key can
compute them, and cannot choose them: publish the public key before the input is known.";

const VERIFY: &str = "\
Examples:
  sealwire newplex vrf verify --public-key-file lottery.pub --proof round7.proof round7.txt

Prints the output if it is the right one, and exits with 0; there is no other output of this key for
this input and domain. Exit code 1 means that there is no proof of it.";

#[derive(Debug, Subcommand)]
pub(crate) enum VrfCommand {
    /// Print the output of your key for an input, and write the proof of it
    #[command(after_help = PROVE)]
    Prove(ProveOptions),
    /// Verify a proof and print the output
    #[command(after_help = VERIFY)]
    Verify(VerifyOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ProveOptions {
    /// The input; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// Your secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// Write the proof to this file
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,

    /// Replace the proof if it exists
    #[arg(long)]
    force: bool,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.vrf")]
    domain: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The input; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The public key of who proved it, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    public_key_file: PathBuf,

    /// The proof, as 'sealwire newplex vrf prove' writes it
    #[arg(long, value_name = "FILE")]
    proof: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.vrf")]
    domain: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    input: &'a str,
    domain: &'a str,
    public_key: &'a str,
    output: &'a str,
    proof: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
}

impl VrfCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            VrfCommand::Prove(options) => prove(options),
            VrfCommand::Verify(options) => verify(options),
        }
    }

    pub(super) fn json(&self) -> bool {
        match self {
            VrfCommand::Prove(options) => options.json,
            VrfCommand::Verify(options) => options.json,
        }
    }
}

fn prove(options: &ProveOptions) -> Result<(), Failure> {
    let secret = keys::read_secret(&options.secret_key_file)?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let destination = Destination::file(&options.proof, options.force, Direction::Seal)?;
    let prover = Prover::new(&options.domain, secret);
    let mut value = [0; VRF_OUTPUT_SIZE];
    let proof = prover
        .prove(&read_whole(input)?, &mut value)
        .map_err(|error| failed(error.to_string()))?;
    let line = Kind::VrfProof.line(&proof.to_bytes());
    write_all(destination, format!("{}\n", line.as_str()).as_bytes())?;
    let value = output::hex(&value);
    let record = Record {
        input: &name,
        domain: &options.domain,
        public_key: &output::hex(&prover.public_key().to_bytes()),
        output: &value,
        proof: &line,
        valid: None,
    };
    print(options.json, &record, &value)
}

fn verify(options: &VerifyOptions) -> Result<(), Failure> {
    apart(&options.input, &options.proof)?;
    let public = keys::read_public(&options.public_key_file)?;
    let proof = files::parse_vrf_proof(&read_value(&options.proof)?)
        .map_err(|problem| keys::invalid(&options.proof, problem))?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let mut value = [0; VRF_OUTPUT_SIZE];
    Verifier::new(&options.domain, public)
        .verify(&read_whole(input)?, &proof, &mut value)
        .map_err(|_| {
            failed(format!(
                "{name}: not proved: another input, key or domain than the proof is for, or the \
                 proof was changed"
            ))
        })?;
    let value = output::hex(&value);
    let record = Record {
        input: &name,
        domain: &options.domain,
        public_key: &output::hex(&public.to_bytes()),
        output: &value,
        proof: &Kind::VrfProof.line(&proof.to_bytes()),
        valid: Some(true),
    };
    print(options.json, &record, &value)
}
