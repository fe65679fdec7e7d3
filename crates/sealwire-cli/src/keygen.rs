//! `sealwire keygen`: a new key pair, into files or onto the screen, or a symmetric key into a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire::keys::Readers;
use sealwire::{Generate as _, KeyPair, PublicKey, SecretKey, keys};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::file;

/// Make a key pair, or a symmetric key for files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeygenOptions {
    /// Write STEM.pub and STEM.key (readable by you alone) instead of showing the secret key;
    /// existing files are left alone
    #[arg(long, value_name = "STEM")]
    out: Option<PathBuf>,

    /// Name the files as CZMQ and pyzmq do: STEM.key is public, STEM.key_secret is readable by you
    /// alone
    #[arg(long, requires = "out")]
    czmq: bool,

    /// Make the pair that belongs to a seed, the same each time: 32 bytes, or as a line of 64 (hex) or 40 (Z85)
    /// characters, in a file that only you may read; '-' for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "symmetric")]
    from_seed: Option<PathBuf>,

    /// Print the public key that belongs to a secret key, and nothing else
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["out", "czmq", "from_seed", "symmetric"]
    )]
    print_public: Option<PathBuf>,

    /// Print keys in hexadecimal (64 characters) instead of Z85 (40 characters)
    #[arg(long)]
    hex: bool,

    /// Make a symmetric key for 'sealwire seal' and 'sealwire open' instead, and write it to FILE
    /// (readable by you alone); an existing file is left alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "hex"])]
    symmetric: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  sealwire keygen --out server        server.pub for the clients, server.key for the server
  sealwire keygen --out node --czmq   node.key and node.key_secret, for CURVE with libzmq
  sealwire keygen --json              {\"public_key\":...,\"secret_key\":...}
  sealwire keygen --print-public server.key
  vault kv get -field=seed secret/server | sealwire keygen --from-seed - --out server
  sealwire keygen --symmetric my.key  a key for 'sealwire seal' and 'sealwire open'
  cat alice.pub                       a CZMQ certificate; other ZeroMQ tools read it

The files of several clients in one directory make an allow-list:
  mkdir allowed && cp alice.pub bob.pub allowed
  sealwire pull --bind tcp://*:5555 --server --secret-key-file server.key --allow allowed";

/// What `--json` prints.
#[derive(Serialize)]
struct KeyRecord<'a> {
    public_key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_file: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_key_file: Option<&'a Path>,
}

/// What `--print-public --json` prints.
#[derive(Serialize)]
struct PublicKeyRecord<'a> {
    public_key: &'a str,
}

/// What `--symmetric --json` prints. The key itself stays in its file.
#[derive(Serialize)]
struct SymmetricKeyRecord<'a> {
    symmetric_key_file: &'a Path,
}

impl SymmetricKeyRecord<'_> {
    fn print(&self, json: bool) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if json {
            serde_json::to_writer(&mut out, self)?;
            return out.write_all(b"\n");
        }
        let path = self.symmetric_key_file.display();
        writeln!(
            out,
            "written     {path}  (keep it to those who may read the files)"
        )
    }
}

pub(crate) fn run(options: &KeygenOptions) -> Result<(), Failure> {
    if let Some(path) = &options.symmetric {
        file::key::generate(path)?;
        let record = SymmetricKeyRecord {
            symmetric_key_file: path,
        };
        return record
            .print(options.json)
            .map_err(|error| Failure::output(&error));
    }
    if let Some(path) = &options.print_public {
        let public = keys::read_key_pair(path)?.public();
        return print_public(&public, options).map_err(|error| Failure::output(&error));
    }
    let keys = match &options.from_seed {
        Some(path) => keys::key_pair_from_seed(&*read_seed(path)?),
        None => KeyPair::generate(),
    };
    let files = match &options.out {
        Some(stem) if options.czmq => Some(keys::write_czmq_certificate(stem, &keys)?),
        Some(stem) => Some(keys::write_key_pair(stem, &keys)?),
        None => None,
    };
    let public = public_text(&keys.public(), options.hex);
    let secret = secret_text(keys.secret(), options.hex);
    let (public_key_file, secret_key_file) = match &files {
        Some((public, secret)) => (Some(&**public), Some(&**secret)),
        None => (None, None),
    };
    let record = KeyRecord {
        public_key: &public,
        // Once it is in a file, there is no need to show it around.
        secret_key: files.is_none().then_some(&**secret),
        public_key_file,
        secret_key_file,
    };
    print(&record, options.json).map_err(|error| Failure::output(&error))
}

fn print_public(key: &PublicKey, options: &KeygenOptions) -> io::Result<()> {
    let text = public_text(key, options.hex);
    let mut out = io::stdout().lock();
    if options.json {
        let record = PublicKeyRecord { public_key: &text };
        serde_json::to_writer(&mut out, &record)?;
        return out.write_all(b"\n");
    }
    writeln!(out, "{text}")
}

/// 32 bytes as they are, or as a key is written.
fn read_seed(path: &Path) -> Result<Zeroizing<[u8; 32]>, Failure> {
    // Its permissions count, whatever it is called.
    let path = match path == Path::new("-") {
        true => Path::new("/dev/stdin"),
        false => path,
    };
    let bytes = keys::read_secret_file(path, Readers::Owner)?;
    if let Ok(seed) = bytes.as_slice().try_into() {
        return Ok(Zeroizing::new(seed));
    }
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    match text.parse::<SecretKey>() {
        Ok(seed) => Ok(Zeroizing::new(*seed.as_bytes())),
        Err(_) => Err(Failure::new(
            Code::Failed,
            format!(
                "{} is not a seed: it needs 32 random bytes, or a line of 64 (hex) or 40 (Z85) characters",
                path.display()
            ),
        )),
    }
}

fn print(record: &KeyRecord<'_>, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, record)?;
        return out.write_all(b"\n");
    }
    writeln!(out, "public key  {}", record.public_key)?;
    if let Some(secret) = record.secret_key {
        writeln!(out, "secret key  {secret}")?;
    }
    if let (Some(public), Some(secret)) = (record.public_key_file, record.secret_key_file) {
        writeln!(
            out,
            "written     {}  (give it to those who are to know you)",
            public.display()
        )?;
        writeln!(
            out,
            "written     {}  (keep it to yourself)",
            secret.display()
        )?;
    }
    Ok(())
}

fn public_text(key: &PublicKey, hex: bool) -> String {
    if hex { key.to_hex() } else { key.to_z85() }
}

/// The return type wipes the text when it is dropped.
fn secret_text(key: &SecretKey, hex: bool) -> impl std::ops::Deref<Target = String> {
    if hex { key.to_hex() } else { key.to_z85() }
}
