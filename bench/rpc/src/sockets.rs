//! One-way messages of Sealwire's sockets, PUSH to PULL, under BLAKE3ZMQ.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sealwire::blocking::Socket;
use sealwire::{Generate as _, KeyPair, Security, SocketType, auth::AllowAnyone};

use crate::side::Introduction;
use crate::{Error, MESSAGE};

/// Messages taken from the socket at a time.
const BATCH: usize = 512;

pub(crate) struct Sender {
    push: Socket,
}

impl Sender {
    pub(crate) fn connect(introduction: &Introduction) -> Result<Self, Error> {
        let key = introduction.sockets_key.parse()?;
        let push = Socket::builder(SocketType::Push)
            .security(Security::blake3_client_with_keys(key, KeyPair::generate()))
            .build_blocking()?;
        push.connect(introduction.sockets.as_str())?;
        Ok(Sender { push })
    }

    /// Sends messages until then.
    pub(crate) fn send(&self, until: Instant) -> Result<(), Error> {
        let body = [0x5a; MESSAGE];
        while Instant::now() < until {
            for _ in 0..64 {
                self.push.send(&body)?;
            }
        }
        Ok(())
    }
}

/// Counts messages. Gives the socket, where it listens, and its public key.
pub(crate) fn serve() -> Result<(Socket, String, String), Error> {
    let keys = KeyPair::generate();
    let pull = Socket::builder(SocketType::Pull)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = pull.bind("tcp://127.0.0.1:0")?.to_string();
    Ok((pull, endpoint, keys.public().to_z85()))
}

pub(crate) fn count(pull: &Socket, arrived: &Arc<AtomicU64>) -> Result<(), Error> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let taken = pull.recv_many(&mut batch, BATCH)?;
        arrived.fetch_add(taken as u64, Ordering::Relaxed);
        batch.clear();
    }
}
