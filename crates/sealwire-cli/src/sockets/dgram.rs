//! `dgram`: plain datagrams from any address, each with that in front, and to one.

use std::net::SocketAddr;

use clap::Args;
use sealwire::SocketType;

use super::answer::{self, AnswerOptions};
use super::duplex::Sender;
use super::input::Input;
use super::opened::Opened;
use super::receive::print_received;
use crate::exit::Failure;
use crate::output::Printer;

/// Options of dgram.
#[derive(Debug, Args)]
pub(crate) struct DgramOptions {
    #[command(flatten)]
    pub(crate) answer: AnswerOptions,

    /// Send --data, --file or standard input to this IP address and port, instead of answering with it
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "echo")]
    to: Option<SocketAddr>,
}

/// Takes datagrams, and sends some to an address or answers if told to.
pub(crate) fn dgram(options: &DgramOptions) -> Result<(), Failure> {
    let DgramOptions { answer, to } = options;
    answer.input.check_single_frame(SocketType::Dgram)?;
    let Some(to) = *to else {
        return answer::datagrams(answer);
    };
    let input = Input::new(&answer.input, None)?;
    let printer = Printer::new(answer.output.format(answer.connection.report));
    let opened = Opened::new(SocketType::Dgram, &answer.connection)?;
    let outcome = Sender::start(&opened.socket, input, move |mut message| {
        message.push_front(to.to_string());
        message
    })
    .and_then(|sender| {
        sender.while_receiving(answer.count, || {
            print_received(&opened, printer, answer.count)
        })
    });
    opened.close(outcome)
}
