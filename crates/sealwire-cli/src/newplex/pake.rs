//! `sealwire newplex pake`: a symmetric key for two who share a password.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sealwire_newplex::files::{self, Kind, pake_answer_line};
use sealwire_newplex::schemes::pake::{Exchange, Initiator};
use sealwire_newplex::schemes::randomness::Randomness;
use sealwire_newplex::{Protocol, Tag};
use serde::Serialize;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::inputs::read_value;
use super::outputs::LineOutput;
use super::password::read_password;
use super::state::{self, State};
use super::{failed, keys, print};
use crate::exit::Failure;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex pake initiate --password-file pw --state mine.state -o message      alice
  sealwire newplex pake respond --password-file pw --key-file shared.key message -o answer    bea
  sealwire newplex pake finish --password-file pw --state mine.state --key-file shared.key answer    alice

Both have the same symmetric key then, for 'seal', 'mac' and 'siv', if they have the same password,
--session, --initiator and --responder. Who watches the two messages cannot try passwords on them; who
takes part in an exchange can try one. The responder does not learn here whether the initiator knew the
password: the first thing that is sealed under the key shows it.";

const INITIATE: &str = "\
Examples:
  sealwire newplex pake initiate --password-file pw --state mine.state -o message
  sealwire newplex pake initiate --key-file shared.key     asks for the password, prints the message,
                                                           waits for the answer on standard input

The password is the first line of --password-file or of standard input, and a terminal does not show it.
--state keeps what 'finish' needs; it is of use with the password alone, and once. With --key-file nothing
is kept on the disk but the key.";

const RESPOND: &str = "\
Examples:
  sealwire newplex pake respond --password-file pw --key-file shared.key message -o answer
  sealwire newplex pake respond --key-file shared.key      asks for the password, then for the message

Each exchange is one guess for the sender of the message: limit how many you answer.";

const FINISH: &str = "\
Examples:
  sealwire newplex pake finish --password-file pw --state mine.state --key-file shared.key answer

The answer shows whether the responder knew the password; exit code 1 if not, and there is no key then.
The state is removed in either case: another try takes another exchange.";

const DOMAIN: &str = "sealwire.newplex.pake";

#[derive(Debug, Subcommand)]
pub(crate) enum PakeCommand {
    /// Begin an exchange: print the message for the responder
    #[command(after_help = INITIATE)]
    Initiate(InitiateOptions),
    /// Answer an initiator's message, and write the key
    #[command(after_help = RESPOND)]
    Respond(RespondOptions),
    /// Take the responder's answer, and write the key
    #[command(after_help = FINISH)]
    Finish(FinishOptions),
}

/// What both must have the same of.
#[derive(Debug, Args)]
pub(crate) struct ExchangeOptions {
    /// Read the password from this file, which only its owner may be able to read
    #[arg(
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true
    )]
    password_file: PathBuf,

    /// Name of this exchange, best one that is never used again
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    session: String,

    /// Name of the initiator
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    initiator: String,

    /// Name of the responder
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    responder: String,
}

#[derive(Debug, Args)]
#[group(id = "kept", required = true, multiple = false, args = ["state", "key_file"])]
pub(crate) struct InitiateOptions {
    #[command(flatten)]
    exchange: ExchangeOptions,

    /// Write what finish needs to this new file, readable by you alone
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Wait for the answer on standard input, and write the key to this new file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "json"])]
    key_file: Option<PathBuf>,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct RespondOptions {
    /// The initiator's message; '-' or nothing is standard input
    #[arg(value_name = "MESSAGE", default_value = "-", hide_default_value = true)]
    message: PathBuf,

    #[command(flatten)]
    exchange: ExchangeOptions,

    /// Write the symmetric key to this new file, readable by you alone
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    #[command(flatten)]
    output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct FinishOptions {
    /// The responder's answer; '-' or nothing is standard input
    #[arg(value_name = "ANSWER", default_value = "-", hide_default_value = true)]
    answer: PathBuf,

    #[command(flatten)]
    exchange: ExchangeOptions,

    /// What initiate wrote; it is removed
    #[arg(long, value_name = "FILE")]
    state: PathBuf,

    /// Write the symmetric key to this new file, readable by you alone
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct MessageRecord<'a> {
    message: &'a str,
}

#[derive(Serialize)]
struct AnswerRecord<'a> {
    answer: &'a str,
    symmetric_key_file: &'a Path,
}

#[derive(Serialize)]
struct KeyRecord<'a> {
    symmetric_key_file: &'a Path,
}

impl PakeCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            PakeCommand::Initiate(options) => initiate(options),
            PakeCommand::Respond(options) => respond(options),
            PakeCommand::Finish(options) => finish(options),
        }
    }

    pub(super) fn json(&self) -> bool {
        match self {
            PakeCommand::Initiate(options) => options.output.json,
            PakeCommand::Respond(options) => options.output.json,
            PakeCommand::Finish(options) => options.json,
        }
    }
}

impl ExchangeOptions {
    fn password(&self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        read_password(&self.password_file, &["Password: "])
    }

    fn with<'a>(&'a self, password: &'a [u8]) -> Exchange<'a> {
        Exchange {
            initiator: self.initiator.as_bytes(),
            responder: self.responder.as_bytes(),
            session: self.session.as_bytes(),
            password,
        }
    }
}

fn initiate(options: &InitiateOptions) -> Result<(), Failure> {
    if let Some(path) = &options.key_file {
        keys::check_new(path)?;
    }
    let password = options.exchange.password()?;
    let exchange = options.exchange.with(&password);
    let Some(key_file) = &options.key_file else {
        let Some(state) = &options.state else {
            return Err(Failure::usage("give --state FILE or --key-file FILE"));
        };
        let result = options.output.open()?;
        let comment =
            "Newplex PAKE state: with the password it makes a key out of the answer, once.";
        let randomness = state::create(state, Kind::PakeState, comment)?;
        let (_, message) = exchange.initiate_with(DOMAIN, randomness);
        let line = Kind::PakeMessage.line(&message);
        return result.finish(&MessageRecord { message: &line }, &line);
    };
    let randomness = Randomness::from_os().map_err(|error| failed(error.to_string()))?;
    let (initiator, message) = exchange.initiate_with(DOMAIN, randomness);
    let line = Kind::PakeMessage.line(&message);
    print(false, &MessageRecord { message: &line }, &line)?;
    conclude(
        initiator,
        Path::new("-"),
        &read_value(Path::new("-"))?,
        key_file,
    )
}

fn respond(options: &RespondOptions) -> Result<(), Failure> {
    let result = options.output.open()?;
    let password = options.exchange.password()?;
    let exchange = options.exchange.with(&password);
    let problem = |problem: String| keys::at(&options.message, &problem);
    let message = files::parse_pake_message(&read_value(&options.message)?)
        .map_err(|invalid| problem(invalid.to_string()))?;
    let (protocol, answer) = exchange
        .respond(DOMAIN, &message)
        .map_err(|error| problem(error.to_string()))?;
    let (confirmation, key) = agreed(protocol);
    keys::write_symmetric(&options.key_file, &key)?;
    let line = pake_answer_line(&answer, &confirmation);
    let record = AnswerRecord {
        answer: &line,
        symmetric_key_file: &options.key_file,
    };
    result.finish(&record, &line)
}

fn finish(options: &FinishOptions) -> Result<(), Failure> {
    keys::check_new(&options.key_file)?;
    let password = options.exchange.password()?;
    let exchange = options.exchange.with(&password);
    let text = read_value(&options.answer)?;
    // A file that is something else says nothing about the password.
    files::parse_pake_answer(&text).map_err(|problem| keys::invalid(&options.answer, problem))?;
    let state = State::claim(&options.state, Kind::PakeState)?;
    let (initiator, _) = exchange.initiate_with(DOMAIN, state.randomness()?);
    // Before the answer is tried: each of the peer's answers would be a guess at the password.
    state.consume()?;
    conclude(initiator, &options.answer, &text, &options.key_file)?;
    let record = KeyRecord {
        symmetric_key_file: &options.key_file,
    };
    let text = format!(
        "written     {}  (keep it secret)",
        options.key_file.display()
    );
    print(options.json, &record, &text)
}

/// Takes the responder's answer, and writes the key if the answer confirms the password.
fn conclude(
    initiator: Initiator,
    answer_path: &Path,
    answer: &str,
    key_file: &Path,
) -> Result<(), Failure> {
    let (answer, confirmation) =
        files::parse_pake_answer(answer).map_err(|problem| keys::invalid(answer_path, problem))?;
    let protocol = initiator
        .finish(&answer)
        .map_err(|error| keys::at(answer_path, &error.to_string()))?;
    let (expected, key) = agreed(protocol);
    if !bool::from(expected.ct_eq(&confirmation)) {
        return Err(keys::at(
            answer_path,
            "no key: the responder has another password, session or names, answered another message, \
             or the answer was changed",
        ));
    }
    keys::write_symmetric(key_file, &key)
}

/// The tag with which the responder shows that it knew the password, and the key.
fn agreed(mut protocol: Protocol) -> (Tag, Zeroizing<[u8; 32]>) {
    let confirmation = protocol.derive_array("responder-confirmation");
    (confirmation, Zeroizing::new(protocol.derive_array("key")))
}
