//! Waiting for peers and for subscribers.

use std::pin::pin;
use std::time::Duration;

use magnus::typed_data::Obj;
use magnus::{Error, RString, Ruby, Value};
use sealwire::{Error as Failed, Operation};

use super::{Socket, endpoint, with_timeout};
use crate::{bytes, errors, waiting};

impl Socket {
    /// Connects, waits for the connection and gives its number (SERVER, PEER).
    pub(super) fn connect_peer(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<u32, Error> {
        let (text, limit) = with_timeout::<(String,)>(ruby, args)?;
        let limit = limit.unwrap_or_else(|| this.send_timeout.get());
        let deadline = waiting::deadline(limit);
        let socket = this.socket(ruby)?;
        let endpoint = endpoint(ruby, &text.0)?;
        let connected = {
            let mut connecting = pin!(socket.connect_peer(endpoint));
            // The same one again: another would make another connection.
            this.wait(ruby, socket, async || connecting.as_mut().await, deadline)?
        };
        done(ruby, socket, connected, Operation::Connect, limit)
    }

    /// Waits until this number of peers is connected.
    pub(super) fn wait_connected(
        ruby: &Ruby,
        this: Obj<Self>,
        args: &[Value],
    ) -> Result<Obj<Self>, Error> {
        let (peers, limit) = with_timeout::<(usize,)>(ruby, args)?;
        let limit = limit.unwrap_or_else(|| this.send_timeout.get());
        let deadline = waiting::deadline(limit);
        let socket = this.socket(ruby)?;
        let connected = this.wait(
            ruby,
            socket,
            async || socket.wait_connected(peers.0).await,
            deadline,
        )?;
        done(ruby, socket, connected, Operation::Connect, limit)?;
        Ok(this)
    }

    /// Waits for so many peers that ask for a topic or group.
    pub(super) fn wait_subscribed(
        ruby: &Ruby,
        this: Obj<Self>,
        args: &[Value],
    ) -> Result<Obj<Self>, Error> {
        let ((topic, peers), limit) = with_timeout::<(RString, usize)>(ruby, args)?;
        let limit = limit.unwrap_or_else(|| this.send_timeout.get());
        let deadline = waiting::deadline(limit);
        let socket = this.socket(ruby)?;
        let topic = bytes::with(topic, <[u8]>::to_vec);
        let subscribed = this.wait(
            ruby,
            socket,
            async || socket.wait_subscribed(topic.clone(), peers).await,
            deadline,
        )?;
        done(ruby, socket, subscribed, Operation::AwaitSubscribers, limit)?;
        Ok(this)
    }
}

/// The result of the wait, or why it did not end within the limit.
fn done<T>(
    ruby: &Ruby,
    socket: &sealwire::Socket,
    outcome: Option<Result<T, Failed>>,
    operation: Operation,
    limit: Option<Duration>,
) -> Result<T, Error> {
    let limit = limit.unwrap_or_default();
    let outcome = outcome.ok_or_else(|| errors::timed_out(ruby, operation, limit, socket))?;
    outcome.map_err(|error| errors::raised(ruby, &error))
}
