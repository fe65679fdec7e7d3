//! `rep`, and `router`, `server`, `peer`, `stream` and `dgram` with an answer: each request that comes in is answered.

use clap::Args;
use sealwire::{Error, Frame, Message, SocketBuilder, SocketType};

use super::duplex;
use super::input::Input;
use super::opened::Opened;
use super::options::{ConnectionOptions, InputOptions, OutputOptions};
use super::receive::print_received;
use super::single;
use crate::exit::{Code, Failure};
use crate::interrupt;
use crate::output::Printer;
use crate::service::given_up::{self, Kind};

/// Options of rep, server, peer and stream.
#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    pub(super) input: InputOptions,

    #[command(flatten)]
    pub(super) output: OutputOptions,

    /// Answer each request with its own frames
    #[arg(short, long, conflicts_with_all = ["data", "file", "raw"])]
    pub(super) echo: bool,

    /// End after this many messages were received [default: when interrupted]
    #[arg(short = 'n', long, value_name = "N")]
    pub(super) count: Option<u64>,
}

impl AnswerOptions {
    /// Whether there is something to answer with.
    fn answers(&self) -> bool {
        self.echo || self.input.is_given()
    }

    /// Whether it talks with whom it connects to, instead of answering those who come.
    fn talks(&self) -> Result<bool, Failure> {
        let endpoints = &self.connection.endpoints;
        match (&endpoints.bind[..], &endpoints.connect[..]) {
            _ if self.echo => Ok(false),
            (_, []) => Ok(false),
            ([], [_]) if !self.connection.listening.takes_passed() => Ok(true),
            _ => Err(Failure::usage(
                "without --echo either give --bind, to answer those who come, or --connect once, to talk \
                 with the one that is there",
            )),
        }
    }
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
            Answers::Input(input) => input.next_answer()?.ok_or_else(|| {
                if interrupt::requested() {
                    given_up::count(Kind::Unanswered, 1);
                    return Failure::stopped();
                }
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
    serve(options, Asked::whole(SocketType::Rep), |request| {
        answers.next(request)
    })
}

/// Takes messages with the routing id of their sender in front, and answers if told to.
pub(crate) fn route(options: &RouterOptions) -> Result<(), Failure> {
    let answer = &options.answer;
    if let Some(to) = &options.to {
        let input = Input::new(&answer.input, None)?;
        return duplex::send_to(&answer.connection, &answer.output, input, to, answer.count);
    }
    answer_behind_envelopes(answer, Asked::whole(SocketType::Router))
}

/// Takes messages of one frame, and answers if told to.
pub(crate) fn serve_clients(options: &AnswerOptions) -> Result<(), Failure> {
    answer_by_connection(options, SocketType::Server)
}

/// Talks with the peer that it connects to, or does as a server.
pub(crate) fn peer(options: &AnswerOptions) -> Result<(), Failure> {
    match options.talks()? {
        true => single::talk_with_peer(options),
        false => answer_by_connection(options, SocketType::Peer),
    }
}

/// Talks with the program that it connects to, or takes bytes from those that come and answers if told to.
pub(crate) fn stream(options: &AnswerOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Stream)?;
    if options.talks()? {
        return single::talk_over_tcp(options);
    }
    let asked = Asked {
        socket_type: SocketType::Stream,
        shape: |builder| builder.stream_notify(false),
        hidden_frames: 1,
    };
    answer_behind_envelopes(options, asked)
}

/// Takes datagrams with the address of their sender in front, and answers if told to.
pub(super) fn datagrams(options: &AnswerOptions) -> Result<(), Failure> {
    answer_behind_envelopes(options, Asked::whole(SocketType::Dgram))
}

/// Messages that come in, and how they are shown.
struct Asked {
    socket_type: SocketType,
    shape: fn(SocketBuilder) -> SocketBuilder,
    /// Frames in front that are for the socket and not for people.
    hidden_frames: usize,
}

impl Asked {
    fn whole(socket_type: SocketType) -> Self {
        Asked {
            socket_type,
            shape: |builder| builder,
            hidden_frames: 0,
        }
    }

    fn printer(&self, options: &AnswerOptions) -> Printer {
        let format = options.output.format(options.connection.report);
        Printer::new(format).hiding(self.hidden_frames)
    }

    fn open(&self, options: &AnswerOptions) -> Result<Opened, Failure> {
        Opened::with(self.socket_type, &options.connection, self.shape)
    }
}

fn answer_behind_envelopes(options: &AnswerOptions, asked: Asked) -> Result<(), Failure> {
    if !options.answers() {
        return only_receive(options, asked);
    }
    let mut answers = Answers::new(options)?;
    serve(options, asked, |request| {
        let (mut envelope, body) = split_envelope(request);
        for frame in answers.next(body)?.into_frames() {
            envelope.push_back(frame);
        }
        Ok(envelope)
    })
}

/// Of a type that knows its peers by numbers, which are not shown.
fn answer_by_connection(options: &AnswerOptions, socket_type: SocketType) -> Result<(), Failure> {
    options.input.check_single_frame(socket_type)?;
    let asked = Asked {
        shape: |builder| builder.omit_routing_id(true),
        ..Asked::whole(socket_type)
    };
    if !options.answers() {
        return only_receive(options, asked);
    }
    let mut answers = Answers::new(options)?;
    serve(options, asked, |request| {
        let asker = request
            .peer()
            .map_or(0, |peer| peer.connection_routing_id());
        let mut answer = answers.next(request)?;
        answer.push_front(asker.to_be_bytes().to_vec());
        Ok(answer)
    })
}

fn only_receive(options: &AnswerOptions, asked: Asked) -> Result<(), Failure> {
    let printer = asked.printer(options);
    let opened = asked.open(options)?;
    let outcome = print_received(&opened, printer, options.count);
    opened.close(outcome)
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
    asked: Asked,
    mut answer: impl FnMut(Message) -> Result<Message, Failure>,
) -> Result<(), Failure> {
    let mut printer = asked.printer(options);
    let opened = asked.open(options)?;
    let mut answered = 0;
    let outcome = loop {
        if options.count == Some(answered) {
            break Ok(());
        }
        let request = match opened.receive_one() {
            Ok(Some(request)) => request,
            Ok(None) => {
                let missing = options.count.map_or(0, |count| count - answered);
                given_up::count(Kind::Missing, missing);
                break Ok(());
            }
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
                    Err(Error::Closed) if interrupt::requested() => {
                        given_up::count(Kind::Unanswered, 1);
                        Err(Failure::stopped())
                    }
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
