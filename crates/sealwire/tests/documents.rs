//! What the documents name exists, with the values that they give.
//!
//! A binary of its own: `make check` runs it for each page that changes, and need not compile the suite.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sealwire::metrics::METRICS;
use sealwire::options::{
    DEFAULT_BACKLOG, DEFAULT_BYTE_BUDGET, DEFAULT_HANDSHAKE_TIMEOUT, DEFAULT_HIGH_WATER_MARK,
    DEFAULT_LINGER, DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_HANDSHAKES, DEFAULT_MAX_MESSAGE_SIZE,
    DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAXIMUM,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below a folder whose name ends like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// Users' pages.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), ".md");
    pages.extend(files(&root().join("crates"), "README.md"));
    pages.extend(files(&root().join("bench"), "README.md"));
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ] {
        pages.push(root().join(name));
    }
    for language in ["python", "ruby"] {
        pages.push(root().join("bindings").join(language).join("README.md"));
    }
    pages
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let parts = text.split("```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

/// The texts between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|letter| letter.is_alphabetic())
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Cells of the rows of all tables, without the borders.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.split('|').skip(1).map(str::trim).collect())
}

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

/// The builder's options: methods that take the builder and give it back.
fn options_of_the_builder() -> BTreeSet<String> {
    let folder = root().join("crates/sealwire/src/socket/builder");
    let mut options = BTreeSet::new();
    for source in files(&folder, ".rs") {
        let text = fs::read_to_string(source).unwrap();
        for definition in text.split("pub fn ").skip(1) {
            let (head, _) = definition.split_once('{').unwrap();
            if head.contains("mut self") && head.contains("-> Self") {
                let (name, _) = head.split_once(['(', '<']).unwrap();
                options.insert(name.to_owned());
            }
        }
    }
    options
}

#[test]
fn the_page_of_options_names_the_options_that_there_are() {
    let page = read("docs/options.md");
    let options = options_of_the_builder();
    assert!(
        options.contains("linger") && options.contains("backlog"),
        "{options:?}"
    );
    let mut named = BTreeSet::new();
    let sections = page.split("\n## ");
    let of_the_builder = sections.filter(|section| section.contains("| libzmq | builder method |"));
    for row in of_the_builder.flat_map(rows).filter(|row| row.len() > 4) {
        // Methods of other types have their type in front.
        for name in quoted(row[1])
            .into_iter()
            .filter(|name| is_identifier(name))
        {
            let method = name == "unsubscribe" || name == "and_pem" || name == "and_system";
            assert!(
                method || options.contains(name),
                "no option '{name}': {row:?}"
            );
            named.insert(name.to_owned());
        }
    }
    // Of this library alone: neither has a counterpart that the page would translate.
    let beside = ["context", "provider"].map(str::to_owned);
    let missing: Vec<_> = options
        .difference(&named)
        .filter(|name| !beside.contains(name))
        .collect();
    assert!(missing.is_empty(), "docs/options.md lacks {missing:?}");
}

/// With commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn the_page_of_options_gives_the_defaults_that_there_are() {
    let page = read("docs/options.md");
    let mebibytes = |bytes: usize| format!("{} MiB", bytes >> 20);
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs());
    let high_water_mark = grouped(DEFAULT_HIGH_WATER_MARK);
    let budget = format!("{} GiB", DEFAULT_BYTE_BUDGET >> 30);
    for (option, default) in [
        ("`send_high_water_mark`", high_water_mark.clone()),
        ("`receive_high_water_mark`", high_water_mark),
        ("`send_byte_budget`", budget.clone()),
        ("`receive_byte_budget`", budget),
        ("`max_message_size`", mebibytes(DEFAULT_MAX_MESSAGE_SIZE)),
        ("`handshake_timeout`", seconds(DEFAULT_HANDSHAKE_TIMEOUT)),
        ("`linger`", seconds(DEFAULT_LINGER)),
        (
            "`reconnect`, first",
            format!("{} ms", DEFAULT_RECONNECT_INTERVAL.as_millis()),
        ),
        ("`reconnect`, second", seconds(DEFAULT_RECONNECT_MAXIMUM)),
        ("`max_handshakes`", grouped(DEFAULT_MAX_HANDSHAKES)),
        ("`max_connections`", grouped(DEFAULT_MAX_CONNECTIONS)),
        ("`backlog`", grouped(DEFAULT_BACKLOG as usize)),
    ] {
        let row = rows(&page).find(|row| row.len() > 4 && row[1] == option);
        let row = row.unwrap_or_else(|| panic!("{option} has no row"));
        assert!(
            row[4].starts_with(&default),
            "{option} has {default}, not '{}'",
            row[4]
        );
    }
}

#[test]
fn the_page_of_failures_has_each_cause_once() {
    let page = read("docs/failures.md");
    let mut of_page: Vec<String> = rows(&page)
        .filter(|row| row[0].starts_with('`'))
        .map(|row| quoted(row[0])[0].to_string())
        .collect();
    let mut causes = sealwire::FailureCause::NAMES.map(String::from).to_vec();
    of_page.sort();
    causes.sort();
    assert_eq!(of_page, causes);
}

#[test]
fn the_page_of_metrics_has_those_that_there_are() {
    let page = read("docs/guide/metrics.md");
    let of_page: Vec<[String; 4]> = rows(&page)
        .filter(|row| row[0].starts_with("`sealwire_"))
        .map(|row| {
            let labels = quoted(row[2]).join(" ");
            [
                quoted(row[0])[0].into(),
                row[1].into(),
                labels,
                row[3].into(),
            ]
        })
        .collect();
    let metrics = METRICS.iter().map(|metric| {
        let (name, kind, help) = (metric.name, metric.kind.name(), metric.help);
        [
            name.into(),
            kind.into(),
            metric.labels.join(" "),
            help.into(),
        ]
    });
    let metrics: Vec<[String; 4]> = metrics.collect();
    assert_eq!(of_page, metrics);
    for label in METRICS.iter().flat_map(|metric| metric.labels) {
        let explained = format!("`{label}`");
        let mut labels = rows(&page).filter(|row| !row[0].starts_with("`sealwire_"));
        assert!(labels.any(|row| row[0].contains(&explained)), "{label}");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in prose(&text).split("](").skip(1) {
            let (link, _) = link.split_once(')').unwrap();
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            assert!(target.exists(), "{}: '{link}'", page.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let mut anchors = text.lines().filter(|line| line.starts_with('#')).map(slug);
                assert!(
                    anchors.any(|slug| slug == anchor),
                    "{}: '{link}'",
                    page.display()
                );
            }
        }
    }
}

#[test]
fn the_index_leads_to_every_page() {
    let docs = root().join("docs");
    let index = read("docs/README.md");
    for page in files(&docs, ".md") {
        let page = page.strip_prefix(&docs).unwrap();
        let (folder, name) = (page.parent().unwrap(), page.file_name().unwrap());
        // By itself, with its folder, or by the index of its folder.
        let listed = index.contains(&format!("]({})", page.display()))
            || index.contains(&format!("]({}/)", folder.display()));
        let own_index = docs.join(folder).join("README.md");
        let below = own_index.exists() && {
            let own_index = fs::read_to_string(own_index).unwrap();
            own_index.contains(&format!("]({})", name.display()))
        };
        assert!(
            listed || below || page == Path::new("README.md"),
            "docs/README.md does not lead to {}",
            page.display()
        );
    }
}

/// A heading as links name it.
fn slug(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
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
