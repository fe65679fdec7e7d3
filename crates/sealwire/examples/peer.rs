//! PEER: sockets that connect to each other and address each other by connection.
//!
//! ```text
//! cargo run -p sealwire --example peer
//! ```

use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Error, Generate as _, KeyPair, Message, Security, SocketType};

fn main() -> Result<(), Error> {
    let keys = KeyPair::generate();
    let node = Socket::builder(SocketType::Peer)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()?;
    let endpoint = node.bind("tcp://127.0.0.1:0")?;
    let other = Socket::builder(SocketType::Peer)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()?;

    // Waits for the connection and returns its number.
    let routing_id = other.connect_peer(endpoint)?;
    other.send(Message::with_routing_id(routing_id, "ping"))?;

    let message = node.recv()?;
    println!("{}", String::from_utf8_lossy(message.as_bytes()));
    let back = message.routing_id().expect("PEER puts it in front");
    node.send(Message::with_routing_id(back, "pong"))?;
    println!("{}", String::from_utf8_lossy(other.recv()?.as_bytes()));
    Ok(())
}
