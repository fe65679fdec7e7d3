//! A table of usernames and passwords, to compare a client's credentials with.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::{MAX_CREDENTIAL, PlainCredentials};

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
