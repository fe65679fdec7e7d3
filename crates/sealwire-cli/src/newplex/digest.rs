//! `sealwire newplex digest` and `sealwire newplex mac`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire_newplex::schemes::digest::{Digest, KeyedDigest};
use sealwire_newplex::{TAG_SIZE, files};
use serde::Serialize;
use zeroize::Zeroizing;

use super::{PIECE_SIZE, failed, keys, print, read_through};
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

/// Files that are read side by side: CPUs with VAES hash several at once.
const SIDE_BY_SIDE: usize = 16;

pub(super) fn digest(options: &DigestOptions) -> Result<(), Failure> {
    let is_pipe = |path: &&PathBuf| *path == Path::new("-");
    let mut rest = options.inputs.as_slice();
    while !rest.is_empty() {
        // There is one standard input, however often it is named.
        let files = rest.iter().take(SIDE_BY_SIDE);
        let files = files.take_while(|path| !is_pipe(path)).count();
        let (group, later) = rest.split_at(files.max(1));
        digest_group(options, group)?;
        rest = later;
    }
    Ok(())
}

/// Prints the digests of a few files, in their order, up to the first that cannot be read.
fn digest_group(options: &DigestOptions, paths: &[PathBuf]) -> Result<(), Failure> {
    let mut inputs: Vec<_> = paths.iter().map(|path| Input::open(path)).collect();
    let mut digests = vec![Digest::new(&options.domain); paths.len()];
    let mut room = Zeroizing::new(vec![0; PIECE_SIZE * paths.len()]);
    let mut lengths = vec![PIECE_SIZE; paths.len()];
    while lengths.contains(&PIECE_SIZE) {
        let pieces = room.chunks_mut(PIECE_SIZE);
        for ((input, length), piece) in inputs.iter_mut().zip(&mut lengths).zip(pieces) {
            let has_more = *length == PIECE_SIZE;
            *length = match input {
                Ok(open) if has_more => open.fill(piece).unwrap_or_else(|failure| {
                    *input = Err(failure);
                    0
                }),
                _ => 0,
            };
        }
        let pieces = room.chunks(PIECE_SIZE).zip(&lengths);
        let pieces: Vec<_> = pieces.map(|(piece, length)| &piece[..*length]).collect();
        Digest::update_many(&mut digests, &pieces);
    }
    for ((input, path), digest) in inputs.into_iter().zip(paths).zip(digests) {
        let digest = output::hex(&digest.value());
        let record = DigestRecord {
            input: &input?.name,
            domain: &options.domain,
            digest: &digest,
        };
        let text = format!("{digest}  {}", on_one_line(path));
        print(options.json, &record, &text)?;
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
        Some(text) => Some(files::decode_hex::<TAG_SIZE>(text).ok_or_else(|| {
            Failure::usage("a tag has 32 hexadecimal digits, as 'sealwire newplex mac' prints them")
        })?),
    };
    let key = keys::read_symmetric(&options.key_file)?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let mut mac = KeyedDigest::new(&options.domain, &*key);
    read_through(input, |piece| mac.write_all(piece))?;
    if expected.as_ref().is_some_and(|tag| !mac.verify(tag)) {
        return Err(failed(format!(
            "{name}: not authentic: not what this tag was made for, or made under another key or \
             domain"
        )));
    }
    let is_verified = expected.is_some();
    let tag = output::hex(&expected.map_or_else(|| mac.value(), |tag| *tag));
    let record = TagRecord {
        input: &name,
        domain: &options.domain,
        tag: &tag,
        valid: is_verified.then_some(true),
    };
    let text = if is_verified {
        format!("authentic: {}", on_one_line(Path::new(&name)))
    } else {
        tag.clone()
    };
    print(options.json, &record, &text)
}
