//! `rep`, and `router` with an answer: each request that comes in is answered.

use clap::Args;
use sealwire::{Error, Frame, Message, SocketType};

use super::duplex;
use super::input::Input;
use super::opened::Opened;
use super::options::{ConnectionOptions, InputOptions, OutputOptions};
use crate::exit::{Code, Failure};
use crate::output::Printer;

/// Options of rep.
#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    output: OutputOptions,

    /// Answer each request with its own frames
    #[arg(short, long, conflicts_with_all = ["data", "file", "raw"])]
    echo: bool,

    /// End after this many messages were received [default: when interrupted]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

/// Options of router.
#[derive(Debug, Args)]
pub(crate) struct RouterOptions {
    #[command(flatten)]
    pub(crate) answer: AnswerOptions,

    /// Send --data, --file or standard input to the peer with this routing id, instead of
    /// answering with it
    #[arg(long, value_name = "ROUTING_ID", conflicts_with = "echo")]
    to: Option<String>,
}

/// Where answers come from.
enum Answers {
    /// The request itself.
    Echo,
    /// The command line, for every request the same, or standard input.
    Input(Input),
}

impl Answers {
    fn new(options: &AnswerOptions) -> Result<Self, Failure> {
        if options.echo {
            return Ok(Answers::Echo);
        }
        // A count of 0: as often as there are requests.
        let count = options.input.is_given().then_some(0);
        Ok(Answers::Input(Input::new(&options.input, count)?))
    }

    fn next(&mut self, request: Message) -> Result<Message, Failure> {
        match self {
            Answers::Echo => Ok(request.into_frames().into()),
            Answers::Input(input) => input.next()?.ok_or_else(|| {
                Failure::new(
                    Code::Failed,
                    "standard input ended before the last request came",
                )
            }),
        }
    }
}

/// Answers requests in turn.
pub(crate) fn reply(options: &AnswerOptions) -> Result<(), Failure> {
    let mut answers = Answers::new(options)?;
    serve(options, SocketType::Rep, |request| answers.next(request))
}

/// Takes messages with the routing id of their sender in front, and answers if told to.
pub(crate) fn route(options: &RouterOptions) -> Result<(), Failure> {
    let answer = &options.answer;
    if let Some(to) = &options.to {
        let input = Input::new(&answer.input, None)?;
        return duplex::send_to(&answer.connection, &answer.output, input, to, answer.count);
    }
    if !answer.echo && !answer.input.is_given() {
        return duplex::receive_only(
            SocketType::Router,
            &answer.connection,
            &answer.output,
            answer.count,
        );
    }
    let mut answers = Answers::new(answer)?;
    serve(answer, SocketType::Router, |request| {
        let (mut envelope, body) = split_envelope(request);
        for frame in answers.next(body)?.into_frames() {
            envelope.push_back(frame);
        }
        Ok(envelope)
    })
}

/// The routing id, and the empty delimiter if the sender is a REQ; then what it sent.
fn split_envelope(request: Message) -> (Message, Message) {
    let frames: Vec<Frame> = request.into_frames().into_iter().collect();
    let delimited = frames.len() > 2 && frames[1].is_empty();
    let (envelope, body) = frames.split_at(frames.len().min(1 + usize::from(delimited)));
    (
        envelope.iter().cloned().collect(),
        body.iter().cloned().collect(),
    )
}

fn serve(
    options: &AnswerOptions,
    socket_type: SocketType,
    mut answer: impl FnMut(Message) -> Result<Message, Failure>,
) -> Result<(), Failure> {
    let mut printer = Printer::new(options.output.format(options.connection.report));
    let opened = Opened::new(socket_type, &options.connection)?;
    let mut answered = 0;
    let outcome = loop {
        if options.count == Some(answered) {
            break Ok(());
        }
        let request = match opened.socket.recv() {
            Ok(request) => request,
            Err(Error::TimedOut { .. }) if options.count.is_none() && answered > 0 => break Ok(()),
            Err(error) => break Err(error.into()),
        };
        let exchange = printer
            .print(&request)
            .and_then(|()| printer.flush())
            .and_then(|()| answer(request))
            .and_then(
                |answer| match opened.socket.send(answer).map_err(Error::from) {
                    // The asker has left; others may still come.
                    Err(Error::Unroutable(_)) => Ok(()),
                    sent => Ok(sent?),
                },
            );
        if let Err(failure) = exchange {
            break Err(failure);
        }
        answered += 1;
    };
    opened.close(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_split_off() {
        let split = |frames: &[&str]| split_envelope(Message::multipart(frames.iter().copied()));
        let message = |frames: &[&str]| Message::multipart(frames.iter().copied());
        assert_eq!(
            split(&["id", "", "a", "b"]),
            (message(&["id", ""]), message(&["a", "b"]))
        );
        assert_eq!(split(&["id", "a"]), (message(&["id"]), message(&["a"])));
        assert_eq!(split(&["id", ""]), (message(&["id"]), message(&[""])));
    }
}
