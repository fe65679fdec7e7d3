//! Properties of a peer as text for C.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::Arc;

use sealwire::Peer;

/// The peer of a message, with the properties that were asked for: each stays where it is.
pub(super) struct Told {
    pub(super) peer: Arc<Peer>,
    texts: HashMap<String, CString>,
}

impl Told {
    pub(super) fn of(peer: Arc<Peer>) -> Self {
        Told {
            peer,
            texts: HashMap::new(),
        }
    }

    /// `None` for what the peer does not have. A zero octet ends a text, as C reads it.
    pub(super) fn property(&mut self, name: &str) -> Option<*const c_char> {
        if let Some(text) = self.texts.get(name) {
            return Some(text.as_ptr());
        }
        let value = self.value(name)?;
        let end = value.iter().position(|octet| *octet == 0);
        let text = CString::new(&value[..end.unwrap_or(value.len())]).ok()?;
        // The bytes of a `CString` do not move with it.
        let pointer = text.as_ptr();
        self.texts.insert(name.to_owned(), text);
        Some(pointer)
    }

    fn value(&self, name: &str) -> Option<Vec<u8>> {
        let peer = &*self.peer;
        match name {
            "Socket-Type" => Some(peer.socket_type().to_string().into_bytes()),
            "Identity" | "Routing-Id" => Some(peer.routing_id().to_vec()),
            "Peer-Address" => address(peer),
            "User-Id" => peer.user_id().map(|user| user.as_bytes().to_vec()),
            other => peer
                .metadata(other)
                .or_else(|| peer.vouched_metadata(other))
                .map(<[u8]>::to_vec),
        }
    }
}

/// As libzmq has it: an address without its port.
fn address(peer: &Peer) -> Option<Vec<u8>> {
    let text = match peer.address() {
        sealwire::PeerAddress::Tcp(address) => address.ip().to_string(),
        _ => return None,
    };
    Some(text.into_bytes())
}
