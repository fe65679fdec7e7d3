//! Options of those who seal to somebody's key, and of those who open it.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};

use super::keys;
use super::outputs::FileOutput;
use crate::exit::Failure;

#[derive(Debug, Args)]
pub(crate) struct SealToOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    pub(super) input: PathBuf,

    /// Your secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// The receiver's public key: its file, or 64 hexadecimal digits
    #[arg(long, value_name = "KEY")]
    to: String,

    /// Application and purpose; the receiver has to name the same [default: the command's own]
    #[arg(long, value_name = "TEXT")]
    pub(super) domain: Option<String>,

    #[command(flatten)]
    pub(super) output: FileOutput,
}

#[derive(Debug, Args)]
pub(crate) struct OpenFromOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    pub(super) input: PathBuf,

    /// Your secret key, as 'sealwire newplex keygen --out STEM' writes it
    #[arg(long, value_name = "FILE")]
    secret_key_file: PathBuf,

    /// The sender's public key: its file, or 64 hexadecimal digits
    #[arg(long, value_name = "KEY")]
    from: String,

    /// Application and purpose, as the sender named them [default: the command's own]
    #[arg(long, value_name = "TEXT")]
    pub(super) domain: Option<String>,

    #[command(flatten)]
    pub(super) output: FileOutput,
}

impl SealToOptions {
    /// The sender's secret key and the receiver's public one.
    pub(super) fn keys(&self) -> Result<(SecretKey, PublicKey), Failure> {
        Ok((
            keys::read_secret(&self.secret_key_file)?,
            keys::read_public_or_digits(&self.to)?,
        ))
    }
}

impl OpenFromOptions {
    /// The receiver's secret key and the sender's public one.
    pub(super) fn keys(&self) -> Result<(SecretKey, PublicKey), Failure> {
        Ok((
            keys::read_secret(&self.secret_key_file)?,
            keys::read_public_or_digits(&self.from)?,
        ))
    }
}
