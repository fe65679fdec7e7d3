//! The metadata of the local side, encoded from borrowed values.

use alloc::string::String;
use alloc::vec::Vec;

use super::{IDENTITY, SOCKET_TYPE, encode_property, property_size};
use crate::socket_type::SocketType;
use crate::wire::command::missed;

/// What the peer is told about the local side.
#[derive(Copy, Clone)]
pub(crate) struct LocalMetadata<'a> {
    pub(crate) socket_type: SocketType,
    /// Empty for none.
    pub(crate) routing_id: &'a [u8],
    /// Types with a use for a routing id announce an empty one too.
    pub(crate) announces_empty: bool,
    /// The peer is to say how many messages it drops.
    pub(crate) asks_for_missed: bool,
    /// Properties of the application.
    pub(crate) additional: &'a [(String, Vec<u8>)],
}

impl<'a> LocalMetadata<'a> {
    /// Names and values in order.
    pub(crate) fn properties(self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let socket_type = (SOCKET_TYPE, self.socket_type.name().as_bytes());
        let has_use = matches!(
            self.socket_type,
            SocketType::Req | SocketType::Dealer | SocketType::Router
        );
        let announced = !self.routing_id.is_empty() || (self.announces_empty && has_use);
        let routing_id = announced.then_some((IDENTITY, self.routing_id));
        let missed = (self.asks_for_missed).then_some((missed::PROPERTY, missed::ASKED));
        let additional = self.additional.iter();
        core::iter::once(socket_type)
            .chain(routing_id)
            .chain(missed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_routing_id_is_announced_by_types_with_a_use_for_one_where_that_is_said() {
        for (socket_type, announces_empty, announced) in [
            (SocketType::Dealer, true, true),
            (SocketType::Req, true, true),
            (SocketType::Router, true, true),
            (SocketType::Pull, true, false),
            (SocketType::Dealer, false, false),
        ] {
            let local = LocalMetadata {
                socket_type,
                routing_id: &[],
                announces_empty,
                asks_for_missed: false,
                additional: &[],
            };
            let mut encoded = Vec::new();
            local.encode(&mut encoded);
            assert_eq!(encoded.len(), local.size());
            let empty = encoded.ends_with(b"\x08Identity\0\0\0\0");
            assert_eq!(empty, announced, "{socket_type}");
        }
    }
}
