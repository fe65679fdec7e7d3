//! The peer at the other end of a connection.

use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, OnceLock};

use sealwire::{Mechanism, Peer, PublicKey};
use sealwire_rpc::Conn;

use crate::guest::write_process;
use crate::panics::{guard, value};
use crate::pointers::{array_output, c_text, output, required, text};
use crate::status::{Failure, SEALWIRE_ERROR_UNSUPPORTED, sealwire_status};

/// The peer at the other end of a connection: a key that was proved, a name that the server's
/// authenticator gave to it, an address. Never changes.
///
/// A peer belongs to the message, event or request that it was asked of, and is valid as long as
/// that is. Threads: any number may use it at once.
pub struct sealwire_peer {
    source: PeerSource,
    address: CString,
    local_address: Option<CString>,
    endpoint: CString,
    user_id: Option<CString>,
    mechanism: CString,
}

/// What a peer is known from.
pub(crate) enum PeerSource {
    Peer(Arc<Peer>),
    Call(Conn),
}

impl sealwire_peer {
    pub(crate) fn new(source: PeerSource) -> Self {
        let peer = source.peer();
        let local_address = peer.local_address();
        sealwire_peer {
            address: c_text(&peer.address().to_string()),
            local_address: local_address.map(|address| c_text(&address.to_string())),
            endpoint: c_text(&peer.endpoint().to_string()),
            user_id: peer.user_id().map(c_text),
            mechanism: c_text(peer.mechanism().map_or("", Mechanism::name)),
            source,
        }
    }

    pub(crate) fn peer(&self) -> &Peer {
        self.source.peer()
    }
}

impl PeerSource {
    fn peer(&self) -> &Peer {
        match self {
            PeerSource::Peer(peer) => peer,
            PeerSource::Call(conn) => conn.peer(),
        }
    }
}

/// A peer that is made for C when somebody asks for it.
#[derive(Default)]
pub(crate) struct LazyPeer(OnceLock<Option<Box<sealwire_peer>>>);

impl LazyPeer {
    pub(crate) fn get(&self, source: impl FnOnce() -> Option<PeerSource>) -> *const sealwire_peer {
        let made = self
            .0
            .get_or_init(|| Some(Box::new(sealwire_peer::new(source()?))));
        made.as_deref().map_or(std::ptr::null(), std::ptr::from_ref)
    }
}

/// Writes the public key that the peer proved to hold: 32 bytes. A client without a key of its own
/// shows one made for the connection, so authorise by known keys, not by the presence of one.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the mechanism proves none (NULL, PLAIN, `inproc`),
/// `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_public_key(
    peer: Option<&sealwire_peer>,
    public_key: *mut u8,
) -> sealwire_status {
    write_key(
        peer,
        public_key,
        Peer::public_key,
        "this peer has proved no key",
    )
}

fn write_key(
    peer: Option<&sealwire_peer>,
    public_key: *mut u8,
    key: impl Fn(&Peer) -> Option<PublicKey>,
    absent: &str,
) -> sealwire_status {
    guard(|| {
        let peer = required(peer, "peer")?;
        let out = array_output(public_key, "public_key")?;
        let key = key(peer.peer());
        let key = key.ok_or_else(|| Failure::new(SEALWIRE_ERROR_UNSUPPORTED, absent))?;
        out.write(*key.as_bytes());
        Ok(())
    })
}

/// Writes the public key of this side that the handshake was done with, 32 bytes: of a server that has several, the one
/// that the client knows.
///
/// Errors: as `sealwire_peer_public_key`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_local_key(
    peer: Option<&sealwire_peer>,
    public_key: *mut u8,
) -> sealwire_status {
    write_key(
        peer,
        public_key,
        Peer::local_key,
        "this connection was made without keys",
    )
}

/// The name that the authenticator gave to the peer; NULL when it gave none. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_user_id(peer: Option<&sealwire_peer>) -> *const c_char {
    let user_id = peer.and_then(|peer| peer.user_id.as_ref());
    user_id.map_or(std::ptr::null(), |user_id| user_id.as_ptr())
}

/// Where the peer is, as text, for example "tcp://192.0.2.7:40312". NULL for NULL. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_address(peer: Option<&sealwire_peer>) -> *const c_char {
    peer.map_or(std::ptr::null(), |peer| peer.address.as_ptr())
}

/// Where this end of the connection is, as text. NULL over `udp`, within the process, for the end of an `ipc` connection
/// that connected, which has no name, and for NULL. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_local_address(peer: Option<&sealwire_peer>) -> *const c_char {
    let address = peer.and_then(|peer| peer.local_address.as_ref());
    address.map_or(std::ptr::null(), |address| address.as_ptr())
}

/// The endpoint that was bound or connected to for this connection. NULL for NULL. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_endpoint(peer: Option<&sealwire_peer>) -> *const c_char {
    peer.map_or(std::ptr::null(), |peer| peer.endpoint.as_ptr())
}

/// Whether the peer connected to this socket; false where this socket connected to the peer, over `udp`, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_is_accepted(peer: Option<&sealwire_peer>) -> bool {
    peer.is_some_and(|peer| peer.peer().is_accepted())
}

/// The number of the descriptor of the connection on Unix; -1 over `udp`, within the process, and for NULL. It is good
/// for comparing with what the system tells. Others have the number once the connection has ended, and the connection fails if
/// somebody else reads, writes or closes it.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_descriptor(peer: Option<&sealwire_peer>) -> i32 {
    peer.and_then(|peer| peer.peer().descriptor()).unwrap_or(-1)
}

/// The mechanism that protects the connection: "NULL", "PLAIN", "CURVE", "BLAKE3", or "" where there
/// is none (`inproc`). NULL for NULL. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_mechanism(peer: Option<&sealwire_peer>) -> *const c_char {
    peer.map_or(std::ptr::null(), |peer| peer.mechanism.as_ptr())
}

/// Writes whose process is at the other end of a Unix socket: as `sealwire_client_process`.
///
/// Errors: `SEALWIRE_ERROR_UNSUPPORTED` where the system does not tell (other transports and
/// systems), `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_process(
    peer: Option<&sealwire_peer>,
    process: *mut i32,
    user: *mut u32,
    group: *mut u32,
) -> sealwire_status {
    guard(|| {
        let peer = required(peer, "peer")?;
        write_process(peer.peer().process(), process, user, group)
    })
}

/// The connection id, the same in the events of a monitor; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_connection(peer: Option<&sealwire_peer>) -> u64 {
    peer.map_or(0, |peer| peer.peer().connection())
}

/// The number under which SERVER and PEER sockets address the connection; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_connection_routing_id(peer: Option<&sealwire_peer>) -> u32 {
    peer.map_or(0, |peer| peer.peer().connection_routing_id())
}

/// What the peer calls itself, of which nobody verified anything: up to 255 bytes, whose number is
/// written to `size`. Belongs to the peer.
///
/// Errors: `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_routing_id(
    peer: Option<&sealwire_peer>,
    data: *mut *const c_void,
    size: *mut usize,
) -> sealwire_status {
    guard(|| {
        let peer = required(peer, "peer")?;
        let (data, size) = (output(data, "data")?, output(size, "size")?);
        let routing_id = peer.peer().routing_id();
        data.write(routing_id.as_ptr().cast());
        size.write(routing_id.len());
        Ok(())
    })
}

/// A property of the connection by name without case: what a ZAP handler said about the peer, or
/// else what the peer said in its handshake, which proves nothing. Gives the bytes, whose
/// number is written to `size` (where that is not NULL), or NULL when there is no such property or an
/// argument is not valid. Belongs to the peer.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peer_metadata(
    peer: Option<&sealwire_peer>,
    name: *const c_char,
    size: *mut usize,
) -> *const c_void {
    value(std::ptr::null(), || {
        let found = peer.zip(text(name, "name").ok());
        let Some(bytes) = found.and_then(|(peer, name)| peer.peer().metadata(name)) else {
            return std::ptr::null();
        };
        if let Ok(size) = output(size, "size") {
            size.write(bytes.len());
        }
        bytes.as_ptr().cast()
    })
}
