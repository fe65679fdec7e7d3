//! How records of what was measured are printed.

use std::fmt;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::exit::Failure;

/// Prints a record as one line of JSON, or as text for people.
pub(crate) fn print_record(
    record: &(impl Serialize + fmt::Display),
    json: bool,
) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let mut write = || -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut out, record)?;
            out.write_all(b"\n")
        } else {
            write!(out, "{record}")
        }
    };
    write().map_err(|error| Failure::output(&error))
}
