//! `peer` and `stream` that connect: they talk with the one that is there.

use sealwire::{Error, SocketType};

use super::answer::AnswerOptions;
use super::duplex::Sender;
use super::input::Input;
use super::opened::Opened;
use super::receive::print_received;
use crate::exit::Failure;
use crate::output::Printer;
use crate::service::given_up;

/// Sends the input to the peer, and prints what comes from it.
pub(super) fn talk_with_peer(options: &AnswerOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Peer)?;
    let input = Input::new(&options.input, None)?;
    let opened = Opened::with(SocketType::Peer, &options.connection, |builder| {
        builder.omit_routing_id(true)
    })?;
    let mut routing_id = 0;
    let outcome = opened
        .wait_for_peers("no peer came", |peers| {
            routing_id = peers.first().map_or(0, |peer| peer.connection_routing_id());
            !peers.is_empty()
        })
        .and_then(|()| {
            let sender = Sender::start(&opened.socket, input, move |mut message| {
                message.push_front(routing_id.to_be_bytes().to_vec());
                message
            })?;
            sender.while_receiving(options.count, || {
                print_received(&opened, printer(options), options.count)
            })
        });
    opened.close(outcome)
}

/// Sends the input as it is, and prints the bytes that come until the other side ends the connection.
pub(super) fn talk_over_tcp(options: &AnswerOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, None)?;
    let opened = Opened::new(SocketType::Stream, &options.connection)?;
    // An empty message says that the connection is there.
    let begun = opened.while_awaiting(|| Ok(opened.socket.recv()?));
    let outcome = begun.and_then(|begun| {
        let name = begun.frames().first().cloned().unwrap_or_default();
        let sender = Sender::start(&opened.socket, input, move |mut message| {
            message.push_front(name.clone());
            message
        })?;
        sender.while_receiving(options.count, || print_bytes(&opened, options))
    });
    opened.close(outcome)
}

/// Prints up to `count` pieces. Another empty message says that the other side has ended the connection.
fn print_bytes(opened: &Opened, options: &AnswerOptions) -> Result<(), Failure> {
    let mut printer = printer(options).hiding(1);
    let mut printed = 0;
    while options.count != Some(printed) {
        let piece = match opened.receive_one() {
            Ok(Some(piece)) => piece,
            Ok(None) => {
                let missing = options.count.map_or(0, |count| count - printed);
                given_up::count(given_up::Kind::Missing, missing);
                break;
            }
            Err(Error::TimedOut { .. }) if options.count.is_none() && printed > 0 => break,
            Err(error) => return Err(error.into()),
        };
        if piece.size() == piece.frames().first().map_or(0, |name| name.len()) {
            break;
        }
        printer.print(&piece)?;
        printer.flush()?;
        printed += 1;
    }
    Ok(())
}

fn printer(options: &AnswerOptions) -> Printer {
    Printer::new(options.output.format(options.connection.report))
}
