//! Metadata: the properties that peers tell each other in READY and INITIATE.
//!
//! Source: ZMTP 3.1 (RFC 37), "metadata".
//!
//! ```text
//! +-------------+------+-----------------------+-------+
//! | name length | name | value length          | value |   and so on
//! | 1           |      | 4, big-endian         |       |
//! +-------------+------+-----------------------+-------+
//! ```

mod local;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

pub(crate) use self::local::LocalMetadata;
use super::text::escape;
use crate::error::{ConfigError, WireError};
use crate::limits::{MAX_PROPERTIES, MAX_ROUTING_ID};
use crate::socket_type::SocketType;

/// The property that names the socket type.
pub const SOCKET_TYPE: &str = "Socket-Type";
/// The property that holds the routing id.
pub const IDENTITY: &str = "Identity";

/// Properties in the order they were given; names are unique and compare without case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata(Vec<(Cow<'static, str>, Bytes)>);

impl Metadata {
    /// Reads all of `bytes`.
    ///
    /// # Errors
    ///
    /// * [`WireError::TruncatedMetadata`] if the bytes end inside a property.
    /// * [`WireError::BadPropertyName`] if a name is empty or has characters that ZMTP does not allow.
    /// * [`WireError::DuplicateProperty`] if a name occurs twice.
    /// * [`WireError::TooManyProperties`] for more than [`MAX_PROPERTIES`].
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let mut metadata = Self::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (name, value) = take_property(&mut rest).ok_or(WireError::TruncatedMetadata)?;
            let name = checked_name(name).ok_or(WireError::BadPropertyName)?;
            if metadata.get(name).is_some() {
                return Err(WireError::DuplicateProperty);
            }
            if metadata.len() == MAX_PROPERTIES {
                return Err(WireError::TooManyProperties {
                    limit: MAX_PROPERTIES,
                });
            }
            metadata.0.push((kept(name), Bytes::copy_from_slice(value)));
        }
        Ok(metadata)
    }

    /// Appends the wire form to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for (name, value) in self.iter() {
            encode_property(name, value, out);
        }
    }

    /// Adds a property.
    ///
    /// # Errors
    ///
    /// * [`ConfigError::PropertyName`] if the name is empty or has characters that ZMTP does not allow.
    /// * [`ConfigError::DuplicateProperty`] if the name is there already.
    /// * [`ConfigError::MetadataTooLarge`] for a value beyond 2^32 - 1 bytes.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), ConfigError> {
        let name = checked_name(name.as_bytes()).ok_or(ConfigError::PropertyName)?;
        if self.get(name).is_some() {
            return Err(ConfigError::DuplicateProperty);
        }
        if u32::try_from(value.len()).is_err() {
            return Err(ConfigError::MetadataTooLarge { size: value.len() });
        }
        self.0.push((kept(name), Bytes::copy_from_slice(value)));
        Ok(())
    }

    /// The value of the property `name`, compared without case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.find(name).map(|value| &value[..])
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&**name, &value[..]))
    }

    /// Returns the number of properties.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no property.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The property `Socket-Type`.
    ///
    /// # Errors
    ///
    /// [`WireError::NoSocketType`] when it is absent or names no type.
    pub fn socket_type(&self) -> Result<SocketType, WireError> {
        let name = self
            .get(SOCKET_TYPE)
            .and_then(|name| core::str::from_utf8(name).ok());
        name.and_then(|name| name.parse().ok())
            .ok_or(WireError::NoSocketType)
    }

    /// The property `Identity`, empty when absent.
    ///
    /// # Errors
    ///
    /// [`WireError::RoutingIdTooLong`] above 255 bytes.
    pub fn routing_id(&self) -> Result<Bytes, WireError> {
        let id = self.find(IDENTITY).cloned().unwrap_or_default();
        if id.len() > MAX_ROUTING_ID {
            return Err(WireError::RoutingIdTooLong { size: id.len() });
        }
        Ok(id)
    }

    fn find(&self, name: &str) -> Option<&Bytes> {
        self.0
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Value<'a>(&'a [u8]);
        impl fmt::Debug for Value<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"{}\"", escape(self.0))
            }
        }
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, Value(value))))
            .finish()
    }
}

/// Bytes that a property takes on the wire.
const fn property_size(name: &str, value: &[u8]) -> usize {
    1 + name.len() + 4 + value.len()
}

/// Appends the wire form of a property.
fn encode_property(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

/// A name to keep. Those that nearly every peer sends need no memory.
fn kept(name: &str) -> Cow<'static, str> {
    match [SOCKET_TYPE, IDENTITY]
        .into_iter()
        .find(|known| *known == name)
    {
        Some(known) => known.into(),
        None => Cow::Owned(name.into()),
    }
}

/// A name of 1 to 255 characters out of those that ZMTP allows.
pub(crate) fn checked_name(name: &[u8]) -> Option<&str> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(byte);
    let good = (1..=255).contains(&name.len()) && name.iter().all(allowed);
    core::str::from_utf8(name).ok().filter(|_| good)
}

/// Splits one property off the front of `rest`.
fn take_property<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (name_len, tail) = rest.split_first()?;
    let (name, tail) = tail.split_at_checked(usize::from(*name_len))?;
    let (value_len, tail) = tail.split_first_chunk::<4>()?;
    let value_len = usize::try_from(u32::from_be_bytes(*value_len)).ok()?;
    let (value, tail) = tail.split_at_checked(value_len)?;
    *rest = tail;
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn wire(properties: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in properties {
            bytes.push(name.len() as u8);
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(&(value.len() as u32).to_be_bytes());
            bytes.extend_from_slice(value);
        }
        bytes
    }

    #[test]
    fn reads_what_it_writes() {
        let bytes = wire(&[
            ("Socket-Type", b"PUSH"),
            ("Identity", b"me"),
            ("X-Region", b"\x00"),
        ]);
        let metadata = Metadata::parse(&bytes).unwrap();
        assert_eq!(metadata.len(), 3);
        assert_eq!(metadata.socket_type(), Ok(SocketType::Push));
        assert_eq!(metadata.routing_id().unwrap(), "me");
        assert_eq!(metadata.get("x-region"), Some(&b"\x00"[..]));
        let mut again = Vec::new();
        metadata.encode(&mut again);
        assert_eq!(again, bytes);
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = wire(&[("Socket-Type", b"PUSH"), ("Identity", b"me")]);
        let first = wire(&[("Socket-Type", b"PUSH")]).len();
        for end in 1..bytes.len() {
            let parsed = Metadata::parse(&bytes[..end]);
            if end == first {
                assert!(parsed.is_ok());
            } else {
                assert_eq!(parsed, Err(WireError::TruncatedMetadata), "cut at {end}");
            }
        }
    }

    #[test]
    fn a_claimed_size_allocates_nothing() {
        let mut bytes = wire(&[("A", b"")]);
        bytes[2..6].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(Metadata::parse(&bytes), Err(WireError::TruncatedMetadata));
    }

    #[test]
    fn refuses_duplicates_in_any_case_and_bad_names() {
        let twice = wire(&[("Socket-Type", b"PUSH"), ("socket-TYPE", b"PULL")]);
        assert_eq!(Metadata::parse(&twice), Err(WireError::DuplicateProperty));
        for name in ["", "a b", "a\0", "é"] {
            assert_eq!(
                Metadata::parse(&wire(&[(name, b"")])),
                Err(WireError::BadPropertyName),
                "{name:?}"
            );
        }
    }

    #[test]
    fn the_number_of_properties_is_bounded() {
        let mut bytes = Vec::new();
        for i in 0..=MAX_PROPERTIES {
            bytes.extend(wire(&[(&alloc::format!("p{i}"), b"")]));
        }
        assert_eq!(
            Metadata::parse(&bytes),
            Err(WireError::TooManyProperties {
                limit: MAX_PROPERTIES
            })
        );
    }

    #[test]
    fn what_must_be_there_and_what_must_be_short() {
        assert_eq!(
            Metadata::default().socket_type(),
            Err(WireError::NoSocketType)
        );
        let odd = Metadata::parse(&wire(&[("Socket-Type", b"NOTHING")])).unwrap();
        assert_eq!(odd.socket_type(), Err(WireError::NoSocketType));
        let long = Metadata::parse(&wire(&[("Identity", &vec![1; 256])])).unwrap();
        assert_eq!(
            long.routing_id(),
            Err(WireError::RoutingIdTooLong { size: 256 })
        );
    }
}
