//! Files with a password, for PLAIN. Only their owner may be able to read them.

use std::path::Path;

use zeroize::Zeroizing;

use crate::exit::{Code, Failure};
use crate::secrets;

/// Longest password, in bytes.
const MAX: usize = 255;

/// The first line of a file.
pub(crate) fn read_password(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let text = secrets::read_text(path)?
        .ok_or_else(|| Failure::new(Code::Usage, format!("{} is not text", path.display())))?;
    let password = text.lines().next().unwrap_or_default();
    if password.len() > MAX {
        return Err(Failure::new(
            Code::Usage,
            format!("{}: a password has at most {MAX} bytes", path.display()),
        ));
    }
    Ok(Zeroizing::new(password.as_bytes().to_vec()))
}
