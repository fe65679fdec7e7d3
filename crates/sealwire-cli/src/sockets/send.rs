//! `push` and `pub`: messages go out, none come in.

use std::collections::HashSet;

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

use super::input::Input;
use super::opened::Opened;
use super::options::{ConnectionOptions, InputOptions};
use crate::exit::{Code, Failure};

/// Options of push and pub.
#[derive(Debug, Args)]
pub(crate) struct SendOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    input: InputOptions,

    /// How often to send --data; 0 for ever [default: once]. At most how many lines of standard
    /// input [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// Wait for this many peers (push) or subscribers (pub) before the first message
    #[arg(long, value_name = "N", default_value_t = 1)]
    wait_peers: usize,
}

/// Hands each message to one of the peers.
pub(crate) fn push(options: &SendOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, options.count)?;
    let opened = Opened::new(SocketType::Push, &options.connection)?;
    let outcome = opened
        .wait_for_peers("not enough peers came", |peers| {
            peers.len() >= options.wait_peers
        })
        .and_then(|()| send_all(&opened.socket, input, |_| Ok(())));
    opened.close(outcome)
}

/// Publishes each message to all that have subscribed.
///
/// The socket is an XPUB, which every subscriber takes for a PUB: it hears of subscriptions, so
/// that the first messages are not published before anyone listens.
pub(crate) fn publish(options: &SendOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, options.count)?;
    let opened = Opened::new(SocketType::XPub, &options.connection)?;
    let outcome = wait_for_subscribers(&opened.socket, options.wait_peers)
        .and_then(|()| send_all(&opened.socket, input, forget_subscriptions));
    opened.close(outcome)
}

fn wait_for_subscribers(socket: &Socket, wanted: usize) -> Result<(), Failure> {
    let mut subscribers = HashSet::new();
    while subscribers.len() < wanted {
        match socket.recv() {
            Ok(message) => {
                if message.as_bytes().first() == Some(&1) {
                    subscribers.extend(message.peer().map(|peer| peer.connection()));
                }
            }
            Err(Error::TimedOut {
                limit,
                last_failure,
                ..
            }) => {
                let message = format!("not enough subscribers came within {limit:?}");
                return Err(Failure::wait_failed(
                    Code::TimedOut,
                    &message,
                    last_failure.as_deref(),
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Subscriptions that came since nobody waits for them any more; unread they would pile up.
fn forget_subscriptions(socket: &Socket) -> Result<(), Failure> {
    loop {
        match socket.try_recv() {
            Ok(_) => {}
            Err(Error::WouldBlock) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn send_all(
    socket: &Socket,
    mut input: Input,
    mut between: impl FnMut(&Socket) -> Result<(), Failure>,
) -> Result<(), Failure> {
    while let Some(message) = input.next()? {
        between(socket)?;
        socket.send(message).map_err(Error::from)?;
    }
    Ok(())
}
