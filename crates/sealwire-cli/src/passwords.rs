//! Files with passwords, for PLAIN. Only their owner may be able to read them.

use std::path::Path;

use sealwire::auth::PasswordTable;
use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::secrets;

/// Longest username and longest password, in bytes.
const MAX: usize = 255;

/// The first line of a file.
pub(crate) fn read_password(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let text = read(path)?;
    let password = text.lines().next().unwrap_or_default();
    check(path, 1, password)?;
    Ok(Zeroizing::new(password.as_bytes().to_vec()))
}

/// A username and a password per line, apart by white space; lines that start with `#` are comments.
pub(crate) fn read_table(path: &Path) -> Result<PasswordTable, Failure> {
    let text = read(path)?;
    let mut table = PasswordTable::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((username, password)) = line.split_once(char::is_whitespace) else {
            return Err(bad(path, index + 1, "expected a username and a password"));
        };
        let password = password.trim_start();
        check(path, index + 1, username)?;
        check(path, index + 1, password)?;
        table.insert(username, password);
    }
    Ok(table)
}

fn check(path: &Path, line: usize, text: &str) -> Result<(), Failure> {
    if text.len() > MAX {
        return Err(bad(path, line, "at most 255 bytes are allowed"));
    }
    Ok(())
}

fn bad(path: &Path, line: usize, what: &str) -> Failure {
    Failure::new(
        Code::Usage,
        format!("{}, line {line}: {what}", path.display()),
    )
}

fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    secrets::read_text(path)?
        .ok_or_else(|| Failure::new(Code::Usage, format!("{} is not text", path.display())))
}
