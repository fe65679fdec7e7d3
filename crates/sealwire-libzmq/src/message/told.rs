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
            "Peer-Address" => address(peer),
            "User-Id" => peer.user_id().map(|user| user.as_bytes().to_vec()),
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

/// As libzmq has it: an address without its port, or the user, group and process at the other end of `ipc`.
fn address(peer: &Peer) -> Option<Vec<u8>> {
    let text = match (peer.address(), peer.process()) {
        (sealwire::PeerAddress::Tcp(address), _) => address.ip().to_string(),
        (_, Some(at)) => format!("localhost:{}:{}:{}", at.user, at.group, at.process),
        _ => return None,
    };
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use sealwire::SocketType;
    use sealwire_zmtp::Frames;

    use super::*;
    use crate::context::Context;
    use crate::options::number;
    use crate::socket::SNDMORE;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_address_of_a_peer_over_ipc_is_its_process() {
        let context = Context::without_rules();
        let pull = context.open_briefly(SocketType::Pull);
        pull.bind("ipc://*").unwrap();
        let push = context.open_briefly(SocketType::Push);
        let bound = pull.get(number::LAST_ENDPOINT, 256).unwrap();
        let bound = std::str::from_utf8(&bound).unwrap().trim_end_matches('\0');
        push.connect(bound).unwrap();
        push.send(&mut Frames::single("hello"), 0).unwrap();
        let told = Told::of(pull.receive(0).unwrap().peer().unwrap());
        // SAFETY: they only tell.
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        let expected = format!("localhost:{user}:{group}:{}", std::process::id());
        assert_eq!(told.value("Peer-Address"), Some(expected.into_bytes()));
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
        let bound = server.get(number::LAST_ENDPOINT, 256).unwrap();
        let bound = std::str::from_utf8(&bound).unwrap().trim_end_matches('\0');
        client.connect(bound).unwrap();
        let request: Vec<_> = (0..6)
            .map(|_| handler.receive(0).unwrap().as_bytes().to_vec())
            .collect();
        let vouched = b"\x08Identity\0\0\0\x05guest\x06X-Role\0\0\0\x05guest";
        let answer: [&[u8]; 6] = [b"1.0", &request[1], b"200", b"", b"", vouched];
        for (index, part) in answer.into_iter().enumerate() {
            let flags = if index < 5 { SNDMORE } else { 0 };
            handler.send(&mut Frames::single(part), flags).unwrap();
        }
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
