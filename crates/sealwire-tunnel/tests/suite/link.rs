//! Both sides of a connection, without anything in between.

use std::sync::Arc;

use sealwire_tunnel::{Channel, Handshake, Identity, SecretKey};

/// Moves as many bytes as there is room for.
pub(crate) fn pass(from: &[u8], to: &mut [u8]) -> usize {
    let count = from.len().min(to.len());
    to[..count].copy_from_slice(&from[..count]);
    count
}

pub(crate) fn identity() -> Arc<Identity> {
    let secret = SecretKey::generate().expect("randomness");
    Arc::new(Identity::new("test", secret))
}

/// The connector's side and the listener's, behind a handshake.
pub(crate) fn channels(connector: &Identity, listener: &Arc<Identity>) -> (Channel, Channel) {
    let mut connecting = Handshake::connect(connector, *listener.public_key()).expect("randomness");
    let mut listening = Handshake::listen(listener).expect("randomness");
    let count = pass(connecting.unsent(), listening.room());
    connecting.sent(count);
    assert!(listening.received(count).expect("a request").is_none());
    let count = pass(listening.unsent(), connecting.room());
    listening.sent(count);
    let ours = connecting.received(count).expect("a response");
    let mut ours = ours.expect("the whole response");
    let count = pass(ours.outgoing.unsent(), listening.room());
    ours.outgoing.sent(count);
    let theirs = listening.received(count).expect("a confirmation");
    (ours, theirs.expect("the whole confirmation"))
}
