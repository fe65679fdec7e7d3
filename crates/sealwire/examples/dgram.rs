//! DGRAM: plain UDP datagrams with a program that knows no ZeroMQ, **not encrypted**, from anybody.
//!
//! ```text
//! cargo run -p sealwire --example dgram
//! ```

use std::net::UdpSocket;

use sealwire::blocking::Socket;
use sealwire::{Error, Message, SocketType};

fn main() -> Result<(), Error> {
    // A socket that is bound to the loopback stays on the machine. Elsewhere `.security(Security::plain_text())` has
    // to say that anyone on the way may read and change everything.
    let socket = Socket::builder(SocketType::Dgram).build_blocking()?;
    let endpoint = socket.bind("udp://127.0.0.1:*")?;
    let there = endpoint.to_string().replace("udp://", "");

    let program = UdpSocket::bind("127.0.0.1:0").map_err(Error::System)?;
    program.send_to(b"hello", there).map_err(Error::System)?;

    let message = socket.recv()?;
    println!("{} bytes came", message.as_bytes().len());
    if let Some(from) = message.address() {
        socket.send(Message::to_address(from, "hello, program"))?;
    }
    let mut answer = [0; 100];
    let length = program.recv(&mut answer).map_err(Error::System)?;
    println!("{}", String::from_utf8_lossy(&answer[..length]));
    Ok(())
}
