//! `sealwire newplex digest` and `sealwire newplex mac`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire_newplex::TAG_SIZE;
use sealwire_newplex::schemes::digest::{Digest, KeyedDigest};
use serde::Serialize;

use super::{failed, hex, keys, print, read_through};
use crate::exit::Failure;
use crate::file::Input;
use crate::output;

pub(super) const DIGEST: &str = "\
Examples:
  sealwire newplex digest one.tar two.tar             a line each: 64 hexadecimal digits, the name
  cat one.tar | sealwire newplex digest --json        {\"input\":\"standard input\",\"digest\":...}
  sealwire newplex digest --domain com.example.files one.tar

The digest has 32 bytes. A domain names an application and a purpose; the same bytes under another
domain have an unrelated digest.";

pub(super) const MAC: &str = "\
Examples:
  sealwire newplex keygen --symmetric mac.key
  sealwire newplex mac --key-file mac.key order.json                  32 hexadecimal digits
  sealwire newplex mac --key-file mac.key --verify TAG order.json     exit code 1 unless TAG is right

Only those who have the key can make and verify the tag of 16 bytes, and each of them can: a
signature ('sealwire newplex sign') tells who made it.";

#[derive(Debug, Args)]
pub(crate) struct DigestOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.digest")]
    domain: String,

    /// Print a JSON object per input
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MacOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The symmetric key, as 'sealwire newplex keygen --symmetric FILE' writes it
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    /// Verify this tag instead of printing one
    #[arg(long, value_name = "TAG")]
    verify: Option<String>,

    /// Application and purpose
    #[arg(long, value_name = "TEXT", default_value = "sealwire.mac")]
    domain: String,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Serialize)]
struct DigestRecord<'a> {
    input: &'a str,
    domain: &'a str,
    digest: &'a str,
}

#[derive(Serialize)]
struct TagRecord<'a> {
    input: &'a str,
    domain: &'a str,
    tag: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<bool>,
}

pub(super) fn digest(options: &DigestOptions) -> Result<(), Failure> {
    for path in &options.inputs {
        let input = Input::open(path)?;
        let name = input.name.clone();
        let mut digest = Digest::new(&options.domain);
        read_through(input, |piece| digest.write_all(piece))?;
        let digest = output::hex(&digest.value());
        let record = DigestRecord {
            input: &name,
            domain: &options.domain,
            digest: &digest,
        };
        print(
            options.json,
            &record,
            &format!("{digest}  {}", on_one_line(path)),
        )?;
    }
    Ok(())
}

/// A name that cannot pass for a line of its own.
fn on_one_line(path: &Path) -> String {
    let escape = |character: char| {
        if character.is_control() {
            character.escape_default().to_string()
        } else {
            character.to_string()
        }
    };
    path.display().to_string().chars().map(escape).collect()
}

pub(super) fn mac(options: &MacOptions) -> Result<(), Failure> {
    let expected = match &options.verify {
        None => None,
        Some(text) => Some(hex::decode::<TAG_SIZE>(text).ok_or_else(|| {
            Failure::usage("a tag has 32 hexadecimal digits, as 'sealwire newplex mac' prints them")
        })?),
    };
    let key = keys::read_symmetric(&options.key_file)?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let mut mac = KeyedDigest::new(&options.domain, &*key);
    read_through(input, |piece| mac.write_all(piece))?;
    if expected.is_some_and(|tag| !mac.verify(&tag)) {
        return Err(failed(format!(
            "{name}: not authentic: not what this tag was made for, or made under another key or \
             domain"
        )));
    }
    let tag = output::hex(&expected.unwrap_or_else(|| mac.value()));
    let record = TagRecord {
        input: &name,
        domain: &options.domain,
        tag: &tag,
        valid: expected.map(|_| true),
    };
    let text = if expected.is_some() {
        format!("authentic: {}", on_one_line(Path::new(&name)))
    } else {
        tag.clone()
    };
    print(options.json, &record, &text)
}
