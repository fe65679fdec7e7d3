//! The table of manipulations and outcomes in `docs/threats.md`.

use std::fs;
use std::path::Path;

use crate::{Expected, Manipulation};

/// What the first cell of the table's first row says.
const CORNER: &str = "what is done to a unit";
/// What the first cell of the row with the names of tests says.
const TESTS: &str = "test";

/// Compares the column of a protocol with the outcomes that its suite expects, one for each manipulation, and
/// the test that its last cell names.
///
/// # Panics
///
/// If they differ, or there is no such table, row or column.
pub fn agrees(protocol: &str, expected: &Expected, test: &str) {
    let text = text();
    let table = table(&text);
    let column = table[0].iter().position(|name| *name == protocol);
    let column = column.unwrap_or_else(|| panic!("docs/threats.md has no column '{protocol}'"));
    let cell = |row: &str| {
        let cells = table.iter().find(|cells| cells[0] == row);
        cells.unwrap_or_else(|| panic!("docs/threats.md has no row '{row}'"))[column]
    };
    for manipulation in Manipulation::ALL {
        let outcome = expected.iter().find(|(name, _)| *name == manipulation);
        let Some((_, outcome)) = outcome else {
            panic!("nothing is expected of '{manipulation}'")
        };
        assert_eq!(
            cell(&manipulation.to_string()),
            outcome.to_string(),
            "docs/threats.md, {protocol}, '{manipulation}': the page, then the test"
        );
    }
    // Its crate may stand behind it.
    let named = cell(TESTS).split('`').nth(1);
    assert_eq!(named, Some(test), "docs/threats.md, {protocol}");
}

fn text() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/threats.md");
    fs::read_to_string(page).expect("docs/threats.md")
}

/// The rows of the table, with their cells.
fn table(text: &str) -> Vec<Vec<&str>> {
    let begins = |line: &&str| line.starts_with(&format!("| {CORNER} |"));
    let lines = text.lines().skip_while(|line| !begins(line));
    let rows = lines.take_while(|line| line.starts_with('|')).map(|line| {
        let line = line.trim_matches('|');
        line.split('|').map(str::trim).collect()
    });
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "docs/threats.md has no row '{CORNER}'");
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_manipulation_and_has_a_cell_for_each_protocol() {
        let text = text();
        let table = table(&text);
        let rows: Vec<_> = table[2..].iter().map(|cells| cells[0]).collect();
        let named = Manipulation::ALL.map(|manipulation| manipulation.to_string());
        assert_eq!(rows[..rows.len() - 1], named);
        assert_eq!(rows[rows.len() - 1], TESTS);
        for cells in &table {
            assert_eq!(cells.len(), table[0].len(), "{cells:?}");
        }
    }
}
