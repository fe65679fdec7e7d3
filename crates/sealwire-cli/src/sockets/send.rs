//! `push`, `scatter`, `pub` and `radio`: messages go out, none come in.

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{Message, SocketType};

use super::input::Input;
use super::opened::{Opened, send};
use super::options::{ConnectionOptions, InputOptions, parse_group};
use crate::exit::Failure;

/// Options of push, scatter and pub.
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

    /// Wait for this many peers (push, scatter) or subscribers (pub) before the first message
    #[arg(long, value_name = "N", default_value_t = 1)]
    wait_peers: usize,
}

/// Options of radio.
#[derive(Debug, Args)]
pub(crate) struct RadioOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    input: InputOptions,

    /// The group that the messages are for: those who joined it get them
    #[arg(short, long, value_name = "GROUP", value_parser = parse_group)]
    group: String,

    /// How often to send --data; 0 for ever [default: once]. At most how many lines of standard
    /// input [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// Wait for this many members of the group before the first message; those over udp are not known
    /// [default: 1, or 0 where all endpoints are udp]
    #[arg(long, value_name = "N")]
    wait_peers: Option<usize>,
}

/// Hands each message to one of the peers.
pub(crate) fn push(options: &SendOptions) -> Result<(), Failure> {
    share_out(SocketType::Push, options)
}

/// The same with messages of one frame.
pub(crate) fn scatter(options: &SendOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Scatter)?;
    share_out(SocketType::Scatter, options)
}

fn share_out(socket_type: SocketType, options: &SendOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, options.count)?;
    let opened = Opened::new(socket_type, &options.connection)?;
    let outcome = opened
        .wait_for_peers("not enough peers came", |peers| {
            peers.len() >= options.wait_peers
        })
        .and_then(|()| send_all(&opened.socket, input, |message| message));
    opened.close(outcome)
}

/// Publishes each message to all that have subscribed.
pub(crate) fn publish(options: &SendOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, options.count)?;
    let opened = Opened::new(SocketType::Pub, &options.connection)?;
    let outcome = opened
        .wait_for_subscribers(options.wait_peers)
        .and_then(|()| send_all(&opened.socket, input, |message| message));
    opened.close(outcome)
}

/// Publishes each message to the members of a group.
pub(crate) fn radio(options: &RadioOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Radio)?;
    let members_are_known = !options.connection.endpoints.are_all_udp();
    let wanted = match options.wait_peers {
        Some(wanted) if wanted > 0 && !members_are_known => {
            return Err(Failure::usage(
                "members over udp do not say that they are there: leave --wait-peers out",
            ));
        }
        Some(wanted) => wanted,
        None => usize::from(members_are_known),
    };
    let input = Input::new(&options.input, options.count)?;
    let opened = Opened::new(SocketType::Radio, &options.connection)?;
    let outcome = opened
        .while_awaiting(|| Ok(opened.socket.wait_subscribed(&options.group, wanted)?))
        .and_then(|()| {
            send_all(&opened.socket, input, |mut message| {
                message.push_front(options.group.as_bytes().to_vec());
                message
            })
        });
    opened.close(outcome)
}

fn send_all(
    socket: &Socket,
    mut input: Input,
    address: impl Fn(Message) -> Message,
) -> Result<(), Failure> {
    while let Some(message) = input.next()? {
        send(socket, address(message))?;
    }
    Ok(())
}
