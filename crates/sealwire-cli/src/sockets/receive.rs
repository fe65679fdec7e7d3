//! `pull`, `gather`, `sub` and `dish`: messages come in, none go out.

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

use super::opened::Opened;
use super::options::{ConnectionOptions, OutputOptions, parse_group};
use crate::exit::Failure;
use crate::output::Printer;
use crate::service::given_up::{self, Kind};

/// Messages taken at a time.
const BATCH: usize = 256;

/// Options of pull and gather.
#[derive(Debug, Args)]
pub(crate) struct ReceiveOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    output: OutputOptions,

    /// End after this many messages [default: when interrupted]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

/// Options of sub.
#[derive(Debug, Args)]
pub(crate) struct SubscribeOptions {
    #[command(flatten)]
    pub(crate) receive: ReceiveOptions,

    /// Receive messages whose first frame starts with PREFIX (repeatable) [default: all messages]
    #[arg(short, long, value_name = "PREFIX")]
    subscribe: Vec<String>,
}

/// Options of dish.
#[derive(Debug, Args)]
pub(crate) struct DishOptions {
    #[command(flatten)]
    pub(crate) receive: ReceiveOptions,

    /// Receive what is sent to a group (repeatable)
    #[arg(short, long, value_name = "GROUP", required = true, value_parser = parse_group)]
    join: Vec<String>,
}

/// Takes messages from all peers in turn.
pub(crate) fn pull(options: &ReceiveOptions) -> Result<(), Failure> {
    take_all(SocketType::Pull, options)
}

/// The same with messages of one frame.
pub(crate) fn gather(options: &ReceiveOptions) -> Result<(), Failure> {
    take_all(SocketType::Gather, options)
}

fn take_all(socket_type: SocketType, options: &ReceiveOptions) -> Result<(), Failure> {
    let opened = Opened::new(socket_type, &options.connection)?;
    let outcome = print_all(&opened, options);
    opened.close(outcome)
}

/// Takes the messages to the groups that it joined, each behind its group.
pub(crate) fn dish(options: &DishOptions) -> Result<(), Failure> {
    let opened = Opened::new(SocketType::Dish, &options.receive.connection)?;
    let joined = options
        .join
        .iter()
        .try_for_each(|group| opened.socket.join(group));
    let outcome = joined
        .map_err(Failure::from)
        .and_then(|()| print_all(&opened, &options.receive));
    opened.close(outcome)
}

/// Takes the messages that were subscribed to.
pub(crate) fn subscribe(options: &SubscribeOptions) -> Result<(), Failure> {
    let opened = Opened::new(SocketType::Sub, &options.receive.connection)?;
    let outcome = subscribe_to(&opened.socket, &options.subscribe)
        .and_then(|()| print_all(&opened, &options.receive));
    opened.close(outcome)
}

/// The topics, or all when none is named.
pub(super) fn subscribe_to(socket: &Socket, topics: &[String]) -> Result<(), Failure> {
    if topics.is_empty() {
        socket.subscribe("")?;
    }
    for topic in topics {
        socket.subscribe(topic)?;
    }
    Ok(())
}

fn print_all(opened: &Opened, options: &ReceiveOptions) -> Result<(), Failure> {
    let printer = Printer::new(options.output.format(options.connection.report));
    print_received(opened, printer, options.count)
}

/// Prints what arrives, up to `count` messages. When silence ends it, that is a failure if more
/// was expected: `count` messages, or at least one.
pub(super) fn print_received(
    opened: &Opened,
    mut printer: Printer,
    count: Option<u64>,
) -> Result<(), Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut printed = 0;
    loop {
        let left = count.map_or(u64::MAX, |count| count - printed);
        if left == 0 {
            return Ok(());
        }
        let limit = usize::try_from(left).unwrap_or(BATCH).min(BATCH);
        match opened.receive(&mut batch, limit) {
            Ok(0) => {
                given_up::count(Kind::Missing, count.map_or(0, |count| count - printed));
                return Ok(());
            }
            Ok(_) => {}
            Err(Error::TimedOut { .. }) if count.is_none() && printed > 0 => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        printed += batch.len() as u64;
        for message in batch.drain(..) {
            printer.print(&message)?;
        }
        printer.flush()?;
    }
}
