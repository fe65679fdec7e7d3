//! libzmq's `local_thr` and `remote_thr` with native sockets and BLAKE3, for who has libzmq's to measure beside.

use std::path::PathBuf;
use std::time::Instant;

use bytes::Bytes;
use clap::{Args, ValueEnum};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Frame, Message, Security, SocketType, keys};

use crate::Outcome;

#[derive(Debug, Args)]
pub(crate) struct Program {
    side: Side,
    endpoint: String,
    /// Bytes of each message
    size: usize,
    /// Messages
    count: u32,
    /// The server's: with its secret key for local, its public key for remote
    key_file: PathBuf,
    /// Remote: makes a body for each message, as remote_thr does, and zeroes it; otherwise long ones share one
    #[arg(long)]
    anew: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Side {
    /// Binds and receives, and says how fast
    Local,
    /// Connects and sends
    Remote,
}

pub(crate) fn run(program: &Program) -> Outcome<()> {
    match program.side {
        Side::Local => local(program),
        Side::Remote => remote(program),
    }
}

fn local(program: &Program) -> Outcome<()> {
    let keys = keys::read_key_pair(&program.key_file)?;
    let socket = Socket::builder(SocketType::Pull)
        .security(Security::blake3_server(keys, AllowAnyone))
        .build_blocking()?;
    socket.bind(program.endpoint.as_str())?;
    let mut messages = socket.incoming();
    let mut next = || -> Outcome<()> {
        let message = messages.next().ok_or("the socket is closed")??;
        match message.size() == program.size {
            true => Ok(()),
            false => Err("a message of another size".into()),
        }
    };
    // The first takes as long as the connection.
    next()?;
    let begun = Instant::now();
    for _ in 1..program.count {
        next()?;
    }
    let rate = f64::from(program.count) / begun.elapsed().as_secs_f64();
    println!("mean throughput: {rate:.0} [msg/s]");
    Ok(())
}

fn remote(program: &Program) -> Outcome<()> {
    let server = keys::read_public_key(&program.key_file)?;
    let socket = Socket::builder(SocketType::Push)
        .security(Security::blake3_client(server))
        .build_blocking()?;
    socket.connect(program.endpoint.as_str())?;
    let body = Bytes::from(vec![0; program.size]);
    for _ in 0..program.count {
        // What fits is copied, what is large is shared.
        socket.send(match program.size {
            0..=Frame::INLINE => Message::from(&body[..]),
            _ if program.anew => Message::from(Bytes::from(vec![0; program.size])),
            _ => Message::from(body.clone()),
        })?;
    }
    // Until all is sent.
    socket.close()?;
    Ok(())
}
