//! `req`: a request goes out, its answer comes in, then the next.

use clap::Args;
use sealwire::{Error, SocketType};

use super::input::Input;
use super::opened::{Opened, send};
use super::options::{ConnectionOptions, InputOptions, OutputOptions};
use crate::exit::Failure;
use crate::interrupt;
use crate::output::Printer;
use crate::service::given_up;

/// Options of req.
#[derive(Debug, Args)]
pub(crate) struct RequestOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    output: OutputOptions,

    /// How often to ask with --data; 0 for ever [default: once]. At most how many lines of
    /// standard input [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

/// Asks and prints the answers.
pub(crate) fn request(options: &RequestOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, options.count)?;
    let printer = Printer::new(options.output.format(options.connection.report));
    let opened = Opened::new(SocketType::Req, &options.connection)?;
    let outcome = opened
        .wait_for_peers("nobody to ask came", |peers| !peers.is_empty())
        .and_then(|()| ask(&opened, input, printer));
    opened.close(outcome)
}

fn ask(opened: &Opened, mut input: Input, mut printer: Printer) -> Result<(), Failure> {
    while let Some(message) = input.next()? {
        send(&opened.socket, message)?;
        let answer = opened.socket.recv().inspect_err(|error| {
            if matches!(error, Error::Closed) && interrupt::requested() {
                given_up::count(given_up::Kind::Unanswered, 1);
            }
        });
        printer.print(&answer?)?;
        printer.flush()?;
    }
    Ok(())
}
