//! Calls and one-way messages of `sealwire-rpc`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Body, Call, CallOptions, OneWay, Request, Server, Status, blocking};

use crate::side::Introduction;
use crate::{CALL, Error, MESSAGE};

pub(crate) struct Client {
    conn: blocking::Conn,
    _client: blocking::Client,
}

impl Client {
    pub(crate) fn connect(introduction: &Introduction) -> Result<Self, Error> {
        let key = introduction.public_key.parse()?;
        let security = Security::blake3_client_with_keys(key, KeyPair::generate());
        let client = sealwire_rpc::Client::builder(security)
            .max_connections(1)
            .build(introduction.ours.as_str())?
            .blocking();
        Ok(Client {
            conn: client.conn()?,
            _client: client,
        })
    }

    /// Calls a second with `depth` of them in flight.
    pub(crate) fn calls(&self, depth: usize, turn: Duration) -> Result<f64, Error> {
        let body = [0x5a; CALL];
        let (started, mut done) = (Instant::now(), 0_u32);
        if depth == 1 {
            while started.elapsed() < turn {
                self.conn.request(&body)?;
                done += 1;
            }
            return Ok(f64::from(done) / started.elapsed().as_secs_f64());
        }
        let mut pending: VecDeque<Call> = VecDeque::with_capacity(depth);
        while started.elapsed() < turn {
            while pending.len() < depth {
                pending.push_back(self.conn.start(&body, CallOptions::default())?);
            }
            if let Some(call) = pending.pop_front() {
                call.wait()?;
                done += 1;
            }
        }
        let rate = f64::from(done) / started.elapsed().as_secs_f64();
        pending
            .into_iter()
            .try_for_each(|call| call.wait().map(drop))?;
        Ok(rate)
    }

    /// Sends messages until then.
    pub(crate) fn one_way(&self, until: Instant) -> Result<(), Error> {
        let body = [0x5a; MESSAGE];
        while Instant::now() < until {
            for _ in 0..64 {
                self.conn.send(&body)?;
            }
        }
        Ok(())
    }
}

/// Echoes calls and counts messages. Gives the server, where it listens, and its public key.
pub(crate) fn serve(arrived: Arc<AtomicU64>) -> Result<(Server, String, String), Error> {
    let keys = KeyPair::generate();
    let echo = |request: &Request| Ok::<Body, Status>(request.body().clone());
    let handler = Inline::new(echo).on_message(move |_: &OneWay| {
        arrived.fetch_add(1, Ordering::Relaxed);
    });
    let security = Security::blake3_server(keys.clone(), AllowAnyone);
    let server = Server::builder(security).build(handler)?;
    let endpoint = server.bind("tcp://127.0.0.1:0")?.to_string();
    Ok((server, endpoint, keys.public().to_z85()))
}
