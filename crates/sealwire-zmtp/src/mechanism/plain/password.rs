//! What a client shows, and a table to compare it with.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::MAX_CREDENTIAL;

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
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let (username, rest) = take(data)?;
        let (password, rest) = take(rest)?;
        rest.is_empty().then(|| Self::new(username, password))
    }

    /// Size of the data of HELLO.
    pub(super) fn size(&self) -> usize {
        2 + self.username.len() + self.password.len()
    }

    /// Appends the data of HELLO.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
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

    /// The password, to be compared in constant time; see [`PasswordTable`].
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

/// A password padded to the greatest length, so that comparing two takes the same time always.
#[derive(Clone)]
struct Padded {
    bytes: [u8; MAX_CREDENTIAL],
    length: usize,
}

impl Padded {
    fn new(password: &[u8]) -> Self {
        let length = password.len().min(MAX_CREDENTIAL);
        let mut bytes = [0; MAX_CREDENTIAL];
        bytes[..length].copy_from_slice(&password[..length]);
        Self { bytes, length }
    }
}

impl Drop for Padded {
    fn drop(&mut self) {
        self.bytes.zeroize();
        self.length.zeroize();
    }
}

/// Usernames with their passwords.
///
/// Looking somebody up takes the same time whatever the password is and whether or not the name is
/// known, but for the search by name. Passwords are kept as they are and wiped on drop: nothing here
/// hashes them, as nothing in PLAIN hides them.
#[derive(Clone, Default)]
pub struct PasswordTable(BTreeMap<Vec<u8>, Padded>);

impl PasswordTable {
    /// A table without anybody in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a user, or gives one another password.
    ///
    /// # Panics
    ///
    /// When the username or the password has more than 255 bytes, which no client could show.
    pub fn insert(&mut self, username: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) {
        let username = username.into();
        let password = Zeroizing::new(password.into());
        assert!(
            username.len() <= MAX_CREDENTIAL && password.len() <= MAX_CREDENTIAL,
            "a username and a password have at most 255 bytes"
        );
        self.0.insert(username, Padded::new(&password));
    }

    /// Returns whether the table has this user with this password.
    pub fn verifies(&self, shown: &PlainCredentials) -> bool {
        let nobody = Padded::new(b"");
        let entry = self.0.get(shown.username());
        let known = entry.unwrap_or(&nobody);
        let candidate = Padded::new(shown.password());
        let equal = known.bytes.ct_eq(&candidate.bytes)
            & (known.length as u64).ct_eq(&(shown.password().len() as u64));
        bool::from(equal) & entry.is_some()
    }

    /// Returns the number of users.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nobody is in the table.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for PasswordTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordTable")
            .field("users", &self.len())
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

    #[test]
    fn a_table_knows_its_users_and_nobody_else() {
        let mut table = PasswordTable::new();
        table.insert("admin", "s3cret");
        table.insert("guest", "");
        for (username, password, good) in [
            ("admin", "s3cret", true),
            ("admin", "s3cret\0", false),
            ("admin", "s3cre", false),
            ("admin", "", false),
            ("guest", "", true),
            ("guest", "\0", false),
            ("nobody", "", false),
        ] {
            let shown = PlainCredentials::new(username, password);
            assert_eq!(table.verifies(&shown), good, "{username} {password:?}");
        }
    }

    #[test]
    fn debug_shows_no_password() {
        let shown = PlainCredentials::new("admin", "s3cret");
        let mut table = PasswordTable::new();
        table.insert("admin", "s3cret");
        let text = alloc::format!("{shown:?} {table:?}");
        assert_eq!(
            text,
            r#"PlainCredentials { username: "admin", .. } PasswordTable { users: 1, .. }"#
        );
    }
}
