//! `sealwire newplex oprf`: a server's key on an input that the server does not see.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealwire_newplex::files::{self, Kind, OPRF_OUTPUT_SIZE, oprf_answer_line};
use sealwire_newplex::schemes::oprf::{Client, Server};
use serde::Serialize;
use zeroize::Zeroizing;

use super::inputs::{apart, read_value, read_whole};
use super::outputs::LineOutput;
use super::state::{self, State};
use super::{failed, keys};
use crate::exit::Failure;
use crate::file::Input;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex oprf blind --state mine.state name.txt -o request        the client
  sealwire newplex oprf evaluate --secret-key-file server.key request -o answer    the server
  sealwire newplex oprf finalize --state mine.state --answer answer \\
    --public-key-file server.pub name.txt                                   the client

The client learns the value of the server's key for its input, and nothing else of the key; the server
learns neither. With 'compute' the server has the values of inputs that it knows.";

const BLIND: &str = "\
Examples:
  sealwire newplex oprf blind --state mine.state name.txt -o request
  echo alice | sealwire newplex oprf blind --state mine.state > request

The request goes to the server, to which it looks random. The state stays here: it is readable by you
alone, and with the input it makes the value out of the server's answer, once.";

const EVALUATE: &str = "\
Examples:
  sealwire newplex oprf evaluate --secret-key-file server.key request -o answer

A key that answers anybody lets anybody try inputs: limit how often each client may ask.";

const FINALIZE: &str = "\
Examples:
  sealwire newplex oprf finalize --state mine.state --answer answer --public-key-file server.pub name.txt

Prints the value: 32 bytes in hexadecimal digits. The proof in the answer shows that the server used the
key it is known by, not one for you alone. The state is removed then; with a wrong answer or input it
stays.";

const COMPUTE: &str = "\
Examples:
  sealwire newplex oprf compute --secret-key-file server.key name.txt

Prints what a client with the same input gets.";

#[derive(Debug, Subcommand)]
pub(crate) enum OprfCommand {
    /// Blind an input for the server, as a client
    #[command(after_help = BLIND)]
    Blind(BlindOptions),
    /// Evaluate a blinded input, as the server
    #[command(after_help = EVALUATE)]
    Evaluate(EvaluateOptions),
    /// Make the value out of the server's answer, as the client
    #[command(after_help = FINALIZE)]
    Finalize(FinalizeOptions),
    /// Print the value of an input that the server knows
    #[command(after_help = COMPUTE)]
    Compute(ComputeOptions),
}

#[derive(Debug, Args)]
pub(crate) struct BlindOptions {
    /// The input; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// Write what finalize needs to this new file, readable by you alone
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.oprf")]
    domain: String,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateOptions {
    /// The client's request; '-' or nothing is standard input
    #[arg(value_name = "REQUEST", default_value = "-", hide_default_value = true)]
    request: PathBuf,

    /// The server's secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.oprf")]
    domain: String,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct FinalizeOptions {
    /// The input, once more; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// What blind wrote; it is removed
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    /// The server's answer
    #[arg(long, value_name = "FILE")]
    answer: PathBuf,

    /// The server's public key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    public_key_file: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.oprf")]
    domain: String,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct ComputeOptions {
    /// The input; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The server's secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.oprf")]
    domain: String,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Serialize)]
struct RequestRecord<'a> {
    domain: &'a str,
    request: &'a str,
}

#[derive(Serialize)]
struct AnswerRecord<'a> {
    domain: &'a str,
    public_key: &'a str,
    answer: &'a str,
}

#[derive(Serialize)]
struct ValueRecord<'a> {
    domain: &'a str,
    public_key: &'a str,
    output: &'a str,
}

impl OprfCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            OprfCommand::Blind(options) => blind(options),
            OprfCommand::Evaluate(options) => evaluate(options),
            OprfCommand::Finalize(options) => finalize(options),
            OprfCommand::Compute(options) => compute(options),
        }
    }

    pub(super) fn json(&self) -> bool {
        match self {
            OprfCommand::Blind(options) => options.output.json,
            OprfCommand::Evaluate(options) => options.output.json,
            OprfCommand::Finalize(options) => options.output.json,
            OprfCommand::Compute(options) => options.output.json,
        }
    }
}

fn blind(options: &BlindOptions) -> Result<(), Failure> {
    let result = options.output.open()?;
    let input = read_whole(Input::open(&options.input)?)?;
    let comment = "Newplex OPRF state: with the input it makes a value out of the answer, once.";
    let randomness = state::create(&options.state, Kind::OprfState, comment)?;
    let (_, blinded) = Client::blind_with(&options.domain, &input, randomness)
        .map_err(|error| failed(error.to_string()))?;
    let line = Kind::OprfRequest.line(blinded.as_bytes());
    let record = RequestRecord {
        domain: &options.domain,
        request: &line,
    };
    result.finish(&record, &line)
}

fn evaluate(options: &EvaluateOptions) -> Result<(), Failure> {
    let secret = keys::read_secret(&options.secret_key_file)?;
    let result = options.output.open()?;
    let blinded = files::parse_oprf_request(&read_value(&options.request)?)
        .map_err(|problem| keys::invalid(&options.request, problem))?;
    let server = Server::new(&options.domain, secret);
    let (evaluated, proof) = server
        .evaluate_with_proof(&blinded)
        .map_err(|error| failed(error.to_string()))?;
    let line = oprf_answer_line(&evaluated, &proof);
    let record = AnswerRecord {
        domain: &options.domain,
        public_key: &output::hex(&server.public_key().to_bytes()),
        answer: &line,
    };
    result.finish(&record, &line)
}

fn finalize(options: &FinalizeOptions) -> Result<(), Failure> {
    apart(&options.input, &options.answer)?;
    let public = keys::read_public(&options.public_key_file)?;
    let (evaluated, proof) = files::parse_oprf_answer(&read_value(&options.answer)?)
        .map_err(|problem| keys::invalid(&options.answer, problem))?;
    let result = options.output.open_private()?;
    let input = read_whole(Input::open(&options.input)?)?;
    let state = State::claim(&options.state, Kind::OprfState)?;
    let (client, _) = Client::blind_with(&options.domain, &input, state.randomness()?)
        .map_err(|error| failed(error.to_string()))?;
    let mut value = Zeroizing::new([0; OPRF_OUTPUT_SIZE]);
    client
        .finalize_verified(&public, &evaluated, &proof, &mut *value)
        .map_err(|_| {
            keys::at(
                &options.answer,
                "not proved: by a server of another key or domain, for another request or input, or \
                 changed on the way",
            )
        })?;
    state.consume()?;
    let value = Zeroizing::new(output::hex(&*value));
    let record = ValueRecord {
        domain: &options.domain,
        public_key: &output::hex(&public.to_bytes()),
        output: &value,
    };
    result.finish(&record, &value)
}

fn compute(options: &ComputeOptions) -> Result<(), Failure> {
    let secret = keys::read_secret(&options.secret_key_file)?;
    let result = options.output.open_private()?;
    let input = read_whole(Input::open(&options.input)?)?;
    let server = Server::new(&options.domain, secret);
    let mut value = Zeroizing::new([0; OPRF_OUTPUT_SIZE]);
    server
        .evaluate(&input, &mut *value)
        .map_err(|error| failed(error.to_string()))?;
    let value = Zeroizing::new(output::hex(&*value));
    let record = ValueRecord {
        domain: &options.domain,
        public_key: &output::hex(&server.public_key().to_bytes()),
        output: &value,
    };
    result.finish(&record, &value)
}
