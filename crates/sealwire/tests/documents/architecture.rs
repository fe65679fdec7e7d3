//! The map names what there is: crates, folders, and the atomics of the engine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

/// Names of the folders in a folder.
fn folders(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_map_names_every_crate_and_the_folders_that_there_are() {
    let architecture = read("ARCHITECTURE.md");
    let (map, _) = architecture.split_once("## What is bounded").unwrap();
    let mut named = BTreeSet::new();
    for row in rows(map) {
        let Some(name) = quoted(row[0])
            .first()
            .and_then(|path| path.strip_prefix("crates/"))
        else {
            continue;
        };
        named.insert(name.to_owned());
        let in_row = quoted(row[1]).into_iter();
        let in_row: BTreeSet<_> = in_row
            .filter_map(|path| path.strip_suffix('/').map(str::to_owned))
            .collect();
        let there = folders(&root().join("crates").join(name).join("src"));
        let missing: Vec<_> = in_row.difference(&there).collect();
        assert!(missing.is_empty(), "{name} does not have {missing:?}");
        // The others have a few folders for instruction sets.
        if ["sealwire", "sealwire-zmtp", "sealwire-rpc", "sealwire-cli"].contains(&name) {
            assert_eq!(in_row, there, "{name}");
        }
    }
    assert_eq!(named, folders(&root().join("crates")));
}

/// `Type::field` of each atomic in these sources, and `Type` where one wraps it, but for those of tests.
fn atomics_of(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for source in files(folder, ".rs") {
        let path = source.to_string_lossy();
        if path.ends_with("tests.rs") || path.contains("_tests/") || path.contains("simulated") {
            continue;
        }
        let text = fs::read_to_string(&source).unwrap();
        let code = text.split("mod tests {").next().unwrap();
        let mut of = "";
        for line in code.lines().map(str::trim) {
            if let Some((_, definition)) = line.split_once("struct ") {
                let name = definition.split(|letter: char| !letter.is_alphanumeric());
                of = name.into_iter().next().unwrap();
                if definition.contains("(Atomic") {
                    found.insert(of.to_owned());
                }
            } else if let Some((field, shape)) = line.split_once(": ")
                && shape.contains("Atomic")
                && !line.starts_with("//")
                && !shape.contains(['(', '&'])
            {
                let field = field.split_whitespace().next_back().unwrap();
                found.insert(format!("{of}::{field}"));
            }
        }
    }
    found
}

#[test]
fn the_table_of_atomics_names_those_that_there_are() {
    let architecture = read("ARCHITECTURE.md");
    let (_, section) = architecture.split_once("### Atomics").unwrap();
    let (table, _) = section.split_once("declared in modules below").unwrap();
    let mut named = BTreeSet::new();
    for row in rows(table) {
        let mut of = "";
        for name in quoted(row[0]) {
            // Where a type has several, it is named once. What a row says of folders is none.
            if let Some((by, _)) = name.split_once("::") {
                of = by;
                named.insert(name.to_owned());
            } else if name.starts_with(char::is_uppercase) {
                named.insert(name.to_owned());
            } else if !["engine", "inproc"].contains(&name) {
                named.insert(format!("{of}::{name}"));
            }
        }
    }
    let sources = root().join("crates/sealwire/src");
    let folders = ["waiting", "core", "socket", "engine", "inproc"];
    let there: BTreeSet<_> = folders
        .iter()
        .flat_map(|folder| atomics_of(&sources.join(folder)))
        .collect();
    assert_eq!(named, there);
}
