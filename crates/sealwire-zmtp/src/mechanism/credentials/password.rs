//! The credentials of a PLAIN client.

use alloc::vec::Vec;
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::limits::MAX_CREDENTIAL;

/// A username and a password, each of at most 255 bytes. The password is wiped on drop and not in
/// `Debug`; equality takes constant time for passwords of equal length.
#[derive(Clone)]
pub struct PlainCredentials {
    username: Vec<u8>,
    password: Zeroizing<Vec<u8>>,
}

impl PlainCredentials {
    /// Takes a username and a password, of any bytes.
    pub fn new(username: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        Self {
            username: username.into(),
            password: Zeroizing::new(password.into()),
        }
    }

    /// Reads the data of HELLO: each with its length before it, and nothing behind.
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
        let (username, rest) = take(data)?;
        let (password, rest) = take(rest)?;
        rest.is_empty().then(|| Self::new(username, password))
    }

    /// Size of the data of HELLO.
    pub(crate) fn size(&self) -> usize {
        2 + self.username.len() + self.password.len()
    }

    /// Appends the data of HELLO.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for part in [&self.username, &*self.password] {
            out.push(part.len() as u8);
            out.extend_from_slice(part);
        }
    }

    /// Whether both fit into HELLO.
    pub(crate) fn fits(&self) -> bool {
        self.username.len() <= MAX_CREDENTIAL && self.password.len() <= MAX_CREDENTIAL
    }

    /// The username. Not secret, and not verified before the application agreed.
    pub fn username(&self) -> &[u8] {
        &self.username
    }

    /// The password, to be compared in constant time; see
    /// [`PasswordTable`](crate::mechanism::plain::PasswordTable).
    pub fn password(&self) -> &[u8] {
        &self.password
    }
}

fn take(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

impl PartialEq for PlainCredentials {
    fn eq(&self, other: &Self) -> bool {
        self.username == other.username && bool::from(self.password.ct_eq(&other.password))
    }
}

impl Eq for PlainCredentials {}

impl fmt::Debug for PlainCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainCredentials")
            .field(
                "username",
                &alloc::string::String::from_utf8_lossy(&self.username),
            )
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_is_read_back_and_nothing_else_is_accepted() {
        let shown = PlainCredentials::new("admin", "s3cret");
        let mut data = Vec::new();
        shown.encode(&mut data);
        assert_eq!(data, b"\x05admin\x06s3cret");
        assert_eq!(data.len(), shown.size());
        assert_eq!(PlainCredentials::parse(&data), Some(shown));
        for end in 0..data.len() {
            assert_eq!(PlainCredentials::parse(&data[..end]), None, "cut at {end}");
        }
        assert_eq!(PlainCredentials::parse(b"\x00\x00!"), None);
        assert!(PlainCredentials::parse(b"\x00\x00").is_some());
    }
}
