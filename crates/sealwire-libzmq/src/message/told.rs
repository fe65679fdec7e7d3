//! Properties of a peer as text for C.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::Arc;

use sealwire::{Peer, embed};

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
            "Peer-Address" => embed::address(peer).map(String::into_bytes),
            "User-Id" => embed::user_id(peer).map(|user| user.as_bytes().to_vec()),
            // A handler's word about a peer, under whatever name, counts more than the peer's own.
            _ => match (peer.vouched_metadata(name), name) {
                (Some(vouched), _) => Some(vouched.to_vec()),
                (None, "Socket-Type") => Some(peer.socket_type().to_string().into_bytes()),
                (None, "Identity" | "Routing-Id") => Some(peer.routing_id().to_vec()),
                (None, other) => peer.metadata(other).map(<[u8]>::to_vec),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use sealwire::SocketType;
    use sealwire_zmtp::Frames;

    use super::*;
    use crate::context::Context;
    use crate::options::number;
    use crate::socket::{SNDMORE, Socket};

    /// Lets a handler say yes to who is asked about, with these properties. Returns the question.
    fn admit(handler: &Socket, vouched: &[u8]) -> Vec<Vec<u8>> {
        let parts = (0..6).map(|_| handler.receive(0).unwrap().as_bytes().to_vec());
        let request: Vec<_> = parts.collect();
        let answer = [b"1.0", &request[1][..], b"200", b"", b"", vouched];
        for (index, part) in answer.into_iter().enumerate() {
            let flags = if index < 5 { SNDMORE } else { 0 };
            handler.send(&mut Frames::single(part), flags).unwrap();
        }
        request
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_address_of_a_peer_over_ipc_is_its_process() {
        let context = Context::without_rules();
        let handler = context.open_briefly(SocketType::Rep);
        handler.bind("inproc://zeromq.zap.01").unwrap();
        let pull = context.open_briefly(SocketType::Pull);
        pull.set(number::ZAP_DOMAIN, Some(b"all")).unwrap();
        pull.bind("ipc://*").unwrap();
        let push = context.open_briefly(SocketType::Push);
        push.connect(&pull.last_endpoint()).unwrap();
        // SAFETY: they only tell.
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        let expected = format!("localhost:{user}:{group}:{}", std::process::id()).into_bytes();
        assert_eq!(admit(&handler, b"")[3], expected);
        push.send(&mut Frames::single("hello"), 0).unwrap();
        let told = Told::of(pull.receive(0).unwrap().peer().unwrap());
        assert_eq!(told.value("Peer-Address"), Some(expected));
        // The handler gave none, and programs count on a text.
        assert_eq!(told.value("User-Id"), Some(Vec::new()));
    }

    #[test]
    fn the_word_of_a_zap_handler_about_a_peer_counts_more_than_its_own() {
        let context = Context::without_rules();
        let handler = context.open_briefly(SocketType::Rep);
        handler.bind("inproc://zeromq.zap.01").unwrap();
        let server = context.open_briefly(SocketType::Dealer);
        server.set(number::ZAP_DOMAIN, Some(b"all")).unwrap();
        server.bind("tcp://127.0.0.1:*").unwrap();
        let client = context.open_briefly(SocketType::Dealer);
        client.set(number::ROUTING_ID, Some(b"itself")).unwrap();
        for own in [&b"X-Role:anything"[..], b"X-Own:anything"] {
            client.set(number::METADATA, Some(own)).unwrap();
        }
        client.connect(&server.last_endpoint()).unwrap();
        let vouched = b"\x08Identity\0\0\0\x05guest\x06X-Role\0\0\0\x05guest";
        admit(&handler, vouched);
        client.send(&mut Frames::single("hello"), 0).unwrap();
        let message = server.receive(0).unwrap();
        let told = Told::of(message.peer().unwrap());
        let value = |name| String::from_utf8(told.value(name).unwrap()).unwrap();
        assert_eq!(value("Identity"), "guest");
        assert_eq!(value("X-Role"), "guest");
        assert_eq!(value("X-Own"), "anything");
        assert_eq!(value("Socket-Type"), "DEALER");
    }
}
