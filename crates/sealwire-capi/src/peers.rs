//! Lists of peers.

use std::ptr::null;
use std::sync::Arc;

use sealwire::Peer;
use sealwire::blocking::Socket;

use crate::panics::{free, guard};
use crate::peer::{PeerSource, sealwire_peer};
use crate::pointers::{give, output, required};
use crate::socket::sealwire_socket;
use crate::status::{here, sealwire_status};

/// Peers of a socket, client or server of calls, as they were when the list was made: those that come or
/// go later do not change it. They belong to the list, which outlives the socket.
///
/// Threads: never changes, so any number may use it at once, but for freeing it.
pub struct sealwire_peers {
    peers: Vec<sealwire_peer>,
}

impl sealwire_peers {
    pub(crate) fn new(sources: impl IntoIterator<Item = PeerSource>) -> Self {
        sealwire_peers {
            peers: sources.into_iter().map(sealwire_peer::new).collect(),
        }
    }
}

fn of_socket(
    socket: Option<&sealwire_socket>,
    out: *mut *mut sealwire_peers,
    list: impl FnOnce(&Socket) -> Vec<Arc<Peer>>,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(out, "out")?;
        here(socket.birth)?;
        let peers = list(&socket.socket).into_iter();
        out.write(give(sealwire_peers::new(peers.map(PeerSource::Peer))));
        Ok(())
    })
}

/// The peers that are connected, their handshakes done, with their accounts brought up to date. Free the
/// list with `sealwire_peers_free`.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peers_of_socket(
    socket: Option<&sealwire_socket>,
    out: *mut *mut sealwire_peers,
) -> sealwire_status {
    of_socket(socket, out, Socket::peers)
}

/// The peers that something may be held for, with their accounts brought up to date: those that are
/// connected, and those that have left messages to be read. Free the list with `sealwire_peers_free`.
///
/// Errors: `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_socket_accounts(
    socket: Option<&sealwire_socket>,
    out: *mut *mut sealwire_peers,
) -> sealwire_status {
    of_socket(socket, out, Socket::accounts)
}

/// How many peers the list has; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peers_size(peers: Option<&sealwire_peers>) -> usize {
    peers.map_or(0, |list| list.peers.len())
}

/// A peer of the list, counted from 0; NULL where there is none. Belongs to the list.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peers_at(
    peers: Option<&sealwire_peers>,
    index: usize,
) -> *const sealwire_peer {
    let peer = peers.and_then(|list| list.peers.get(index));
    peer.map_or(null(), std::ptr::from_ref)
}

/// Frees a list of peers. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_peers_free(peers: Option<Box<sealwire_peers>>) {
    free(peers);
}
