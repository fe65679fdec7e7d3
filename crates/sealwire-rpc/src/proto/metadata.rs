//! Metadata of a call or one-way message: pairs of key and value beside the body, for what concerns every
//! call and not its content (`docs/spec/rpc.md`, "Metadata").
//!
//! It is kept as it goes over the wire, so that what arrives is read in place:
//!
//! ```text
//!  0            1        1 + k            3 + k
//!  +------------+--------+----------------+----------- ...
//!  | k (u8)     | key    | v (u16)        | value       the next entry
//!  +------------+--------+----------------+----------- ...
//! ```

use std::borrow::Cow;
use std::fmt;

use super::Violation;
use crate::limits::{MAX_METADATA, MAX_METADATA_ENTRIES};

/// Bytes in front of the entries: their size.
pub(super) const SIZE: usize = 2;
/// Bytes of an entry beside its key and value.
const ENTRY: usize = 3;

/// Why an entry was not added to [`Metadata`], which is as before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The key has a form that keys do not have.
    #[error("the key {0:?} is not 1 to 255 of the characters a-z, 0-9, '-', '_' and '.'")]
    Key(String),
    /// There are as many entries as there may be.
    #[error("metadata has at most {limit} entries: remove one, or put the values into one entry")]
    TooManyEntries {
        /// Entries that may be.
        limit: usize,
    },
    /// The entries would have more bytes than they may.
    #[error(
        "the metadata would have {size} bytes, and at most {limit} are allowed: put large values into the body"
    )]
    TooLarge {
        /// Bytes of all entries, each counted with 3 bytes beside key and value.
        size: usize,
        /// Bytes that may be.
        limit: usize,
    },
}

/// Metadata of a call or one-way message: a short list of keys and values that goes beside the body, encrypted
/// as it is. For what concerns every call, as the identifiers of a trace ([`trace`](crate::trace)).
///
/// A key has 1 to 255 of the characters `a-z`, `0-9`, `-`, `_` and `.`; a value is bytes. At most 64 entries and
/// 8,192 bytes, each entry counted as its key, its value and 3 bytes. The order of entries is kept, and a key may
/// come more than once. Metadata that was received borrows the message; [`into_owned`](Metadata::into_owned) copies
/// it. Nothing is allocated for empty metadata, and no byte sent.
///
/// ```
/// use sealwire_rpc::Metadata;
///
/// let mut metadata = Metadata::new();
/// metadata.insert("tenant", "blue")?;
/// metadata.append("hop", [1])?;
/// metadata.append("hop", [2])?;
/// assert_eq!(metadata.get("tenant"), Some(&b"blue"[..]));
/// assert_eq!(metadata.get_all("hop").collect::<Vec<_>>(), [[1], [2]]);
/// assert!(metadata.insert("Tenant", "red").is_err());
/// # Ok::<(), sealwire_rpc::MetadataError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata<'a> {
    /// Entries as they go over the wire, within the limits.
    entries: Cow<'a, [u8]>,
}

impl<'a> Metadata<'a> {
    /// Makes empty metadata.
    pub const fn new() -> Self {
        Metadata {
            entries: Cow::Borrowed(&[]),
        }
    }

    /// Returns the same metadata, borrowed.
    pub fn borrowed(&self) -> Metadata<'_> {
        Metadata {
            entries: Cow::Borrowed(&self.entries),
        }
    }

    /// Copies the metadata unless it is owned already.
    pub fn into_owned(self) -> Metadata<'static> {
        Metadata {
            entries: Cow::Owned(self.entries.into_owned()),
        }
    }

    /// Returns the entries in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        Entries(&self.entries)
    }

    /// Returns the value of the first entry with this key.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        let mut entries = self.iter();
        entries.find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Returns the values of all entries with this key, in their order.
    pub fn get_all(&self, key: &str) -> impl Iterator<Item = &[u8]> {
        self.iter()
            .filter_map(move |(other, value)| (other == key).then_some(value))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the bytes of all entries, each counted with 3 bytes beside key and value.
    pub fn size(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry behind the others, whether one with this key is there or not.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] if the key has another form, or a limit would be exceeded. Nothing has changed then.
    pub fn append(&mut self, key: &str, value: impl AsRef<[u8]>) -> Result<(), MetadataError> {
        let value = value.as_ref();
        check_room(key, value, self.len(), self.size())?;
        self.push(key, value);
        Ok(())
    }

    /// Adds an entry in the place of all entries with this key.
    ///
    /// # Errors
    ///
    /// [`MetadataError`] if the key has another form, or a limit would be exceeded. Nothing has changed then.
    pub fn insert(&mut self, key: &str, value: impl AsRef<[u8]>) -> Result<(), MetadataError> {
        let value = value.as_ref();
        let others = || self.iter().filter(|(other, _)| *other != key);
        let size = others().map(|(key, value)| size_of_entry(key, value));
        check_room(key, value, others().count(), size.sum())?;
        self.remove(key);
        self.push(key, value);
        Ok(())
    }

    /// Removes all entries with this key. Returns whether there were any.
    pub fn remove(&mut self, key: &str) -> bool {
        if self.get(key).is_none() {
            return false;
        }
        let mut left = Metadata::new();
        for (other, value) in self.iter().filter(|(other, _)| *other != key) {
            left.push(other, value);
        }
        self.entries = Cow::Owned(left.entries.into_owned());
        true
    }

    /// Adds an entry that was checked.
    fn push(&mut self, key: &str, value: &[u8]) {
        let entries = self.entries.to_mut();
        entries.push(key.len() as u8);
        entries.extend_from_slice(key.as_bytes());
        entries.extend_from_slice(&(value.len() as u16).to_be_bytes());
        entries.extend_from_slice(value);
    }

    /// Bytes in front of the body.
    pub(super) fn size_on_wire(&self) -> usize {
        match self.size() {
            0 => 0,
            size => SIZE + size,
        }
    }

    /// Writes what stands in front of the body.
    pub(super) fn write(&self, mut put: impl FnMut(&[u8])) {
        if !self.is_empty() {
            put(&(self.size() as u16).to_be_bytes());
            put(&self.entries);
        }
    }

    /// Reads what [`check`] has found right.
    pub(super) fn of_checked(entries: &'a [u8]) -> Self {
        Metadata {
            entries: Cow::Borrowed(entries),
        }
    }
}

/// Looks through what a peer put in front of a body, and says how many bytes that are.
pub(super) fn check(body: &[u8]) -> Result<usize, Violation> {
    let (&size, rest) = body.split_first_chunk().ok_or(Violation::Truncated)?;
    let size = usize::from(u16::from_be_bytes(size));
    if size > MAX_METADATA {
        return Err(Violation::MetadataTooLarge);
    }
    let mut left = rest.get(..size).ok_or(Violation::Truncated)?;
    if left.is_empty() {
        return Err(Violation::Metadata);
    }
    let mut entries = 0;
    while !left.is_empty() {
        let (key, _, rest) = split(left).ok_or(Violation::Metadata)?;
        entries += 1;
        if !is_key(key) {
            return Err(Violation::Metadata);
        }
        if entries > MAX_METADATA_ENTRIES {
            return Err(Violation::MetadataTooLarge);
        }
        left = rest;
    }
    Ok(SIZE + size)
}

fn is_key(key: &[u8]) -> bool {
    let allowed = |octet: &u8| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    (1..=usize::from(u8::MAX)).contains(&key.len()) && key.iter().all(allowed)
}

fn size_of_entry(key: &str, value: &[u8]) -> usize {
    ENTRY + key.len() + value.len()
}

/// Whether an entry may stand beside this number of others, which have this size together.
fn check_room(key: &str, value: &[u8], others: usize, size: usize) -> Result<(), MetadataError> {
    if !is_key(key.as_bytes()) {
        return Err(MetadataError::Key(key.into()));
    }
    if others >= MAX_METADATA_ENTRIES {
        let limit = MAX_METADATA_ENTRIES;
        return Err(MetadataError::TooManyEntries { limit });
    }
    let (size, limit) = (size + size_of_entry(key, value), MAX_METADATA);
    if size > limit {
        return Err(MetadataError::TooLarge { size, limit });
    }
    Ok(())
}

/// The first entry and what comes behind it.
fn split(entries: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (&key, rest) = entries.split_first()?;
    let (key, rest) = rest.split_at_checked(key.into())?;
    let (&value, rest) = rest.split_first_chunk()?;
    let (value, rest) = rest.split_at_checked(u16::from_be_bytes(value).into())?;
    Some((key, value, rest))
}

struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value, rest) = split(self.0)?;
        self.0 = rest;
        // Keys have been checked, here or as they came.
        Some((std::str::from_utf8(key).ok()?, value))
    }
}

/// Says how long values are, not what they are: they may be credentials.
impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.iter();
        let shown = entries.map(|(key, value)| (key, format!("{} bytes", value.len())));
        f.debug_map().entries(shown).finish()
    }
}

/// A body to send, and metadata beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Content<'a> {
    pub(crate) metadata: &'a Metadata<'a>,
    pub(crate) body: &'a [u8],
}

impl<'a> Content<'a> {
    /// A body without metadata.
    pub(crate) const fn plain(body: &'a [u8]) -> Self {
        Content {
            metadata: const { &Metadata::new() },
            body,
        }
    }

    /// Bytes behind the header.
    pub(super) fn size(&self) -> usize {
        self.metadata.size_on_wire() + self.body.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_wire(metadata: &Metadata<'_>, body: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        metadata.write(|bytes| wire.extend_from_slice(bytes));
        wire.extend_from_slice(body);
        wire
    }

    #[test]
    fn entries_are_read_as_written() {
        let mut metadata = Metadata::new();
        metadata.append("a", "1").unwrap();
        metadata.append("b.c-d_9", b"").unwrap();
        metadata.append("a", [0, 255]).unwrap();
        let wire = on_wire(&metadata, b"body");
        assert_eq!(
            wire,
            b"\0\x15\x01a\0\x011\x07b.c-d_9\0\0\x01a\0\x02\0\xffbody"
        );
        let size = check(&wire).unwrap();
        assert_eq!(
            (size, &wire[size..]),
            (metadata.size_on_wire(), &b"body"[..])
        );
        let read = Metadata::of_checked(&wire[SIZE..size]);
        assert_eq!(read, metadata);
        let entries: Vec<_> = read.iter().collect();
        let expected = [("a", &b"1"[..]), ("b.c-d_9", b""), ("a", &[0, 255])];
        assert_eq!(entries, expected);
        assert_eq!(read.get("a"), Some(&b"1"[..]));
        assert_eq!(read.get("c"), None);
        assert_eq!(read.get_all("a").count(), 2);
        assert_eq!((read.len(), read.size()), (3, wire.len() - 4 - SIZE));
    }

    #[test]
    fn none_takes_no_bytes() {
        let metadata = Metadata::new();
        assert_eq!(on_wire(&metadata, b"body"), b"body");
        assert_eq!((metadata.size_on_wire(), metadata.len()), (0, 0));
        assert!(metadata.is_empty() && Content::plain(b"body").size() == 4);
    }

    #[test]
    fn an_entry_takes_the_place_of_those_with_its_key() {
        let mut metadata = Metadata::new();
        for key in ["a", "b", "a"] {
            metadata.append(key, key).unwrap();
        }
        let mut changed = metadata.borrowed();
        changed.insert("a", "new").unwrap();
        let entries: Vec<_> = changed.iter().collect();
        assert_eq!(entries, [("b", &b"b"[..]), ("a", b"new")]);
        assert!(changed.remove("b") && !changed.remove("b"));
        assert_eq!(changed.len(), 1);
        assert_eq!(metadata.len(), 3, "what was borrowed has changed");
        assert_eq!(metadata.borrowed().into_owned(), metadata);
    }

    #[test]
    fn the_sender_refuses_what_a_receiver_would() {
        let mut metadata = Metadata::new();
        let long = "k".repeat(256);
        for key in ["", "A", "a b", "é", "a\0", &long] {
            let refused = metadata.append(key, "");
            assert_eq!(refused, Err(MetadataError::Key(key.into())));
            assert_eq!(metadata.insert(key, ""), refused);
        }
        metadata.append(&long[1..], "").unwrap();
        for _ in 1..MAX_METADATA_ENTRIES {
            metadata.append("a", "").unwrap();
        }
        let limit = MAX_METADATA_ENTRIES;
        let beyond = Err(MetadataError::TooManyEntries { limit });
        assert_eq!(metadata.append("a", ""), beyond);
        assert_eq!(metadata.insert("b", ""), beyond);
        assert_eq!(check(&on_wire(&metadata, b"")), Ok(metadata.size_on_wire()));
        // In the place of others.
        metadata.insert("a", "").unwrap();
        assert_eq!(metadata.len(), 2);

        let mut metadata = Metadata::new();
        let limit = MAX_METADATA;
        let value = vec![0; limit - ENTRY - 1];
        metadata.append("a", &value).unwrap();
        assert_eq!(metadata.size(), limit);
        assert_eq!(check(&on_wire(&metadata, b"")), Ok(SIZE + limit));
        let size = limit + 1;
        let beyond = Err(MetadataError::TooLarge { size, limit });
        assert_eq!(metadata.insert("a", [&value[..], &[0]].concat()), beyond);
        let size = limit + ENTRY + 1;
        let beyond = Err(MetadataError::TooLarge { size, limit });
        assert_eq!(metadata.append("a", ""), beyond);
        // Beside others.
        assert_eq!(metadata.insert("b", ""), beyond);
        assert_eq!(metadata.size(), limit);
    }

    #[test]
    fn what_peers_must_not_send_is_a_violation() {
        let entry = |key: &[u8], value: &[u8]| {
            let size = (value.len() as u16).to_be_bytes();
            [&[key.len() as u8], key, &size[..], value].concat()
        };
        let sized = |entries: &[u8]| [&(entries.len() as u16).to_be_bytes()[..], entries].concat();
        let good = entry(b"a", b"1");
        assert_eq!(check(&sized(&good)), Ok(SIZE + good.len()));
        for cut in 0..SIZE + good.len() {
            assert_eq!(
                check(&sized(&good)[..cut]),
                Err(Violation::Truncated),
                "{cut}"
            );
        }
        for cut in 1..good.len() {
            let cut = check(&sized(&good[..cut]));
            assert_eq!(cut, Err(Violation::Metadata), "an entry that is cut");
        }
        for (bad, violation) in [
            (sized(b""), Violation::Metadata),
            (sized(&entry(b"", b"1")), Violation::Metadata),
            (sized(&entry(b"A", b"1")), Violation::Metadata),
            (sized(&entry(b"\xc3\xa9", b"1")), Violation::Metadata),
            (
                sized(&good.repeat(MAX_METADATA_ENTRIES + 1)),
                Violation::MetadataTooLarge,
            ),
            (
                sized(&entry(b"a", &vec![0; MAX_METADATA - ENTRY])),
                Violation::MetadataTooLarge,
            ),
        ] {
            assert_eq!(check(&bad), Err(violation), "{} bytes", bad.len());
        }
    }

    #[test]
    fn values_are_not_shown() {
        let mut metadata = Metadata::new();
        metadata.append("token", "secret").unwrap();
        assert_eq!(format!("{metadata:?}"), r#"{"token": "6 bytes"}"#);
    }
}
