//! `sealwire newplex frost deal`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use sealwire_newplex::files::{FROST_DOMAIN, Kind, MAX_FROST_SIGNERS, PublicGroup};
use sealwire_newplex::schemes::frost::{FrostError, Group, Parameters, Signer, generate};
use serde::Serialize;
use zeroize::Zeroizing;

use super::refused;
use crate::exit::Failure;
use crate::file::key::create_private;
use crate::newplex::{keys, print, with_suffix};
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex frost deal --threshold 2 --signers 3 --out treasury

Writes treasury.pub (for those who verify), treasury.group (for the participants and anyone who puts
signatures together), and treasury-1.signer, treasury-2.signer and treasury-3.signer, each readable by
you alone. Give each participant its own, over something that nobody reads along, and remove them here:
any two of them are the key.";

#[derive(Debug, Args)]
pub(crate) struct DealOptions {
    /// Signers that a signature takes, from 2 on
    #[arg(long, value_name = "COUNT")]
    threshold: usize,

    /// Participants that there are, up to 255
    #[arg(long, value_name = "COUNT")]
    signers: usize,

    /// Write STEM.pub, STEM.group and a STEM-n.signer for each participant
    #[arg(long, value_name = "STEM")]
    out: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Secrets stay in their files.
#[derive(Serialize)]
struct Record<'a> {
    public_key: &'a str,
    threshold: u16,
    public_key_file: &'a Path,
    group_file: &'a Path,
    signer_files: &'a [PathBuf],
}

pub(super) fn run(options: &DealOptions) -> Result<(), Failure> {
    if options.signers > MAX_FROST_SIGNERS {
        return Err(Failure::usage(format!(
            "a group has at most {MAX_FROST_SIGNERS} signers here"
        )));
    }
    let parameters = Parameters {
        threshold: options.threshold,
        max_signers: options.signers,
    };
    let (group, signers) = generate(FROST_DOMAIN, parameters).map_err(|error| match error {
        FrostError::Parameters { .. } => Failure::usage(error.to_string()),
        other => refused(other),
    })?;
    let mut files = Files::default();
    files.write(&options.out, group, &signers)?;
    let public = output::hex(&group.key().to_bytes());
    let record = Record {
        public_key: &public,
        threshold: group.threshold(),
        public_key_file: &files.public[0],
        group_file: &files.public[1],
        signer_files: &files.secret,
    };
    let mut text = format!(
        "public key  {public}\n\
         written     {}  (give it to those who verify)\n\
         written     {}  (give it to all participants)",
        files.public[0].display(),
        files.public[1].display(),
    );
    for (signer, path) in signers.iter().zip(&files.secret) {
        text += &format!(
            "\nwritten     {}  (give it to participant {} alone)",
            path.display(),
            signer.identifier()
        );
    }
    print(options.json, &record, &text)
}

/// The files that were written.
#[derive(Default)]
struct Files {
    public: Vec<PathBuf>,
    secret: Vec<PathBuf>,
}

impl Files {
    /// All files, or none.
    fn write(&mut self, stem: &Path, group: Group, signers: &[Signer]) -> Result<(), Failure> {
        self.try_write(stem, group, signers).inspect_err(|_| {
            for path in self.public.iter().chain(&self.secret) {
                // A part of the group would be in the way of the next attempt.
                let _ = fs::remove_file(path);
            }
        })
    }

    fn try_write(&mut self, stem: &Path, group: Group, signers: &[Signer]) -> Result<(), Failure> {
        for signer in signers {
            let path = with_suffix(stem, &format!("-{}.signer", signer.identifier()));
            let text = Zeroizing::new(format!(
                "#   Newplex FROST SECRET of participant {}: enough of them sign in the group's name.\n{}\n",
                signer.identifier(),
                Kind::FrostSigner.line(&*signer.to_bytes()).as_str()
            ));
            create_private(&path, &text)?;
            self.secret.push(path);
        }
        let public_key = format!(
            "#   Newplex public key of a group\n{}\n",
            Kind::PublicKey.line(group.key().as_bytes()).as_str()
        );
        let group = format!(
            "#   Newplex group: {} of {} participants sign\n{}\n",
            group.threshold(),
            group.max_signers(),
            PublicGroup::new(group, signers).line()
        );
        for (suffix, text) in [(".pub", public_key), (".group", group)] {
            let path = with_suffix(stem, suffix);
            keys::write_public(&path, &text)?;
            self.public.push(path);
        }
        Ok(())
    }
}
