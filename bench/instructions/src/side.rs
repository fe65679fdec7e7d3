//! The two processes: one sends each message with a call of its own, the other takes what is there.
//! Both block where they have to wait, and end when all messages have passed.

use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use rustix::process::{Signal, set_parent_process_death_signal};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Generate as _, KeyPair, Message, PublicKey, Security, SocketType};

use crate::Outcome;
use crate::cells::Mechanism;

/// Messages taken with one call.
const BATCH: usize = 1_000;
/// The sender's last messages are written within this time, however slow callgrind is.
const LINGER: Duration = Duration::from_secs(600);
const PAYLOAD: u8 = 0x5a;

#[derive(Debug, Args)]
pub(crate) struct Receive {
    #[arg(long, value_enum)]
    mechanism: Mechanism,
    /// Payload of a message, in bytes
    #[arg(long)]
    size: usize,
    /// Messages
    #[arg(long)]
    count: usize,
    #[arg(long)]
    endpoint: String,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    #[command(flatten)]
    same: Receive,
    /// The receiver's public key
    #[arg(long)]
    key: PublicKey,
}

/// Binds, prints the public key on a line of its own and receives.
pub(crate) fn receive(options: &Receive) -> Outcome<()> {
    end_with_parent()?;
    let keys = KeyPair::generate();
    let key = keys.public().to_z85();
    let security = match options.mechanism {
        Mechanism::Null => Security::plain_text(),
        Mechanism::Blake3 => Security::blake3_server(keys, AllowAnyone).into(),
    };
    let socket = Socket::builder(SocketType::Pull)
        .security(security)
        .build_blocking()?;
    socket.bind(options.endpoint.as_str())?;
    writeln!(io::stdout(), "{key}")?;

    let mut messages = Vec::with_capacity(BATCH);
    let mut left = options.count;
    while left > 0 {
        left -= socket.recv_many(&mut messages, left.min(BATCH))?;
        if let Some(message) = messages
            .iter()
            .find(|message| message.as_bytes().len() != options.size)
        {
            return Err(format!("a message of {} bytes", message.as_bytes().len()).into());
        }
        messages.clear();
    }
    Ok(())
}

/// Connects and sends.
pub(crate) fn send(options: &Send) -> Outcome<()> {
    end_with_parent()?;
    let security = match options.same.mechanism {
        Mechanism::Null => Security::plain_text(),
        Mechanism::Blake3 => {
            Security::blake3_client_with_keys(options.key, KeyPair::generate()).into()
        }
    };
    let socket = Socket::builder(SocketType::Push)
        .security(security)
        .linger(LINGER)
        .build_blocking()?;
    socket.connect(options.same.endpoint.as_str())?;
    let payload = vec![PAYLOAD; options.same.size];
    for _ in 0..options.same.count {
        socket.send(Message::from(&payload[..]))?;
    }
    // Waits until everything is written.
    Ok(socket.close()?)
}

/// However the process that started this one ends, this one is not left behind.
fn end_with_parent() -> Outcome<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}
