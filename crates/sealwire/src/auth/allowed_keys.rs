//! A fixed set of allowed keys.

use std::collections::HashMap;

use sealwire_zmtp::PublicKey;

use super::{Authenticator, Client, Decision};

/// A fixed set of allowed keys, each with an optional user id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedKeys {
    keys: HashMap<PublicKey, Option<String>>,
}

impl AllowedKeys {
    /// Returns an empty list, which allows nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a key.
    #[must_use]
    pub fn allow(mut self, key: PublicKey) -> Self {
        self.keys.insert(key, None);
        self
    }

    /// Allows a key under a name.
    #[must_use]
    pub fn allow_as(mut self, key: PublicKey, user_id: impl Into<String>) -> Self {
        self.keys.insert(key, Some(user_id.into()));
        self
    }

    /// Returns the number of keys that are allowed.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether nobody is allowed.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The user id of an allowed key, where it has one.
    pub(super) fn user_id(&self, key: PublicKey) -> Option<Option<&str>> {
        self.keys.get(&key).map(Option::as_deref)
    }

    /// Allows a key, under a name or not.
    pub(super) fn insert(&mut self, key: PublicKey, user_id: Option<String>) {
        self.keys.insert(key, user_id);
    }

    /// Lets the owner of an allowed key in.
    pub(super) fn decide(&self, key: PublicKey) -> Option<Decision> {
        self.user_id(key).map(|user_id| Decision::Allow {
            user_id: user_id.map(str::to_owned),
        })
    }
}

impl FromIterator<PublicKey> for AllowedKeys {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> Self {
        AllowedKeys {
            keys: keys.into_iter().map(|key| (key, None)).collect(),
        }
    }
}

impl Authenticator for AllowedKeys {
    fn authenticate(&self, client: &Client<'_>) -> Decision {
        self.decide(client.public_key())
            .unwrap_or_else(|| false.into())
    }

    fn allows_nobody(&self) -> bool {
        self.is_empty()
    }

    fn may_block(&self) -> bool {
        false
    }
}
