//! Types, files, tests and commands that the pages name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::*;

/// The identifiers of all sources, those in strings and comments included.
fn words_of_the_sources() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for source in files(&root().join("crates"), ".rs") {
        let text = fs::read_to_string(source).unwrap();
        let all = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.extend(all.map(str::to_owned));
    }
    words
}

/// `Error::NoSecurity`, `Security::plain_text()` and the like.
#[test]
fn what_is_named_with_its_type_exists() {
    let words = words_of_the_sources();
    let mut current = files(&root().join("docs/guide"), ".md");
    for page in ["options.md", "migrating.md", "security.md"] {
        current.push(root().join("docs").join(page));
    }
    let mut named = 0;
    for page in current {
        let text = prose(&fs::read_to_string(&page).unwrap());
        for name in quoted(&text) {
            let name = name.split('(').next().unwrap();
            let parts: Vec<_> = name.split("::").collect();
            if parts.len() < 2 || !parts.iter().all(|part| is_identifier(part)) {
                continue;
            }
            let standard = ["std", "Duration"].contains(&parts[0]);
            let missing = parts
                .iter()
                .find(|part| !standard && !words.contains(**part));
            assert!(missing.is_none(), "{}: '{name}'", page.display());
            named += 1;
        }
    }
    assert!(named > 20, "only {named} names were found");
}

#[test]
fn tables_name_files_and_tests_that_exist() {
    let architecture = read("ARCHITECTURE.md");
    let (_, bounds) = architecture.split_once("## What is bounded").unwrap();
    let (bounds, _) = bounds.split_once("\n## ").unwrap();
    for row in rows(bounds).filter(|row| row.len() > 3) {
        // A path with no folder in front is in the crate of the one before it.
        let mut sources = PathBuf::new();
        let is_path = |name: &&str| name.contains('/') || name.ends_with(".rs");
        for path in quoted(row[2]).into_iter().filter(is_path) {
            if let Some((name, _)) = path.split_once("/src/") {
                sources = root().join("crates").join(name).join("src");
            }
            let whole = root().join("crates").join(path);
            assert!(
                whole.exists() || sources.join(path).exists(),
                "ARCHITECTURE.md: '{path}'"
            );
        }
    }

    let sources: String = files(&root().join("crates"), ".rs")
        .into_iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for page in ["docs/threats.md", "docs/evidence.md"] {
        let text = read(page);
        let mut found = 0;
        for name in quoted(&text) {
            let Some((of, test)) = name.rsplit_once("::").filter(|_| !name.contains(' ')) else {
                continue;
            };
            // Types, and what belongs to one.
            let is_type = |name: &str| name.starts_with(char::is_uppercase);
            if !is_identifier(test) || is_type(test) || is_type(of) {
                continue;
            }
            let definitions = [format!("fn {test}("), format!("mod {test} {{")];
            let exists = definitions.iter().any(|text| sources.contains(text));
            // The page explains its notation with it.
            assert!(exists || test == "name", "{page}: '{name}'");
            found += 1;
        }
        assert!(found > 20, "{page}: only {found} tests were found");
    }
}

/// Tests and sources that pages name by the end of their path.
#[test]
fn files_that_are_named_exist() {
    let mut there = Vec::new();
    for folder in ["crates", "bindings", "interop"] {
        for ending in [".rs", ".c"] {
            there.extend(files(&root().join(folder), ending));
        }
    }
    let is_there = |name: &str| {
        let mut paths = there.iter().flat_map(|path| path.ancestors());
        paths.any(|path| path.ends_with(name))
    };
    let mut found = 0;
    for page in [
        "docs/threats.md",
        "docs/evidence.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
    ] {
        let text = prose(&read(page));
        let of_tests = |name: &&str| name.ends_with(".rs") || name.contains("tests/");
        for name in quoted(&text).into_iter().filter(of_tests) {
            assert!(is_there(name), "{page}: '{name}'");
            found += 1;
        }
    }
    assert!(found > 50, "only {found} files were found");
}

/// Where the modules of a test binary stand: by its name, unless the manifest has another path.
fn modules_of(package: &str, test: &str) -> PathBuf {
    let folder = root().join("crates").join(package);
    let manifest = read(folder.join("Cargo.toml"));
    let entry = format!("[[test]]\nname = \"{test}\"\npath = \"");
    match manifest
        .split_once(&entry)
        .and_then(|(_, rest)| rest.split_once("/main.rs\""))
    {
        Some((path, _)) => folder.join(path),
        None => folder.join("tests").join(test),
    }
}

/// `cargo test -p CRATE --test NAME module::`, in prose and in blocks of code.
#[test]
fn commands_run_tests_that_exist() {
    let mut found = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        // A row of a table may have several.
        let lines = text.lines().flat_map(|line| match line.contains('`') {
            true => quoted(line),
            false => vec![line],
        });
        for line in lines.filter(|line| line.contains("cargo test ")) {
            let words: Vec<_> = line.split_whitespace().collect();
            let behind = |option| {
                let place = words.iter().position(|word| *word == option)?;
                words.get(place + 1).copied()
            };
            let (Some(name), Some(test)) = (behind("-p"), behind("--test")) else {
                continue;
            };
            let modules = modules_of(name, test);
            assert!(
                modules.join("main.rs").exists() || modules.with_extension("rs").exists(),
                "{}: '{line}'",
                page.display()
            );
            let filters = words.iter().filter_map(|word| word.strip_suffix("::"));
            for module in filters {
                assert!(
                    modules.join(module).with_extension("rs").exists()
                        || modules.join(module).join("mod.rs").exists(),
                    "{}: '{line}'",
                    page.display()
                );
            }
            found += 1;
        }
    }
    assert!(found > 1, "only {found} commands were found");
}
