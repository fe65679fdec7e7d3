//! `pair`, `channel`, `dealer`, `client`, `xpub`, `xsub`, and `router` with `--to`: what is sent and what is
//! received have nothing to do with each other, so a thread of its own sends.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{Message, SocketType};

use super::input::Input;
use super::opened::{Opened, send};
use super::options::{ConnectionOptions, InputOptions, OutputOptions};
use super::receive::{print_received, subscribe_to};
use crate::exit::Failure;
use crate::interrupt;
use crate::output::Printer;
use crate::threads;

/// Options of pair, channel, dealer, client and xpub.
#[derive(Debug, Args)]
pub(crate) struct DuplexOptions {
    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    output: OutputOptions,

    /// End after this many messages were received; 0 only sends [default: when interrupted]
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,
}

/// Options of xsub.
#[derive(Debug, Args)]
pub(crate) struct XSubOptions {
    #[command(flatten)]
    pub(crate) duplex: DuplexOptions,

    /// Receive messages whose first frame starts with PREFIX (repeatable) [default: all messages]
    #[arg(short, long, value_name = "PREFIX")]
    subscribe: Vec<String>,
}

/// Two peers, each of which may talk at any time.
pub(crate) fn pair(options: &DuplexOptions) -> Result<(), Failure> {
    run(SocketType::Pair, options)
}

/// The same with messages of one frame.
pub(crate) fn channel(options: &DuplexOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Channel)?;
    run(SocketType::Channel, options)
}

/// Sends to its peers in turn and receives from all.
pub(crate) fn dealer(options: &DuplexOptions) -> Result<(), Failure> {
    run(SocketType::Dealer, options)
}

/// The same with servers and messages of one frame.
pub(crate) fn client(options: &DuplexOptions) -> Result<(), Failure> {
    options.input.check_single_frame(SocketType::Client)?;
    run(SocketType::Client, options)
}

fn run(socket_type: SocketType, options: &DuplexOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, None)?;
    let opened = Opened::new(socket_type, &options.connection)?;
    let outcome = opened
        .wait_for_peers("no peer came", |peers| !peers.is_empty())
        .and_then(|()| exchange(&opened, input, None, options));
    opened.close(outcome)
}

/// Publishes, and prints subscriptions: `0x01` or `0x00` and the topic. Begins to publish when
/// the first subscription has come.
pub(crate) fn xpub(options: &DuplexOptions) -> Result<(), Failure> {
    let input = Input::new(&options.input, None)?;
    let opened = Opened::new(SocketType::XPub, &options.connection)?;
    let first = opened.while_awaiting(|| Ok(opened.socket.recv()?));
    let outcome = first.and_then(|first| exchange(&opened, input, Some(first), options));
    opened.close(outcome)
}

/// Takes what was subscribed to, and sends what stands on the command line to the publishers.
pub(crate) fn xsub(options: &XSubOptions) -> Result<(), Failure> {
    let duplex = &options.duplex;
    let opened = Opened::new(SocketType::XSub, &duplex.connection)?;
    let outcome = subscribe_to(&opened.socket, &options.subscribe).and_then(|()| {
        if !duplex.input.is_given() {
            return print_received(&opened, printer(duplex), duplex.count);
        }
        let input = Input::new(&duplex.input, None)?;
        opened.wait_for_peers("no publisher came", |peers| !peers.is_empty())?;
        exchange(&opened, input, None, duplex)
    });
    opened.close(outcome)
}

/// A router that sends to one peer.
pub(super) fn send_to(
    connection: &ConnectionOptions,
    output: &OutputOptions,
    input: Input,
    routing_id: &str,
    count: Option<u64>,
) -> Result<(), Failure> {
    let opened = Opened::new(SocketType::Router, connection)?;
    let printer = Printer::new(output.format(connection.report));
    let wanted = routing_id.as_bytes().to_vec();
    let outcome = opened
        .wait_for_peers(&format!("no peer called {routing_id} came"), |peers| {
            peers.iter().any(|peer| peer.routing_id() == wanted)
        })
        .and_then(|()| {
            let sender = Sender::start(&opened.socket, input, move |mut message| {
                message.push_front(wanted.clone());
                message
            })?;
            sender.while_receiving(count, || print_received(&opened, printer, count))
        });
    opened.close(outcome)
}

fn printer(options: &DuplexOptions) -> Printer {
    Printer::new(options.output.format(options.connection.report))
}

/// Sends the input while printing what arrives, beginning with `first`.
fn exchange(
    opened: &Opened,
    input: Input,
    first: Option<Message>,
    options: &DuplexOptions,
) -> Result<(), Failure> {
    let sender = Sender::start(&opened.socket, input, |message| message)?;
    sender.while_receiving(options.count, || {
        let mut printer = printer(options);
        let mut count = options.count;
        if let (Some(first), true) = (first, count != Some(0)) {
            printer.print(&first)?;
            printer.flush()?;
            count = count.map(|count| count - 1);
        }
        print_received(opened, printer, count)
    })
}

/// The thread that sends.
pub(super) struct Sender {
    thread: JoinHandle<()>,
    /// Whether it will end by itself.
    finite: bool,
    /// Why it ended early.
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Sender {
    /// Sends the input, each message `address`ed.
    pub(super) fn start(
        socket: &Socket,
        mut input: Input,
        address: impl Fn(Message) -> Message + Send + 'static,
    ) -> Result<Self, Failure> {
        let finite = input.is_finite();
        let failure = Arc::new(Mutex::new(None));
        let (socket, failed) = (socket.clone(), failure.clone());
        let thread = threads::spawn(move || {
            let mut send_all = || -> Result<(), Failure> {
                while let Some(message) = input.next()? {
                    send(&socket, address(message))?;
                }
                Ok(())
            };
            if let Err(failure) = send_all() {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                // Wakes the receiving side, which would wait for ever.
                let _ = socket.close();
            }
        })?;
        Ok(Sender {
            thread,
            finite,
            failure,
        })
    }

    /// Runs the receiving side, unless nothing is to be received. Messages of the command line are sent in
    /// any case; standard input may hold more for ever.
    ///
    /// A failure to send comes first: receiving ends because of it.
    pub(super) fn while_receiving(
        self,
        count: Option<u64>,
        receive: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let only_sends = count == Some(0);
        let received = if only_sends { Ok(()) } else { receive() };
        // Told to stop, it sends what it has in hand.
        let is_ending = interrupt::requested();
        if only_sends || is_ending || (self.finite && received.is_ok()) {
            self.thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        match self
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            Some(failure) => Err(failure),
            None => received,
        }
    }
}
