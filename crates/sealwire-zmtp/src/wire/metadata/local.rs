//! The metadata of the local side, encoded from borrowed values.

use alloc::string::String;
use alloc::vec::Vec;

use super::{IDENTITY, SOCKET_TYPE, encode_property, property_size};
use crate::socket_type::SocketType;

/// What the peer is told about the local side.
#[derive(Copy, Clone)]
pub(crate) struct LocalMetadata<'a> {
    pub(crate) socket_type: SocketType,
    /// Empty for none.
    pub(crate) routing_id: &'a [u8],
    /// Properties beside `Socket-Type` and `Identity`.
    pub(crate) additional: &'a [(String, Vec<u8>)],
}

impl<'a> LocalMetadata<'a> {
    /// Names and values in order.
    pub(crate) fn properties(self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let socket_type = (SOCKET_TYPE, self.socket_type.name().as_bytes());
        let routing_id = (!self.routing_id.is_empty()).then_some((IDENTITY, self.routing_id));
        let additional = self.additional.iter();
        core::iter::once(socket_type)
            .chain(routing_id)
            .chain(additional.map(|(name, value)| (&**name, &value[..])))
    }

    /// Bytes that [`encode`](Self::encode) appends.
    pub(crate) fn size(self) -> usize {
        self.properties()
            .map(|(name, value)| property_size(name, value))
            .sum()
    }

    /// Appends the wire form as it goes into READY or INITIATE, of a valid configuration.
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        for (name, value) in self.properties() {
            encode_property(name, value, out);
        }
    }
}
