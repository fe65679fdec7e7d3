//! Whom a listener lets in.

use std::fs;
use std::path::{Path, PathBuf};

use sealwire_newplex::schemes::keys::PublicKey;

use crate::exit::Failure;
use crate::newplex::keys;

/// Keys, files with keys, and folders of such files. What is on disk is read again for each
/// connection, so that changes take effect at once.
#[derive(Debug)]
pub(super) struct AllowList(Vec<Source>);

#[derive(Debug)]
enum Source {
    Key(PublicKey),
    Path(PathBuf),
}

impl AllowList {
    /// Reads everything once, so that mistakes show at the start.
    pub(super) fn new(sources: &[String]) -> Result<Self, Failure> {
        let sources = sources
            .iter()
            .map(|source| match keys::parse_public(source) {
                Some(key) => Source::Key(key),
                None => Source::Path(source.into()),
            });
        let list = AllowList(sources.collect());
        for source in &list.0 {
            if let Source::Path(path) = source {
                visit(path, &mut |_| {})?;
            }
        }
        Ok(list)
    }

    pub(super) fn allows(&self, key: &PublicKey) -> Result<bool, Failure> {
        let mut found = false;
        for source in &self.0 {
            match source {
                Source::Key(allowed) => found |= allowed == key,
                Source::Path(path) => visit(path, &mut |allowed| found |= allowed == *key)?,
            }
        }
        Ok(found)
    }
}

/// Gives every key of a file, or of the files of a folder whose names end with `.pub`.
fn visit(path: &Path, take: &mut impl FnMut(PublicKey)) -> Result<(), Failure> {
    if !path.is_dir() {
        keys::read_public_list(path)?.into_iter().for_each(take);
        return Ok(());
    }
    let cannot = |error| keys::at(path, &format!("cannot be read: {error}"));
    for entry in fs::read_dir(path).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_some_and(|extension| extension == "pub") {
            keys::read_public_list(&path)?
                .into_iter()
                .for_each(&mut *take);
        }
    }
    Ok(())
}
