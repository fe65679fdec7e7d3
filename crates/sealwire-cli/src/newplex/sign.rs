//! `sealwire newplex sign` and `sealwire newplex verify`.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::{self, Kind};
use sealwire_newplex::schemes::sig::{SigningKey, VerifyingKey};
use serde::Serialize;

use super::outputs::LineOutput;
use super::{failed, keys, print, read_through};
use crate::exit::Failure;
use crate::file::Input;
use crate::output;

pub(super) const SIGN: &str = "\
Examples:
  sealwire newplex sign --secret-key-file alice.key release.tar -o release.tar.sig
  tar c folder | sealwire newplex sign --secret-key-file alice.key > folder.sig

The signature is one line of text beside the file, which is not changed. Signing the same file
again gives another signature; both are right. Those who verify have to name the same domain.";

pub(super) const VERIFY: &str = "\
Examples:
  sealwire newplex verify --public-key-file alice.pub --signature release.tar.sig release.tar
  tar c folder | sealwire newplex verify --public-key-file alice.pub --signature folder.sig

Exit code 0 means that the owner of the key signed exactly these bytes for this domain, 1 that
there is no proof of it. Where alice.pub came from is what the answer is worth.";

#[derive(Debug, Args)]
pub(crate) struct SignOptions {
    /// What to sign; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// Your secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.sign")]
    domain: String,

    #[command(flatten)]
    pub(super) output: LineOutput,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// The signed input; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The signer's public key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    public_key_file: PathBuf,

    /// The signature, as 'sealwire newplex sign' writes it
    #[arg(long, value_name = "FILE")]
    signature: PathBuf,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.sign")]
    domain: String,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Record<'a> {
    input: &'a str,
    domain: &'a str,
    public_key: &'a str,
    signature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
}

pub(super) fn sign(options: &SignOptions) -> Result<(), Failure> {
    let secret = keys::read_secret(&options.secret_key_file)?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let result = options.output.open()?;
    let key = SigningKey::new(&options.domain, secret);
    let mut signing = key.begin();
    read_through(input, |piece| {
        signing.update(piece);
        Ok(())
    })?;
    let signature = signing.finish(&*keys::random::<64>()?);
    let line = Kind::Signature.line(&signature.to_bytes());
    let record = Record {
        input: &name,
        domain: &options.domain,
        public_key: &output::hex(&key.verifying_key().public_key().to_bytes()),
        signature: &line,
        valid: None,
    };
    result.finish(&record, &line)
}

pub(super) fn verify(options: &VerifyOptions) -> Result<(), Failure> {
    let public = keys::read_public(&options.public_key_file)?;
    let text = keys::read_public_text(&options.signature)?;
    let signature = files::parse_signature(&text)
        .map_err(|problem| keys::invalid(&options.signature, problem))?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let key = VerifyingKey::new(&options.domain, public);
    let mut verification = key.begin();
    read_through(input, |piece| {
        verification.update(piece);
        Ok(())
    })?;
    verification.finish(&signature).map_err(|_| {
        failed(format!(
            "{name}: not authentic: changed after it was signed, or signed by another key, for \
                 another domain or not at all"
        ))
    })?;
    let public = output::hex(&public.to_bytes());
    let record = Record {
        input: &name,
        domain: &options.domain,
        public_key: &public,
        signature: &Kind::Signature.line(&signature.to_bytes()),
        valid: Some(true),
    };
    print(options.json, &record, &format!("signed by {public}"))
}
