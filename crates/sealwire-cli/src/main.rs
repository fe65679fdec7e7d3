//! The `sealwire` program: a demonstration, keys, the socket types, a proxy, sealed files and
//! benchmarks on the command line. `sealwire --help` is its manual.

#![forbid(unsafe_code)]

mod bench;
mod check_config;
mod demo;
mod doctor;
mod duration;
mod exit;
mod file;
mod file_size;
mod help;
mod hyphens;
mod interrupt;
mod ipc_options;
mod keygen;
mod line_quota;
mod newplex;
mod output;
mod passwords;
mod programs;
mod proxy;
mod report;
mod rpc;
#[cfg(target_os = "linux")]
mod run;
mod secret_source;
mod secrets;
mod security_options;
mod service;
mod snapshot;
mod sockets;
mod threads;
mod tls_options;
mod top;
mod tunnel;
mod untrusted;
mod web_options;
mod work;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::exit::{Code, EXIT_CODES, Failure};
use crate::service::{given_up, inspection};
use crate::sockets::{answer, dgram, duplex, receive, request, send};

/// Encrypted messaging: ZeroMQ sockets with the mechanism BLAKE3ZMQ.
#[derive(Debug, Parser)]
#[command(name = "sealwire", version, arg_required_else_help = true)]
#[command(after_help = help::PROGRAM, after_long_help = format!("{}\n\n{EXIT_CODES}", help::PROGRAM))]
#[command(max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch a server, an allowed client and a refused one talk over TCP
    Demo(demo::DemoOptions),
    /// Make a key pair, or a symmetric key for files
    Keygen(keygen::KeygenOptions),
    /// Send messages, each to one of the peers
    #[command(after_help = help::PUSH)]
    Push(send::SendOptions),
    /// Receive messages from all peers
    #[command(after_help = help::PULL)]
    Pull(receive::ReceiveOptions),
    /// Send messages of one frame, each to one of the peers: a push to gather
    #[command(after_help = help::SCATTER)]
    Scatter(send::SendOptions),
    /// Receive messages of one frame from all peers: a pull from scatter
    #[command(after_help = help::GATHER)]
    Gather(receive::ReceiveOptions),
    /// Publish messages to all who subscribed
    #[command(name = "pub", after_help = help::PUBLISH)]
    Publish(send::SendOptions),
    /// Subscribe and receive
    #[command(name = "sub", after_help = help::SUBSCRIBE)]
    Subscribe(receive::SubscribeOptions),
    /// Send messages to the members of a group, over udp too
    #[command(after_help = help::RADIO)]
    Radio(send::RadioOptions),
    /// Join groups and receive, over udp too
    #[command(after_help = help::DISH)]
    Dish(receive::DishOptions),
    /// Ask and wait for the answer
    #[command(after_help = help::REQUEST)]
    Req(request::RequestOptions),
    /// Answer requests
    #[command(after_help = help::REPLY)]
    Rep(answer::AnswerOptions),
    /// Talk with exactly one peer
    #[command(after_help = help::PAIR)]
    Pair(duplex::DuplexOptions),
    /// Talk with exactly one peer in messages of one frame
    #[command(after_help = help::CHANNEL)]
    Channel(duplex::DuplexOptions),
    /// Send to peers in turn, receive from all: a req without the strict alternation
    #[command(after_help = help::DEALER)]
    Dealer(duplex::DuplexOptions),
    /// Receive with the sender's routing id in front, send to whom it names
    #[command(after_help = help::ROUTER)]
    Router(answer::RouterOptions),
    /// Send messages of one frame to servers in turn, receive from all
    #[command(after_help = help::CLIENT)]
    Client(duplex::DuplexOptions),
    /// Receive messages of one frame from clients, answer if told to
    #[command(after_help = help::SERVER)]
    Server(answer::AnswerOptions),
    /// Talk with a peer, or answer the peers that come, in messages of one frame
    #[command(after_help = help::PEER)]
    Peer(answer::AnswerOptions),
    /// Talk plain TCP with programs that know no ZeroMQ
    #[command(after_help = help::STREAM)]
    Stream(answer::AnswerOptions),
    /// Exchange plain UDP datagrams with programs that know no ZeroMQ
    #[command(after_help = help::DGRAM)]
    Dgram(dgram::DgramOptions),
    /// Publish and see the subscriptions
    #[command(after_help = help::XPUB)]
    Xpub(duplex::DuplexOptions),
    /// Subscribe, and send to publishers
    #[command(after_help = help::XSUB)]
    Xsub(duplex::XSubOptions),
    /// Connect two sockets and pass everything on
    Proxy(Box<proxy::ProxyOptions>),
    /// Pause, resume or end a proxy, or ask what passed through it
    ProxyControl(Box<proxy::control::ControlOptions>),
    /// Check files of keys, lists, passwords, certificates and rules before they are used
    CheckConfig(Box<check_config::CheckOptions>),
    /// Try a connection step by step, and say what to mend
    #[command(after_help = doctor::HELP)]
    Doctor(Box<doctor::DoctorOptions>),
    /// Watch a running command: its sockets, peers, queues and failures
    #[command(after_help = top::HELP)]
    Top(top::TopOptions),
    /// Encrypt a file or pipe under a symmetric key
    #[command(after_help = file::SEAL)]
    Seal(file::FileOptions),
    /// Decrypt what seal made, if nothing of it was changed
    #[command(after_help = file::OPEN)]
    Open(file::FileOptions),
    /// Digests, signatures, sealed files, keys from passwords, signing as a group, with Newplex (experimental)
    #[command(subcommand, after_help = newplex::HELP)]
    Newplex(newplex::NewplexCommand),
    /// Put a TCP service behind a channel that authenticates both sides, with Newplex (experimental)
    #[command(subcommand, after_help = tunnel::HELP)]
    Tunnel(tunnel::TunnelCommand),
    /// Measure throughput, latency and handshakes between two processes, or the cipher alone
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Call a server, be one, and measure calls
    #[command(subcommand)]
    Rpc(rpc::RpcCommand),
    /// Hand out tasks until somebody says that they are done, and do them
    #[command(subcommand)]
    Work(work::WorkCommand),
    /// Run a program written for libzmq with encryption by rules
    #[cfg(target_os = "linux")]
    Run(run::RunOptions),
    /// One of the two processes of a benchmark
    #[command(hide = true)]
    BenchSide(bench::SideOptions),
}

impl Command {
    fn run(&self) -> Result<(), Failure> {
        match self {
            Command::Demo(options) => demo::run(options),
            Command::Keygen(options) => keygen::run(options),
            Command::Push(options) => send::push(options),
            Command::Pull(options) => receive::pull(options),
            Command::Scatter(options) => send::scatter(options),
            Command::Gather(options) => receive::gather(options),
            Command::Publish(options) => send::publish(options),
            Command::Subscribe(options) => receive::subscribe(options),
            Command::Radio(options) => send::radio(options),
            Command::Dish(options) => receive::dish(options),
            Command::Req(options) => request::request(options),
            Command::Rep(options) => answer::reply(options),
            Command::Pair(options) => duplex::pair(options),
            Command::Channel(options) => duplex::channel(options),
            Command::Dealer(options) => duplex::dealer(options),
            Command::Client(options) => duplex::client(options),
            Command::Server(options) => answer::serve_clients(options),
            Command::Peer(options) => answer::peer(options),
            Command::Stream(options) => answer::stream(options),
            Command::Dgram(options) => dgram::dgram(options),
            Command::Router(options) => answer::route(options),
            Command::Xpub(options) => duplex::xpub(options),
            Command::Xsub(options) => duplex::xsub(options),
            Command::Proxy(options) => proxy::run(options),
            Command::ProxyControl(options) => proxy::control::run(options),
            Command::CheckConfig(options) => check_config::run(options),
            Command::Doctor(options) => doctor::run(options),
            Command::Top(options) => top::run(options),
            Command::Seal(options) => file::seal(options),
            Command::Open(options) => file::open(options),
            Command::Newplex(command) => command.run(),
            Command::Tunnel(command) => command.run(),
            Command::Bench(command) => bench::run(command),
            Command::Rpc(command) => command.run(),
            Command::Work(command) => command.run(),
            #[cfg(target_os = "linux")]
            Command::Run(options) => run::run(options),
            Command::BenchSide(options) => bench::run_side(options),
        }
    }

    /// Whether a script reads what is said.
    fn json(&self) -> bool {
        match self {
            Command::Demo(_) | Command::Seal(_) | Command::Open(_) | Command::BenchSide(_) => false,
            Command::Keygen(options) => options.json,
            Command::Push(options) | Command::Scatter(options) | Command::Publish(options) => {
                options.connection.report.json
            }
            Command::Radio(options) => options.connection.report.json,
            Command::Pull(options) | Command::Gather(options) => options.connection.report.json,
            Command::Subscribe(options) => options.receive.connection.report.json,
            Command::Dish(options) => options.receive.connection.report.json,
            Command::Req(options) => options.connection.report.json,
            Command::Rep(options)
            | Command::Server(options)
            | Command::Peer(options)
            | Command::Stream(options) => options.connection.report.json,
            Command::Pair(options)
            | Command::Channel(options)
            | Command::Dealer(options)
            | Command::Client(options)
            | Command::Xpub(options) => options.connection.report.json,
            Command::Router(options) => options.answer.connection.report.json,
            Command::Dgram(options) => options.answer.connection.report.json,
            Command::Xsub(options) => options.duplex.connection.report.json,
            Command::Proxy(options) => options.report.json,
            Command::ProxyControl(options) => options.report.json,
            Command::CheckConfig(options) => options.json,
            Command::Doctor(options) => options.report.json,
            Command::Top(options) => options.json,
            Command::Newplex(command) => command.json(),
            Command::Tunnel(command) => command.json(),
            Command::Bench(command) => command.json(),
            Command::Rpc(command) => command.json(),
            Command::Work(command) => command.json(),
            #[cfg(target_os = "linux")]
            Command::Run(_) => false,
        }
    }
}

fn main() -> ExitCode {
    // `--verbose` and `--json` say what is told there.
    sealwire::waits::silence_standard_error();
    file_size::tell_of_its_limit();
    let mut cli = Cli::command();
    cli.build();
    let arguments = hyphens::attach(&cli, std::env::args_os());
    let command = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command,
        Err(usage) if usage.use_stderr() => usage.exit(),
        Err(help) => {
            return match print(&help) {
                Ok(()) => Code::Done.into(),
                Err(failure) => failure.report(false),
            };
        }
    };
    let outcome = given_up::settle(command.run());
    inspection::end();
    match outcome {
        Ok(()) => Code::Done.into(),
        Err(failure) => failure.report(command.json()),
    }
}

/// Prints what `--help` or `--version` asks for.
fn print(help: &clap::Error) -> Result<(), Failure> {
    let printed = help.print().and_then(|()| std::io::stdout().flush());
    printed.map_err(|error| Failure::output(&error))
}
