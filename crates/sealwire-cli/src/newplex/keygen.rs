//! `sealwire newplex keygen`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{keys, print, with_suffix};
use crate::exit::Failure;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex keygen --out alice                 alice.key for you, alice.pub for the others
  sealwire newplex keygen --symmetric files.key       for 'mac', 'seal' and 'open'

Secret and symmetric keys are readable by you alone. Existing files are left alone. Keys of
'sealwire keygen' are of other kinds and do not fit here, nor these there.";

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["out", "symmetric"])]
pub(crate) struct KeygenOptions {
    /// Make a key pair and write STEM.pub and STEM.key
    #[arg(long, value_name = "STEM")]
    out: Option<PathBuf>,

    /// Make a symmetric key and write it to FILE
    #[arg(long, value_name = "FILE")]
    symmetric: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Secrets stay in their files.
#[derive(Default, Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_file: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_key_file: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetric_key_file: Option<&'a Path>,
}

pub(super) fn run(options: &KeygenOptions) -> Result<(), Failure> {
    if let Some(path) = &options.symmetric {
        keys::generate_symmetric(path)?;
        let record = Record {
            symmetric_key_file: Some(path),
            ..Record::default()
        };
        let text = format!("written     {}  (keep it secret)", path.display());
        return print(options.json, &record, &text);
    }
    let Some(stem) = &options.out else {
        return Err(Failure::usage("give --out STEM or --symmetric FILE"));
    };
    let (public_file, secret_file) = (with_suffix(stem, ".pub"), with_suffix(stem, ".key"));
    let public = keys::generate_pair(&public_file, &secret_file)?;
    let public = output::hex(&public.to_bytes());
    let record = Record {
        public_key: Some(&public),
        public_key_file: Some(&public_file),
        secret_key_file: Some(&secret_file),
        ..Record::default()
    };
    let text = format!(
        "public key  {public}\n\
         written     {}  (give it to those who are to know you)\n\
         written     {}  (keep it to yourself)",
        public_file.display(),
        secret_file.display()
    );
    print(options.json, &record, &text)
}
