//! The text of a file of rules: TOML, with the line of each value, and without a key that nobody asked for.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fault::{Fault, Reason};

/// A value with the line where it stands, counted from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<T> {
    pub(crate) line: usize,
    pub(crate) value: T,
}

/// A table of a file.
pub(crate) struct Table<'a> {
    path: &'a Path,
    text: &'a str,
    entries: &'a DeTable<'a>,
    /// Where it begins.
    pub(crate) line: usize,
    /// The same, as the number of its first octet.
    start: usize,
}

/// Parses the text.
///
/// # Errors
///
/// For what TOML does not allow, a key that comes twice among it. The text itself is not repeated: somebody may have
/// put a secret there.
pub(crate) fn parse<'a>(path: &Path, text: &'a str) -> Result<DeTable<'a>, Fault> {
    DeTable::parse(text)
        .map(Spanned::into_inner)
        .map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let what = error
                .message()
                .lines()
                .next()
                .unwrap_or("not TOML")
                .to_owned();
            Fault::at(
                path,
                line,
                format!("{what}; the file is TOML, correct it there"),
            )
        })
}

fn line_of(text: &str, at: usize) -> usize {
    line_behind(text, (0, 1), at)
}

/// The line of this octet, counted from one whose line is known: a file of many rules would be counted for each.
fn line_behind(text: &str, (start, line): (usize, usize), at: usize) -> usize {
    match text.as_bytes().get(start..at) {
        Some(between) => line + between.iter().filter(|octet| **octet == b'\n').count(),
        None => line_of(text, at.min(text.len())),
    }
}

impl<'a> Table<'a> {
    /// The whole document.
    pub(crate) fn root(path: &'a Path, text: &'a str, entries: &'a DeTable<'a>) -> Self {
        Table {
            path,
            text,
            entries,
            line: 1,
            start: 0,
        }
    }

    fn line_of(&self, at: usize) -> usize {
        line_behind(self.text, (self.start, self.line), at)
    }

    /// A fault in a line of this file.
    pub(crate) fn fault(&self, line: usize, reason: impl Into<Reason>) -> Fault {
        Fault::at(self.path, line, reason)
    }

    /// # Errors
    ///
    /// For a key that is not one of `known`.
    pub(crate) fn check_keys(&self, known: &[&str]) -> Result<(), Fault> {
        let unknown = self.entries.keys().find(|key| {
            let key: &str = key.get_ref();
            !known.contains(&key)
        });
        match unknown {
            None => Ok(()),
            Some(key) => Err(self.fault(
                self.line_of(key.span().start),
                format!(
                    "unknown key {:?}; those that there are: {}",
                    key.get_ref(),
                    known.join(", ")
                ),
            )),
        }
    }

    fn entry(&self, key: &str) -> Option<Placed<&'a DeValue<'a>>> {
        let (name, value) = (self.entries.iter()).find(|(name, _)| name.get_ref() == key)?;
        Some(Placed {
            line: self.line_of(name.span().start),
            value: value.get_ref(),
        })
    }

    fn typed<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Placed<T>>, Fault> {
        let Some(Placed { line, value }) = self.entry(key) else {
            return Ok(None);
        };
        match read(value) {
            Some(value) => Ok(Some(Placed { line, value })),
            None => Err(self.fault(line, format!("{key} is not {wanted}"))),
        }
    }

    /// # Errors
    ///
    /// For a value that is not text, or empty.
    pub(crate) fn text(&self, key: &str) -> Result<Option<Placed<&'a str>>, Fault> {
        self.typed(key, "a text in quotation marks", |value| match value {
            DeValue::String(text) => Some(text.as_ref()).filter(|text| !text.is_empty()),
            _ => None,
        })
    }

    /// # Errors
    ///
    /// For a value that is neither `true` nor `false`.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<Placed<bool>>, Fault> {
        self.typed(key, "true or false", |value| match value {
            DeValue::Boolean(flag) => Some(*flag),
            _ => None,
        })
    }

    /// # Errors
    ///
    /// For a value that is not a whole number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<Placed<i64>>, Fault> {
        self.typed(key, "a whole number", |value| match value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        })
    }

    /// # Errors
    ///
    /// For a value that is not a list of texts, or an empty one.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<Placed<Vec<&'a str>>>, Fault> {
        self.typed(
            key,
            "a list of texts in brackets, with one at least",
            |value| {
                let DeValue::Array(list) = value else {
                    return None;
                };
                let texts = list.iter().map(|value| match value.get_ref() {
                    DeValue::String(text) => Some(text.as_ref()),
                    _ => None,
                });
                texts
                    .collect::<Option<Vec<&str>>>()
                    .filter(|texts| !texts.is_empty())
            },
        )
    }

    /// # Errors
    ///
    /// For a value that is not a list of tables.
    pub(crate) fn tables(&self, key: &str) -> Result<Vec<Table<'a>>, Fault> {
        let wanted = format!("a list; write [[{key}]] above each");
        let tables = self.typed(key, &wanted, |value| {
            let DeValue::Array(list) = value else {
                return None;
            };
            let mut before = (0, 1);
            let tables = list.iter().map(|value| match value.get_ref() {
                DeValue::Table(entries) => {
                    let start = value.span().start;
                    before = (start, line_behind(self.text, before, start));
                    Some(Table {
                        path: self.path,
                        text: self.text,
                        entries,
                        line: before.1,
                        start,
                    })
                }
                _ => None,
            });
            tables.collect()
        })?;
        Ok(tables.map_or_else(Vec::new, |placed| placed.value))
    }
}
