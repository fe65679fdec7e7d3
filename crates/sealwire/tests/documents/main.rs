//! What the documents name exists, with the values that they give.
//!
//! A binary of its own: `make check` runs it for each page that changes, and need not compile the suite.

mod architecture;
mod names;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

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
